"""The maps that did not see a project: exactly those of the evidence, and a file that is read strictly."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs
from synthetic_samples import sample, world

from assay.calibration.calibrator import save
from assay.calibration.calibrator_files import look
from assay.calibration.confidence import confidence
from assay.calibration.fitting.fit import Fit, FitError, fit
from assay.calibration.held_out import (
    FOLDER,
    FoldsError,
    folds_path,
    held_out,
    load_folds,
    remove_folds,
    save_folds,
)
from assay.calibration.registry import read_registry
from assay.calibration.samples import Sample


def worlds(n: int = 240) -> list[Sample]:
    """Samples with three measures, and of one language of two all as they should be."""
    return [
        structs.replace(
            one,
            language=("python", "java")[number % 2],
            labels={"exact_match": one.labels["exact_match"] or number % 2 == 0},
            measures={**one.measures, "min_logprob": 0.4 * one.measures["total_logprob"] - 0.01 * (number % 17)},
        )
        for number, one in enumerate(world(n, between=0.5)[0])
    ]


@pytest.fixture(scope="module")
def made() -> Fit:
    return fit(worlds(), "exact_match", ["total_logprob", "min_logprob", "length"], resamples=20)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "features", "levels"),
    [
        ("auto", ["total_logprob", "min_logprob", "length"], ()),
        ("platt", ["total_logprob"], ("language",)),
        ("beta", ["total_logprob"], ()),
        ("isotonic", ["total_logprob"], ()),
        ("venn_abers", ["total_logprob"], ()),
    ],
)
def test_a_sample_of_the_fit_has_the_number_of_the_evidence(tmp_path: Path, kind: str, features: list[str], levels: Sequence[Any]) -> None:
    found = fit(worlds(), "exact_match", features, kind=kind, levels=levels, resamples=20)
    save_folds(found.kept_folds(), tmp_path / "f.json")
    probability = held_out(found.calibrator, load_folds(tmp_path / "f.json"))
    assert [probability(one) for one in found.samples] == found.held_out.tolist()
    assert all(bool(fold.children) == bool(levels) for fold in found.fold_maps)


def test_more_samples_of_a_project_are_judged_by_a_map_that_its_own_labels_do_not_change() -> None:
    def said(samples: list[Sample]) -> list[float | None]:
        found = fit(samples, "exact_match", kind="platt", resamples=20)
        probability = held_out(found.calibrator, found.kept_folds())
        return [probability(structs.replace(one, id=f"more-{one.id}")) for one in worlds(80) if one.project == "p3"]

    flipped = [structs.replace(s, labels={"exact_match": not s.labels["exact_match"]}) if s.project == "p3" else s for s in worlds()]
    assert said(flipped) == said(worlds()) != []
    assert None not in said(worlds())


def test_of_a_project_that_was_not_seen_the_calibrator_itself_speaks(made: Fit) -> None:
    probability = held_out(made.calibrator, made.kept_folds())
    # Of some languages there are too few samples for a number to be shown.
    calibrator = replace(made.calibrator, status="informative", by_language=())
    for one in worlds(40):
        new = structs.replace(one, project="new")
        shown = confidence(calibrator, new.measures, {"language": new.language})
        assert probability(new) == pytest.approx(shown.probability, abs=1e-12)


@pytest.mark.parametrize("project", ["p1", "new"])
def test_a_missing_measure_has_no_probability_and_one_worse_than_all_of_the_fit_the_lowest(made: Fit, project: str) -> None:
    probability = held_out(made.calibrator, made.kept_folds())
    without = sample(1, project=project, length=3.0)
    outside = sample(1, project=project, total_logprob=-1e6, min_logprob=-1.0, length=3.0)
    assert probability(without) is None
    lowest = probability(outside)
    assert lowest is not None
    assert 0 < lowest < 0.01, "as in an editor"
    if project == "new":
        assert lowest == made.calibrator.bound


def test_folds_of_another_calibrator_are_refused(made: Fit) -> None:
    other = replace(made.calibrator, reason="another")
    with pytest.raises(FoldsError, match=rf"folds are of calibrator {made.calibrator.id}, not of {other.id}: fit it again .*--keep-folds"):
        held_out(other, made.kept_folds())


def test_no_folds_are_kept_where_each_map_has_seen_something_of_every_project() -> None:
    found = fit(world(300, projects=3)[0], "exact_match", resamples=20)
    with pytest.raises(FitError, match="held out by file, each map has seen something of every project; samples of 5 projects"):
        found.kept_folds()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"schema": "assay/folds/2"}, "schema: 'assay/folds/2', this version of Assay reads 'assay/folds/1'; another version wrote"),
        ({"calibrator": "F" * 16}, "calibrator: Expected 16 lower-case hex digits"),
        ({"measures": ["total_logprob", "min_logprob", "luck"]}, "measures: unknown measure in total_logprob, min_logprob, luck"),
        ({"levels": ["user", "language"]}, "levels: not of language, project, user in this order"),
        ({"groups": [{"name": "p1", "fold": i} for i in range(5)]}, "groups: a name is there twice"),
        ({"ranges": [[-50, 1], [-50, 0], [0, 50]]}, "ranges: "),
    ],
)
def test_what_does_not_fit_is_refused_with_file_field_and_reason(made: Fit, tmp_path: Path, change: dict[str, Any], reason: str) -> None:
    path = tmp_path / "f.json"
    save_folds(made.kept_folds(), path)
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(FoldsError, match=f"^{path}: .*{reason}"):
        load_folds(path)


def test_registry_and_watch_read_calibrators_and_no_folds_beside_them(made: Fit, tmp_path: Path) -> None:
    save(made.calibrator, tmp_path / "c.json")
    save_folds(made.kept_folds(), folds_path(made.calibrator, tmp_path / "c.json"))
    registry = read_registry([("user", tmp_path)])
    assert ([entry.path for entry in registry.entries], registry.skipped) == ([tmp_path / "c.json"], ())
    assert list(look([("user", tmp_path)], {})) == [tmp_path / "c.json"]


def test_folds_go_with_their_calibrator_and_nothing_else_does(made: Fit, tmp_path: Path) -> None:
    other = replace(made.calibrator, reason="another")
    save(made.calibrator, tmp_path / "c.json")
    for one in (made.calibrator, other):
        save_folds(replace(made.kept_folds(), calibrator=one.id), folds_path(one, tmp_path / "c.json"))
    remove_folds(tmp_path / "c.json")
    assert [path.stem for path in (tmp_path / FOLDER).iterdir()] == [other.id]
    remove_folds(tmp_path / "none.json")
