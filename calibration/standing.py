"""Whether a calibrator's numbers are shown: by its evidence, and by what studies found against them. The one place that decides."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from .bands import BOUNDARIES, Boundaries
from .confidence import Confidence, confidence, refuted
from .fitting.shrinkage import Level
from .guards import Status
from .registry import Entry
from .validation.words import contradiction

REFUTED: Literal["refuted"] = "refuted"


@dataclass(frozen=True, slots=True)
class Standing:
    """status: the calibrator's, or "refuted" where a study takes its numbers away. reason: why it has that status, for people."""

    status: Status | Literal["refuted"]
    reason: str

    @property
    def has_numbers(self) -> bool:
        """Whether it gives probabilities."""
        return self.status == "informative"


def standing_of(entry: Entry, language: str | None = None, *, show_refuted: bool = False) -> Standing:
    """How a calibrator stands. Its numbers are taken away where a primary figure of its validation table is refuted.

    language: of the file, in which a calibrator of several may have no skill; None: in all together.
    show_refuted: the user wants to see such numbers all the same.
    """
    against = contradiction(entry.validation)
    status, reason = entry.calibrator.standing_in(language)
    if against and status == "informative" and not show_refuted:
        return Standing(REFUTED, against)
    return Standing(status, reason)


def confidence_of(
    entry: Entry,
    measures: Mapping[str, float],
    groups: Mapping[Level, str] | None = None,
    boundaries: Boundaries = BOUNDARIES,
    *,
    show_refuted: bool = False,
) -> Confidence:
    """The confidence of a generation by a calibrator of the registry, as `confidence`, without a number where that is refuted."""
    standing = standing_of(entry, groups.get("language") if groups else None, show_refuted=show_refuted)
    if standing.status == REFUTED:
        return refuted(entry.calibrator, standing.reason)
    return confidence(entry.calibrator, measures, groups, boundaries)
