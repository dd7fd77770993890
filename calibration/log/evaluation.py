"""The evaluation of calibrators by a log of events: the probabilities that were shown, and what was kept. Pure functions.

Only probabilities of being kept can be checked. For another event, such as an exact match, a log has no labels. How well the probabilities
rank what was kept is evaluated for any event.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..evidence import Evidence, evidence_of
from ..fitting.folds import MIN_GROUPS, numbered
from ..guards import MIN_PER_CLASS, MIN_SAMPLES, are_too_few
from ..metrics.intervals import Interval, intervals, rate_interval
from ..metrics.null_tests import NullTest, spiegelhalter_by_group
from .events import RequestEnded
from .samples import AT_S, Showing, has_our_names, was_kept

LABEL = "kept"


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The probabilities of one calibrator for the seen showings of one task and model, and what became of them.

    shown: the number of showings. labelled: those of which it is known whether they were kept. kept: those that were.
    said: the mean probability of the labelled ones.
    grouped_by: what intervals take as independent. None if there are too few groups, and then there is no interval.
    rate: the share of the labelled ones that was kept.
    auc: how well the probabilities rank what was kept.
    evidence, calibrated: only for the event kept. calibrated: a test that they are (`spiegelhalter_by_group`), None if it is undefined.
    because: why there are too few labels for any of it. Empty otherwise.
    """

    calibrator: str
    event: str
    task: str
    model: str
    shown: int
    labelled: int
    kept: int
    said: float | None
    grouped_by: str | None
    rate: Interval | None
    auc: Interval | None
    evidence: Evidence | None
    calibrated: NullTest | None
    because: str


def evaluations_of(showings: Iterable[Showing], at_s: int = AT_S) -> tuple[Evaluation, ...]:
    """One evaluation for each calibrator, event, task and model, those with the most labels first.

    The probability of a showing is that of its first request. at_s: as for `was_kept`.
    """
    parts: dict[tuple[str, str, str, str], list[tuple[RequestEnded, float, bool | None]]] = {}
    for showing in showings:
        request, said = showing.request, showing.request.confidence or {}
        probability = said.get("probability")
        # No calibrator gives 0 or 1, so such a probability is damaged.
        if showing.shown and not request.is_repair and has_our_names(request) and isinstance(probability, float) and 0 < probability < 1:
            kind = (str(said.get("calibrator") or ""), str(said.get("event") or ""), request.task or "", request.model or "")
            parts.setdefault(kind, []).append((request, probability, was_kept(showing.ended, showing.kept, at_s)))
    found = [_evaluated(*kind, part) for kind, part in parts.items()]
    return tuple(sorted(found, key=lambda one: (-one.labelled, -one.shown, one.event, one.task, one.calibrator)))


def groups_of(requests: Sequence[RequestEnded]) -> tuple[str | None, NDArray[np.intp]]:
    """What is independent: projects if there are at least five, else documents, and the group of each request (n,).

    None, with documents as groups, if there are fewer than five of both.
    """
    projects = [request.project or request.document for request in requests]
    documents = [request.document for request in requests]
    if len(set(projects)) >= MIN_GROUPS:
        return "project", numbered(projects)
    return "document" if len(set(documents)) >= MIN_GROUPS else None, numbered(documents)


def _evaluated(calibrator: str, event: str, task: str, model: str, part: Sequence[tuple[RequestEnded, float, bool | None]]) -> Evaluation:
    known = [(request, probability, label) for request, probability, label in part if label is not None]
    p = np.array([probability for _, probability, _ in known])
    y = np.array([label for _, _, label in known], dtype=np.bool_)
    grouped_by, groups = groups_of([request for request, _, _ in known])
    because = ""
    if are_too_few(y):
        because = f"at least {MIN_SAMPLES} labels with {MIN_PER_CLASS} of each kind are needed"
    elif grouped_by is None:
        because = f"they are of fewer than {MIN_GROUPS} documents, and how much those are alike is not known"
    judged = not because
    of_kept = judged and event == LABEL
    return Evaluation(
        calibrator=calibrator,
        event=event,
        task=task,
        model=model,
        shown=len(part),
        labelled=len(known),
        kept=int(y.sum()),
        said=float(p.mean()) if known else None,
        grouped_by=grouped_by if judged else None,
        rate=rate_interval(y, groups) if judged else None,
        auc=intervals(p, y, groups).auc if judged else None,
        evidence=evidence_of(p, y, groups) if of_kept else None,
        calibrated=_test(p, y, groups) if of_kept else None,
        because=because,
    )


def _test(p: NDArray[np.float64], y: NDArray[np.bool_], groups: NDArray[np.intp]) -> NullTest | None:
    try:
        return spiegelhalter_by_group(p, y, groups)
    except ValueError:  # all are 0.5, or no group differs from another
        return None
