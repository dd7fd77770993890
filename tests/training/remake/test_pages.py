"""The pages' tables, from a report of samples whose truth is known and from what programs print."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec import structs
from synthetic_samples import world

from assay.calibration.calibrator import as_json, load, save
from assay.calibration.fitting.fit import Fit, fit
from assay.calibration.held_out import folds_path, save_folds
from assay.calibration.metrics.intervals import Interval
from assay.calibration.report.report import report
from assay.calibration.samples import write_samples
from assay.calibration.validation import table
from assay.calibration.validation.figures import figure
from assay.calibration.validation.sentences import SENTENCES
from assay.calibration.validation.words import PRIMARY
from training.remake.pages import exact_match, measures, memory, tests_pass, validation
from training.remake.pages.pasted import sections
from training.remake.pages.recording import excerpt
from training.remake.ship import ship
from training.remake.validated import validate

pytestmark = pytest.mark.slow


def rows_of(text: str) -> list[list[str]]:
    """The cells of a Markdown table's rows, its head first; every row has as many."""
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("|")]
    assert len({len(row) for row in rows}) == 1
    return [rows[0], *rows[2:]]


@pytest.fixture(scope="module")
def made() -> Fit:
    return fit(world(400, projects=8)[0], "exact_match", ("total_logprob", "length"), resamples=50)


