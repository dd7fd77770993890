"""Decides whether a calibrator's numbers are shown, by its evidence and by what studies found against it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from .bands import BOUNDARIES, Boundaries
from .confidence import Confidence, confidence, refuted, whose
from .fitting.shrinkage import Level
from .guards import GIVING, Status
from .registry import Entry
from .validation.words import contradiction

REFUTED: Literal["refuted"] = "refuted"


@dataclass(frozen=True, slots=True)
class EffectiveStatus:
    """The calibrator's status, or "refuted" where a study takes its numbers away, and the reason for it, for people."""

    status: Status | Literal["refuted"]
    reason: str

    @property
    def has_numbers(self) -> bool:
        """Whether the calibrator gives probabilities."""
        return self.status in GIVING


def effective_status(entry: Entry, language: str | None = None, *, show_refuted: bool = False) -> EffectiveStatus:
    """The status of a calibrator. A refuted primary figure of its validation table takes its numbers away.

    language: of the file, because a calibrator of several languages may have no skill in one; None: of all together.
    show_refuted: the user wants to see refuted numbers.
    """
    against = contradiction(entry.validation)
    status, reason = entry.calibrator.status_in(language)
    if against and status in GIVING and not show_refuted:
        return EffectiveStatus(REFUTED, against)
    if status in GIVING and (lender := whose(entry.calibrator, kin=entry.kin)):
        return EffectiveStatus("borrowed", lender)
    return EffectiveStatus(status, reason)


def confidence_of(
    entry: Entry,
    measures: Mapping[str, float],
    groups: Mapping[Level, str] | None = None,
    boundaries: Boundaries = BOUNDARIES,
    *,
    show_refuted: bool = False,
) -> Confidence:
    """The confidence of a generation by a calibrator of the registry. As `confidence`, but without a number that a study refutes."""
    effective = effective_status(entry, groups.get("language") if groups else None, show_refuted=show_refuted)
    if effective.status == REFUTED:
        return refuted(entry.calibrator, effective.reason)
    return confidence(entry.calibrator, measures, groups, boundaries, kin=entry.kin)
