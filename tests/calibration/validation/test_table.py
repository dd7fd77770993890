"""The file of a validation table, and what it says in words."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from synthetic_samples import MODEL, PROMPT

from assay.calibration.metrics.intervals import Interval
from assay.calibration.validation.figures import figure, not_run
from assay.calibration.validation.fresh import primary_of
from assay.calibration.validation.table import Row, Validation, ValidationError, load, merged, rows_of, save
from assay.calibration.validation.words import MEANINGS, refuted, summary

ID = "a" * 16
EMPTY = Validation(ID, "tests_pass", "line", MODEL, PROMPT, ())
RUN = ("run-1", "b" * 64)


def row(id: str, value: float, claim: str = "> 0", *, study: str = "calibration") -> Row:
    """A row of 20 projects: above 0.1 "> 0" holds, below -0.1 it is refuted."""
    return rows_of([figure(id, Interval(value, value - 0.1, value + 0.1), 400, 20, "project", claim)], study, *RUN)[0]


_number = st.floats(-10, 10)
_rows = st.builds(
    lambda id, value, half, n, groups, claim, note, run: rows_of(
        [figure(id, Interval(value, value - half, value + half), n + groups, groups, "project", claim, note)], "calibration", run, RUN[1]
    )[0],
    st.from_regex(r"[A-Z][0-9]{1,3}(\.[a-z_]{1,40})?", fullmatch=True),
    _number,
    st.floats(0, 10),
    st.integers(0, 10**6),
    st.integers(0, 100),
    st.sampled_from(("", "> 0", "<= 0.05", "within ±0.05", "reaches 0.95", "not below 0")),
    st.text(),
    st.text(),
)


@given(st.lists(_rows, max_size=8, unique_by=lambda row: row.id))
def test_what_was_written_is_read_again(tmp_path_factory: pytest.TempPathFactory, rows: list[Row]) -> None:
    path = tmp_path_factory.mktemp("t") / "validation" / f"{ID}.json"
    table = replace(EMPTY, figures=tuple(rows))
    save(table, path)
    assert load(path) == table


@pytest.fixture
def document() -> dict[str, Any]:
    table = replace(EMPTY, figures=(row("K1", 0.2), *rows_of([not_run("K8", "> 0", "none")], "calibration", *RUN)))
    return {"schema": "assay/validation/1", **json.loads(json.dumps(asdict(table)))}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda d: d.update(schema="assay/validation/9"), "schema: 'assay/validation/9', this version of Assay reads"),
        (lambda d: d.update(more=1), "more: unknown field"),
        (lambda d: d.update(calibrator="b" * 16), "calibrator: bbbbbbbbbbbbbbbb, and the file has the name of aaaaaaaaaaaaaaaa"),
        (lambda d: d.update(event="correct"), "event: 'correct' is none of"),
        (lambda d: d["figures"].append(d["figures"][0]), "figures: an id is there twice"),
        (lambda d: d["figures"][0].update(id="<img>"), "figures: the id '<img>' is none such as"),
        (lambda d: d["figures"][0].update(run_sha256="0"), "figures[0].run_sha256: Expected 64 lower-case hex digits"),
        (lambda d: d["figures"][0].update(low=-0.2), "figures.K1.reading: 'holds', but its numbers and its claim say 'undecided'"),
    ],
)
def test_what_no_table_has_is_refused_with_its_place(document: dict[str, Any], tmp_path: Path, change: Any, said: str) -> None:
    change(document)
    path = tmp_path / f"{ID}.json"
    path.write_text(json.dumps(document))
    with pytest.raises(ValidationError) as error:
        load(path)
    assert f"{path}: {said}" in str(error.value)


@pytest.mark.parametrize(
    ("content", "said"), [(b"{", ":1: not JSON"), (b"[]", "is a JSON object"), (b"\xff", "not UTF-8"), (b"[" * 99999, "deep")]
)
def test_what_is_no_json_is_refused(tmp_path: Path, content: bytes, said: str) -> None:
    (tmp_path / f"{ID}.json").write_bytes(content)
    with pytest.raises(ValidationError, match=said):
        load(tmp_path / f"{ID}.json")
    with pytest.raises(ValidationError, match="No such file"):
        load(tmp_path / "other.json")


def test_another_study_adds_its_figures_and_leaves_the_others() -> None:
    before = merged(EMPTY, [row("K2", 0.2), row("K1", 0.2)])
    after = merged(before, [row("F2", 0.3, study="counterfeit")])
    assert [figure.id for figure in after.figures] == ["F2", "K1", "K2"]
    assert set(before.figures) < set(after.figures)


def test_the_same_figure_is_replaced_unless_the_new_one_was_not_run() -> None:
    before = merged(EMPTY, [row("K1", 0.2), row("K2", 0.2)])
    after = merged(before, [row("K1", -0.2), *rows_of([not_run("K2", "> 0", "no samples")], "calibration", *RUN)])
    assert [figure.reading for figure in after.figures] == ["refuted", "holds"]


def test_the_primary_figures_are_counted_in_one_line_and_no_other_upgrades_it() -> None:
    assert summary(EMPTY) == "validated: 0 of 5 hold, 5 not run"
    primary = [row("K1", 0.2), row("K2", 0.2), row("F2", 0.2), row("M1", 0.2), row("M3", 0.05)]
    assert summary(merged(EMPTY, primary)) == "validated: 4 of 5 hold, 1 undecided"
    secondary = [row(id, 0.2) for id in ("K3", "K6", "K8", "F1")]
    assert summary(merged(merged(EMPTY, primary), secondary)) == "validated: 4 of 5 hold, 1 undecided"
    refuted_one = [*primary[:3], row("M1", -0.2), row("M3", 0.05)]
    assert summary(replace(EMPTY, event="exact_match")) == "validated: 0 of 4 hold, 4 not run"
    assert summary(merged(EMPTY, refuted_one)) == "validated: 3 of 5 hold, 1 refuted, 1 undecided"


def test_what_is_refuted_is_said_in_a_sentence_the_primary_ones_first() -> None:
    table = merged(EMPTY, [row("K3", -0.2), row("K1", -0.2), row("K8", -0.2), row("M3", -0.3), row("K2", 0.2), row("X1", -0.2)])
    assert refuted(table) == [MEANINGS["K1"].refuted, MEANINGS["M3"].refuted, MEANINGS["K3"].refuted, "X1 (> 0) is refuted."]
    assert all(MEANINGS[id].refuted for id in primary_of("tests_pass"))


def test_a_primary_figure_without_a_claim_is_counted_as_cross_validated() -> None:
    of = figure("K1", Interval(0.2, 0.1, 0.3), 100, 10, "project", "")
    assert summary(merged(EMPTY, rows_of([of], "calibration", *RUN))) == "validated: 0 of 5 hold, 1 cross-validated alone, 4 not run"


def test_fresh_projects_count_once_and_cross_validation_does_not_replace_them() -> None:
    k1 = figure("K1", Interval(-0.2, -0.3, -0.1), 400, 20, "project", "> 0")
    fresh = rows_of([k1], "calibration", *RUN, "2026-11-29")
    before = merged(EMPTY, fresh)
    assert merged(before, fresh) == merged(before, [row("K1", 0.2)]) == before
    with pytest.raises(ValueError, match=r"the fresh projects of 2026-11-29 were run for it before \(run-1\), and count once"):
        merged(before, rows_of([k1], "calibration", "run-2", "c" * 64, "2026-11-29"))
