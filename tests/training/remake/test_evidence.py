"""What this checkout ships is of its own model and prompt."""

from __future__ import annotations

import json
import shutil
import warnings
from dataclasses import replace
from pathlib import Path

import pytest

from training.remake.evidence import PAGES, SHIPPED, blocks_in, fill, not_measured, stale, withdraw
from training.remake.present import Present, present
from training.remake.steps import STEPS

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def now() -> Present:
    return present()


def test_all_shipped_evidence_names_the_present_fingerprints(now: Present) -> None:
    lines = [f"{one.what} is of {one.of}" for one in stale(ROOT, now)]
    advice = "run python -m training.remake (--dry-run: how long it takes; --withdraw: only take this evidence back)"
    assert not lines, f"not of the present {now.named()}:\n" + "\n".join(lines) + f"\n{advice}"
    if owed := not_measured(ROOT):
        warnings.warn(f"not measured for this version: {', '.join(owed)}; python -m training.remake --dry-run", stacklevel=1)


def test_every_block_of_the_pages_is_made_by_a_step_and_every_step_finds_its_blocks() -> None:
    made = {what for step in STEPS for what in step.makes if "#" in what}
    assert {f"{page}#{block.name}" for page in PAGES for block in blocks_in(ROOT, page)} == made


def test_every_shipped_calibrator_is_made_by_a_step() -> None:
    made = {what for step in STEPS for what in step.makes}
    assert {str(SHIPPED / path.name) for path in (ROOT / SHIPPED).glob("*.json")} <= made


@pytest.fixture
def tree(tmp_path: Path, now: Present) -> Path:
    """A copy of what is shipped."""
    for name in (*PAGES, "docs/calibration", str(SHIPPED)):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if (ROOT / name).is_dir() else shutil.copyfile)(ROOT / name, tmp_path / name)
    fill(tmp_path, "docs/calibration.md", {"result": "as measured"}, now.named("line"))
    return tmp_path


def test_evidence_of_another_prompt_is_withdrawn_and_nothing_else(tree: Path, now: Present) -> None:
    (kept,) = (block for block in blocks_in(tree, "docs/calibration.md") if block.name == "result")
    path = next((tree / SHIPPED).glob("exact_match-line_rest.json"))
    document = json.loads(path.read_text())
    document["fitted_on"]["prompt"] = "f" * 16
    path.write_text(json.dumps(document))
    others = set((tree / SHIPPED).iterdir()) - {path}
    fill(tree, "docs/maps.md", {"levels": "a table"}, f"model {now.model}, prompt {'f' * 16}")
    assert {one.what for one in withdraw(tree, now)} == {str(SHIPPED / path.name), "docs/maps.md#levels"}
    assert set((tree / SHIPPED).iterdir()) == others
    assert "docs/maps.md#levels" in not_measured(tree)
    assert kept in blocks_in(tree, "docs/calibration.md")
    assert withdraw(tree, now) == []


def test_with_another_model_all_is_withdrawn(tree: Path, now: Present) -> None:
    other = replace(now, model="0123456789abcdef")
    withdraw(tree, other)
    assert not list((tree / SHIPPED).iterdir())
    assert not list((tree / "docs" / "calibration").iterdir())
    assert len(not_measured(tree)) == sum(len(blocks_in(tree, page)) for page in PAGES)
    text = (tree / "docs" / "calibration.md").read_text()
    assert "calibration/line/report.md" not in text, "a link to what was deleted"
