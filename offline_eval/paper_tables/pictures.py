"""Figures 2 and 6 of the paper, drawn of our forecasts: how reliable each measure is, raw and scaled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ...calibration.bands import EVENT_WORDS, LIKELY, NO_EVIDENCE, POSSIBLE
from ...calibration.metrics.bins import equal_mass, equal_width, reliability
from ...calibration.report.measured import QUANTILES
from ...calibration.report.plots import PAPER, Picture, panel, svg, whiskers
from ...calibration.samples import Event
from .forecasts import Forecast, Setting, Way, measures
from .tables import GOOD_SKILL, StudyTables, label_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLOURS: dict[Way, str] = {"raw": POSSIBLE.colour, "project": LIKELY.colour}
_NAMES: dict[Way, str] = {"raw": "raw", "project": "scaled"}
_TICKS = (0, 0.5, 1)
_SIDE, _ACROSS, _DOWN = 1.75, 2.17, 2.67


def pictures_of(tables: StudyTables, event_of: Mapping[str, Event]) -> list[Picture]:
    """The pictures of the base arm. event_of: the event of each task."""
    found = {
        (Setting(task), event): [m for m in measures().values() if tables.forecast(Setting(task), event, m, "project")]
        for task, event in event_of.items()
    }
    return [_reliability(tables, setting, event, six) for (setting, event), six in found.items() if six]


def _reliability(tables: StudyTables, setting: Setting, event: Event, measures: Sequence[str]) -> Picture:
    """Each measure raw, and scaled below it."""
    rows = [[tables.forecast(setting, event, measure, way) for measure in measures] for way in _COLOURS]

    def draw(figure: Figure) -> None:
        for line, row in enumerate(rows):
            for column, one in enumerate(row):
                if one:
                    axes = panel(figure, 0.55 + column * _ACROSS, 0.5 + line * _DOWN, _SIDE, _SIDE)
                    axes.set(xlabel="said: mean of the bin" if line else "", ylabel="" if column else "seen")
                    _bins(axes, one)

    title = f"Reliability of {setting}, {EVENT_WORDS[event]} (figures 2 and 6): raw above, Platt-scaled by project below"
    alt = "; ".join(f"{label_of(one.measure)} {_NAMES[one.way]}: {_error(one)}" for row in rows for one in row if one)
    size = (0.55 + len(measures) * _ACROSS, 0.5 + 2 * _DOWN)
    return Picture(f"reliability-{setting.task}-{event}", title, f"{title}: {alt}.", svg(draw, size))


def _error(one: Forecast) -> str:
    """Its ECE as in the tables: that of a scaled measure without skill tells nothing."""
    if one.way != "raw" and (one.skill is None or one.skill < GOOD_SKILL):
        return f"skill < {GOOD_SKILL}"
    return f"ECE {one.ece:.3f}, floor {one.noise_floor:.3f}"


def _bins(axes: Axes, one: Forecast) -> None:
    """Ten bins of equal width as the paper draws them, and five quantiles."""
    axes.plot([0, 1], [0, 1], color=NO_EVIDENCE.colour, linewidth=1, linestyle="dashed")
    whiskers(axes, reliability(one.p, one.y, by=equal_width), "o", _COLOURS[one.way], "")
    quantiles = reliability(one.p, one.y, bins=QUANTILES, by=equal_mass)
    axes.plot([b.mean for b in quantiles], [b.rate for b in quantiles], "D", markersize=4, markerfacecolor=PAPER, color=NO_EVIDENCE.colour)
    axes.set_title(f"{label_of(one.measure)}, {_NAMES[one.way]}\n{_error(one)}", fontsize=8)
    axes.xaxis.label.set_fontsize(7.5)
    axes.yaxis.label.set_fontsize(7.5)
    axes.yaxis.labelpad = 4
    axes.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), xticks=_TICKS, yticks=_TICKS)
    axes.tick_params(labelsize=7.5)
