"""Round trips beside pass@1, project by project."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ....calibration.bands import LIKELY, NO_EVIDENCE
from ....calibration.report.plots import Picture, panel, svg
from .rates import Rates

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_TICKS = (0, 0.25, 0.5, 0.75, 1)


def scatter(found: Rates) -> Picture | None:
    """RTC and lift of each project against pass@1, with 95 % intervals. None without a project."""
    if not found.names:
        return None
    passing = found.by_project(found.bare)
    columns = (("RTC", found.rtc, (-0.02, 1.02)), ("lift", found.lift, (-1.02, 1.02)))

    def draw(figure: Figure) -> None:
        for column, (name, values, limits) in enumerate(columns):
            axes = panel(figure, 0.6 + 3.9 * column, 0.35, 3.0, 3.0)
            cells = [found.of_project(number, name, values, sign=name == "lift") for number in range(len(found.names))]
            middle = np.array([cell.value for cell in cells])
            low = np.array([cell.value if cell.low is None else cell.low for cell in cells])
            high = np.array([cell.value if cell.high is None else cell.high for cell in cells])
            error = np.clip([middle - low, high - middle], 0, None)
            axes.errorbar(passing, middle, yerr=error, fmt="o", markersize=4.5, color=LIKELY.colour, elinewidth=1)
            line = ([0, 1], [0, 1]) if name == "RTC" else ([0, 1], [0, 0])
            axes.plot(*line, color=NO_EVIDENCE.colour, linewidth=1, linestyle="dashed")
            axes.set(xlim=(-0.02, 1.02), ylim=limits, xticks=_TICKS, xlabel="pass@1: without a comment", title=f"{name} by project")

    title = f"Round trips and pass@1 of {len(found.names)} projects, with 95 % intervals"
    rates = ", ".join(f"{rtc:.2f} at {each:.2f}" for rtc, each in zip(found.by_project(found.rtc), passing, strict=True))
    return Picture("scatter", title, f"{title}: RTC is {rates}.", svg(draw, (7.8, 3.95)))
