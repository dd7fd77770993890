"""Cells of shares, means and correlations, with groups, such as problems or projects, as what is independent. Pure functions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from ..calibration.fitting.folds import numbered
from ..calibration.metrics.groups import correlation, difference, jackknife, log_odds_ratio, mean_share
from ..calibration.metrics.groups import mean as mean_of
from ..calibration.metrics.intervals import on_logit_scale
from ..calibration.report.cells import Cell, PaperValue, with_interval

BY = "problem"
Paper = tuple[PaperValue, ...]


def share(place: str, values: Sequence[float], problems: Sequence[str], paper: Paper = (), why: str = "none", *, by: str = BY) -> Cell:
    """The mean of values from 0 to 1, such as labels, as a percentage with its interval; of those that are no nan."""
    known = [n for n, value in enumerate(values) if value == value]
    if not known:
        return Cell(place, why="not measured" if len(values) else why, percent=True, paper=paper, grouped_by=by)
    values, problems = [values[n] for n in known], [problems[n] for n in known]
    groups, n = numbered(problems), len(values)
    count = int(groups.max()) + 1
    found = mean_share(values, groups)
    if found is None:
        return Cell(place, float(np.mean(values)), n=n, groups=count, grouped_by=by, paper=paper, percent=True)
    return with_interval(place, found, n, count, by, paper=paper, percent=True)


def mean_cell(
    place: str,
    values: Sequence[float],
    problems: Sequence[str],
    why: str = "none",
    *,
    by: str = BY,
    percent: bool = True,
) -> Cell:
    """The mean of differences, with its sign; of shares in points."""
    if not len(values):
        return Cell(place, why=why, percent=percent, sign=True, grouped_by=by)
    groups, n = numbered(problems), len(values)
    count = int(groups.max()) + 1
    if count < 2:
        return Cell(place, float(np.mean(values)), n=n, groups=count, grouped_by=by, percent=percent, sign=True)
    return with_interval(place, mean_of(values, groups), n, count, by, percent=percent, sign=True)


def correlation_cell(
    place: str,
    rates: Mapping[str, float],
    success: Mapping[str, float],
    paper: Paper = (),
    *,
    groups: Mapping[str, str] | None = None,
    by: str = BY,
    too_few: str = "fewer than 4 problems",
    alike: str = "not defined",
) -> Cell:
    """Pearson's r over problems, or what else has rates. groups: of each, where it is not one of its own. alike: why there is none then."""
    both = [problem for problem in rates if problem in success]
    names = [groups[problem] if groups else problem for problem in both]
    n, count = len(both), len(set(names))
    if n < 4:
        return Cell(place, n=n, groups=count, grouped_by=by, paper=paper, why=too_few)
    x, y = (np.array([of[problem] for problem in both]) for of in (rates, success))
    found = None if np.ptp(x) == 0 or np.ptp(y) == 0 or count < 2 else correlation(x, y, numbered(names))
    return with_interval(place, found, n, count, by, paper=paper, **({"why": alike} if found is None else {}))


def log_odds_cell(
    place: str, called: Sequence[bool], above: Sequence[bool], problems: Sequence[str], paper: Paper, *, by: str = BY
) -> Cell:
    """The log odds ratio of being called right, of those above a line against the others."""
    found, count = None, len(set(problems))
    if count > 1:
        found = log_odds_ratio(called, above, np.zeros(len(problems), dtype=np.intp), numbered(problems))
    return with_interval(place, found, len(problems), count, by, paper=paper)


def difference_cell(place: str, values: Sequence[float], first: Sequence[bool], problems: Sequence[str]) -> Cell:
    """The mean of the values of a first kind minus that of the others, in points. first: whether each is of that kind."""
    counts = {"n": len(values), "groups": len(set(problems)), "grouped_by": BY, "percent": True, "sign": True}
    if not any(first) or all(first):
        return Cell(place, why="needs both kinds", **counts)  # type: ignore[arg-type]
    v, y = np.asarray(values, dtype=np.float64), np.asarray(first, dtype=np.bool_)
    found = difference(v, y, numbered(problems))
    if found is None:
        return Cell(place, float(v[y].mean() - v[~y].mean()), **counts)  # type: ignore[arg-type]
    return Cell(place, found.value, found.low, found.high, **counts)  # type: ignore[arg-type]


def of_two_classes(
    place: str,
    right: Sequence[bool],
    credit: Sequence[float],
    problems: Sequence[str],
    scale: float,
    offset: float,
    paper: Paper = (),
    *,
    by: str = BY,
) -> Cell:
    """scale · (sensitivity + specificity) + offset: with 1 and -1 Youden's J, with ½ and 0 the balanced accuracy.

    right: whether each program is. credit: 1 where the judge says so, 0 where not, ½ at a tie.
    """
    counts = {"n": len(right), "groups": len(set(problems)), "grouped_by": by, "paper": paper}
    if not any(right) or all(right):
        return Cell(place, why="needs both classes", percent=True, **counts)  # type: ignore[arg-type]
    y, c, groups = np.asarray(right, dtype=np.bool_), np.asarray(credit, dtype=np.float64), numbered(problems)
    columns = (y, c * y, ~y, c * ~y)
    sums = np.stack([np.bincount(groups, np.asarray(column, dtype=np.float64)) for column in columns]).astype(np.float64)
    found = jackknife(sums, lambda s: np.asarray((s[1] / s[0] + s[3] / s[2]) / 2))
    ends: tuple[float | None, ...] = (float(c[y].mean() + c[~y].mean()) / 2, None, None)
    if found is not None and found.low < found.high:
        bounded = on_logit_scale(found.value, found.high - found.value)
        ends = (bounded.value, bounded.low, bounded.high)
    value, low, high = (None if end is None else 2 * scale * end + offset for end in ends)
    return Cell(place, value, low, high, percent=True, **counts)  # type: ignore[arg-type]


def two_classes(
    place: str,
    right: Sequence[bool],
    credit: Sequence[float],
    problems: Sequence[str],
    paper: Mapping[str, Paper] | None = None,
    *,
    by: str = BY,
    names: Sequence[str] = ("sensitivity", "specificity", "balanced_accuracy", "youden"),
) -> Iterator[Cell]:
    """How often right ones are called so, and wrong ones wrong; and both together. right, credit: as of `of_two_classes`."""
    printed = paper or {}
    for name, wanted in zip(names[:2], (True, False), strict=True):
        picked = [n for n, is_right in enumerate(right) if is_right == wanted]
        yield share(f"{place}/{name}", [credit[n] for n in picked], [problems[n] for n in picked], printed.get(name, ()), by=by)
    for name, scale, offset in zip(names[2:], (0.5, 1.0), (0.0, -1.0), strict=True):
        yield of_two_classes(f"{place}/{name}", right, credit, problems, scale, offset, printed.get(name, ()), by=by)
