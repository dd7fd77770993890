"""The plots of a report, as SVG that can be read on light and dark screens. matplotlib is loaded only when a plot is drawn.

A picture has light colours, so that every program can show it, and a style sheet that replaces them by dark ones on a dark screen. No name
that a user chose is in a picture, because its letters are outlines of a font that lacks many.
"""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import chdir
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np

from ..bands import EVENT_WORDS, LIKELY, NO_EVIDENCE, POSSIBLE
from ..calibrator import Calibrator
from ..metrics.bins import BINS, Bin, equal_width
from .measured import HISTOGRAM_BINS, Forecast, Measured

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PAPER, INK, GRID = "#ffffff", "#222222", "#dddddd"
DARK = {
    PAPER: "#1e1e1e",
    INK: "#e6e6e6",
    GRID: "#444444",
    **{band.colour.lower(): band.colour_dark.lower() for band in (LIKELY, POSSIBLE, NO_EVIDENCE)},
}
"""The dark colour of each light one."""

_log = logging.getLogger(__name__)

_REFERENCE = NO_EVIDENCE.colour
_COLOURS = {"after": LIKELY.colour, "before": POSSIBLE.colour}
_DASHES, _DOTS, _DASH_DOTS = (0, (4, 2)), (0, (1, 2)), (0, (4, 2, 1, 2))
# in inches; the block of a forecast is its diagrams above its histograms
_WIDTH, _BLOCK = 8.6, 5.8
# a marker at 0 or 1 is not cut
_ENDS = (-0.02, 1.02)
_TICKS = [0, 0.2, 0.4, 0.6, 0.8, 1]
# of what happened, after "rate of" and "without"
_NOUNS = {"exact_match": "exact match", "tests_pass": "passing tests", "kept": "being kept"}
_STYLE: dict[Any, Any] = {
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "legend.frameon": False,
    "legend.fontsize": 8.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": True,
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    # a fixed salt: the same samples give the same file
    "svg.hashsalt": "assay",
}


@dataclass(frozen=True, slots=True)
class Picture:
    """name: of its file, without a suffix; title: what it shows, and of how many samples; alt: the same for who can't see it.

    svg: empty where matplotlib is not installed. A report then says `alt`.
    """

    name: str
    title: str
    alt: str
    svg: str


def files_of(pictures: Iterable[Picture]) -> dict[str, str]:
    """The file of each picture that was drawn."""
    return {f"{picture.name}.svg": picture.svg for picture in pictures if picture.svg}


def pictures(subject: Measured | Calibrator) -> list[Picture]:
    """The pictures of a report: reliability and ranking of a fit, the bins of a calibrator."""
    if isinstance(subject, Calibrator):
        return [_of_bins(subject)]
    return [_reliability(subject), _ranking(subject)]


def _reliability(measured: Measured) -> Picture:
    forecasts = _forecasts(measured)
    event, n = measured.calibrator.event, measured.after.evidence.n

    def draw(figure: Figure) -> None:
        for k, forecast in enumerate(forecasts):
            colour, top = _COLOURS[forecast.name], k * _BLOCK
            (corp, bins), (histogram, counts) = _row(figure, top + 0.3, 3.4), _row(figure, top + 4.85, 0.6)
            _corp(corp, forecast)
            whiskers(bins, forecast.equal_width, "o", colour, "bins of equal width")
            whiskers(bins, forecast.quantiles, "D", INK, _quantiles(forecast.quantiles))
            for axes, what in ((corp, "CORP curve"), (bins, "in bins, 95 % Wilson")):
                diagram(axes, event, f"{forecast.name}: {what}, n = {n:,}")
            _histogram(histogram, forecast)
            _counts(counts, forecast)

    title = f"Reliability of P({EVENT_WORDS[event]}), n = {n:,}"
    alt = "; ".join(
        f"{forecast.name}, the observed rate was {_rates(forecast.quantiles)}, and the miscalibration {forecast.miscalibration.value:.4f}, "
        f"where a perfect forecaster would get {forecast.miscalibration.noise_floor:.4f}"
        for forecast in forecasts
    )
    return Picture(f"reliability-{event}", title, f"{title}: {alt}.", svg(draw, (_WIDTH, _BLOCK * len(forecasts))))


