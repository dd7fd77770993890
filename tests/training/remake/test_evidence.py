"""What this checkout ships is of its own model and prompt."""

from __future__ import annotations

import json
import shutil
import warnings
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from synthetic_samples import world

from assay.calibration.calibrator import Calibrator, load, save
from assay.calibration.fitting.fit import fit
from assay.calibration.held_out import folds_path
from assay.calibration.validation.table import path_of
from training.remake.calibrators import SHIPPED
from training.remake.driver import Remake
from training.remake.evidence import (
    BESIDE,
    NOT_MEASURED,
    PAGES,
    Block,
    BlockError,
    Present,
    blocks_in,
    blocks_of,
    fill,
    filled,
    not_measured,
    present,
    stale,
    withdraw,
)
from training.remake.steps import STEPS

ROOT = Path(__file__).parents[3]
PAGE = """# Title

<!-- remake one: begin; model a, prompt b -->

| a |

<!-- remake one: end -->

* a point

  <!-- remake two: begin; not measured -->

  Not measured.

  <!-- remake two: end -->

The end.
"""
LINES = st.lists(st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1, max_size=20), min_size=1, max_size=5)


def test_blocks_are_read_without_their_indentation() -> None:
    assert list(blocks_of(PAGE)) == [Block("one", "model a, prompt b", "| a |"), Block("two", NOT_MEASURED, "Not measured.")]


@given(LINES, st.sampled_from(["one", "two"]))
def test_a_filled_block_has_the_content_and_filling_it_twice_changes_nothing(lines: list[str], name: str) -> None:
    content = "\n".join(lines)
    page = filled(PAGE, name, content, "model c, prompt d")
    found = {block.name: block for block in blocks_of(page)}
    assert found[name] == Block(name, "model c, prompt d", content)
    assert found[{"one": "two", "two": "one"}[name]] in blocks_of(PAGE)
    assert filled(page, name, content, "model c, prompt d") == page
    assert page.startswith("# Title\n\n")
    assert page.endswith("\n\nThe end.\n")


@pytest.mark.parametrize(
    ("page", "why"),
    [
        (PAGE + PAGE, "two blocks are named 'one'"),
        (PAGE.replace("remake one: end", "remake other: end"), "has no partner"),
    ],
)
def test_a_page_with_broken_markers_is_refused(page: str, why: str) -> None:
    with pytest.raises(BlockError, match=why):
        list(blocks_of(page))
    with pytest.raises(BlockError, match="there is no block 'three'"):
        filled(PAGE, "three", "", "")


def test_what_is_named_holds_for_the_present_model_and_any_of_its_prompts() -> None:
    now = Present("aa", {"line": "11", "line_rest": "11", "block": "22"})
    assert now.named("line", "line_rest") == "model aa, prompt 11"
    assert now.named() == "model aa, prompt 11 22"
    assert all(map(now.holds, (now.named("line"), now.named("block"), now.named())))
    assert not any(map(now.holds, ("model aa, prompt 11 33", "model bb, prompt 11", "model aa", "", NOT_MEASURED)))


@pytest.mark.parametrize(
    ("model", "prompt", "fits"),
    [("aa", "11", True), ("aa", "22", False), ("bb", "22", True), ("absent", "22", True), ("unknown", "11", False)],
)
def test_a_calibrator_is_of_the_embedded_model_or_of_one_that_is_offered(model: str, prompt: str, fits: bool) -> None:
    shipped = load(ROOT / SHIPPED / "exact_match-line.json").fitted_on
    there = Present("aa", {"line": "11"}, others={"bb": {"line": "22"}, "absent": {}})
    assert there.fits(replace(shipped, model=model, prompt=prompt), "line") is fits


@pytest.fixture(scope="module")
def now() -> Present:
    return present()


def test_all_shipped_evidence_names_the_present_fingerprints(now: Present) -> None:
    lines = [f"{one.what} is of {one.of}" for one in stale(ROOT, now)]
    advice = "run python -m training.remake (--dry-run: how long it takes; --withdraw: only take this evidence back)"
    assert not lines, f"not of the present {now.named()}:\n" + "\n".join(lines) + f"\n{advice}"
    if owed := not_measured(ROOT):
        warnings.warn(f"not measured for this version: {', '.join(owed)}; python -m training.remake --dry-run", stacklevel=1)


