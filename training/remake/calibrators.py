"""The blocks on the shipped calibrators: from their files, from the reports of `assay calibrate report`, and from the run's samples.

Each function fills a block. at: the folders of steps by name, and "tree", the repository.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from assay.calibration.bands import EVENT_WORDS
from assay.calibration.by_language import InLanguage
from assay.calibration.calibrator import load
from assay.calibration.metrics.bins import wilson
from assay.calibration.samples import Event, read_samples
from assay.offline_eval.calibration.report import rate

from .cells import code, interval, listed, map_of, p_value, percents, table, with_floor, wrapped

Folders = Mapping[str, Path]
Found = dict[str, dict[str, Any]]
SHIPPED = Path("calibration") / "shipped"
PICTURES = Path("docs") / "calibration"
TASKS = ("line", "line_rest", "line_middle")
PER_PROJECT = 150
LANGUAGES = {"c": "C", "go": "Go", "java": "Java", "javascript": "JavaScript", "rust": "Rust", "typescript": "TypeScript"}
TARGETS = (0.1, 0.3, 0.5, 0.7, 0.8, 0.9)
REFUTED = 0.05


def _shipped(at: Folders, event: Event) -> Found:
    return {task: json.loads((at["tree"] / SHIPPED / f"{event}-{task}.json").read_text(encoding="utf-8")) for task in TASKS}


def _reports(at: Folders) -> Found:
    folder = at["exact_match/report"]
    return {task: json.loads((folder / task / "report.json").read_text(encoding="utf-8"))["reports"][0] for task in TASKS}


def _rates(at: Folders) -> Found:
    """The share of exact matches by task, with its interval, as the run's own report has it."""
    run = at["exact_match/complete"] / "projects"
    return {task: rate(read_samples([run / "samples" / f"{task}.jsonl"])) for task in TASKS}


def worth(at: Folders, event: Event) -> str:
    """What the calibrators for an event are worth."""
    rows = []
    for task, made in _shipped(at, event).items():
        e = made["evidence"]
        error = interval({**e["ece"], "value": e["ece"]["debiased"]})
        rows.append((
            code(task), map_of(made), f"{e['n']:,}", e["groups"], f"{e['base_rate']:.1%}", interval(e["skill"]), interval(e["auc"]),
            interval(e["brier"]), interval(e["log_loss"]), error, with_floor(e["ece"]), with_floor(e["smooth_ece"]), made["status"],
        ))  # fmt: skip
    columns = ("task", "map", "n", "projects", EVENT_WORDS[event], "skill score", "AUC", "Brier", "log loss, nats", "calibration error",
               "ECE (perfect forecaster)", "smooth ECE (floor)", "status")  # fmt: skip
    return table(columns, "llrrrccccccc" + "l", rows)


def exact_match(at: Folders) -> str:
    """The same for exact matches, with pictures."""
    pictures = [f"![Reliability of {task}](calibration/{task}/reliability-exact_match.svg)" for task in TASKS]
    said = wrapped(
        f"These are of at most {PER_PROJECT} functions of each project. "
        "`assay calibrate report calibration/shipped/exact_match-line.json --out DIR` writes the whole report of one."
    )
    return "\n".join([worth(at, "exact_match"), "", *pictures, "", said])


def before_and_after(at: Folders) -> str:
    """The probability as the model gives it, and as the calibrator does."""
    rows = []
    better, refuted = list[str](), dict[str, list[str]](before=[], after=[])
    for task, report in _reports(at).items():
        before, after, difference = report["before"], report["after"], report["difference"]
        if difference["skill"] and difference["skill"]["low"] > 0:
            better.append(code(task))
        for name, those in refuted.items():
            if report[name]["kuiper"] and report[name]["kuiper"]["p_value"] < REFUTED:
                those.append(code(task))
        eces = [with_floor(one["evidence"]["ece"]) for one in (before, after)]
        skills = [interval(one["evidence"]["skill"]) for one in (before, after)]
        kuiper = [p_value(one["kuiper"]) for one in (before, after)]
        rows.append((code(task), *skills, interval(difference["skill"], 4, "+"), *eces, *kuiper))
    columns = ("task", "skill before", "skill after", "difference", "ECE before (floor)", "ECE after (floor)", "Kuiper's p before", "after")
    said = (
        f"After calibration, skill is higher by more than noise for {listed(better)}. Kuiper's test by project refutes "
        f"calibration (p < {REFUTED}) for {listed(refuted['before'])} before, and for {listed(refuted['after'])} after."
    )
    return f"{table(columns, 'lcccccrr', rows)}\n\n{wrapped(said)}"


