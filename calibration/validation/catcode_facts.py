"""The facts that a run of CatCode's line twin tells of its places. Its labels are never measures. See docs/formats.md."""

from __future__ import annotations

from typing import Literal

import msgspec


class VariantFact(msgspec.Struct, frozen=True, kw_only=True):
    """A rewrite of the code around a line (context), or of the line, which then does the same (equivalent) or fails tests (wrong).

    rules: of its steps. kind: what the tests make of it. measures: of the line in it; None where the model can't tell.
    """

    arm: Literal["context", "equivalent", "wrong"]
    rules: tuple[str, ...]
    kind: Literal["right", "counterfeit", "other"]
    measures: dict[str, float] | None


class LineFact(msgspec.Struct, frozen=True, kw_only=True):
    """A line that passes its tests. exact: it is the project's own. plain, identity: its measures, and those of the same text once more."""

    exact: bool
    plain: dict[str, float] | None
    identity: dict[str, float] | None
    variants: tuple[VariantFact, ...] = ()


class RegeneratedFact(msgspec.Struct, frozen=True, kw_only=True):
    """What is suggested at a place in rewritten code. exact, passes: what is true of it; None where the tests did not tell."""

    measures: dict[str, float]
    exact: bool
    passes: bool | None


class PlaceFact(msgspec.Struct, frozen=True, kw_only=True):
    """The facts of one place. id: of its sample. regenerated: None where nothing is suggested, or the code was not rewritten."""

    id: str
    project: str
    file: str
    lines: tuple[LineFact, ...] = ()
    regenerated: RegeneratedFact | None = None
