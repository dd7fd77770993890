"""From a model's name, such as "ollama:qwen2.5-coder:1.5b", to the file or folder that it names."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from pathlib import Path

from ..errors import AmbiguousModelName, NoModelOfThatName, UnusableModel
from .candidate import Candidate, Place
from .find import full_name, looked_up
from .machine import Machine, this_machine
from .ollama import PLACE as OLLAMA
from .places import PLACES
from .walk import Notes

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
