"""Whether the user trusts a project's own calibrators, or its tests: answers are kept in the data folder, a file for each project.

A calibrator decides what probability people see. One that came with a cloned project could call everything likely. Tests are programs.
So an answer is for the folder that it was given for, and not for another that takes its name later.
"""

from __future__ import annotations

import hashlib
import json
import shlex
from dataclasses import asdict, dataclass
from pathlib import Path

from ..inference.regular_file import read_regular_file
from .atomic_write import write_atomically
from .data_folder import data_folder
from .folder_identity import identity_of
from .strict_json import DECODER, build

_MAX_BYTES = 1 << 16


@dataclass(frozen=True, slots=True)
class Subject:
    """What is trusted. folder: of the answers, below the data folder. yes, no: the answers, in words. how: the command that says yes."""

    schema: str
    folder: str
    yes: str
    no: str
    how: str


CALIBRATORS = Subject(
    "assay/trust/2", "trust", "this project is trusted", "you do not trust this project", "to use them: assay calibrate trust"
)
TESTS = Subject(
    "assay/trust/tests/2",
    "trust/tests",
    "Assay may run the tests of this project",
    "Assay may not run the tests of this project",
    "to allow it: assay calibrate trust --tests",
)


@dataclass(frozen=True, slots=True)
class Trust:
    """Whether a project's own calibrators, or tests, count. why_not: for people. is_open: nobody has answered, so the user can be asked."""

    counts: bool
    why_not: str = ""
    is_open: bool = False


TRUSTED = Trust(True)


@dataclass(frozen=True, slots=True)
class _Answer:
    """folder: the URI of the project's root, without links. identity: which folder that was, by `identity_of`."""

    schema: str
    folder: str
    identity: str
    trusted: bool


def remembered(project: Path, about: Subject = CALIBRATORS) -> Trust:
    """What the user answered for a project's root folder. An answer that can't be read is none, and the reason says so."""
    command = f"{about.how} {shlex.quote(str(project))}"
    path = answer_file(project, about)
    try:
        answer = build(_Answer, DECODER.decode(read_regular_file(path, _MAX_BYTES).decode()))
        if answer.schema != about.schema or answer.folder != _name(project):
            raise ValueError(f"not an answer of the schema {about.schema} for {project}")
    except FileNotFoundError:
        return Trust(False, f"nobody has said yet that {about.yes}; {command}", is_open=True)
    except (OSError, ValueError, RecursionError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        unreadable = f"the answer whether {about.yes} can't be read ({path}: {reason})"
        return Trust(False, f"{unreadable}; {command}", is_open=True)
    if answer.identity != identity_of(project):
        return Trust(False, f"{project} is not the folder that you were asked about: another has its name now; {command}", is_open=True)
    return TRUSTED if answer.trusted else Trust(False, f"you said that {about.no}; {command}")


def remember(project: Path, *, trusted: bool, about: Subject = CALIBRATORS) -> None:
    """Keep the user's answer for a project's root folder, in place of an earlier one. Raises OSError."""
    document = asdict(_Answer(about.schema, _name(project), identity_of(project), trusted))
    with write_atomically(answer_file(project, about), private=True) as out:
        out.write((json.dumps(document, indent=1) + "\n").encode())


def answer_file(project: Path, about: Subject = CALIBRATORS) -> Path:
    """Where the answer for a project is kept. It may not be there."""
    return data_folder() / about.folder / f"{hashlib.sha256(_name(project).encode()).hexdigest()[:32]}.json"


def _name(project: Path) -> str:
    """The URI of the project's path without links: the answer is for the folder, by whatever path it is reached.

    Each name has one of its own, also one that is not UTF-8.
    """
    return project.resolve().as_uri()
