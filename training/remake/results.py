"""The other blocks: from the validation tables, from the studies' reports, and from what programs print.

Each function fills a block. at: the folders of steps by name, and "tree", the repository.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from assay.calibration.calibrator import load as load_calibrator
from assay.calibration.samples import EVENTS
from assay.calibration.validation.figures import Figure
from assay.calibration.validation.fresh import primary_of
from assay.calibration.validation.sentences import SENTENCES, statements
from assay.calibration.validation.table import Validation, load, path_of
from assay.calibration.validation.words import contradiction, number_of, refuted, size_of

from .calibrators import SHIPPED, Folders
from .cells import code, interval, percents, table, wrapped

VERDICTS = ("confirmed", "refuted", "undecided", "not run")
DEMO = "bank_statement.py:97"

Claims = Sequence[Mapping[str, Any]]


def primary(at: Folders) -> str:
    """The primary figures of each shipped calibrator that was validated."""
    files = {path: path_of(load_calibrator(path), path) for path in sorted((at["tree"] / SHIPPED).glob("*.json"))}
    return of_primary({path.stem: load(validation) for path, validation in files.items() if validation.is_file()})


def of_primary(found: Mapping[str, Validation]) -> str:
    """Each primary figure in a sentence, and what it reads of each calibrator, by the name of its file. What is refuted is said first."""
    columns = tuple(dict.fromkeys(id for event in EVENTS for id in primary_of(event)))
    figures = {name: {each.figure.id: each.figure for each in statements(of) if each.primary} for name, of in found.items()}
    rows = [
        (code(name), *(_reading(those[id]) if id in those else "not applicable" for id in columns), _shown(found[name]))
        for name, those in figures.items()
    ]
    counts = Counter[str](figure.reading for those in figures.values() for figure in those.values())
    words = {"holds": "hold", "refuted": "refuted", "undecided": "undecided", "reported": "cross-validated alone", "not run": "not run"}
    listed = ", ".join(f"{counts[reading]} {word}" for reading, word in words.items() if counts[reading])
    said = f"Of {counts.total()} primary figures of {len(found)} calibrators: {listed}."
    against = [wrapped(f"* `{name}`: {sentence}").replace("\n", "\n  ") for name, of in found.items() for sentence in refuted(of)]
    of = dict[str, list[str]]()
    for name, those in figures.items():
        of.setdefault(those["K1"].note.partition("; ")[0], []).append(code(name))
    checked = [wrapped(f"* {', '.join(names)}: {note}.").replace("\n", "\n  ") for note, names in of.items()]
    refutations = ["Refuted, also of figures that are not primary:", "", *against, ""] if against else []
    sentences = [wrapped(f"* **{id}.** {SENTENCES[id]}").replace("\n", "\n  ") for id in columns]
    return "\n".join(
        (
            table(("calibrator", *columns, "number"), f"l{'c' * len(columns)}l", rows),
            "",
            wrapped(said),
            "",
            "K1 and K2 are of these projects:",
            "",
            *checked,
            "",
            *refutations,
            *sentences,
        )
    )


def _reading(figure: Figure) -> str:
    return figure.reading if figure.value is None else f"**{figure.reading}** {number_of(figure)}, n = {size_of(figure)}"


def _shown(found: Validation) -> str:
    return "not shown" if contradiction(found) else "shown"


def claims_of(run: Path) -> Claims:
    """What the report of a run says of each claim of its paper."""
    found: Claims = json.loads((run / "report" / "report.json").read_text(encoding="utf-8"))["claims"]
    return found


def claims(at: Folders) -> str:
    """The claims of the calibration paper. Those of reflective measures are not run: the embedded model is not asked about its answers."""
    of_lines, of_tests = claims_of(at["exact_match/complete"] / "projects"), claims_of(at["tests_pass/complete"] / "suites")
    return of_claims({"30 projects, exact match": of_lines, "20 projects, their tests": of_tests})


def claims_of_lines(at: Folders, step: str, run: str) -> str:
    """Those of the paper of one study, of its run on lines."""
    return of_claims({"lines of 20 projects": claims_of(at[step] / run)})


def of_claims(found: Mapping[str, Claims]) -> str:
    """A table with a column for each run, which have the same claims in the same order."""
    rows = [
        (f"{each[0]['claim']} ({each[0]['rule']})", each[0]["paper"], *map(_verdict, each)) for each in zip(*found.values(), strict=True)
    ]
    counts = {name: Counter(one["verdict"] for one in those) for name, those in found.items()}
    said = "; ".join(f"{name}: {', '.join(f'{n[verdict]} {verdict}' for verdict in VERDICTS if n[verdict])}" for name, n in counts.items())
    return f"{wrapped(f'Of {len(rows)} claims, {said}.')}\n\n{table(('claim', 'the paper', *found), 'll' + 'l' * len(found), rows)}"


def _verdict(claim: Mapping[str, Any]) -> str:
    return f"**{claim['verdict']}**" + (f": {claim['ours']}" if claim["ours"] else "")


def repositories(at: Folders) -> str:
    """What calibrating to each project found: a row for each of its runs, and what its samples brought to the map of other projects."""
    rows = []
    for path in sorted(at["repository/run"].glob("runs/*/report/report.json")):
        found = json.loads(path.read_text(encoding="utf-8"))
        rows += [_repository(path.parents[1].name, found, task) for task in found["tasks"]]
    columns = ("project", "task", "places", "unseen deletions", "exact match", "passes tests", "gain in log loss, exact match",
               "gain in log loss, passes tests")  # fmt: skip
    return table(columns, "llrccccc", rows)


def _repository(project: str, found: Mapping[str, Any], task: str) -> tuple[object, ...]:
    def rate(row: Mapping[str, Any]) -> str:
        return f"{percents(row)}, n = {row['n']}" if row["n"] else ""

    gains = {own["calibrator"]["event"]: own["gain"] for own in found["calibrators"] if own["calibrator"]["task"] == task and own["gain"]}
    of_task, filtered = found["tasks"][task], found["deletion"]["filtered"]
    shown = [rate(of_task[event]) for event in ("exact_match", "tests_pass")]
    moved = [
        interval((gain["gain"], gain["low"], gain["high"]), 4, "+") if (gain := gains.get(event)) else ""
        for event in ("exact_match", "tests_pass")
    ]
    unseen = "" if filtered["value"] is None else percents(filtered, 0)
    return (project, code(task), found["places"], unseen, *shown, *moved)


def demo(at: Folders) -> str:
    """The heading, one place and the closing lines of what `make demo` prints: the same place whatever comes of it."""
    return excerpt((at["recording/demo"] / "demo.txt").read_text(encoding="utf-8"), DEMO)


def excerpt(printed: str, place: str) -> str:
    """The same, without the lines behind the suggestion and those on evidence. Raises ValueError where the place was not shown."""
    heading, *parts, summary = printed.strip().split("\n\n")
    found = {part.split()[1]: part.split("\n") for part in parts}
    if place not in found:
        raise ValueError(f"the demo showed no {place}")
    *lines, verdict = found[place]
    end = max((number for number, line in enumerate(lines) if "»" in line), default=len(lines) - 1)
    closing = [line for line in summary.split("\n") if not line.startswith("Evidence for ")]
    return "\n".join(["```", "$ make demo", heading, "", *lines[: end + 1], verdict, "…", *closing, "```"])
