"""The blocks of the pages: of what this checkout ships, of samples whose truth is known, and of what programs print."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs
from synthetic_samples import world

from assay.calibration.calibrator import load
from assay.calibration.fitting.fit import Fit, fit
from assay.calibration.held_out import FOLDER
from assay.calibration.metrics.intervals import Interval
from assay.calibration.report.report import report
from assay.calibration.samples import Sample, write_samples
from assay.calibration.validation import table
from assay.calibration.validation.figures import figure
from assay.calibration.validation.fresh import primary_of
from assay.calibration.validation.words import MEANINGS
from training.remake import alternatives, calibrators, results
from training.remake.calibrators import SHIPPED, TASKS
from training.remake.evidence import blocks_in

ROOT = Path(__file__).parents[3]


def rows_of(text: str) -> list[list[str]]:
    """The cells of a Markdown table's rows, its head first; every row has as many."""
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("|")]
    assert len({len(row) for row in rows}) == 1
    return [rows[0], *rows[2:]]


@pytest.mark.parametrize(
    ("block", "made"),
    [
        ("result", calibrators.exact_match),
        ("dial", calibrators.dial),
        ("languages", calibrators.languages),
        ("between-projects", calibrators.between_projects),
    ],
)
def test_the_page_says_of_the_shipped_calibrators_what_their_files_say(block: str, made: Any) -> None:
    shown = {each.name: each.content for each in blocks_in(ROOT, "docs/calibration.md")}
    assert shown[block] == made({"tree": ROOT})


@pytest.fixture(scope="module")
def made() -> Fit:
    return fit(world(400, projects=8)[0], "exact_match", ("total_logprob", "length"), resamples=50)


@pytest.fixture
def reports(made: Fit, tmp_path: Path) -> Mapping[str, Path]:
    """Folders of steps, of which a report of each task is the same."""
    document = json.loads(report([made], tmp_path / "made").document)
    for task in TASKS:
        (tmp_path / task).mkdir()
        (tmp_path / task / "report.json").write_text(json.dumps(document))
    return {"exact_match/report": tmp_path}


def test_the_sentence_under_before_and_after_follows_from_the_table(reports: Mapping[str, Path]) -> None:
    for task, low, p in (("line", 0.05, 0.04), ("line_rest", -0.05, 0.06), ("line_middle", -0.05, 0.06)):
        path = reports["exact_match/report"] / task / "report.json"
        document = json.loads(path.read_text())
        found = document["reports"][0]
        found["difference"]["skill"] = {"value": 0.1, "low": low, "high": 0.2}
        found["before"]["kuiper"]["p_value"], found["after"]["kuiper"]["p_value"] = p, 0.5
        path.write_text(json.dumps(document))
    said = " ".join(calibrators.before_and_after(reports).split("\n\n")[-1].split())
    assert "skill is higher by more than noise for `line`." in said
    assert "for `line` before, and for none after" in said


def test_how_often_what_is_written_is_not_shown(tmp_path: Path) -> None:
    made = [
        {"id": "1", "task": "line", "text": "a", "inserted": "a"},
        {"id": "3", "task": "line", "text": "c)", "inserted": "c"},
        {"id": "4", "task": "line", "text": "d", "inserted": None},
        {"id": "5", "task": "line", "text": " ", "inserted": None},
        {"id": "6", "task": "line_rest", "text": "e", "inserted": "e"},
        {"id": "1", "task": "line", "text": "f", "inserted": None, "arm": "no_suffix"},
    ]
    labelled = [one | {"labels": {"exact_match": one["id"] == "4"}} for one in made]
    (tmp_path / "projects").mkdir()
    (tmp_path / "projects" / "generations.jsonl").write_text("".join(json.dumps(one) + "\n" for one in labelled))
    _, line, rest, middle = rows_of(calibrators.hidden({"exact_match/complete": tmp_path}))
    assert line[:2] == ["`line`", "3"]
    assert line[2].startswith("1, 33.3% (")
    assert (line[3], line[4].split(",")[0]) == ("1", "1")
    assert rest[1:3] == ["1", "0, 0.0% (0.0% to 79.3%)"]
    assert middle[1:] == ["0", "0", "0", "0"]


def drawn(count: int, task: str) -> list[Sample]:
    """Two alternatives at each place. Of lines alone the second is right as often as its log-probability says, else never."""
    found = list[Sample]()
    for one, two in zip(*(world(count, projects=6, seed=seed)[0] for seed in (0, 1)), strict=True):
        labels = two.labels if task == "line" else {**two.labels, "exact_match": False}
        other = structs.replace(two, id=f"{two.id}-2", rank=2, project=one.project, labels=labels)
        found += [one, other]
    return [structs.replace(each, task=task, alternatives=2, measures=each.measures | {"agreement": -0.1 * each.rank}) for each in found]


