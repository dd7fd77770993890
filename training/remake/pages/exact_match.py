"""The figures of the calibrators for exact match, from the reports of `assay calibrate report` and the run's samples.

python -m training.remake.pages.exact_match TREE REPORTS RUN
"""

from __future__ import annotations

import json
import shutil
import sys
import tomllib
from pathlib import Path
from typing import Any

from assay.calibration.metrics.bins import wilson
from assay.calibration.samples import read_samples
from assay.offline_eval.calibration.report import rate

from ..evidence import REPORTS, fill
from ..present import present
from ..steps import TASKS
from .cells import code, interval, listed, map_of, p_value, percent, percents, table, with_floor, wrapped

TARGETS = (0.1, 0.3, 0.5, 0.7, 0.8, 0.9)
REFUTED = 0.05

Reports = dict[str, dict[str, Any]]


def result(reports: Reports, per_project: int) -> str:
    """What the calibrators are worth, their pictures and reports. per_project: functions of each project at most."""
    rows = []
    for task, report in reports.items():
        made, e = report["calibrator"], report["after"]["evidence"]
        error = interval({**e["ece"], "value": e["ece"]["debiased"]})
        rows.append((
            code(task), map_of(made), f"{e['n']:,}", e["groups"], percent(e["base_rate"]), interval(e["skill"]), interval(e["auc"]),
            interval(e["brier"]), interval(e["log_loss"]), error, with_floor(e["ece"]), with_floor(e["smooth_ece"]), made["status"],
        ))  # fmt: skip
    columns = ("task", "map", "n", "projects", "exact match", "skill score", "AUC", "Brier", "log loss, nats", "calibration error",
               "ECE (perfect forecaster)", "smooth ECE (floor)", "status")  # fmt: skip
    pictures = [f"![Reliability of {task}](calibration/{task}/reliability-exact_match.svg)" for task in reports]
    links = listed([f"[{task}](calibration/{task}/report.md)" for task in reports])
    said = wrapped(f"These are of at most {per_project} functions of each project. The whole reports: {links}.")
    return "\n".join([table(columns, "llrrrccccccc" + "l", rows), "", *pictures, "", said])


def before_and_after(reports: Reports) -> str:
    """The probability as the model gives it, and as the calibrator does."""
    rows, better, refuted = [], [], {"before": [], "after": []}  # type: ignore[var-annotated]
    for task, report in reports.items():
        before, after, difference = report["before"], report["after"], report["difference"]
        if difference["skill"] and difference["skill"]["low"] > 0:
            better.append(code(task))
        for name in refuted:
            if report[name]["kuiper"] and report[name]["kuiper"]["p_value"] < REFUTED:
                refuted[name].append(code(task))
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


def dial(reports: Reports) -> str:
    """The thresholds of the dial for some targets."""
    rows = []
    for task, report in reports.items():
        found = {round(row["target"], 2): row for row in report["calibrator"]["dial"]}
        rows.append((code(task), *(_dial_cell(found[target]) for target in TARGETS)))
    return table(("task", "at least 10 %", *(f"{100 * target:.0f} %" for target in TARGETS[1:])), "l" + "c" * len(TARGETS), rows)


def _dial_cell(row: dict[str, Any]) -> str:
    if row["threshold"] is None:
        return "none"
    return f"{row['threshold']:.2f}: {percent(row['share']['value'])}, {percents(row['precision'], 0)}"


def between_projects(reports: Reports) -> str:
    """How projects lie around the maps."""
    rows = []
    for task, report in reports.items():
        found = report["calibrator"]["projects"]
        cells = ("the map can't be moved", "") if found is None else (f"{found['offset_sd']:.2f}", f"{found['slope_sd']:.2f}")
        rows.append((code(task), report["calibrator"]["fitted_on"]["groups"], *cells))
    columns = ("task", "projects", "offset, log odds", "slope, log odds per standard deviation of the log odds")
    return table(columns, "lrrr", rows)


def hidden(run: Path) -> str:
    """How often what the model wrote is not shown, or shown otherwise. Other arms than the plain one are no suggestions of an editor."""
    rows = []
    made = [one for one in _lines(run / "generations.jsonl") if one["text"].strip() and "arm" not in one]
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


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def rates(run: Path) -> dict[str, dict[str, Any]]:
    """The share of exact matches by task, with its interval, as the run's own report has it."""
    return {task: rate(read_samples([run / "samples" / f"{task}.jsonl"])) for task in TASKS}


def share(found: dict[str, dict[str, Any]]) -> str:
    """A sentence on how often the embedded model is right."""
    line, rest, middle = (f"{100 * found[task]['value']:.0f}" for task in TASKS)
    return wrapped(
        f"Of unseen projects it writes {line} of 100 lines exactly as they are, {rest} of 100 rests of a line, and {middle} of 100 places "
        "inside brackets."
    )


def card(found: dict[str, dict[str, Any]]) -> str:
    """The model card's table of exact matches."""
    rows = [(code(task), percents({name: row[name] for name in ("value", "low", "high")}), f"{row['n']:,}") for task, row in found.items()]
    return table(("task", "exact match", "suggestions"), "lcr", rows)


def main() -> None:
    """Fill the blocks, and put reports and pictures in their place."""
    tree, folder, run = map(Path, sys.argv[1:])
    reports: Reports = {task: json.loads((folder / task / "report.json").read_text())["reports"][0] for task in TASKS}
    of, found = present().named(*TASKS), rates(run)
    for task in TASKS:
        to = tree / REPORTS / task
        to.mkdir(parents=True, exist_ok=True)
        for name in ("reliability-exact_match.svg", "ranking-exact_match.svg", "report.md"):
            shutil.copyfile(folder / task / name, to / name)
    contents = {
        "result": result(reports, int(tomllib.loads((run / "run.toml").read_text())["per_project"])),
        "before-and-after": before_and_after(reports),
        "hidden": hidden(run),
        "dial": dial(reports),
        "between-projects": between_projects(reports),
    }
    fill(tree, "docs/calibration.md", contents, of)
    fill(tree, "training/README.md", {"exact-match": card(found)}, of)
    for page in ("README.md", "docs/commands.md"):
        fill(tree, page, {"share": share(found)}, of)


if __name__ == "__main__":
    main()
