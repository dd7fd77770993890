"""How likely repairs are to be right, and their order by it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ...calibration.fitting.shrinkage import Level
from ...calibration.registry import Purpose, Registry, choose
from ...calibration.samples import Event
from ...calibration.standing import confidence_of
from ...suggestion.repair.repairs import Repair, Repairs
from ..settings.settings import LiveSettings

# A repair is for code that is wrong, and what is right is what its tests say.
EVENT: Event = "tests_pass"


def judged(repairs: Repairs, purpose: Purpose, registry: Registry, project: Path | None, settings: LiveSettings) -> Repairs:
    """With their confidence where there is a calibrator for them, the likeliest first, but behind what mends a file that does not parse."""
    entry = choose(registry, purpose)
    if entry is None:
        return repairs
    own = project is not None and (purpose.file is None or purpose.file.is_relative_to(project))
    groups: dict[Level, str] = {"language": purpose.language, **({"project": project.name} if project and own else {})}

    def with_confidence(repair: Repair) -> Repair:
        found = confidence_of(entry, repair.suggestion.measures, groups, settings.bands, show_refuted=settings.show_refuted)
        return replace(repair, suggestion=replace(repair.suggestion, confidence=found))

    found = sorted(map(with_confidence, repairs.found), key=_likeliest_first)
    return replace(repairs, found=tuple(found))


def _likeliest_first(repair: Repair) -> tuple[bool, float]:
    return not repair.mends, -(repair.suggestion.confidence.probability or 0.0)
