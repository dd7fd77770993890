"""The validation table of a calibrator: the figures that studies print of it. One JSON file each; the format is in docs/formats.md.

It lies beside the calibrator, as `validation/ID.json` with the calibrator's id, so that the calibrator's own file and id stay as they are.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from ...inference.regular_file import read_regular_file
from ..atomic_write import write_atomically
from ..calibrator import Calibrator, CalibratorError
from ..calibrator import load as load_calibrator
from ..field_types import Fingerprint, Sha256
from ..samples import EVENTS
from ..strict_json import DECODER, build, reading, without_schema
from .figures import WITHOUT, Figure, problem_of

SCHEMA = "assay/validation/1"
FOLDER = "validation"
MAX_FILE_BYTES = 2**18

_ID = re.compile(r"[A-Z][0-9]{1,3}(\.[a-z_]{1,40})?").fullmatch


class ValidationError(CalibratorError):
    """A validation table can't be read, or is of another calibrator. The message says file, field and reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row(Figure):
    """A figure, and where it comes from.

    study: its name. run: the names of the runs, or files of samples. run_sha256: of their samples, and of the facts of studies that have
        facts. registered: the date on which its projects were registered as fresh, or empty.
    """

    study: str
    run: str
    run_sha256: Sha256
    registered: str = ""


@dataclass(frozen=True, slots=True)
class Validation:
    """What the studies say of one calibrator. event, task, model, prompt: the calibrator's. figures: sorted by `id`, each once."""

    calibrator: Fingerprint
    event: str
    task: str
    model: Fingerprint
    prompt: Fingerprint
    figures: tuple[Row, ...]

    def __post_init__(self) -> None:
        """Raises ValueError, "field: reason", for what no table has."""
        wrong = (
            ("event", self.event not in EVENTS, f"{self.event!r} is none of {', '.join(EVENTS)}"),
            *(("figures", not _ID(row.id), f'the id {row.id!r} is none such as "K1" or "K7.no_suffix"') for row in self.figures),
            ("figures", len({row.id for row in self.figures}) < len(self.figures), "an id is there twice"),
            *((f"figures.{row.id}.{problem}", bool(problem), "") for row in self.figures for problem in (problem_of(row),)),
        )
        for field, is_wrong, reason in wrong:
            if is_wrong:
                raise ValueError(f"{field}: {reason}".removesuffix(": "))

    def is_of(self, calibrator: Calibrator) -> bool:
        """Whether it is about this calibrator."""
        return self == replace(empty(calibrator), figures=self.figures)


def empty(calibrator: Calibrator) -> Validation:
    """The table of a calibrator of which no study has said anything."""
    made = calibrator.fitted_on
    return Validation(calibrator.id, calibrator.event, calibrator.task, made.model, made.prompt, ())


def rows_of(figures: Iterable[Figure], study: str, run: str, run_sha256: str, registered: str = "") -> tuple[Row, ...]:
    """The figures of a study as rows."""
    return tuple(Row(**asdict(figure), study=study, run=run, run_sha256=run_sha256, registered=registered) for figure in figures)


def merged(before: Validation, rows: Iterable[Row]) -> Validation:
    """The table with the rows in it, sorted by id.

    A row replaces the one with its id, unless that alone has a number, or is of fresh projects and this one is not. Raises ValueError for
    other samples of fresh projects than those of before: the outcome of these is known.
    """
    figures = {row.id: row for row in before.figures}
    for row in rows:
        old = figures.get(row.id)
        if old and old.registered and row.registered and old.run_sha256 != row.run_sha256:
            raise ValueError(f"the fresh projects of {old.registered} were run for it before ({old.run}), and count once")
        if old is None or (row.reading not in WITHOUT and (row.registered or not old.registered)):
            figures[row.id] = row
    return replace(before, figures=tuple(figures[id] for id in sorted(figures)))


def path_of(calibrator: Calibrator, file: Path) -> Path:
    """Where the table of a calibrator is whose own file is `file`."""
    return file.parent / FOLDER / f"{calibrator.id}.json"


def remove(file: Path) -> None:
    """Remove the table of the calibrator in a file, before that is replaced or removed. Does nothing where it has none."""
    try:
        path_of(load_calibrator(file), file).unlink(missing_ok=True)
    except CalibratorError:
        return


def save(validation: Validation, path: Path, *, follow: bool = True) -> None:
    """Write a table's file, atomically. follow: as `write_atomically`."""
    document = {"schema": SCHEMA, **asdict(validation)}
    with write_atomically(path, follow=follow) as out:
        out.write((json.dumps(document, indent=1, allow_nan=False) + "\n").encode())


def load(path: Path, *, follow: bool = True) -> Validation:
    """The table in a file. follow: whether the path may be a symbolic link.

    Raises ValidationError, with file, field and reason, for what `save` would not have written, for a file that has another calibrator's
    name, and for what is no file or larger than `MAX_FILE_BYTES`.
    """
    with reading(path, ValidationError, "a validation table"):
        document = DECODER.decode(read_regular_file(path, MAX_FILE_BYTES, follow=follow).decode("utf-8-sig"))
        fields = without_schema(document, SCHEMA, "a validation table", "make it again with `assay calibrate validate`")
        found = build(Validation, fields)
        if path.stem != found.calibrator:
            raise ValueError(f"calibrator: {found.calibrator}, and the file has the name of {path.stem}")
        return found
