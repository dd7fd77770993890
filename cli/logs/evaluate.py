"""`assay logs evaluate`: checks whether the shown probabilities came true."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict
from typing import TYPE_CHECKING

from ..exit_codes import DONE
from ..options import Subparsers, command_parser, set_run
from ..terminal import print_json, say, show
from .log import opened, say_skipped, since_ms

if TYPE_CHECKING:
    from ...calibration.log.evaluation import Evaluation
    from ...calibration.metrics.intervals import Interval

# A test of calibration below this p-value counts as failed. One true calibrator in 20 fails it.
_SIGNIFICANCE = 0.05


def register(actions: Subparsers) -> None:
    """Add `assay logs evaluate`."""
    parser = command_parser(
        actions, "evaluate", "check whether the shown probabilities came true: what each calibrator promised, and what you kept"
    )
    set_run(parser, run, "days", "log", "json")


def run(arguments: argparse.Namespace) -> int:
    """Print one evaluation for each calibrator. Raises EventLogError."""
    from ...calibration.log.evaluation import evaluations_of
    from ...calibration.log.samples import AT_S, showings_of

    skipped = Counter[str]()
    with opened(arguments.log) as log:
        path = log.path
        found = evaluations_of(showings_of(log.rows(skipped, since_ms=since_ms(arguments.days))), AT_S)
    if arguments.json:
        print_json({"path": str(path), "at_s": AT_S, "passed_over": dict(skipped), "evaluations": list(map(asdict, found))})
        return DONE
    for one in found:
        heading, *figures = lines_of(one, AT_S)
        show(heading, *(f"  {line}" for line in figures))
    if not found:
        say("nothing to evaluate: no suggestion that was seen had a probability")
    say_skipped(skipped)
    return DONE


def lines_of(one: Evaluation, at_s: int) -> Iterable[str]:
    """An evaluation in words. at_s: how long after a suggestion ended it counts as kept."""
    from ...calibration.bands import EVENT_WORDS

    event = EVENT_WORDS.get(one.event, one.event)
    yield f"{one.task} of the model {one.model}, {event} by the calibrator {one.calibrator}:"
    yield f"{one.shown:,} shown; of {one.labelled:,} it is known whether they were kept after {at_s} s"
    if one.said is None:
        return
    rate = "" if one.rate is None else f" ({one.rate.low:.1%} to {one.rate.high:.1%}, by {one.grouped_by})"
    yield f"of these: promised on average {one.said:.1%} {event}, kept {one.kept / one.labelled:.1%}{rate}"
    if one.because:
        yield f"nothing more is known: {one.because}"
        return
    if one.auc is not None:
        yield f"how well it ranks what is kept: AUC {_interval(one.auc)}"
    if one.evidence is None:
        yield "a log can't show whether its percentages are true: a kept suggestion need not be an exact match, nor pass tests"
        return
    error = one.evidence.ece
    yield f"calibration error {error.debiased:.3f} ({error.low:.3f} to {error.high:.3f})"
    yield f"ECE {error.value:.3f} (noise alone gives {error.noise_floor:.3f})"
    if one.evidence.skill is not None:
        yield f"skill {_interval(one.evidence.skill)}"
    if one.calibrated is None:
        yield "whether they are true can't be tested: the percentages, or the documents, are all alike"
    else:
        p_value = one.calibrated.p_value
        verdict = "refuted" if p_value < _SIGNIFICANCE else "not refuted"
        yield f"the hypothesis that the percentages are true is {verdict} (p = {p_value:.3f})"


def _interval(found: Interval) -> str:
    return f"{found.value:.3f} ({found.low:.3f} to {found.high:.3f})"