def _ranking(measured: Measured) -> Picture:
    forecasts = _forecasts(measured)
    event, n = measured.calibrator.event, measured.after.evidence.n
    base_rate = measured.after.evidence.base_rate

    def draw(figure: Figure) -> None:
        roc, risk = _row(figure, 0.3, 3.4)
        roc.plot([0, 1], [0, 1], color=_REFERENCE, linewidth=1, linestyle=_DOTS, label="any order, area 0.500")
        risk.axhline(1 - base_rate, color=_REFERENCE, linewidth=1, linestyle=_DOTS, label=f"any order, area {1 - base_rate:.3f}")
        shown = np.linspace(base_rate, 1, 200)[1:]
        risk.plot(
            [0, base_rate, *shown], [0, 0, *(1 - base_rate / shown)], color=_REFERENCE, linewidth=1, linestyle=_DASH_DOTS,
            label=f"the best, area {measured.after.aurc - measured.after.excess_aurc:.3f}",
        )  # fmt: skip
        for forecast in reversed(forecasts):
            # what lies below is wider, to be seen where both are the same
            width, dashes = (1.5, "solid") if forecast.name == "after" else (2.6, _DASHES)
            curves = [(risk, forecast.risk_coverage, forecast.aurc)]
            if forecast.roc and forecast.evidence.auc:
                curves.append((roc, forecast.roc, forecast.evidence.auc.value))
            for axes, curve, area in curves:
                label = f"{forecast.name}, area {area:.3f}"
                axes.plot(curve.x, curve.y, color=_COLOURS[forecast.name], linewidth=width, linestyle=dashes, label=label)
        if not measured.after.roc:
            roc.text(0.5, 0.75, "not defined:\nall labels are equal", ha="center", va="center")
        roc.set(ylim=_ENDS, xlabel="false positive rate", ylabel="true positive rate", title=f"ROC, n = {n:,}")
        risk.set_ylim(-0.02 * risk.get_ylim()[1], min(1.02, max(0.05, risk.get_ylim()[1])))
        risk.set(xlabel="coverage: share shown, the surest first", ylabel=f"risk: share of the shown without {_NOUNS[event]}")
        risk.set_title(f"Risk and coverage, n = {n:,}")
        for axes in (roc, risk):
            axes.set(xlim=_ENDS, xticks=_TICKS)
            legend(axes)

    title = f"Ranking by P({EVENT_WORDS[event]}), n = {n:,}"
    alt = "; ".join(
        f"{forecast.name}, the area under the ROC curve is {f'{auc.value:.3f}' if (auc := forecast.evidence.auc) else 'not defined'}, "
        f"the area under the risk-coverage curve {forecast.aurc:.3f}"
        for forecast in forecasts
    )
    return Picture(f"ranking-{event}", title, f"{title}: {alt}.", svg(draw, (_WIDTH, 4.65)))


def _of_bins(calibrator: Calibrator) -> Picture:
    bins, event, n = calibrator.evidence.reliability, calibrator.event, calibrator.evidence.n

    def draw(figure: Figure) -> None:
        axes = panel(figure, 0.6, 0.3, 3.6, 3.4)
        whiskers(axes, bins, "o", LIKELY.colour, _quantiles(bins))
        diagram(axes, event, f"held out, in bins, 95 % Wilson, n = {n:,}")

    title = f"Reliability of P({EVENT_WORDS[event]}), n = {n:,}"
    return Picture(f"reliability-{event}", title, f"{title}: the observed rate was {_rates(bins)}.", svg(draw, (4.3, 4.65)))


def _row(figure: Figure, top: float, height: float) -> tuple[Axes, Axes]:
    return panel(figure, 0.6, top, 3.6, height), panel(figure, 4.9, top, 3.6, height)


def panel(figure: Figure, left: float, top: float, width: float, height: float) -> Axes:
    """Axes at a place in inches, from the left and from the top."""
    w, h = figure.get_size_inches()
    return figure.add_axes((left / w, 1 - (top + height) / h, width / w, height / h))


def _forecasts(measured: Measured) -> list[Forecast]:
    return [measured.after, measured.before] if measured.before else [measured.after]


def _rates(bins: Sequence[Bin]) -> str:
    return ", ".join(f"{b.rate:.2f} where {b.mean:.2f} was said" for b in bins)


def _quantiles(bins: Sequence[Bin]) -> str:
    """What they are called in a legend: equal probabilities are in one bin, so that sizes may differ."""
    least, most = min(b.n for b in bins), max(b.n for b in bins)
    return f"{len(bins)} quantile{'s' if len(bins) > 1 else ''} of {_short(least)}{f' to {_short(most)}' if most > least + 1 else ''}"


def _corp(axes: Axes, forecast: Forecast) -> None:
    band, curve = forecast.band, forecast.corp
    # with an edge, that a band at a single probability is seen
    axes.fill_between(
        band.p, band.low, band.high, facecolor=(_REFERENCE, 0.25), edgecolor=(_REFERENCE, 0.5), linewidth=0.7, label="95 % if calibrated"
    )
    x, y = np.column_stack([curve.low, curve.high]).ravel(), np.repeat(curve.rate, 2)
    # a curve of one point is seen by its marker
    axes.plot(x, y, color=_COLOURS[forecast.name], linewidth=1.8, marker="o", markevery=[0, -1], markersize=3, label="recalibrated (PAV)")
    base_rate = forecast.evidence.base_rate
    axes.axhline(base_rate, color=_REFERENCE, linewidth=1, linestyle=_DOTS, label=f"base rate {base_rate:.3f}")


