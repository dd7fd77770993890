"""What a run on a repository found: its calibrators, and how often each file and kind of statement comes out right.

report.md, report.html, report.json (schema assay/repository-report/1, docs/formats.md) and pictures, in the run's folder.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from ...calibration.bands import EVENT_WORDS
from ...calibration.calibrator import as_json
from ...calibration.evidence import why_undefined
from ...calibration.fitting.project_fit import ProjectFit
from ...calibration.metrics.bins import wilson
from ...calibration.project_folder import PROJECT_FOLDER
from ...calibration.registry import load_registry
from ...calibration.report.blocks import Block, Bullets, Heading, Paragraph, Table
from ...calibration.report.content import came_from, section, short_section
from ...calibration.report.measured import measured
from ...calibration.report.page import write_report_files
from ...calibration.report.plots import Picture, pictures
from ...calibration.report.report import summary
from ..own_code.project_calibrators import EVENTS, fitted, used, write
from ..progress import counted, to_stderr
from ..run import Run
from ..study import Results
from .suite import Suite, suite_of

SCHEMA = "assay/repository-report/1"
MAX_FILES = 30
_WAYS = {"warm": "in a warm process", "process": "in a process of their own", "whole": "with the whole suite"}
_NOT_RUN = {
    "exact": "that are what is there already",
    "empty": "with nothing to insert",
    "unparsed": "that do not parse",
    "unknown": "that the tests can't judge",
}


def write_results(run: Run, results: Results, *, project: Path | None, as_json: bool) -> None:
    """Fit calibrators to a run's samples and write the report. project: where the calibrators are written; None writes none.

    Raises RunError.
    """
    question, records = run.question(), results.answers
    owns, notes = fitted(results.samples, Path(question["folder"]))
    for own in owns:
        to_stderr(f"{own.fit.calibrator.task}: {summary(own.fit.calibrator)}")
    facts = [
        f"model {question['model_name'] or question['model']}, tests run by {question['interpreter']}, isolation {question['isolation']}"
    ]
    report = write_report(run.folder / "report", f"{question['project']}: its own calibrators", facts, suite_of(run), records, owns, notes)
    # last, so that whatever keeps them from being written keeps nothing else
    written = write(owns, project / PROJECT_FOLDER, notes) if project else []
    for note in notes:
        to_stderr(f"note: {note}")
    for path in report:
        if path.suffix == ".html":
            to_stderr(f"report: {path}")
    if project:
        registry = load_registry(project)
        for reason in registry.skipped:
            to_stderr(f"note: {reason}")
        prompts = {task: question["prompt_block" if task == "block" else "prompt"] for task in question["tasks"]}
        to_stderr(used(registry, question["model"], prompts))
    if as_json:
        document = {"run": str(run.folder), "samples": [str(p) for p in results.paths], "calibrators": [str(p) for p in written]}
        print(json.dumps({**document, "report": [str(p) for p in report], **summary_of(records)}))
    else:
        for path in written or results.paths:
            print(path)


def summary_of(records: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Counts of a run's places and answers: the deletion filter, and for each task the labels and the cross-table of the two events."""
    seen = Counter(record["deletion"] for record in records)
    known = seen["seen"] + seen["unseen"]
    answers = [made for record in records for made in record["generations"]]
    tasks = {}
    for task in sorted({made["task"] for made in answers}):
        shown = [made for made in answers if made["task"] == task and made["inserted"] is not None]
        cross = Counter((made["labels"]["exact_match"], made["labels"]["tests_pass"]) for made in shown)
        tasks[task] = {
            "asked": sum(made["task"] == task for made in answers),
            "suggestions": len(shown),
            "exact_match": _rate(made["labels"]["exact_match"] for made in shown),
            "tests_pass": _rate(made["labels"]["tests_pass"] for made in shown),
            "exact_and_pass": cross[True, True],
            "exact_and_fail": cross[True, False],
            "other_and_pass": cross[False, True],
            "other_and_fail": cross[False, False],
            "other_and_unknown": cross[False, None] + cross[True, None],
        }
    run = [made["tests_s"] for made in answers if made["tests_run"]]
    return {
        "places": len(records),
        "deletion": {
            "seen": seen["seen"],
            "unseen": seen["unseen"],
            "unknown": seen["unknown"],
            "filtered": _share(seen["unseen"], known),
        },
        "ways": dict(Counter(made["way"] for made in answers if made["way"] != "none")),
        "not_run": dict(Counter(map(_why_not_run, (made for made in answers if made["way"] == "none")))),
        "seconds": {
            "generation_median": median(found) if (found := [made["timings"]["total_ms"] / 1e3 for made in answers]) else None,
            "verdict_median": median(run) if run else None,
        },
        "tasks": tasks,
    }


