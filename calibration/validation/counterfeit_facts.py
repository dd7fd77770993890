"""The facts that a run of the counterfeit study tells of its texts: what tests said. They are never measures. See docs/formats.md."""

from __future__ import annotations

from typing import Literal

import msgspec

_MAIN = "kept"


class Fact(msgspec.Struct, frozen=True, kw_only=True):
    """The facts of one text. id: of its sample. gap: where it stands. classes: by the rule that says what looks right.

    share: of the tests that touch it, those that keep their outcome.

    Of a gap's first text also pass_rate: the share of drawn texts that pass there; repair_rate: the share of passing repairs of its
    counterfeits; None where there are none.
    """

    id: str
    gap: str
    project: str
    task: str
    classes: dict[str, Literal["right", "counterfeit", "other"] | None]
    parses: bool | None = None
    share: float | None = None
    pass_rate: float | None = None
    repair_rate: float | None = None

    @property
    def kind(self) -> Literal["right", "counterfeit", "other"] | None:
        """Its class by the main rule."""
        return self.classes.get(_MAIN)
