"""The content of a report, as blocks: headings, paragraphs, tables and pictures."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from ..bands import EVENT_WORDS
from ..calibrator import Calibrator
from ..evidence import Evidence, why_undefined
from ..fitting.dial import DialRow
from ..fitting.fit import GroupRow
from ..fitting.folds import Grouping
from ..fitting.model_selection import Candidate
from ..fitting.shrinkage import Child
from ..maps.linear import equation
from ..maps.platt import PlattMap
from ..measures.registry import raw_formula
from ..metrics.bins import Bin
from ..metrics.intervals import Interval
from ..metrics.null_tests import NullTest
from .blocks import Block, Bullets, Heading, Paragraph, Table
from .measured import Forecast, Measured
from .plots import Picture

MAX_GROUPS = 50

_FLOORS = (
    "Floor: what a perfect forecaster with the same probabilities is expected to get, because samples are finite; only what is above "
    "it is miscalibration."
)
_TESTS = (
    "A test's p is the probability that calibrated probabilities look as bad: a small one refutes calibration, a large one proves nothing."
)
_DIAL = (
    "Show only suggestions with at least the confidence in the second column, and at least the share in the first of what is shown is "
    "right: over {among} together, with a probability of {sure:.0f} % for each row by itself."
)


def section(subject: Measured | Calibrator, pictures: Sequence[Picture]) -> list[Block]:
    """The section on one calibrator, with its pictures."""
    calibrator, measured = (subject, None) if isinstance(subject, Calibrator) else (subject.calibrator, subject)
    blocks: list[Block] = [
        Heading(2, f"{EVENT_WORDS[calibrator.event]}, {calibrator.task}"),
        Paragraph(f"{calibrator.reason}.", f"{calibrator.status}:"),
        Bullets(_facts(calibrator) + (measured.notes if measured else ())),
        Heading(3, "Evidence"),
        Paragraph(_held_out(calibrator, measured)),
        _evidence_of_fit(measured) if measured else _evidence(calibrator),
        Paragraph(f"{_FLOORS} {_TESTS}" if measured else _FLOORS),
        Heading(3, "Reliability and ranking" if measured else "Reliability"),
        *pictures,
    ]
    if measured:
        blocks += [
            _bins("After, 10 bins of equal width, closed on the right", measured.after.equal_width),
            _bins("After, 5 quantiles", measured.after.quantiles),
        ]
        apart = (("project", measured.by_project), ("language", measured.by_language))
        tables = [_groups(what, groups) for what, groups in apart if len(groups) > 1]
        blocks += [Heading(3, "By project and language"), *tables] if tables else []
    else:
        blocks.append(_bins("Bins of equal mass", calibrator.evidence.reliability))
    return blocks + _decision(calibrator, measured) + _map(calibrator)


def came_from(calibrator: Calibrator) -> str:
    """The calibrator that a map was adapted from, for people. Its event and task are the same. Empty if the map was not adapted."""
    parent = calibrator.moved_from
    return f"{calibrator.event}-{calibrator.task}, n = {parent.n:,} ({parent.calibrator})" if parent else ""


def short_section(calibrator: Calibrator) -> list[Block]:
    """The section on a calibrator that shows no number: why, and what it was fitted on."""
    return [
        Heading(2, f"{EVENT_WORDS[calibrator.event]}, {calibrator.task}"),
        Paragraph(f"{calibrator.reason}.", f"{calibrator.status}:"),
        Bullets(_facts(calibrator)),
        Paragraph("Its evidence is in report.json."),
    ]


def _facts(calibrator: Calibrator) -> tuple[str, ...]:
    made, parent = calibrator.fitted_on, came_from(calibrator)
    # of single samples there are as many groups, and between them nothing is known
    apart = made.grouped_by != "sample"
    origin = f", from {made.groups:,} {made.grouped_by}s" if apart else ""
    between = f"standard deviation between {'project' if made.models else made.grouped_by}s {calibrator.between_group_sd:.3f} (log odds)"
    name = ", ".join(made.models) or made.model_name or "without a name"
    return (
        f"model {name} ({made.model}), prompt and decoder {made.prompt}, {', '.join(made.languages)}",
        f"{_samples(made.n)}, {made.positives:,} positive{origin}, fitted {made.date}",
        (f"moved from {parent}, toward these samples; " if parent else "") + calibrator.map.describe(calibrator.features),
        *([between] if apart else []),
    )


def _held_out(calibrator: Calibrator, measured: Measured | None) -> str:
    by, evidence = calibrator.fitted_on.grouped_by, calibrator.evidence
    held_out, without = ("one by one", "it") if by == "sample" else (f"by {by}", f"its {by}")
    judged = f"{_samples(evidence.n)} with a base rate of {evidence.base_rate:.4f}, held out {held_out}: each is judged by a map"
    text = f"{judged} that was fitted without {without}. 95 % intervals and tests take only {by}s as independent."
    if measured and measured.before:
        text += f" Before: {raw_formula(calibrator.features[0])} of the same samples, as it is. After: the calibrated probability."
    return text


def _evidence(calibrator: Calibrator) -> Table:
    rows = tuple((name, cell(calibrator.evidence, calibrator.fitted_on.grouped_by)) for name, cell in _OF_EVIDENCE)
    return Table("Evidence, with 95 % intervals", ("", "held out"), "lr", rows)


def _evidence_of_fit(measured: Measured) -> Table:
    forecasts = [measured.before, measured.after] if measured.before else [measured.after]
    by = measured.calibrator.fitted_on.grouped_by
    # of one project its own base rate is the base rate, of which a row above speaks
    of_forecast = [row for row in _OF_FORECAST if row[0] != _WITHIN_PROJECTS or len(measured.by_project) > 1]
    rows = [(name, *(cell(forecast.evidence, by) for forecast in forecasts)) for name, cell in _OF_EVIDENCE]
    rows += [(name, *(cell(forecast) for forecast in forecasts)) for name, cell in of_forecast]
    columns: tuple[str, ...] = ("", *(forecast.name for forecast in forecasts))
    if measured.before and measured.difference:
        difference = measured.difference
        infinite = measured.before.infinite_log_loss
        if infinite:
            rows = [(row[0], "infinite", *row[2:]) if row[0] == _LOG_LOSS else row for row in rows]
        paired = {
            "Brier score": difference.brier,
            "skill score against the base rate": difference.skill,
            "AUC": difference.auc,
            _LOG_LOSS: None if infinite else difference.log_loss,
        }
        rows = [(*row, _interval(found, "+") if (found := paired.get(row[0])) else "") for row in rows]
        columns = (*columns, "after minus before")
    return Table("Evidence, with 95 % intervals", columns, "l" + "r" * (len(columns) - 1), tuple(rows))


def _interval(interval: Interval, sign: str = "") -> str:
    form = f"{sign}z.{_decimals((interval.high - interval.low) / 10)}f"
    return f"{interval.value:{form}} ({interval.low:{form}} to {interval.high:{form}})"


def _with_floor(value: float, floor: float) -> str:
    form = f".{_decimals(floor)}f"
    return f"{value:{form}}, floor {floor:{form}}"


def _test(test: NullTest | None) -> str:
    if test is None:
        return "not defined"
    return "p < 0.001" if test.p_value < 0.001 else f"p = {test.p_value:.3f}"


def _number(value: float | None, why_not: str = "") -> str:
    return f"not defined: {why_not}" if value is None else f"{value:z.4f}"


def _decimals(size: float) -> int:
    """How many decimals show two digits of a number of this size; 3 to 9."""
    return min(9, max(3, 1 - math.floor(math.log10(size)))) if size > 0 else 4


_LOG_LOSS = "log loss, nats"
_WITHIN_PROJECTS = "skill score against each project's own base rate"
_OF_EVIDENCE: tuple[tuple[str, Callable[[Evidence, Grouping], str]], ...] = (
    ("Brier score", lambda e, _: _interval(e.brier)),
    ("skill score against the base rate", lambda e, by: _interval(e.skill) if e.skill else why_undefined(e, by)),
    ("AUC", lambda e, by: _interval(e.auc) if e.auc else why_undefined(e, by)),
    (_LOG_LOSS, lambda e, _: _interval(e.log_loss)),
    ("ECE, 10 bins of equal width", lambda e, _: _with_floor(e.ece.value, e.ece.noise_floor)),
    ("calibration error, root mean square, without noise", lambda e, _: _interval(Interval(e.ece.debiased, e.ece.low, e.ece.high))),
    ("smooth calibration error", lambda e, _: _with_floor(e.smooth_ece.value, e.smooth_ece.noise_floor)),
)
_OF_FORECAST: tuple[tuple[str, Callable[[Forecast], str]], ...] = (
    ("ECE, 10 bins of equal mass", lambda f: _with_floor(f.ece_equal_mass.value, f.ece_equal_mass.noise_floor)),
    ("CORP miscalibration", lambda f: _with_floor(f.miscalibration.value, f.miscalibration.noise_floor)),
    ("CORP discrimination", lambda f: _number(f.decomposition.discrimination)),
    ("CORP uncertainty", lambda f: _number(f.decomposition.uncertainty)),
    (_WITHIN_PROJECTS, lambda f: _number(f.skill_within_projects, "in each project there is only one outcome")),
    ("AURC, area under risk and coverage", lambda f: _number(f.aurc)),
    ("AURC above that of the best order", lambda f: _number(f.excess_aurc)),
    ("AUGRC, its generalised form", lambda f: _number(f.augrc)),
    ("Kuiper's test", lambda f: _test(f.kuiper)),
    ("Spiegelhalter's test", lambda f: _test(f.spiegelhalter)),
)


def _bins(title: str, bins: Sequence[Bin]) -> Table:
    rows = tuple(
        (f"{b.low:.3f} to {b.high:.3f}", f"{b.n:,}", f"{b.mean:.3f}", f"{b.rate:.3f}", f"{b.rate_low:.3f} to {b.rate_high:.3f}")
        for b in bins
    )
    return Table(title, ("predicted", "samples", "predicted, mean", "observed rate", "95 % Wilson"), "lrrrr", rows)


def _groups(what: str, groups: Sequence[GroupRow]) -> Table:
    rows = sorted(groups, key=lambda row: -row.n)
    cells = tuple(
        (
            row.name,
            f"{row.n:,}",
            f"{row.base_rate:.3f}",
            f"{row.mean_probability:.3f}",
            _number(row.brier),
            _number(row.skill, "there is only one outcome"),
        )
        for row in rows[:MAX_GROUPS]
    )
    columns = (what, "samples", "base rate", "mean probability", "Brier score", "skill score against the overall base rate")
    left_out = sum(row.n for row in rows[MAX_GROUPS:])
    return Table(f"By {what}{_others(len(rows), f' with {_samples(left_out)}')}", columns, "lrrrrr", cells)


def _others(count: int, of_them: str) -> str:
    """Behind a title: how many are not in the table."""
    left_out = count - MAX_GROUPS
    return f": the {MAX_GROUPS} largest; {left_out:,} others{of_them} are in report.json" if left_out > 0 else ""


def _decision(calibrator: Calibrator, measured: Measured | None) -> list[Block]:
    if not calibrator.dial:
        return []
    columns = ("right, at least", "confidence, at least", "share shown", "right among the shown")
    sure, made = 100 * (1 - calibrator.dial[0].risk), calibrator.fitted_on
    if all(row.threshold is None for row in calibrator.dial):
        of = _samples(made.n) if made.grouped_by == "sample" else f"{_samples(made.n)} from {made.groups:,} {made.grouped_by}s"
        targets = [100 * (row.target - row.tolerance) for row in calibrator.dial]
        return [
            Heading(3, "The dial"),
            Paragraph(
                f"{of} do not suffice to name a confidence from which on at least {min(targets):.0f} % of what is shown is right, nor any "
                f"larger share, with a probability of {sure:.0f} %."
            ),
        ]
    return [
        Heading(3, "The dial"),
        Paragraph(_DIAL.format(sure=sure, among=_population(calibrator, measured))),
        Table("Thresholds, with 95 % intervals", columns, "lrrr", tuple(_dial_row(row) for row in calibrator.dial)),
    ]


def _population(calibrator: Calibrator, measured: Measured | None) -> str:
    """The population that the held-out groups are drawn from. Nothing is promised beyond it."""
    by = calibrator.fitted_on.grouped_by
    if by == "project":
        return "all projects like these"
    of_one = calibrator.moved_from is not None or (measured is not None and len(measured.by_project) == 1)
    return f"all {by}s {'of this project' if of_one else 'of the same projects'} that are like these, and of no other project,"


def _dial_row(row: DialRow) -> tuple[str, ...]:
    target = f"{100 * (row.target - row.tolerance):.0f} %"
    if row.threshold is None or row.precision is None:
        return target, "none is known", "nothing", ""
    return target, f"{row.threshold:.2f}", _percents(row.share), _percents(row.precision)


def _percents(interval: Interval) -> str:
    value, low, high = (f"{100 * each:.1f}" for each in (interval.value, interval.low, interval.high))
    return f"{value} % ({low} to {high} %)"


def _map(calibrator: Calibrator) -> list[Block]:
    blocks: list[Block] = [Heading(3, "The map")]
    if calibrator.tried:
        tried = tuple(_candidate(candidate, calibrator) for candidate in calibrator.tried)
        columns = ("map", "measures", "ridge", "log loss, nats", "gain over platt ± standard error", "")
        blocks.append(Table("What was tried, cross-validated", columns, "lrrrrl", tried))
    guards = tuple((guard.name, "yes" if guard.passed else "NO", guard.reason) for guard in calibrator.guards)
    blocks.append(Table("Guards", ("guard", "lets pass", "why"), "lll", guards))
    if calibrator.children:
        children = sorted(calibrator.children, key=lambda child: -child.n)[:MAX_GROUPS]
        title = f"Maps of each {' and '.join(calibrator.levels)}{_others(len(calibrator.children), '')}"
        rows = tuple(_child(child, calibrator) for child in children)
        blocks.append(Table(title, ("of", "samples", "positive", "map"), "lrrl", rows))
    return blocks


def _candidate(tried: Candidate, calibrator: Calibrator) -> tuple[str, ...]:
    made = calibrator.map
    ridge = made.ridge if isinstance(made, PlattMap) else 0.0
    # what has children is fitted with them, and with no ridge
    chosen = not calibrator.children and (tried.kind, tried.features, tried.ridge) == (made.kind, len(calibrator.features), ridge)
    digits = _decimals(tried.gain_error)
    gain = f"{tried.gain:+z.{digits}f} ± {tried.gain_error:.{digits}f}"
    return tried.kind, str(tried.features), f"{tried.ridge:g}", f"{tried.log_loss:.4f}", gain, "chosen" if chosen else ""


def _child(child: Child, calibrator: Calibrator) -> tuple[str, ...]:
    return " / ".join(child.path), f"{child.n:,}", f"{child.positives:,}", equation(child.intercept, child.slopes, calibrator.features)


def _samples(n: int) -> str:
    return f"{n:,} sample{'' if n == 1 else 's'}"
