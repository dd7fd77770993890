"""Figures 2 and 5 to 8 of the paper, drawn of our forecasts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from ...calibration.bands import EVENT_WORDS, LIKELY, NO_EVIDENCE, POSSIBLE
from ...calibration.metrics.bins import equal_mass, equal_width, reliability
from ...calibration.metrics.selective import roc, thinned
from ...calibration.report.measured import QUANTILES
from ...calibration.report.plots import PAPER, Picture, panel, svg, whiskers
from ...calibration.samples import Event
from .forecasts import BASE_ARM, Forecast, Setting, Way, each, measures
from .tables import GOOD_SKILL, P_AVG, StudyTables, label_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# AUCs that are nearer than this are called alike.
ALIKE = 0.02
_COLOURS: dict[Way, str] = {"raw": POSSIBLE.colour, "project": LIKELY.colour}
_NAMES: dict[Way, str] = {"raw": "raw", "project": "scaled"}
_MARKERS = ("o", "s", "^", "D", "v", "P")
_TICKS = (0, 0.5, 1)
_SIDE, _GAP, _TOP = 1.75, 0.62, 0.62
_COLUMNS = 200
_SAID = "said: mean of the bin"


def pictures_of(tables: StudyTables, event_of: Mapping[str, Event]) -> list[Picture]:
    """The pictures of the base arm. event_of: the event of each task."""
    return [picture for task, event in event_of.items() for picture in _of_task(tables, task, event)] + _across(tables, event_of)


def _of_task(tables: StudyTables, task: str, event: Event) -> Iterator[Picture]:
    setting = Setting(task)
    six = [measure for measure in measures().values() if tables.forecast(setting, event, measure, "project")]
    if six:
        yield _reliability(tables, setting, event, six)
    plain, without = (_ways(tables, Setting(task, arm), event) for arm in (BASE_ARM, "no_docstring"))
    if len(plain) == len(without) == len(_COLOURS):
        yield _docstrings(task, event, plain, without)
    if pair := most_unlike(list(_candidates(tables, setting, event))):
        yield _like_and_unlike(setting, event, pair)


def _ways(tables: StudyTables, setting: Setting, event: Event) -> dict[Way, Forecast]:
    """p_avg, raw and scaled by project."""
    return {way: one for way in _COLOURS if (one := tables.forecast(setting, event, P_AVG, way))}


def _candidates(tables: StudyTables, setting: Setting, event: Event) -> Iterator[Forecast]:
    """The paper's measures, raw and scaled by project."""
    six = set(measures().values())
    return each(tables.found, lambda one: (one.setting, one.event) == (setting, event) and one.measure in six and one.way in _COLOURS)


def most_unlike(forecasts: Sequence[Forecast]) -> tuple[Forecast, Forecast] | None:
    """Of the pairs whose AUCs are alike and above ½, the one whose ECEs differ most, the smaller ECE first. None where there is none."""
    ranking = [(one, one.auc.value) for one in forecasts if one.auc and one.auc.low > 0.5]
    alike = [(one, other) for (one, a), (other, b) in combinations(ranking, 2) if abs(a - b) <= ALIKE]
    if not alike:
        return None
    one, other = max(alike, key=lambda pair: abs(pair[0].ece - pair[1].ece))
    return (one, other) if one.ece <= other.ece else (other, one)


def _reliability(tables: StudyTables, setting: Setting, event: Event, measures: Sequence[str]) -> Picture:
    """Figures 2 and 6: each measure raw, and scaled below it."""
    rows = [[tables.forecast(setting, event, measure, way) for measure in measures] for way in _COLOURS]
    shown = [one for row in rows for one in row if one]

    def draw(figure: Figure) -> None:
        for line, row in enumerate(rows):
            for column, one in enumerate(row):
                if one:
                    axes = _square(figure, column, line)
                    axes.set(xlabel=_SAID if line else "", ylabel="" if column else "seen")
                    _bins(axes, one, f"{label_of(one.measure)}, {_NAMES[one.way]}\n{_error(one)}")

    title = f"Reliability of {setting}, {EVENT_WORDS[event]} (figures 2 and 6): raw above, Platt-scaled by project below"
    alt = "; ".join(f"{label_of(one.measure)} {_NAMES[one.way]}: {_error(one)}" for one in shown)
    return Picture(f"reliability-{setting.task}-{event}", title, f"{title}: {alt}.", svg(draw, _size(len(measures), 2)))


def _docstrings(task: str, event: Event, plain: Mapping[Way, Forecast], without: Mapping[Way, Forecast]) -> Picture:
    """Figure 5: p_avg scaled with and without docstrings, raw, and the ROC curves."""

    def draw(figure: Figure) -> None:
        shown = (
            ("scaled, with docstring", plain["project"]),
            ("scaled, without", without["project"]),
            ("raw, with docstring", plain["raw"]),
        )
        for column, (name, one) in enumerate(shown):
            axes = _square(figure, column, 0)
            axes.set(xlabel=_SAID, ylabel="" if column else "seen")
            _bins(axes, one, f"{name}\n{_error(one)}")
        axes = _square(figure, len(shown), 0)
        axes.plot([0, 1], [0, 1], color=NO_EVIDENCE.colour, linewidth=1, linestyle="dotted")
        for one, dashes, name in ((plain["raw"], "solid", "with"), (without["raw"], "dashed", "without")):
            if one.auc:
                curve = thinned(roc(one.p, one.y), _COLUMNS)
                axes.plot(curve.x, curve.y, color=LIKELY.colour, linestyle=dashes, linewidth=1.3, label=f"{name}, {one.auc.value:.2f}")
        if axes.get_legend_handles_labels()[0]:
            axes.legend(loc="lower right", fontsize=7)
        axes.set_title("ROC of raw p_avg\nand its area", fontsize=8)
        axes.set(xlabel="false positive rate")
        _frame(axes)

    title = f"p_avg of {task} with and without docstrings, {EVENT_WORDS[event]} (figure 5)"
    alt = "; ".join(
        f"{name}: ECE {one.ece:.3f}" for name, one in (("with", plain["project"]), ("without", without["project"]), ("raw", plain["raw"]))
    )
    return Picture(f"docstrings-{task}-{event}", title, f"{title}: {alt}.", svg(draw, _size(4, 1)))