def dial(at: Folders) -> str:
    """The thresholds of the dial for some targets."""
    rows = []
    for task, made in _shipped(at, "exact_match").items():
        found = {round(row["target"], 2): row for row in made["dial"]}
        rows.append((code(task), *(_dial_cell(found[target]) for target in TARGETS)))
    return table(("task", "at least 10 %", *(f"{100 * target:.0f} %" for target in TARGETS[1:])), "l" + "c" * len(TARGETS), rows)


def _dial_cell(row: dict[str, Any]) -> str:
    if row["threshold"] is None:
        return "none"
    return f"{row['threshold']:.2f}: {row['share']['value']:.1%}, {percents(row['precision'], 0)}"


def languages(at: Folders, of: str = "") -> str:
    """Rate and skill of each language, from the calibrators' own files. of: how the files of another model than the embedded one end."""
    made = {task: load(at["tree"] / SHIPPED / f"exact_match-{task}-languages{of}.json").by_language for task in TASKS}
    rows = []
    for name, words in LANGUAGES.items():
        found = [one for several in made.values() for one in several if one.name == name]
        rows.append((words, *(cell for one in found for cell in _language_cells(one))))
    columns = ("language", *(column for task in TASKS for column in (f"{code(task)}: exact match", "skill score")))
    return table(columns, "l" + "rc" * len(TASKS), rows)


def _language_cells(found: InLanguage) -> tuple[str, str]:
    return f"{found.positives / found.n:.1%} of {found.n}", interval(found.skill, 2)


def between_projects(at: Folders) -> str:
    """How projects lie around the maps."""
    rows = []
    for task, made in _shipped(at, "exact_match").items():
        found = made.get("projects")
        cells = (f"{found['offset_sd']:.2f}", f"{found['slope_sd']:.2f}") if found else ("the map can't be moved", "")
        rows.append((code(task), made["fitted_on"]["groups"], *cells))
    return table(("task", "projects", "offset, log odds", "slope, log odds per standard deviation of the log odds"), "lrrr", rows)


def hidden(at: Folders) -> str:
    """How often what the model wrote is not shown, or shown otherwise. Other arms than the plain one are no suggestions of an editor."""
    lines = (at["exact_match/complete"] / "projects" / "generations.jsonl").read_text(encoding="utf-8").splitlines()
    made = [one for one in map(json.loads, lines) if one["text"].strip() and "arm" not in one]
    rows = []
    for task in TASKS:
        of_task = [one for one in made if one["task"] == task]
        out = [one for one in of_task if one["inserted"] is None]
        shown = [one for one in of_task if one["inserted"] is not None]
        cut = sum(one["inserted"].rstrip() != one["text"].rstrip() for one in shown)
        exact = sum(bool(one["labels"]["exact_match"]) for one in out)
        rows.append((code(task), f"{len(of_task):,}", _share(len(out), len(of_task)), exact, _share(cut, len(shown))))
    return table(("task", "with text", "not shown", "of these exact", "shown, but cut"), "lrrrr", rows)


def _share(k: int, n: int) -> str:
    return f"{k:,}, {percents((k / n, *wilson(k, n)))}" if n else "0"


def share(at: Folders) -> str:
    """A sentence on how often the embedded model is right."""
    line, rest, middle = (f"{100 * row['value']:.0f}" for row in _rates(at).values())
    return wrapped(
        f"Of unseen projects it writes {line} of 100 lines exactly as they are, {rest} of 100 rests of a line, and {middle} of 100 places "
        "inside brackets."
    )


def card(at: Folders) -> str:
    """The model card's table of exact matches."""
    rows = [(code(task), percents(row), f"{row['n']:,}") for task, row in _rates(at).items()]
    return table(("task", "exact match", "suggestions"), "lcr", rows)
