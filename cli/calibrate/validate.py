"""`assay calibrate validate`: writes the validation table of a calibrator, from the samples of studies, beside it."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..exit_codes import DONE, UsageError
from ..options import Subparsers, command_parser, set_run
from ..terminal import columns, print_json, say

if TYPE_CHECKING:
    from ...calibration.validation.figures import Figure
    from ...calibration.validation.table import Validation


def register(actions: Subparsers) -> None:
    """Add `assay calibrate validate`."""
    parser = command_parser(
        actions,
        "validate",
        "say which claims of a calibrator hold on the samples of runs",
        "Writes the table beside the calibrator, as validation/ID.json, and keeps figures of other studies in it. Projects that no fit has "
        "seen are judged by the calibrator itself, and its claims can fail there. Projects of the fit are cross-validated, by the folds of "
        "`fit --keep-folds` or by maps fitted again without them: that gives numbers, and K1 to K8 claim nothing.",
    )
    parser.add_argument("calibrator", metavar="CALIBRATOR", type=Path, nargs="?", help="a calibrator's file (JSON)")
    parser.add_argument(
        "runs", metavar="RUN", nargs="*", type=Path,
        help="folders of runs, or files of samples (TASK.jsonl; TASK-no_docstring.jsonl and TASK-no_suffix.jsonl are of those inputs)",
    )  # fmt: skip
    parser.add_argument(
        "--all", metavar="DIR", type=Path,
        help="instead: validate every calibrator of this machine by the runs in DIR that are about it, such as those of `assay eval all`",
    )  # fmt: skip
    parser.add_argument("--calibrators", metavar="FOLDER", type=Path, help="with --all: the calibrators in this folder instead")
    set_run(parser, run, "json")


def run(arguments: argparse.Namespace) -> int:
    """Write the table and print it. Raises UsageError, RunError, CalibratorError, FoldsError, SampleError and OSError."""
    from ...calibration.calibrator import load
    from .validation import document_of, write_table

    if arguments.all is not None:
        from .validate_all import validate_all

        if arguments.calibrator is not None:
            raise UsageError("--all DIR names all runs: leave CALIBRATOR and RUN out (--calibrators FOLDER names calibrators)")
        return validate_all(arguments.all, arguments.calibrators, as_json=arguments.json)
    if arguments.calibrators is not None or not arguments.runs:
        raise UsageError("name a calibrator and runs, or --all DIR and perhaps --calibrators FOLDER")
    calibrator = load(arguments.calibrator)
    path, found = write_table(calibrator, arguments.calibrator, arguments.runs)
    _tell(found)
    say(f"written: {path}")
    if arguments.json:
        print_json(document_of(path, found))
    return DONE


def _tell(found: Validation) -> None:
    from ...calibration.validation.fresh import primary_of
    from ...calibration.validation.words import number_of, refuted, size_of, summary, title_of

    say(f"calibrator {found.calibrator}: P({found.event}) for the task {found.task}")
    rows = [("", "figure", "value (95 % interval)", "n", "claim", "reading")]
    rows += [(row.id, title_of(row), number_of(row), size_of(row) or "–", row.claim or "no claim", row.reading) for row in found.figures]
    for line in columns(rows):
        say(line)
    for ids, note in _notes(found.figures):
        say(f"note: {', '.join(ids)}: {note}")
    say(f"{summary(found)}; counted are {', '.join(primary_of(found.event))}, and one in twenty intervals misses the truth")
    for sentence in refuted(found):
        say(f"refuted: {sentence}")


def _notes(figures: Sequence[Figure]) -> Iterator[tuple[Sequence[str], str]]:
    """The notes with the ids of their figures; a note of several figures comes once."""
    ids: dict[str, list[str]] = {}
    for figure in figures:
        for part in figure.note.split("; ") if figure.note else ():
            ids.setdefault(part, []).append(figure.id)
    yield from ((ids[part], part) for part in ids if len(ids[part]) > 1)
    for figure in figures:
        if own := [part for part in figure.note.split("; ") if len(ids.get(part, ())) == 1]:
            yield [figure.id], "; ".join(own)
