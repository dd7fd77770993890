"""What calibrators of a run's own samples are worth, each project judged by a map that was fitted without it, and their order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...calibration.evidence import Evidence, evidence_of
from ...calibration.fitting.checks import FitError
from ...calibration.fitting.fit import fit
from ...calibration.fitting.folds import MIN_GROUPS, numbered
from ...calibration.report.cells import Cell, CellTable, Row, with_interval
from ...calibration.samples import Event, Sample
from .attempts import Order
from .samples import sample_id

# Only the interval of the calibration error takes resamples, and it is not printed.
_FEW = 20


@dataclass(frozen=True, slots=True)
class Numbers:
    """The held-out probabilities of an event, by the samples' ids. why: there are none, and why not."""

    event: Event
    evidence: Evidence | None
    probabilities: Mapping[str, float]
    by: str = ""
    why: str = ""

    @property
    def order(self) -> Order | None:
        """The likeliest first, and then those without a number; None without numbers."""
        said = self.probabilities
        return (lambda name, each: said.get(sample_id(name, each), 0.0)) if said else None


def numbers_of(samples: Sequence[Sample], event: Event, features: Sequence[str]) -> Numbers:
    """Fit to the samples of which the event is known."""
    known = [sample for sample in samples if sample.labels.get(event) is not None]
    try:
        found = fit(known, event, features, resamples=_FEW)
    except FitError as error:
        return Numbers(event, None, {}, why=str(error))
    said = {sample.id: float(p) for sample, p in zip(found.samples, found.held_out, strict=True)}
    return Numbers(event, found.calibrator.evidence, said, found.calibrator.fitted_on.grouped_by)


def of_source(numbers: Numbers, samples: Sequence[Sample], source: str) -> Numbers:
    """The same probabilities, judged on the bugs of one source alone. samples: their ids are PLACE:SOURCE:RANK."""
    part = [each for each in samples if each.id in numbers.probabilities and each.id.rsplit(":", 2)[1] == source]
    groups = numbered([each.project for each in part])
    if len(set(groups.tolist())) < MIN_GROUPS:
        return replace(numbers, evidence=None, probabilities={}, why=f"fewer than {MIN_GROUPS} projects")
    p = np.array([numbers.probabilities[each.id] for each in part], dtype=np.float64)
    y = np.array([bool(each.labels[numbers.event]) for each in part], dtype=np.bool_)
    return replace(numbers, evidence=evidence_of(p, y, groups, _FEW, 0))


def numbers_table(numbers: Mapping[str, Numbers]) -> CellTable:
    """Skill, AUC and smooth calibration error, by what the numbers are of."""
    rows = []
    for name, each in numbers.items():
        place, found = f"N/{name.replace(' ', '_')}", each.evidence
        if found is None:
            rows.append(Row((name,), tuple(Cell(f"{place}/{part}", why=each.why) for part in ("rate", "skill", "auc", "smooth"))))
            continue
        counts = {"n": found.n, "groups": found.groups, "grouped_by": each.by}
        cells = (
            Cell(f"{place}/rate", found.base_rate, percent=True, **counts),  # type: ignore[arg-type]
            with_interval(f"{place}/skill", found.skill, found.n, found.groups, each.by),
            with_interval(f"{place}/auc", found.auc, found.n, found.groups, each.by),
            Cell(f"{place}/smooth", found.smooth_ece.value, noise_floor=found.smooth_ece.noise_floor, **counts),  # type: ignore[arg-type]
        )
        rows.append(Row((name,), cells))
    columns = ("base rate", "skill", "AUC", "smooth calibration error")
    notes = (
        "Of repairs: of each among the first 8 of a bug that has a score. Of lines: of each suspect of a failure.",
        "Each project is judged by a map that was fitted without it.",
    )
    return CellTable("N", "Numbers, held out", ("of",), columns, tuple(rows), notes)
