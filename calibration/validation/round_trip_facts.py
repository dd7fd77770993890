"""The facts that a run of the round-trip study tells of its places: what came of rebuilds. They are never measures. See docs/formats.md."""

from __future__ import annotations

import msgspec


class TripFact(msgspec.Struct, frozen=True, kw_only=True):
    """What one description led to. equal, passes: the share of rebuilds that are the code again, and that pass; passes may be unknown.

    copied: the description recites the code.
    """

    equal: float
    passes: float | None
    copied: bool


class CodeFact(msgspec.Struct, frozen=True, kw_only=True):
    """The round trips of one code: the project's own, or what was suggested in its place."""

    trips: tuple[TripFact, ...]


class PlaceFact(msgspec.Struct, frozen=True, kw_only=True):
    """The facts of one place. id: of its sample. exact, passes: what is true of the suggestion there. codes: truth, suggestion."""

    id: str
    project: str
    exact: bool
    passes: bool | None
    codes: dict[str, CodeFact]
