"""All models that are found on this machine."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..errors import AmbiguousModelName, NoModelOfThatName, UnusableModel
from .candidate import Candidate, Machine, Notes, Place, this_machine
from .model import FoundModel, describe
from .ollama import PLACE as OLLAMA
from .places import NAMED, PLACES
from .servers import served_models


@dataclass(frozen=True, slots=True)
class Found:
    """The models by place and name, those that can be used first; and what could not be looked at, one sentence each."""

    models: tuple[FoundModel, ...]
    notes: tuple[str, ...]


def find_models(machine: Machine, folders: Sequence[Path] = (), *, ports: Sequence[tuple[str, int]] = ()) -> Found:
    """Look into every place and the folders; only headers are read. A file that is in several places, or has several names, is one model.

    ports: where to ask servers on this machine, too, by the programs' names; without any, nothing is asked of any.
    """
    notes: Notes = []
    together: dict[tuple[int, int] | Path, list[tuple[Place, Candidate]]] = {}
    for place, candidate in looked_up(machine, PLACES, folders, notes):
        together.setdefault(_identity(candidate.path), []).append((place, candidate))
    models = []
    for same in together.values():
        place, first = same[0]
        known = next((candidate.sha256 for _, candidate in same if candidate.sha256), "")
        names = tuple(dict.fromkeys(full_name(place, candidate) for place, candidate in same))
        if model := describe(replace(first, sha256=known), place.title, names):
            models.append(model)
    if ports:
        models += served_models(notes, ports)
    return Found(tuple(sorted(models, key=lambda model: bool(model.problem))), tuple(dict.fromkeys(notes)))


def looked_up(machine: Machine, places: Iterable[Place], folders: Sequence[Path], notes: Notes) -> Iterator[tuple[Place, Candidate]]:
    """What the places hold. folders: to look into beside those that the user's environment names."""
    for place in places:
        looked: set[Path] = set()
        for folder in [*place.folders(machine), *(folders if place is NAMED else ())]:
            if (real := _real(folder)) not in looked:
                looked.add(real)
                yield from ((place, candidate) for candidate in place.candidates(folder, notes))


def full_name(place: Place, candidate: Candidate) -> str:
    """The name as `--model` takes it."""
    return f"{place.name}:{candidate.name}" if place.prefixed else candidate.name


def _identity(path: Path) -> tuple[int, int] | Path:
    """What two paths of one file or folder have in common."""
    try:
        status = path.stat()
    except OSError:
        return path
    return (status.st_dev, status.st_ino) if status.st_ino else _real(path)


def _real(path: Path) -> Path:
    try:
        return path.resolve()
    except (OSError, RuntimeError):
        return path


_MAX_NEAR = 8


def place_of(name: str) -> Place | None:
    """The place whose name stands in front of a model's name; None for a path, an address and anything else."""
    front, colon, rest = name.partition(":")
    return next((place for place in PLACES if colon and rest and place.prefixed and place.name == front), None)


def named_path(name: str, machine: Machine | None = None) -> Path | None:
    """The file or folder of a name; None for what is no name of a place's. The model itself is not read.

    Raises NoModelOfThatName, AmbiguousModelName, and UnusableModel for one whose download was not finished, or that is in several files.
    """
    place = place_of(name)
    if place is None:
        return None
    notes: Notes = []
    by_name: dict[str, list[Candidate]] = {}
    for _, candidate in looked_up(machine or this_machine(), [place], (), notes):
        by_name.setdefault(full_name(place, candidate), []).append(candidate)
    found = by_name.get(name) or (by_name.get(f"{name}:latest") if place is OLLAMA else None)
    if not found:
        raise NoModelOfThatName(name, place.title, near(name, list(by_name)), notes)
    paths = {candidate.path.resolve(): candidate for candidate in found}
    if len(paths) > 1:
        raise AmbiguousModelName(name, list(paths))
    if found[0].problem:
        raise UnusableModel(name, found[0].problem)
    return found[0].path


def near(name: str, known: Sequence[str]) -> list[str]:
    """The known names most like one, the best first."""
    exact = [one for one in known if name.partition(":")[2].lower() in one.lower()]
    return list(dict.fromkeys([*exact, *difflib.get_close_matches(name, known, _MAX_NEAR, 0.3), *sorted(known)]))[:_MAX_NEAR]