def whiskers(axes: Axes, bins: Sequence[Bin], marker: str, colour: str, label: str) -> None:
    """The observed rate of each bin with its Wilson interval."""
    rate = np.array([b.rate for b in bins])
    error = np.array([rate - [b.rate_low for b in bins], [b.rate_high for b in bins] - rate]).clip(min=0)
    face = PAPER if marker == "D" else colour
    axes.errorbar(
        [b.mean for b in bins], rate, yerr=error, fmt=marker, markersize=5.5, markerfacecolor=face, color=colour, elinewidth=1.3,
        capsize=3, label=label,
    )  # fmt: skip


def diagram(axes: Axes, event: str, title: str) -> None:
    """Make axes that have something on them a reliability diagram of P(event)."""
    axes.plot([0, 1], [0, 1], color=_REFERENCE, linewidth=1, linestyle=_DASHES, label="perfect")
    axes.set(xlim=_ENDS, ylim=_ENDS, xticks=_TICKS, yticks=_TICKS, title=title)
    axes.set(xlabel=f"predicted P({EVENT_WORDS[event]})", ylabel=f"observed rate of {_NOUNS[event]}")
    legend(axes)


def legend(axes: Axes) -> None:
    """Below the axes, where no curve can be."""
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.12), ncols=2, columnspacing=1.2, handlelength=2.2)


def _histogram(axes: Axes, forecast: Forecast) -> None:
    edges = np.arange(HISTOGRAM_BINS + 1) / HISTOGRAM_BINS
    axes.stairs(forecast.histogram, edges, fill=True, color=_COLOURS[forecast.name])
    _samples(axes, f"{forecast.name}: how often each was said")


def _counts(axes: Axes, forecast: Forecast) -> None:
    """Samples in each bin of equal width, as a bar with the number on it."""
    counts = [b.n for b in forecast.equal_width]
    centres = [(k + 0.5) / BINS for k in equal_width(np.array([b.high for b in forecast.equal_width])).tolist()]
    bars = axes.bar(centres, counts, width=0.085, color=_COLOURS[forecast.name])
    axes.bar_label(bars, [_short(n) for n in counts], fontsize=7.5, padding=1)
    axes.margins(y=0.4)
    _samples(axes, f"{forecast.name}: samples in each bin of equal width")


def _samples(axes: Axes, title: str) -> None:
    axes.set(xlim=_ENDS, xticks=_TICKS, ylabel="samples", title=title)
    axes.locator_params(axis="y", nbins=2, integer=True)
    axes.yaxis.set_major_formatter(lambda n, _: _short(round(n)))
    axes.grid(visible=False, axis="x")


def _short(n: int) -> str:
    """At most four characters: 12, 999, 1.2k, 354k, 1.0M."""
    for size, unit in ((1_000_000, "M"), (1_000, "k")):
        if n >= 0.9995 * size:
            return f"{n / size:.1f}{unit}" if n < 9.95 * size else f"{n / size:.0f}{unit}"
    return str(n)


def svg(draw: Callable[[Figure], None], inches: tuple[float, float]) -> str:
    """The picture that `draw` makes on a figure of this width and height; empty without matplotlib, and it is said what adds it."""
    # where it keeps its font cache is no news to a reader of reports
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    try:
        # it reads a matplotlibrc of the current folder, which may be a project
        with chdir("/"):
            from matplotlib import rc_context, rcdefaults, rcParams
            from matplotlib.figure import Figure
    except ImportError:
        _tell_what_to_install()
        return ""
    out = BytesIO()
    with rc_context():
        rcdefaults()
        rcParams.update(_STYLE)
        figure = Figure(figsize=inches, facecolor=PAPER)
        draw(figure)
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    written = out.getvalue().decode()
    return re.sub(r"(<svg[^>]*>)", rf"\1\n <style>{_dark_style()}</style>", written[written.index("<svg") :], count=1)


@cache
def _tell_what_to_install() -> None:
    _log.warning("no pictures are drawn without matplotlib: %s -m pip install matplotlib, and the same command adds them", sys.executable)


def _dark_style() -> str:
    rules = "".join(f'[style*="{what}: {light}"]{{{what}:{dark}!important}}' for light, dark in DARK.items() for what in ("fill", "stroke"))
    return f"@media screen and (prefers-color-scheme:dark){{{rules}}}"
