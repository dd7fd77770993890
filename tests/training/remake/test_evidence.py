"""What this checkout ships is of its own model and prompt."""

from __future__ import annotations

import json
import shutil
import warnings
from dataclasses import replace
from pathlib import Path

import pytest
from synthetic_samples import world

from assay.calibration.calibrator import Calibrator, load, save
from assay.calibration.fitting.fit import fit
from assay.calibration.held_out import folds_path
from assay.calibration.validation.table import path_of
from training.remake.evidence import BESIDE, PAGES, SHIPPED, blocks_in, fill, not_measured, stale, withdraw
from training.remake.present import Present, present
from training.remake.ship import ship
from training.remake.steps import FOLDS, FULL, STEPS
from training.remake.workplace import Workplace

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
    files = set((tree / SHIPPED).rglob("*.json"))
    gone = {path, *(file for file in files if file.stem == load(path).id)}
    document = json.loads(path.read_text())
    document["fitted_on"]["prompt"] = "f" * 16
    path.write_text(json.dumps(document))
    fill(tree, "docs/maps.md", {"levels": "a table"}, f"model {now.model}, prompt {'f' * 16}")
    assert {one.what for one in withdraw(tree, now)} == {*(str(file.relative_to(tree)) for file in gone), "docs/maps.md#levels"}
    assert set((tree / SHIPPED).rglob("*.json")) == files - gone
    assert "docs/maps.md#levels" in not_measured(tree)
    assert kept in blocks_in(tree, "docs/calibration.md")
    assert withdraw(tree, now) == []


@pytest.fixture(scope="module")
def fitted(now: Present) -> Calibrator:
    """A calibrator of the present fingerprints."""
    made = fit(world(120)[0], "exact_match", kind="platt", resamples=5).calibrator
    return replace(made, fitted_on=replace(made.fitted_on, model=now.model, prompt=now.prompts["line"]))


@pytest.fixture
def bare(tree: Path) -> Path:
    """The same without what lies beside calibrators."""
    for name in BESIDE:
        shutil.rmtree(tree / SHIPPED / name, ignore_errors=True)
    return tree


def put(calibrator: Calibrator, file: Path) -> set[Path]:
    """Save a calibrator with folds and a table, whose contents are not looked at; the files of these."""
    save(calibrator, file)
    beside = {folds_path(calibrator, file), path_of(calibrator, file)}
    for path in beside:
        path.parent.mkdir(exist_ok=True)
        path.write_text("{}")
    return beside


def beside(tree: Path) -> set[Path]:
    return {path for name in BESIDE for path in (tree / SHIPPED / name).glob("*")}


def test_folds_and_tables_are_withdrawn_with_their_calibrator_and_so_are_those_that_belong_to_none(
    bare: Path, now: Present, fitted: Calibrator
) -> None:
    kept, old = bare / SHIPPED / "exact_match-line.json", bare / SHIPPED / "exact_match-line_rest.json"
    of_kept = put(fitted, kept)
    of_old = put(replace(fitted, fitted_on=replace(fitted.fitted_on, prompt="f" * 16)), old)
    orphans = {path.with_name(f"{'0' * 16}.json") for path in of_old}
    for path in orphans:
        path.write_text("{}")
    assert {bare / one.what for one in withdraw(bare, now)} == {old, *of_old, *orphans}
    assert beside(bare) == of_kept
    kept.unlink()
    withdraw(bare, now)
    assert not any((bare / SHIPPED / name).exists() for name in BESIDE)


def test_a_calibrator_is_shipped_with_its_folds_in_the_place_of_the_one_before_and_without_its_table(
    bare: Path, tmp_path: Path, fitted: Calibrator
) -> None:
    shipped, made = bare / SHIPPED / "exact_match-line-alternatives.json", tmp_path / "made"
    put(fitted, shipped)
    put(replace(fitted, reason="fitted again"), made / shipped.name)
    ship(bare, made, {"line": ""})
    assert load(shipped).reason == "fitted again"
    assert beside(bare) == {folds_path(load(shipped), shipped)}
    ship(bare, made, {"line": "refuted"})
    assert not shipped.exists()
    assert beside(bare) == set()


def test_a_step_makes_only_the_folds_of_its_own_calibrators(bare: Path, now: Present, tmp_path: Path, fitted: Calibrator) -> None:
    steps = {step.name: step for step in STEPS}
    place = Workplace(tmp_path / "work", bare, now, steps, FULL)
    one, other = steps["exact_match/fit"], steps["tests_pass/fit"]
    assert place.outputs(one)[FOLDS] is place.outputs(other)[FOLDS] is None
    path = bare / SHIPPED / "exact_match-line.json"
    put(fitted, path)
    made = place.outputs(one)
    assert made[FOLDS]
    put(replace(fitted, reason="another"), bare / SHIPPED / "tests_pass-line.json")
    assert place.outputs(one) == made
    assert place.outputs(other)[FOLDS] not in (None, made[FOLDS])
    folds_path(fitted, path).unlink()
    assert place.outputs(one)[FOLDS] is None


def test_with_another_model_all_is_withdrawn(tree: Path, now: Present, fitted: Calibrator) -> None:
    put(fitted, tree / SHIPPED / "exact_match-line.json")
    other = replace(now, model="0123456789abcdef")
    withdraw(tree, other)
    assert not list((tree / SHIPPED).iterdir())
    assert not list((tree / "docs" / "calibration").iterdir())
    assert len(not_measured(tree)) == sum(len(blocks_in(tree, page)) for page in PAGES)
    text = (tree / "docs" / "calibration.md").read_text()
    assert "calibration/line/report.md" not in text, "a link to what was deleted"