def _why_not_run(made: dict[str, Any]) -> str:
    if made["labels"]["exact_match"]:
        return "exact"
    if made["inserted"] is None:
        return "empty"
    return "unknown" if made["labels"]["tests_pass"] is None else "unparsed"


def _share(count: int, n: int) -> dict[str, Any]:
    low, high = wilson(count, n) if n else (None, None)
    return {"value": count / n if n else None, "low": low, "high": high}


def _rate(labels: Iterable[bool | None]) -> dict[str, Any]:
    known = [label for label in labels if label is not None]
    return {"n": len(known), "positives": sum(known), **_share(sum(known), len(known))}


def rates_by(field: str, records: Sequence[dict[str, Any]], said: Mapping[tuple[str, str], float]) -> Iterator[dict[str, Any]]:
    """Rates of both events by a field of the records ("file", "statement"), all tasks together, those with most labels first.

    said: probability by event and sample. A row's is the mean held-out probability, where a calibrator was fitted.
    """
    for event in EVENTS:
        groups: dict[str, list[tuple[bool, float | None]]] = {}
        for record in records:
            for made in record["generations"]:
                if made["inserted"] is not None and made["labels"][event] is not None:
                    groups.setdefault(record[field], []).append((made["labels"][event], said.get((event, made["id"]))))
        for name, found in sorted(groups.items(), key=lambda group: (-len(group[1]), group[0])):
            told = [p for _, p in found if p is not None]
            mean = float(np.mean(told)) if len(told) == len(found) else None
            yield {"name": name, "event": event, **_rate(label for label, _ in found), "said": mean}


def write_report(
    out: Path,
    title: str,
    facts: Sequence[str],
    suite: Suite,
    records: Sequence[dict[str, Any]],
    owns: Sequence[ProjectFit],
    notes: Sequence[str],
) -> tuple[Path, ...]:
    """Write the report into the folder `out` and give its files."""
    found = summary_of(records)
    said = {
        (own.fit.calibrator.event, sample.id): float(p) for own in owns for sample, p in zip(own.fit.samples, own.fit.held_out, strict=True)
    }
    by_file, by_statement = (list(rates_by(field, records, said)) for field in ("file", "statement"))
    blocks: list[Block] = [Heading(1, title), Bullets((*facts, *_counted(found, suite), *notes))]
    drawn: list[Picture] = []
    if found["tasks"]:
        blocks += [Heading(2, "Suggestions"), _tasks(found["tasks"]), _cross(found["tasks"])]
    if owns:
        blocks += [Heading(2, "Calibrators"), _gains(owns)]
    for what, rows in (("kind of statement", by_statement), ("file", by_file)):
        if rows:
            blocks += [Heading(2, f"By {what}"), *_rates(what, rows)]
    for own in owns:
        if own.fit.calibrator.status == "insufficient":
            blocks += short_section(own.fit.calibrator)
            continue
        subject, task = measured(own.fit), own.fit.calibrator.task
        shown = [replace(picture, name=f"{picture.name}-{task}") for picture in pictures(subject)]
        blocks += section(subject, shown)
        drawn += shown
    document = {
        "schema": SCHEMA,
        "title": title,
        "suite": asdict(suite),
        **found,
        "by_file": by_file,
        "by_statement": by_statement,
        "calibrators": [_own_json(own) for own in owns],
        "notes": list(notes),
    }
    return write_report_files(out, title, blocks, drawn, {"report.json": json.dumps(document, indent=1, allow_nan=False) + "\n"})


def _own_json(own: ProjectFit) -> dict[str, Any]:
    calibrator = own.fit.calibrator
    return {
        "id": calibrator.id,
        "calibrator": as_json(calibrator),
        "parent": own.parent.id if own.parent else None,
        "alone": own.no_parent_because,
        "gain": asdict(own.gain) if own.gain else None,
    }


