"""The report on a project: what it says of calibrators and counts, from records as a run leaves them."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from synthetic_samples import world

from assay.calibration.calibrator import Calibrator
from assay.calibration.fitting.fit import fit
from assay.calibration.fitting.project_fit import ProjectFit, fit_project
from assay.offline_eval.repository.report import write_report
from assay.offline_eval.repository.suite import Suite

SUITE = Suite(tests=3, flaky=0, files=2, covered_lines=11, seconds=0.5)


@pytest.fixture(scope="module")
def parent() -> Calibrator:
    return fit(world(1500, projects=12)[0], "exact_match", kind="platt", resamples=50).calibrator


def mine(parent: Calibrator | None, n: int = 60, slope: float = 0.7) -> ProjectFit:
    return fit_project(world(n, projects=1, slope=slope, seed=1)[0], "exact_match", parent, resamples=50)


def written(out: Path, owns: list[ProjectFit], records: list[dict[str, Any]] | None = None, suite: Suite = SUITE) -> str:
    """The report as Markdown, without its escapes."""
    write_report(out, "shop: its own calibrators", ["model tiny"], suite, records or [], owns, [])
    return re.sub(r"\\(.)", r"\1", (out / "report.md").read_text())


def table(text: str, column: str) -> list[dict[str, str]]:
    """The rows of the table that has this column."""
    lines = text.splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("|") and f"| {column} |" in line)
    names = [cell.strip() for cell in lines[at].split("|")[1:-1]]
    rows = []
    for line in lines[at + 2 :]:
        if not line.startswith("|"):
            break
        rows.append(dict(zip(names, (cell.strip() for cell in line.split("|")[1:-1]), strict=True)))
    return rows


@pytest.mark.slow
def test_a_moved_map_is_told_from_the_one_it_came_from_and_both_by_name(parent: Calibrator, tmp_path: Path) -> None:
    own = mine(parent)
    assert own.gain
    text = written(tmp_path, [own])
    (row,) = table(text, "moved from")
    assert row["moved from"] == f"exact_match-line, n = 1,500 ({parent.id})"
    assert row["log loss, map of other projects"] == f"{own.gain.parent_log_loss:.3f}"
    assert row["log loss, this map"] == f"{own.gain.own_log_loss:.3f}"
    assert f"* moved from exact_match-line, n = 1,500 ({parent.id}), toward these samples; platt: log odds = " in text
    (row,) = table(written(tmp_path, [replace(own, gain=replace(own.gain, gain=-0.0001, low=-0.002, high=0.0001))]), "gain")
    assert row["gain"] == "+0.000 (-0.002 to +0.000)", "what rounds to nothing has no sign of a loss"
    alone = written(tmp_path, [mine(None)])
    (row,) = table(alone, "moved from")
    assert (row["moved from"], row["log loss, map of other projects"]) == ("nothing: fitted alone", "")
    assert "toward these samples" not in alone


@pytest.mark.slow
def test_a_calibrator_without_enough_samples_is_told_in_short(parent: Calibrator, tmp_path: Path) -> None:
    few, enough = mine(parent, n=8), mine(parent, n=900)
    text = written(tmp_path / "few", [few])
    assert f"**insufficient:** {few.fit.calibrator.reason}." in text
    assert "8 samples" in text
    for part in ("### Evidence", "### The dial", "### The map", ".svg"):
        assert part not in text
        assert part in written(tmp_path / "enough", [enough])


def place(*answers: dict[str, Any]) -> dict[str, Any]:
    return {"deletion": "seen", "file": "shop/sums.py", "statement": "return", "generations": list(answers)}


def answered(number: int, text: str, exact: bool, passes: bool | None, way: str) -> dict[str, Any]:
    timings, labels = {"total_ms": 250.0}, {"exact_match": exact, "tests_pass": passes}
    tests = {"tests_run": 0 if way == "none" else 2, "tests_s": 0.5, "way": way}
    return {"id": f"a{number}", "task": "line", "inserted": text or None, "labels": labels, "timings": timings, **tests}


def test_every_suggestion_that_was_asked_for_is_accounted_for(tmp_path: Path) -> None:
    kinds = [
        ("x", True, True, "none", 4),
        ("", False, None, "none", 3),
        ("x (", False, False, "none", 2),
        ("x", False, None, "none", 1),
        ("y", False, True, "warm", 6),
        ("y", False, False, "process", 5),
        ("y", False, False, "whole", 1),
    ]
    records = [place(answered(i, text, exact, passes, way)) for text, exact, passes, way, n in kinds for i in range(n)]
    text = written(tmp_path, [], records)
    assert (
        "* 22 suggestions asked for: tests are run of 12 (6 in a warm process, 5 in a process of their own, 1 with the whole suite); "
        "no tests of 10 (4 that are what is there already, 3 with nothing to insert, 2 that do not parse, 1 that the tests can't judge)\n"
    ) in text
    assert "* a suggestion takes 0.25 s to make and 0.50 s to test, by the median" in text
    found = json.loads((tmp_path / "report.json").read_text())
    assert sum(found["ways"].values()) + sum(found["not_run"].values()) == 22
    assert found["deletion"]["filtered"]["low"] == 0