def _like_and_unlike(setting: Setting, event: Event, pair: tuple[Forecast, Forecast]) -> Picture:
    """Figure 7."""

    def draw(figure: Figure) -> None:
        for column, one in enumerate(pair):
            area = f"{one.auc.value:.2f}" if one.auc else "–"
            axes = _square(figure, column, 0)
            axes.set(xlabel=_SAID, ylabel="" if column else "seen")
            _bins(axes, one, f"{label_of(one.measure)}, {_NAMES[one.way]}\nAUC {area}, ECE {one.ece:.2f}")

    title = f"Like AUC, unlike ECE: {setting}, {EVENT_WORDS[event]} (figure 7)"
    alt = "; ".join(
        f"{label_of(one.measure)} {_NAMES[one.way]}: AUC {f'{one.auc.value:.3f}' if one.auc else 'not measured'}, ECE {one.ece:.3f}"
        for one in pair
    )
    return Picture(f"alike-{setting.task}-{event}", title, f"{title}: {alt}.", svg(draw, _size(2, 1)))


def _across(tables: StudyTables, event_of: Mapping[str, Event]) -> list[Picture]:
    """Figure 8: each measure of each task, raw and scaled: its AUC against ECE and against skill."""
    shown = [
        one for task, event in event_of.items() for one in _candidates(tables, Setting(task), event) if one.auc and one.skill is not None
    ]
    if not shown:
        return []
    measures = list(dict.fromkeys(one.measure for one in shown))

    def draw(figure: Figure) -> None:
        panels = [panel(figure, 0.6 + column * 3.6, 0.35, 2.9, 2.7) for column in (0, 1)]
        for one in shown:
            colour, marker = _COLOURS[one.way], _MARKERS[measures.index(one.measure) % len(_MARKERS)]
            face = colour if one.way == "project" else PAPER
            for axes, value in zip(panels, (one.ece, one.skill), strict=True):
                area = one.auc.value if one.auc else np.nan
                axes.plot(area, value or 0.0, linestyle="none", markersize=5.5, marker=marker, color=colour, markerfacecolor=face)
        for axes, name in zip(panels, ("ECE", "skill score"), strict=True):
            axes.axvline(0.5, color=NO_EVIDENCE.colour, linewidth=1, linestyle="dotted")
            axes.set(xlabel="AUC", title=f"AUC and {name}")
        panels[1].axhline(0, color=NO_EVIDENCE.colour, linewidth=1, linestyle="dotted")
        for measure, marker in zip(measures, _MARKERS, strict=False):
            panels[0].plot([], [], linestyle="none", marker=marker, color=NO_EVIDENCE.colour, label=label_of(measure))
        for way, name in _NAMES.items():
            face = _COLOURS[way] if way == "project" else PAPER
            panels[0].plot([], [], linestyle="none", marker="o", color=_COLOURS[way], markerfacecolor=face, label=name)
        figure.legend(*panels[0].get_legend_handles_labels(), loc="lower center", ncols=8, fontsize=8, columnspacing=1.0, handletextpad=0.2)

    title = f"AUC against ECE and skill: {', '.join(event_of)} (figure 8)"
    alt = f"{len(shown)} measures, raw and scaled; the numbers are in tables 5 to 8"
    return [Picture("auc-ece-skill", title, f"{title}: {alt}.", svg(draw, (7.6, 4.05)))]


def _square(figure: Figure, column: int, line: int) -> Axes:
    return panel(figure, 0.55 + column * (_SIDE + _GAP - 0.2), 0.5 + line * (_SIDE + _GAP + 0.3), _SIDE, _SIDE)


def _size(columns: int, lines: int) -> tuple[float, float]:
    return 0.55 + columns * (_SIDE + _GAP - 0.2), 0.5 + lines * (_SIDE + _GAP + 0.3)


def _error(one: Forecast) -> str:
    """Its ECE as in the tables: that of a scaled measure without skill tells nothing."""
    if one.way != "raw" and (one.skill is None or one.skill < GOOD_SKILL):
        return f"skill < {GOOD_SKILL}"
    return f"ECE {one.ece:.3f}, floor {one.noise_floor:.3f}"


def _bins(axes: Axes, one: Forecast, title: str) -> None:
    """Ten bins of equal width as the paper draws them, and five quantiles."""
    axes.plot([0, 1], [0, 1], color=NO_EVIDENCE.colour, linewidth=1, linestyle="dashed")
    whiskers(axes, reliability(one.p, one.y, by=equal_width), "o", _COLOURS[one.way], "")
    quantiles = reliability(one.p, one.y, bins=QUANTILES, by=equal_mass)
    axes.plot([b.mean for b in quantiles], [b.rate for b in quantiles], "D", markersize=4, markerfacecolor=PAPER, color=NO_EVIDENCE.colour)
    axes.set_title(title, fontsize=8)
    _frame(axes)


def _frame(axes: Axes) -> None:
    axes.xaxis.label.set_fontsize(7.5)
    axes.yaxis.label.set_fontsize(7.5)
    axes.yaxis.labelpad = 4
    axes.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), xticks=_TICKS, yticks=_TICKS)
    axes.tick_params(labelsize=7.5)
