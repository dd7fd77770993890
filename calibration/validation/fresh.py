"""The projects that validate shipped calibrators, and the figures that count: `fresh.toml`, registered before they are run."""

from __future__ import annotations

import tomllib
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Registration:
    """date: when. calibrators: their ids. projects: as the question of a run names them. caveat: what speaks against it, or empty."""

    date: str
    calibrators: frozenset[str]
    projects: frozenset[str]
    caveat: str = ""

    def said(self, seen: int) -> str:
        """What a figure's note says of its projects, of which so many have samples."""
        count = f"{len(self.projects)}" if seen == len(self.projects) else f"{seen} of {len(self.projects)}"
        return f"{count} projects, registered as fresh on {self.date} {self.caveat or 'before they were run'}"


@cache
def _document() -> dict[str, Any]:
    return tomllib.loads((Path(__file__).parent / "fresh.toml").read_text(encoding="utf-8"))


def registrations() -> tuple[Registration, ...]:
    """All of them, in the order of the file."""
    return tuple(
        Registration(
            str(each["registered"]),
            frozenset(each["calibrators"]),
            frozenset(f"{project['name']} {project['code']}" for project in each["projects"]),
            each.get("caveat", ""),
        )
        for each in _document()["registration"]
    )


def wheels() -> tuple[tuple[int, dict[str, str]], ...]:
    """The projects of which a registration names the wheel: name and version, and the hashes of the wheel and of its code.

    Each with the number of its registration among those that name wheels, from 1.
    """
    named = [projects for each in _document()["registration"] if (projects := [one for one in each["projects"] if "sha256" in one])]
    return tuple((number, project) for number, projects in enumerate(named, 1) for project in projects)


def registration_of(calibrator: str, projects: Collection[str]) -> Registration | None:
    """The registration of these very projects for a calibrator, by its id."""
    return next((each for each in registrations() if calibrator in each.calibrators and each.projects == set(projects)), None)


def primary_of(event: str) -> tuple[str, ...]:
    """The figures that a calibrator for an event must show: many others that hold are no stronger claim."""
    return tuple(_document()["primary"][event])
