"""When samples are enough, and which calibrators are written."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from msgspec import structs
from synthetic_samples import world

from assay.calibration.calibrator import Calibrator, Parent, load, save
from assay.calibration.fitting.fit import fit
from assay.calibration.registry import Entry, Registry, load_registry, read_registry, registry_of
from assay.calibration.samples import Sample
from assay.offline_eval.asked_line import EVENT
from assay.offline_eval.own_code.numbers import Made, file_of, fitted, is_enough, median_width, well_known, written

NONE = Registry((), ())


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ASSAY_DATA_HOME", str(tmp_path))
    return tmp_path


def test_asking_ends_where_the_skill_of_each_task_is_known_and_not_before() -> None:
    many, few = world(3000, slope=2.0)[0], world(60, slope=2.0)[0]
    assert is_enough({"line": many}, ["line"], ["python"], NONE)
    assert not is_enough({"line": few}, ["line"], ["python"], NONE)
    assert not is_enough({"line": many}, ["line", "line_rest"], ["python"], NONE)
    assert not is_enough({"line": many}, ["line"], ["python", "go"], NONE), "many in one language tell nothing of another"
    go = in_language("go", 3000)
    assert is_enough({"line": [*many, *go]}, ["line"], ["go", "python"], NONE)
    assert well_known({"line": [*go, *in_language("rust", 60)], "line_rest": go}, ["line", "line_rest"]) == {"go"}


def test_a_calibrator_with_skill_is_written_where_a_server_looks_and_has_a_number() -> None:
    (made,) = written(fitted({"line": world(600)[0]}, ["line"], NONE), NONE)
    assert made.has_number
    assert made.file is not None
    (entry,) = [entry for entry in load_registry(None).entries if entry.origin == "user"]
    assert (entry.path, entry.calibrator.id) == (made.file, load(made.file).id)
    assert entry.calibrator.fitted_on.grouped_by == "project"


def test_without_skill_it_is_written_and_gives_no_number_and_of_too_few_none_is_written() -> None:
    (made,) = written(fitted({"line": world(1500, slope=0.0)[0]}, ["line"], NONE), NONE)
    assert made.file is not None
    assert load(made.file).status == "uninformative"
    assert not made.has_number
    few, none = written(fitted({"line": world(12)[0]}, ["line", "line_rest"], NONE), NONE)
    assert (few.file, none.file) == (None, None)
    assert few.why.startswith("too few to tell: 12 samples")


def test_from_a_map_for_any_model_a_dozen_samples_narrow_the_range_and_are_kept() -> None:
    models = [structs.replace(s, model=f"{i:016x}", model_name=f"m{i}") for i in range(5) for s in world(200, between=0.3, seed=i + 1)[0]]
    common = fit(models, EVENT, ["total_logprob"], groups="model", resamples=20).calibrator
    registry = registry_of([Entry("shipped", Path("any.json"), common)], ())
    samples = {"line": [*world(14)[0], *in_language("go", 14)]}
    python, go = written(fitted(samples, ["line"], registry), registry)
    assert python.calibrator is not None
    assert (python.calibrator.status, python.has_number, go.file) == ("borrowed", True, None)
    assert python.calibrator.moved_from == Parent(common.id, 1000, 5, 12)
    assert median_width(python.calibrator, samples["line"][:14]) < median_width(common, samples["line"][:14])
    assert not is_enough({"line": world(30)[0]}, ["line"], ["python"], registry)
    assert is_enough({"line": world(150)[0]}, ["line"], ["python"], registry), "for its ranges are narrow"


def test_a_shipped_calibrator_that_is_known_better_stays_in_use(tmp_path: Path) -> None:
    shipped = tmp_path / "shipped"
    save(fit(world(3000)[0], "exact_match", kind="platt").calibrator, shipped / "line.json")
    registry = read_registry([("shipped", shipped)])
    made = fitted({"line": world(200, seed=1)[0]}, ["line"], registry)
    (kept,) = written(made, registry)
    assert kept.file is None
    assert "the shipped calibrator stays in use" in kept.why
    other = made[0].calibrator
    assert other is not None
    elsewhere = replace(other, fitted_on=replace(other.fitted_on, prompt="0" * 16))
    (its_own,) = written([Made("line", elsewhere, "")], registry)
    assert its_own.file == file_of(elsewhere)


def in_language(language: str, n: int, *, seed: int = 0) -> list[Sample]:
    """Samples of a language from projects of its own, with skill."""
    return [
        structs.replace(one, id=f"{language}{one.id}", language=language, project=f"{language} {one.project}")
        for one in world(n, slope=2.0, seed=seed)[0]
    ]


@pytest.mark.slow
def test_beside_a_better_calibrator_of_one_language_only_the_others_are_written(tmp_path: Path) -> None:
    shipped = tmp_path / "shipped"
    save(fit(in_language("python", 3000), "exact_match", kind="platt").calibrator, shipped / "line.json")
    registry = read_registry([("shipped", shipped)])
    both = [*in_language("python", 200, seed=1), *in_language("go", 200, seed=2)]
    (made,) = written(fitted({"line": both}, ["line"], registry), registry)
    assert made.file is not None
    assert made.has_number
    assert load(made.file).fitted_on.languages == ("go",)
    assert made.why.endswith("; in Python the shipped calibrator stays in use: it was fitted to 3,000 suggestions")


@pytest.mark.slow
def test_a_calibrator_of_more_languages_takes_the_place_of_earlier_ones_and_of_no_other() -> None:
    go = in_language("go", 300)
    (first,) = written(fitted({"line": go}, ["line"], NONE), NONE)
    (rust,) = written(fitted({"line": in_language("rust", 200, seed=3)}, ["line"], load_registry(None)), load_registry(None))
    assert (first.file, rust.file) == (file_of(made_of(first)), file_of(made_of(rust)))
    more = [*go, *in_language("go", 3000, seed=1), *in_language("java", 300, seed=2)]
    (both,) = written(fitted({"line": more}, ["line"], load_registry(None)), load_registry(None))
    assert both.file is not None
    kept = {entry.path for entry in load_registry(None).entries if entry.origin == "user"}
    assert kept == {both.file, rust.file}


@pytest.mark.slow
def test_a_run_that_goes_on_takes_the_place_of_its_own_calibrator_even_if_it_knows_less() -> None:
    sure, unsure = world(300, slope=3.0)[0], world(330, slope=0.4, seed=5)[0]
    (first,) = written(fitted({"line": sure}, ["line"], NONE), NONE)
    registry = load_registry(None)
    (then,) = written(fitted({"line": [*sure, *unsure]}, ["line"], registry), registry)
    assert then.file == first.file
    assert then.file is not None
    assert load(then.file).id == made_of(then).id


def made_of(made: Made) -> Calibrator:
    assert made.calibrator is not None
    return made.calibrator


@pytest.mark.slow
def test_a_run_with_a_few_samples_of_a_language_leaves_its_better_calibrator_where_it_is() -> None:
    (go,) = written(fitted({"line": in_language("go", 300)}, ["line"], NONE), NONE)
    registry = load_registry(None)
    more = [*in_language("java", 400, seed=2), *in_language("go", 30, seed=3)]
    (made,) = written(fitted({"line": more}, ["line"], registry), registry)
    assert made.file is not None
    assert load(made.file).fitted_on.languages == ("java",)
    assert go.file is not None
    assert go.file.exists()
    few = [*in_language("java", 400, seed=2), *in_language("go", 12, seed=3)]
    written(fitted({"line": few}, ["line"], registry), registry)
    assert go.file.exists()