def _counted(found: dict[str, Any], suite: Suite) -> Iterator[str]:
    deletion, seconds = found["deletion"], found["seconds"]
    yield (
        f"{counted(suite.tests, 'test')} with a steady outcome, {suite.flaky:,} without one, which are left out; they execute "
        f"{counted(suite.covered_lines, 'line')} of {counted(suite.files, 'file')}; the whole suite takes {suite.seconds:.1f} s"
    )
    yield (
        f"{counted(found['places'], 'place')}; at {deletion['unseen']:,} no test sees that the code is gone, and they are left out "
        f"({_percent(deletion['filtered'])}); at {deletion['unknown']:,} the tests can't say"
    )
    if seconds["generation_median"] is None:
        return
    ways, not_run = found["ways"], found["not_run"]
    accounts = [_account("tests are run of", ways, _WAYS), _account("no tests of", not_run, _NOT_RUN)]
    yield f"{counted(sum(ways.values()) + sum(not_run.values()), 'suggestion')} asked for: {'; '.join(filter(None, accounts))}"
    tested = "" if seconds["verdict_median"] is None else f" and {seconds['verdict_median']:.2f} s to test"
    yield f"a suggestion takes {seconds['generation_median']:.2f} s to make{tested}, by the median"


def _account(what: str, counts: Mapping[str, int], words: Mapping[str, str]) -> str:
    parts = [f"{counts[key]:,} {word}" for key, word in words.items() if counts.get(key)]
    return f"{what} {sum(counts.values()):,} ({', '.join(parts)})" if parts else ""


def _tasks(tasks: dict[str, Any]) -> Table:
    rows = tuple(
        (
            task,
            f"{row['asked']:,}",
            f"{row['suggestions']:,}",
            *(part for event in EVENTS for part in (f"{row[event]['n']:,}", _percent(row[event]))),
        )
        for task, row in tasks.items()
    )
    columns = ("task", "asked", "shown", *(part for event in EVENTS for part in ("n", EVENT_WORDS[event])))
    return Table("How often suggestions are right, with 95 % Wilson intervals", columns, "lrrrrrr", rows)


def _cross(tasks: dict[str, Any]) -> Table:
    names = ("exact_and_pass", "exact_and_fail", "other_and_pass", "other_and_fail", "other_and_unknown")
    rows = tuple((task, *(f"{row[name]:,}" for name in names)) for task, row in tasks.items())
    columns = ("task", "exact, pass", "exact, fail", "other, pass", "other, fail", "unknown")
    return Table("Exact match against passing tests", columns, "lrrrrr", rows)


def _gains(owns: Sequence[ProjectFit]) -> Table:
    rows = []
    for own in owns:
        made, gain = own.fit.calibrator, own.gain
        skill, why_not = made.evidence.skill, why_undefined(made.evidence, made.fitted_on.grouped_by)
        rows.append((
            f"{EVENT_WORDS[made.event]}, {made.task}",
            made.status,
            came_from(made) or "nothing: fitted alone",
            f"{made.fitted_on.n:,}",
            f"{skill.value:z.3f} ({skill.low:z.3f} to {skill.high:z.3f})" if skill else why_not,
            f"{made.evidence.smooth_ece.value:.3f} ({made.evidence.smooth_ece.noise_floor:.3f})",
            f"{gain.parent_log_loss:.3f}" if gain else "",
            f"{gain.own_log_loss:.3f}" if gain else f"{made.evidence.log_loss.value:.3f}",
            f"{gain.gain:+z.3f} ({gain.low:+z.3f} to {gain.high:+z.3f})" if gain else "",
        ))  # fmt: skip
    # the map of other projects is a shipped one, or one of the user's
    before, after = "log loss, map of other projects", "log loss, this map"
    columns = ("calibrator", "status", "moved from", "n", "skill", "smooth ECE (floor)", before, after, "gain")
    return Table(
        "On suggestions that the map was not fitted on: held out by file, or one by one where files are too few",
        columns,
        "lllrrrrrr",
        tuple(rows),
    )


def _rates(what: str, rows: Sequence[dict[str, Any]]) -> Iterator[Block]:
    for event in EVENTS:
        of_event = [row for row in rows if row["event"] == event]
        if not of_event:
            continue
        left = f"; {len(of_event) - MAX_FILES} more files have fewer suggestions" if len(of_event) > MAX_FILES else ""
        shown = (
            (row["name"], f"{row['n']:,}", _percent(row), "" if row["said"] is None else f"{row['said']:.1%}")
            for row in of_event[:MAX_FILES]
        )
        yield Table(f"{EVENT_WORDS[event].capitalize()} by {what}{left}", (what, "n", "rate", "said"), "lrrr", tuple(shown))
    if any(row["said"] is not None for row in rows):
        yield Paragraph(
            "Said is the mean probability of the calibrators, each suggestion's from a map that was fitted without its file, or without it "
            "alone where files are too few."
        )


def _percent(rate: dict[str, Any]) -> str:
    return "not known" if rate["value"] is None else f"{rate['value']:.1%} ({rate['low']:.1%} to {rate['high']:.1%})"
