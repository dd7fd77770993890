"""What a place holds: a file or a folder that looks like a model, before it is read; and what a place is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from .machine import Machine
from .walk import Notes


@dataclass(frozen=True, slots=True)
class Candidate:
    """Something that looks like a model.

    Attributes
        name: what the user calls it, behind the place's name and a colon.
        path: the file or folder to open; of a model in several files the first.
        parts: all files of a model in several files.
        sha256: of the file in hex, as the program that keeps it says; empty where it does not say.
        problem: why it can't be used, where that is clear without reading it.
    """

    name: str
    path: Path
    parts: tuple[Path, ...] = ()
    sha256: str = ""
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a program keeps its models.

    name: as it stands in front of a model's name; title: the program's own name. folders: where to look on a machine, each of which may
    not be there. candidates: what one such folder holds; what could not be read goes into the notes. prefixed: whether the place's name
    stands in front of its models' names; else these say all, such as a path.
    """

    name: str
    title: str
    folders: Callable[[Machine], Sequence[Path]]
    candidates: Callable[[Path, Notes], Iterator[Candidate]]
    prefixed: bool = True
