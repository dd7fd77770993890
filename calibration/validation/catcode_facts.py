"""The facts that a run of CatCode's line twin tells of its places: a line of facts.jsonl for each. Its labels are never measures."""

from __future__ import annotations

from typing import Literal

import msgspec


class VariantFact(msgspec.Struct, frozen=True, kw_only=True):
    """A rewrite of the code around a line (context), or of the line, which then does the same (equivalent) or fails tests (wrong).

    rules: of its steps. kind: what the tests make of it, or right by its rule where no test judges. measures: of the line in it; None where
    the model can't tell. diff: the lines that it takes out ("-…") and puts in ("+…"), for people.
    """

    arm: Literal["context", "equivalent", "wrong"]
    rules: tuple[str, ...]
    kind: Literal["right", "counterfeit", "other"]
    measures: dict[str, float] | None
    line: str = ""
    diff: tuple[str, ...] = ()


class Tried(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a rule at a line."""

    arm: str
    rule: str
    outcome: str
    why: str


class LineFact(msgspec.Struct, frozen=True, kw_only=True):
    """A line that passes its tests, or the part of it that is asked for.

    exact: it is the project's own. plain, identity: its measures, and those of the same text once more.
    code: truth or suggestion. tried: what became of each rule.
    """

    exact: bool
    plain: dict[str, float] | None
    identity: dict[str, float] | None
    variants: tuple[VariantFact, ...] = ()
    code: str = "truth"
    text: str = ""
    tried: tuple[Tried, ...] = ()


class RegeneratedFact(msgspec.Struct, frozen=True, kw_only=True):
    """What is suggested at a place in rewritten code. exact, passes: what is true of it; None where the tests did not tell.

    rules: of the rewrites. text: what would be inserted.
    """

    measures: dict[str, float]
    exact: bool
    passes: bool | None
    rules: tuple[str, ...] = ()
    text: str = ""


class PlaceFact(msgspec.Struct, frozen=True, kw_only=True):
    """The facts of one place. id: of its sample. regenerated: None where nothing is suggested, or the code was not rewritten."""

    id: str
    project: str
    file: str
    lines: tuple[LineFact, ...] = ()
    regenerated: RegeneratedFact | None = None