def test_every_block_of_the_pages_and_every_shipped_calibrator_is_made_by_a_step() -> None:
    made = {what for step in STEPS for what in step.files}
    assert {f"{page}#{block.name}" for page in PAGES for block in blocks_in(ROOT, page)} == {name for step in STEPS for name in step.blocks}
    assert {str(SHIPPED / path.name) for path in (ROOT / SHIPPED).glob("*.json")} <= made
    assert {what.partition("#")[0] for step in STEPS for what in step.blocks} <= set(PAGES)


@pytest.fixture
def tree(tmp_path: Path, now: Present) -> Path:
    """A copy of what is shipped."""
    for name in (*PAGES, "docs/calibration", str(SHIPPED)):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if (ROOT / name).is_dir() else shutil.copyfile)(ROOT / name, tmp_path / name)
    fill(tmp_path, "docs/calibration.md#result", "as measured", now.named("line"))
    return tmp_path


def test_evidence_of_another_prompt_is_withdrawn_and_nothing_else(tree: Path, now: Present) -> None:
    (kept,) = (block for block in blocks_in(tree, "docs/calibration.md") if block.name == "result")
    path = next((tree / SHIPPED).glob("exact_match-line_rest.json"))
    files = set((tree / SHIPPED).rglob("*.json"))
    gone = {path, *(file for file in files if file.stem == load(path).id)}
    document = json.loads(path.read_text())
    document["fitted_on"]["prompt"] = "f" * 16
    path.write_text(json.dumps(document))
    fill(tree, "docs/repository.md#projects", "a table", f"model {now.model}, prompt {'f' * 16}")
    assert {one.what for one in withdraw(tree, now)} == {*(str(file.relative_to(tree)) for file in gone), "docs/repository.md#projects"}
    assert set((tree / SHIPPED).rglob("*.json")) == files - gone
    assert "docs/repository.md#projects" in not_measured(tree)
    assert "Not measured for this version" in (tree / "docs" / "repository.md").read_text()
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


def test_folds_and_tables_go_with_their_calibrator_and_so_do_those_of_none(bare: Path, now: Present, fitted: Calibrator) -> None:
    kept, old = bare / SHIPPED / "exact_match-line.json", bare / SHIPPED / "exact_match-line_rest.json"
    of_kept = put(fitted, kept)
    of_old = put(replace(fitted, fitted_on=replace(fitted.fitted_on, prompt="f" * 16)), old)
    orphans = {path.with_name(f"{'0' * 16}.json") for path in of_old}
    for path in orphans:
        path.write_text("{}")
    assert {bare / one.what for one in withdraw(bare, now)} == {old, *of_old, *orphans}
    assert {path for name in BESIDE for path in (bare / SHIPPED / name).glob("*")} == of_kept
    kept.unlink()
    withdraw(bare, now)
    assert not any((bare / SHIPPED / name).exists() for name in BESIDE)


def test_what_a_step_made_includes_the_folds_of_its_calibrators(bare: Path, now: Present, tmp_path: Path, fitted: Calibrator) -> None:
    steps = {step.name: step for step in STEPS}
    at, one = Remake(steps, tmp_path / "work", bare, now), steps["exact_match/fit"]
    path = bare / SHIPPED / "exact_match-line.json"
    put(fitted, path)
    made = at.outputs(one)
    put(replace(fitted, reason="another"), bare / SHIPPED / "tests_pass-line.json")
    assert at.outputs(one) == made
    folds_path(fitted, path).unlink()
    assert at.outputs(one) != made


def test_with_another_model_all_that_is_of_one_is_withdrawn(tree: Path, now: Present, fitted: Calibrator) -> None:
    put(fitted, tree / SHIPPED / "exact_match-line.json")
    withdraw(tree, replace(now, model="0123456789abcdef", others={}))
    assert {path.name.split("-")[-1] for path in (tree / SHIPPED).iterdir()} == {"any.json"}, (
        "the map for any model is of none in particular"
    )
    assert not list((tree / "docs" / "calibration").iterdir())
    assert len(not_measured(tree)) == sum(len(blocks_in(tree, page)) for page in PAGES)
    assert "calibration/line/reliability" not in (tree / "docs" / "calibration.md").read_text(), "a link to what was deleted"