@pytest.fixture(scope="module")
def reports(made: Fit, tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    document = json.loads(report([made], tmp_path_factory.mktemp("report")).document)
    return dict.fromkeys(("line", "line_rest"), document["reports"][0])


def test_the_result_has_a_row_for_each_task_with_the_evidence_of_its_calibrator(made: Fit, reports: dict[str, dict[str, Any]]) -> None:
    text = exact_match.result(reports, 150)
    assert "of at most 150 functions of each project" in text
    head, *rows = rows_of(text)
    evidence = made.calibrator.evidence
    assert [row[0] for row in rows] == ["`line`", "`line_rest`"]
    assert rows[0][head.index("n")] == "400"
    assert evidence.skill is not None
    assert rows[0][head.index("skill score")].startswith(f"{evidence.skill.value:.3f} (")
    assert rows[0][head.index("status")] == made.calibrator.status
    assert "![Reliability of line_rest](calibration/line_rest/reliability-exact_match.svg)" in text


def test_the_sentence_under_before_and_after_follows_from_the_table(reports: dict[str, dict[str, Any]]) -> None:
    better = json.loads(json.dumps(reports))
    better["line"]["difference"]["skill"] = {"value": 0.1, "low": 0.05, "high": 0.2}
    better["line_rest"]["difference"]["skill"] = {"value": 0.1, "low": -0.05, "high": 0.2}
    for report_, p in (("line", 0.04), ("line_rest", 0.06)):
        better[report_]["before"]["kuiper"]["p_value"] = p
        better[report_]["after"]["kuiper"]["p_value"] = 0.5
    said = " ".join(exact_match.before_and_after(better).split("\n\n")[-1].split())
    assert "skill is higher by more than noise for `line`." in said
    assert "for `line` before, and for none after" in said


def test_the_other_tables_of_a_report(made: Fit, reports: dict[str, dict[str, Any]]) -> None:
    assert rows_of(exact_match.dial(reports))[0][1:] == ["at least 10 %", "30 %", "50 %", "70 %", "80 %", "90 %"]
    assert len(rows_of(exact_match.between_projects(reports))) == 3
    assert (
        made.calibrator.map.kind
        in rows_of(tests_pass.calibrators({"line": json.loads(msgspec.json.encode(as_json(made.calibrator)))}))[1][1]
    )


def test_each_measure_is_fitted_alone_and_all_together_are_compared_with_the_first() -> None:
    samples = {"line": world(300, projects=6)[0]}
    one, _, compared = measures.one_by_one(samples).split("\n\n")
    assert [row[0] for row in rows_of(one)[1:]] == ["`total_logprob`", "`length`"]
    assert re.match(r"[+-]0\.\d{4} \(", rows_of(compared)[1][3])
    assert rows_of(measures.levels(samples))[1][-1] in {"kept", "left out"}


def test_what_a_memory_brings_is_told_of_each_scope_with_calibrators_of_the_whole_projects() -> None:
    whole = world(400, projects=6)[0]
    # Of the file alone half as much is right, and nothing in the measures says so.
    fewer = [structs.replace(s, labels={**s.labels, "exact_match": s.labels["exact_match"] and i % 2 == 0}) for i, s in enumerate(whole)]
    _, *rows = rows_of(memory.memory({"line": {"off": fewer, "file": fewer, "project": whole}}))
    assert [row[:3] for row in rows] == [["`line`", f"`{scope}`", "400"] for scope in ("off", "file", "project")]
    error = {row[1]: float(row[-1].split()[0]) for row in rows}
    assert error["`file`"] > 2 * max(error["`off`"], error["`project`"])


def test_how_often_what_is_written_is_not_shown(tmp_path: Path) -> None:
    made = [
        {"id": "1", "task": "line", "text": "a", "inserted": "a"},
        {"id": "2", "task": "line", "text": "b  ", "inserted": "b"},
        {"id": "3", "task": "line", "text": "c)", "inserted": "c"},
        {"id": "4", "task": "line", "text": "d", "inserted": None},
        {"id": "5", "task": "line", "text": " ", "inserted": None},
        {"id": "6", "task": "line_rest", "text": "e", "inserted": "e"},
        {"id": "1", "task": "line", "text": "f", "inserted": None, "arm": "no_suffix"},
    ]
    labelled = [one | {"labels": {"exact_match": one["id"] == "4"}} for one in made]
    (tmp_path / "generations.jsonl").write_text("".join(json.dumps(one) + "\n" for one in labelled))
    _, line, rest, middle = rows_of(exact_match.hidden(tmp_path))
    assert line[:2] == ["`line`", "4"]
    assert line[2].startswith("1, 25.0% (")
    assert (line[3], line[4].split(",")[0]) == ("1", "1")
    assert rest[1:3] == ["1", "0, 0.0% (0.0% to 79.3%)"]
    assert middle[1:] == ["0", "0", "0", "0"]


PRINTED = """Assay completes its example files.

1/2 a.py:7 the end of a line
    6  x = 1
    7  return «totals»
    8
       ◇ unlikely 25-44 % exact match  the author wrote: dict(totals)  94 ms

2/2 b.py:9 the end of a line
    9  y = «[
   10      1]»
   11
       ◇ unlikely 1-4 % exact match  the author wrote: 1  94 ms

1 of 2 places exactly as the author wrote them
80 ms for a suggestion
Evidence for line (informative): 10 lines
"""


def test_the_recording_has_the_places_it_always_has_and_no_others() -> None:
    short = excerpt(PRINTED, ("b.py:9",), lines_after=False, evidence=False)
    assert short == (
        "```\n$ make demo\nAssay completes its example files.\n\n2/2 b.py:9 the end of a line\n    9  y = «[\n   10      1]»\n"
        "       ◇ unlikely 1-4 % exact match  the author wrote: 1  94 ms\n…\n1 of 2 places exactly as the author wrote them\n"
        "80 ms for a suggestion\n```"
    )
    whole = excerpt(PRINTED, ("a.py:7",), lines_after=True, evidence=True)
    assert "    8\n" in whole
    assert whole.endswith("Evidence for line (informative): 10 lines\n```")
    with pytest.raises(ValueError, match=r"no c\.py:1"):
        excerpt(PRINTED, ("c.py:1",), lines_after=True, evidence=True)


def test_what_a_benchmark_prints_is_taken_apart_by_its_titles() -> None:
    assert sections("noise\n### One\n\n| a |\n\n### Two and more\n\ntext\n") == {"One": "| a |", "Two and more": "text"}


def test_a_calibrator_of_alternatives_that_may_not_be_shipped_is_not_and_an_older_one_goes(tmp_path: Path, made: Fit) -> None:
    fitted, shipped = tmp_path / "fitted", tmp_path / "tree" / "calibration" / "shipped"
    names = [f"exact_match-{task}{of}.json" for task in ("line", "line_rest") for of in ("", "-alternatives")]
    for folder, reason in ((fitted, "new"), (shipped, "old")):
        for name in (*names, "tests_pass-line.json"):
            save(replace(made.calibrator, reason=reason), folder / name)
    (fitted / "tests_pass-line.json").unlink()
    ship(tmp_path / "tree", fitted, {"line": "", "line_rest": "no skill is shown"})
    found = {path.name: load(path).reason for path in shipped.iterdir()}
    assert found == {
        **dict.fromkeys([name for name in names if name != "exact_match-line_rest-alternatives.json"], "new"),
        "tests_pass-line.json": "old",
    }


def test_a_shipped_calibrator_is_validated_by_each_run_and_by_the_last_where_both_say_something(tmp_path: Path) -> None:
    shipped = tmp_path / "tree" / "calibration" / "shipped"
    samples = world(300, projects=6)[0]
    found = fit(samples, "exact_match", resamples=50)
    save(found.calibrator, shipped / "exact_match-line.json")
    save_folds(found.kept_folds(), folds_path(found.calibrator, shipped / "exact_match-line.json"))
    tested = [structs.replace(s, id=f"t{s.id}", labels={**s.labels, "tests_pass": i % 3 > 0}) for i, s in enumerate(samples)]
    for run, those in (("suites", tested), ("projects", samples)):
        write_samples(tmp_path / run / "samples" / "line.jsonl", those)
    assert validate(tmp_path / "tree", "exact_match", [tmp_path / "suites", tmp_path / "projects"]) == 0
    rows = {row.id: row for row in table.load(table.path_of(found.calibrator, shipped / "exact_match-line.json")).figures}
    assert {id: row.run for id, row in rows.items() if row.reading != "not run"} == {
        **dict.fromkeys(("K1", "K2", "K3", "K4", "K6"), "projects"),
        **dict.fromkeys(("K5", "K5.mixed"), "suites"),
    }
    assert validate(tmp_path / "tree", "tests_pass", [tmp_path / "suites"]) == 0, "none is shipped"


def test_a_shipped_calibrator_has_a_row_for_each_figure_and_the_line_that_counts(made: Fit) -> None:
    how = "each project by the kept map that did not see it"
    k1 = figure("K1", Interval(0.2, 0.1, 0.3), 400, 8, "project", "> 0", how)
    k2 = figure("K2", Interval(0.04, 0.02, 0.07), 400, 8, "project", "<= 0.05", f"{how}; p = 0.2")
    rows = [*table.rows_of((k1, k2), "calibration", "projects", "0" * 64)]
    said, text = validation.shipped({"exact_match-line": table.merged(table.empty(made.calibrator), rows)}).split("\n\n")
    assert "`exact_match-line`: validated: 1 of 5 hold, 1 undecided, 3 not run." in " ".join(said.split())
    _, first, second, *others = rows_of(text)
    assert first == ["**K1**", SENTENCES["K1"], "0.200 (0.100 to 0.300)", "400", "8 projects", "> 0", "holds", ""]
    assert second[-1].startswith("p = 0.2; about ")
    assert [(row[0], row[6]) for row in others] == [(f"**{id}**", "not run") for id in ("F2", "M1", "M3")]


def test_the_first_table_has_the_primary_figures_of_each_calibrator_and_whether_its_number_is_shown(made: Fit) -> None:
    empty = table.empty(made.calibrator)
    k1 = figure("K1", Interval(0.2, 0.1, 0.3), 400, 8, "project", "> 0")
    m3 = figure("M3", Interval(-0.2, -0.3, -0.1), 400, 8, "project", "> 0")
    good = table.merged(empty, table.rows_of((k1,), "calibration", "projects", "0" * 64))
    m1 = figure("M1", Interval(0.01, 0.0, 0.02), 400, 8, "project")
    bad = table.merged(good, table.rows_of((m1, m3), "catcode", "catcode", "0" * 64))
    text = validation.primary({"good": good, "bad": bad})
    assert all(f"* **{id}.** " in text for id in PRIMARY)
    assert "Of 10 primary figures of 2 calibrators: 2 hold, 1 refuted, 1 reported without a claim, 6 not run." in " ".join(text.split())
    holds, not_run = "**holds** 0.200 (0.100 to 0.300)", "not run"
    assert rows_of(text)[1:] == [
        ["`good`", holds, *[not_run] * 4, "shown"],
        ["`bad`", holds, not_run, not_run, "**reported** 0.010 (0.000 to 0.020)", "**refuted** -0.200 (-0.300 to -0.100)", "not shown"],
    ]


def test_a_claim_has_the_verdict_of_each_run() -> None:
    def claims(*verdicts: str) -> list[dict[str, Any]]:
        return [{"claim": "c", "paper": "p", "rule": "r", "verdict": each, "ours": "0.1" * (each != "not run")} for each in verdicts]

    text = validation.claims(claims("refuted", "confirmed"), claims("not run", "undecided"))
    said, *_ = text.split("\n\n")
    assert " ".join(said.split()) == ("Of 2 claims, by exact match 1 confirmed, 1 refuted; by their tests 1 undecided, 1 not run.")
    assert [row[2:] for row in rows_of(text)[1:]] == [["**refuted**: 0.1", "**not run**"], ["**confirmed**: 0.1", "**undecided**: 0.1"]]


def test_the_claims_of_a_run_on_lines_have_one_column() -> None:
    claim = {"claim": "c", "paper": "p", "rule": "r", "verdict": "refuted", "ours": "0.1"}
    said, text = validation.claims_of_lines([claim]).split("\n\n")
    assert said == "Of 1 claims, 1 refuted."
    assert rows_of(text)[1] == ["c (r)", "p", "**refuted**: 0.1"]
