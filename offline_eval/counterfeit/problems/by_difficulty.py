"""Success of execution and of repair by difficulty, which is the generator's own pass@1. Pure functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ....calibration.report.cells import CellTable, Row
from ..difficulty import CUTS
from ..shares import share
from .executions import STRATA, Executed
from .repairs import Repaired


def execution_by_difficulty(found: Sequence[Executed]) -> CellTable:
    """Fig. 23: pass@1 of each stratum."""
    rates = {each.problem: each.pass_at_1 for each in found if each.pass_at_1 is not None}
    kinds: dict[str, Sequence[tuple[str, float]]] = {}
    for stratum in STRATA:
        kinds[stratum] = [(each.problem, each.right) for each in found if each.stratum == stratum]
    return _table("ED", "Execution by difficulty (figure 23)", rates, kinds)


def repair_by_difficulty(found: Sequence[Repaired]) -> CellTable:
    """Fig. 24: the share of right repairs."""
    rates = {each.problem: each.pass_at_1 for each in found if each.pass_at_1 is not None}
    return _table(
        "RD", "Repair by difficulty (figure 24)", rates, {"repairs that are right": [(each.problem, each.right) for each in found]}
    )


def _table(name: str, title: str, rates: Mapping[str, float], kinds: Mapping[str, Sequence[tuple[str, float]]]) -> CellTable:
    rows = []
    for cut, buckets in CUTS.items():
        for bucket, problems in buckets(rates).items():
            cells = []
            for kind, values in kinds.items():
                inside = [(problem, value) for problem, value in values if problem in set(problems)]
                place = f"{name}/{cut[:6].strip()}/{bucket}/{kind.replace(' ', '_')}"
                cells.append(share(place, [value for _, value in inside], [problem for problem, _ in inside]))
            rows.append(Row((cut, f"{bucket} ({len(problems)})"), tuple(cells)))
    return CellTable(name, title, ("buckets", "pass@1 (problems)"), tuple(kinds), tuple(rows))
