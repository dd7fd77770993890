"""The model that is shipped with the package, so that a list of models begins with what is there in any case."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from ..embedded_model import EMBEDDED, EMBEDDED_NAME
from .candidate import Candidate, Place
from .machine import Machine
from .walk import Notes


def folders(_: Machine) -> Sequence[Path]:
    """Its folder in the package."""
    return [EMBEDDED.parent]


def candidates(folder: Path, _: Notes) -> Iterator[Candidate]:
    """The model; nothing where the package was installed without it."""
    if (folder / EMBEDDED.name).is_file():
        yield Candidate(EMBEDDED_NAME, folder / EMBEDDED.name)


PLACE = Place("embedded", "Assay", folders, candidates, prefixed=False)