@pytest.mark.slow
def test_a_map_of_all_alternatives_is_shipped_only_where_the_rule_allows_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(alternatives, "FREE", ("total_logprob", "length", "agreement"))
    run, shipped = tmp_path / "alternatives", tmp_path / SHIPPED
    for task in TASKS:
        write_samples(run / "samples" / f"{task}.jsonl", drawn(300, task))
    reasons = {found.task: alternatives.why_not(found) for found in alternatives.drawn(run)}
    assert not reasons["line"]
    assert "refuted" in reasons["line_rest"] or "no skill" in reasons["line_rest"]
    assert alternatives.ship(run, shipped) == 0
    assert [path.name for path in shipped.glob("*.json")] == ["exact_match-line-alternatives.json"]
    assert load(shipped / "exact_match-line-alternatives.json").fitted_on.alternatives == 2
    assert len(list((shipped / FOLDER).iterdir())) == 1
    (shipped / "exact_match-line-alternatives.json").rename(shipped / "exact_match-line_rest-alternatives.json")
    assert alternatives.ship(run, shipped) == 0
    assert not (shipped / "exact_match-line_rest-alternatives.json").exists()
    at = {"exact_match/complete_several": tmp_path}
    assert alternatives.are_shipped(at).splitlines()[0] == "* `line`: shipped."


PRINTED = """Assay completes its example files.

1/2 a.py:7 the end of a line
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


def test_the_recording_has_the_place_it_always_has_and_no_other() -> None:
    assert results.excerpt(PRINTED, "b.py:9") == (
        "```\n$ make demo\nAssay completes its example files.\n\n2/2 b.py:9 the end of a line\n    9  y = «[\n   10      1]»\n"
        "       ◇ unlikely 1-4 % exact match  the author wrote: 1  94 ms\n…\n1 of 2 places exactly as the author wrote them\n"
        "80 ms for a suggestion\n```"
    )
    with pytest.raises(ValueError, match=r"no c\.py:1"):
        results.excerpt(PRINTED, "c.py:1")


def test_the_first_table_has_the_primary_figures_of_each_calibrator_and_whether_its_number_is_shown(made: Fit) -> None:
    empty = table.empty(made.calibrator)
    k1 = figure("K1", Interval(0.2, 0.1, 0.3), 400, 8, "project", "> 0")
    f2 = figure("F2", Interval(0.4, 0.3, 0.45), 400, 8, "project", "> 0.5")
    good = table.merged(empty, table.rows_of((k1,), "calibration", "projects", "0" * 64))
    k2 = figure("K2", Interval(0.01, 0.0, 0.02), 400, 8, "project")
    bad = table.merged(good, table.rows_of((k2, f2), "counterfeit", "counterfeit", "0" * 64))
    text = results.of_primary({"good": good, "bad": bad})
    assert all(f"* **{id}.** " in text for id in primary_of("tests_pass"))
    assert "Of 8 primary figures of 2 calibrators: 2 hold, 1 refuted, 1 cross-validated alone, 4 not run." in " ".join(text.split())
    assert f"* `bad`: {MEANINGS['F2'].refuted}" in " ".join(text.split())
    n, no, not_run = "n = 400 of 8 projects", "not applicable", "not run"
    holds = f"**holds** 0.200 (0.100 to 0.300), {n}"
    bad_cells = [f"**reported** 0.010 (0.000 to 0.020), {n}", f"**refuted** 0.400 (0.300 to 0.450), {n}"]
    assert rows_of(text)[1:] == [
        ["`good`", holds, *[not_run] * 3, no, "shown"],
        ["`bad`", holds, *bad_cells, not_run, no, "not shown"],
    ]


def claims(folder: Path, *verdicts: str) -> None:
    found = [{"claim": "c", "paper": "p", "rule": "r", "verdict": each, "ours": "0.1" * (each != "not run")} for each in verdicts]
    (folder / "report").mkdir(parents=True)
    (folder / "report" / "report.json").write_text(json.dumps({"claims": found}))


def test_a_claim_has_the_verdict_of_each_run(tmp_path: Path) -> None:
    runs = {"exact_match/complete": "projects", "tests_pass/complete": "suites"}
    verdicts = (("refuted", "confirmed"), ("not run", "undecided"))
    for name, each in zip(runs.values(), verdicts, strict=True):
        claims(tmp_path / name, *each)
    at = dict.fromkeys(runs, tmp_path)
    said, *_ = results.claims(at).split("\n\n")
    assert " ".join(said.split()) == (
        "Of 2 claims, 30 projects, exact match: 1 confirmed, 1 refuted; 20 projects, their tests: 1 undecided, 1 not run."
    )
    assert [row[2:] for row in rows_of(results.claims(at))[1:]] == [
        ["**refuted**: 0.1", "**not run**"],
        ["**confirmed**: 0.1", "**undecided**: 0.1"],
    ]
    said, text = results.claims_of_lines(at, "exact_match/complete", "projects").split("\n\n")
    assert said == "Of 2 claims, lines of 20 projects: 1 confirmed, 1 refuted."
    assert rows_of(text)[1] == ["c (r)", "p", "**refuted**: 0.1"]
