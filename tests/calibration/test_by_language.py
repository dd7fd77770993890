"""A calibrator of several languages gives a number only in those in which it shows skill."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from msgspec import structs
from synthetic_samples import MODEL, PROMPT, world

from assay.calibration.calibrator import Calibrator, CalibratorError, as_json, load
from assay.calibration.confidence import confidence
from assay.calibration.effective_status import confidence_of, effective_status
from assay.calibration.fitting.fit import Fit, FitError, fit
from assay.calibration.registry import Entry, Purpose, Registry, choose, explain_choice
from assay.calibration.samples import Sample


def in_language(language: str, n: int, *, intercept: float = 0.5, slope: float = 0.7, between: float = 0.0, seed: int = 0) -> list[Sample]:
    """Samples of a language from projects of its own."""
    samples, _ = world(n, intercept=intercept, slope=slope, between=between, seed=seed)
    return [structs.replace(one, id=f"{language}{one.id}", language=language, project=f"{language} {one.project}") for one in samples]


def fitted(samples: Sequence[Sample]) -> Fit:
    return fit(samples, "exact_match", levels=("language",), resamples=50)


@pytest.fixture(scope="module")
def made() -> Calibrator:
    """Go and Python have skill, and Go has half as many exact matches; in Rust what the model says of its text tells nothing."""
    rust = in_language("rust", 300, intercept=0.0, slope=0.0, seed=2)
    return fitted([*in_language("python", 600), *in_language("go", 600, intercept=-1.5, seed=1), *rust]).calibrator


def entry(calibrator: Calibrator, name: str = "c.json") -> Entry:
    return Entry("user", Path(name), calibrator)


def measures(total: float = -0.5) -> dict[str, float]:
    return {"total_logprob": total}


def test_each_language_has_its_own_map_and_stands_by_its_own_held_out_samples(made: Calibrator) -> None:
    assert made.status == "informative"
    assert {child.path for child in made.children} == {("go",), ("python",), ("rust",)}
    assert {each.name: each.status for each in made.by_language} == {"go": "informative", "python": "informative", "rust": "uninformative"}
    assert [(each.n, each.groups) for each in made.by_language] == [(600, 12), (600, 12), (300, 12)]
    go, python = (confidence(made, measures(), {"language": name}).probability for name in ("go", "python"))
    assert go < python - 0.2


def test_where_no_skill_is_shown_there_is_no_number_and_the_reason_names_the_language(made: Calibrator) -> None:
    found = confidence_of(entry(made), measures(), {"language": "rust"})
    assert (found.status, found.probability, found.calibrator) == ("uninformative", None, made.id)
    assert found.reason.startswith("no skill is shown in rust: the skill score on held-out data in rust is ")
    assert not effective_status(entry(made), "rust").has_numbers
    assert effective_status(entry(made), "go").has_numbers
    assert made.languages_with_numbers == ("go", "python")
    bad = replace(made, status="uninformative", reason="no skill is shown")
    assert (bad.languages_with_numbers, bad.status_in("go")) == ((), ("uninformative", "no skill is shown"))
    asked = Purpose(MODEL, PROMPT, "exact_match", "line", "rust")
    assert "matches and is uninformative: no skill is shown in rust" in explain_choice(Registry((entry(made),), ()), asked).reason


@pytest.mark.slow
def test_a_language_of_too_few_samples_takes_the_next_calibrator() -> None:
    few = fitted([*in_language("python", 500), *in_language("go", 15, seed=1)]).calibrator
    assert few.status_in("go")[0] == "insufficient"
    assert few.status_in("go")[1].startswith("15 samples in go, ")
    own = fit(in_language("go", 400, seed=3), "exact_match", resamples=50).calibrator
    registry = Registry((entry(few, "few.json"), entry(own, "own.json")), ())
    for language, wanted in (("go", own), ("python", few)):
        chosen = choose(registry, Purpose(MODEL, PROMPT, "exact_match", "line", language))
        assert chosen.calibrator.id == wanted.id
    assert choose(Registry((entry(few),), ()), Purpose(MODEL, PROMPT, "exact_match", "line", "go")) == entry(few)


def of_few_projects(language: str, n: int, *, slope: float = 2.0, seed: int = 1, projects: int = 1) -> list[Sample]:
    """Samples of a language that few projects have, in 20 files."""
    samples = in_language(language, n, slope=slope, seed=seed)
    return [structs.replace(one, project=f"{language} {i % 20 % projects}", file=f"f{i % 20}") for i, one in enumerate(samples)]


def test_a_language_that_few_projects_have_is_held_out_by_file() -> None:
    made = fitted([*in_language("python", 500), *of_few_projects("go", 300, projects=2)])
    (note,) = (note for note in made.notes if note.startswith("few projects have"))
    assert note == "few projects have Go: held out by file there; how well it does in another is not known"
    assert made.calibrator.reason.endswith(note)
    found = {each.name: each for each in made.calibrator.by_language}
    assert (found["go"].status, found["go"].groups) == ("informative", 20)
    assert found["go"].reason.endswith("held out by file, because few projects have it, so that how well it does in another is not known")
    assert found["python"].groups == 12
    folds = {(sample.language, sample.file): set[int]() for sample in made.samples}
    for sample, fold in zip(made.samples, made.fold, strict=True):
        folds[sample.language, sample.file].add(int(fold))
    assert all(len(folds["go", f"f{i}"]) == 1 for i in range(20)), "a file is never parted"
    assert len({fold for (language, _), of in folds.items() if language == "go" for fold in of}) > 1, "the project is"
    assert made.calibrator.fitted_on.groups == made.calibrator.evidence.groups == 12 + 2, "projects are counted, not files"
    assert fitted([*in_language("python", 500), *of_few_projects("go", 300, slope=0.0)]).calibrator.status_in("go")[0] == "uninformative"


@pytest.mark.slow
def test_a_project_with_a_map_of_its_own_is_held_out_whole() -> None:
    samples = [*in_language("python", 500), *of_few_projects("go", 300, projects=2)]
    made = fit(samples, "exact_match", levels=("language", "project"), resamples=50)
    of = {sample.project: set[int]() for sample in made.samples}
    for sample, fold in zip(made.samples, made.fold, strict=True):
        of[sample.project].add(int(fold))
    assert all(len(folds) == 1 for folds in of.values())


def test_a_project_held_out_by_file_has_no_map_that_did_not_see_it() -> None:
    made = fitted([*in_language("python", 500), *of_few_projects("go", 300)])
    with pytest.raises(FitError, match="project go 0 has a language that few projects have, which was held out by file"):
        made.kept_folds()


def test_one_file_of_a_language_tells_nothing_of_others() -> None:
    one = [structs.replace(sample, file="f") for sample in of_few_projects("go", 100)]
    found = fitted([*in_language("python", 500), *one]).calibrator
    assert found.status_in("go") == ("insufficient", "too few in go to tell: 100 samples of 1 file")


@pytest.mark.slow
def test_how_much_projects_differ_is_told_within_their_language() -> None:
    samples = [*in_language("python", 900, intercept=1.5), *in_language("go", 900, intercept=-2.0, seed=1)]
    assert fitted(samples).calibrator.between_group_sd < 0.3 < fit(samples, "exact_match", resamples=50).calibrator.between_group_sd


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"name": "java"}, "not each of fitted_on.languages"),
        ({"positives": 10_000}, "n: less than positives or groups"),
        ({"groups": 0}, "groups: Expected `int` >= 1"),
        ({"skill": {"value": 0.1, "low": 0.2, "high": 0.0}}, "low above high"),
        ({"status": "splendid"}, "status"),
    ],
)
def test_what_no_fit_writes_is_refused(made: Calibrator, tmp_path: Path, change: dict[str, object], reason: str) -> None:
    document = json.loads(json.dumps(as_json(made)))
    document["by_language"][0] |= change
    (tmp_path / "c.json").write_text(json.dumps(document))
    with pytest.raises(CalibratorError, match=reason):
        load(tmp_path / "c.json")
