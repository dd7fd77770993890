"""What the studies say of the shipped calibrators, and of the paper's claims.

    python -m training.remake.pages.validation TREE PROJECTS SUITES COUNTERFEIT CATCODE

Runs with their reports: of `assay eval calibration` on projects and on suites; of `assay eval counterfeit` and of
`assay eval catcode` on lines.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from assay.calibration.calibrator import load as load_calibrator
from assay.calibration.validation.figures import Figure
from assay.calibration.validation.sentences import SENTENCES, Told, told
from assay.calibration.validation.table import Validation, load, path_of
from assay.calibration.validation.words import PRIMARY, contradiction, number_of, refuted, summary

from ..evidence import SHIPPED, fill
from ..present import present
from ..steps import TASKS
from .cells import code, table, wrapped

VERDICTS = ("confirmed", "refuted", "undecided", "not run")
_COLUMNS = ("figure", "what it says", "value (95 % interval)", "n", "groups", "claim", "reading", "note")

Claims = Sequence[Mapping[str, Any]]


def primary(found: Mapping[str, Validation]) -> str:
    """The primary figures: each in a sentence, and what it reads of each calibrator, by the name of its file."""
    rows = [
        (code(name), *(_reading(each) for each in told(validation) if each.primary), _shown(validation))
        for name, validation in found.items()
    ]
    counts: Counter[str] = Counter(each.figure.reading for validation in found.values() for each in told(validation) if each.primary)
    said = f"Of {counts.total()} primary figures of {len(found)} calibrators: {_counts(counts)}."
    sentences = [f"* **{id}.** {SENTENCES[id]}" for id in PRIMARY]
    return "\n".join((*map(_item, sentences), "", wrapped(said), "", table(("calibrator", *PRIMARY, "number"), "lcccccl", rows)))


def _item(text: str) -> str:
    return wrapped(text).replace("\n", "\n  ")


def _counts(counts: Mapping[str, int]) -> str:
    words = {"holds": "hold", "refuted": "refuted", "undecided": "undecided", "reported": "reported without a claim", "not run": "not run"}
    return ", ".join(f"{counts[reading]} {word}" for reading, word in words.items() if counts[reading])


def _reading(of: Told) -> str:
    number = number_of(of.figure)
    return of.figure.reading if of.figure.value is None else f"**{of.figure.reading}** {number}"


def _shown(validation: Validation) -> str:
    return "not shown" if contradiction(validation) else "shown"


def shipped(found: Mapping[str, Validation]) -> str:
    """A table of all figures for each calibrator, by the name of its file, the primary ones first."""
    return "\n\n".join(_of_calibrator(name, validation) for name, validation in found.items())


def _of_calibrator(name: str, validation: Validation) -> str:
    how = next((row.note.partition("; ")[0] for row in validation.figures if row.id == "K1"), "")
    rows = [
        (
            f"**{row.id}**" if each.primary else row.id,
            each.sentence,
            "" if row.value is None else number_of(row),
            f"{row.n:,}" if row.n else "",
            _groups(row),
            row.claim,
            row.reading,
            _note(row, how),
        )
        for each in told(validation)
        for row in (each.figure,)
    ]
    runs = ", ".join(f"{run} ({', '.join(ids)})" for run, ids in _runs(validation).items())
    said = (f"{code(name)}: {summary(validation)}. Held out, where the note says nothing else: {how}. Runs: {runs}.", *refuted(validation))
    return f"{wrapped(' '.join(said))}\n\n{table(_COLUMNS, 'llcrrlll', rows)}"


def _runs(validation: Validation) -> dict[str, list[str]]:
    """By run the figures that are from it."""
    found: dict[str, list[str]] = {}
    for row in validation.figures:
        if row.reading != "not run":
            found.setdefault(row.run, []).append(row.id)
    return found


def _groups(row: Figure) -> str:
    return f"{row.groups} {row.grouped_by}s" if row.n else ""


def _note(row: Figure, how: str) -> str:
    return row.note.removeprefix(how).removeprefix("; ").replace("|", "\\|")


def claims(projects: Claims, suites: Claims) -> str:
    """What the data say of each claim of the calibration paper."""
    said = f"by exact match {_counted(projects)}; by their tests {_counted(suites)}"
    return _claims(said, {"30 projects, exact match": projects, "20 projects, their tests": suites})


def claims_of_lines(found: Claims) -> str:
    """What one run on lines says of each claim of a paper."""
    return _claims(_counted(found), {"lines of 20 projects": found})


def _claims(said: str, found: Mapping[str, Claims]) -> str:
    """A table of claims with a column for each run, which have the same claims. said: how they came out."""
    rows = [
        (f"{each[0]['claim']} ({each[0]['rule']})", each[0]["paper"], *map(_verdict, each)) for each in zip(*found.values(), strict=True)
    ]
    columns = ("claim", "the paper", *found)
    return f"{wrapped(f'Of {len(rows)} claims, {said}.')}\n\n{table(columns, 'l' * len(columns), rows)}"


def _counted(found: Claims) -> str:
    count = Counter(one["verdict"] for one in found)
    return ", ".join(f"{count[verdict]} {verdict}" for verdict in VERDICTS if count[verdict])


def _verdict(claim: Mapping[str, Any]) -> str:
    return f"**{claim['verdict']}**" + (f": {claim['ours']}" if claim["ours"] else "")


def claims_of(run: Path) -> Claims:
    """The claims in the report of a run."""
    found: Claims = json.loads((run / "report" / "report.json").read_text(encoding="utf-8"))["claims"]
    return found


def main() -> None:
    """Fill the blocks."""
    tree, *runs, counterfeit, catcode = map(Path, sys.argv[1:])
    files = {path: path_of(load_calibrator(path), path) for path in sorted((tree / SHIPPED).glob("*.json"))}
    found = {path.stem: load(validation) for path, validation in files.items() if validation.is_file()}
    contents = {
        "claims": claims(*map(claims_of, runs)),
        "claims-counterfeit": claims_of_lines(claims_of(counterfeit)),
        "claims-catcode": claims_of_lines(claims_of(catcode)),
        "primary": primary(found),
        "shipped": shipped(found),
    }
    fill(tree, "docs/validation.md", contents, present().named(*TASKS))


if __name__ == "__main__":
    main()
