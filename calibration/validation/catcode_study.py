"""The figures M1 to M7 of CatCode's line twin: does a calibrator's number follow what code does, or how it is written?

A line that passes its tests is scored as it stands, with the code around it rewritten so that it does the same (context), rewritten itself
so that it does the same (equivalent), and rewritten so that tests fail (wrong). M1 asks whether the number is the same in rewritten code,
M2 to M4 whether it falls for what is wrong, and more than for what is only written otherwise; M5 looks at bands, M6 at suggestions in
rewritten code, M7 at single rules.

M1 to M5 are of texts that the model did not choose, so they are no claim of calibration: that is M6. All are held out (`held_out`), with
intervals by group. Each figure is a pure function of probabilities; `figures` finds the samples for all.

References: Lin et al. (2024) for the rewrites. That a calibrator is held against them is ours.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import msgspec
import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats, logit, sigmoid
from ..bands import BOUNDARIES
from ..calibrator import Calibrator
from ..fitting.folds import grouped
from ..metrics.groups import intraclass_correlation, mean, mean_share, skill, skill_gain, within_auc
from ..metrics.intervals import Interval, rate_interval
from ..samples import Event, Sample
from .catcode_facts import PlaceFact
from .figures import Figure, figure, joined, not_run, only_with_skill, with_note, without_claim
from .held_out import HeldOut
from .inputs import Inputs

STUDY = "catcode"
RUNS_OF = (STUDY,)
EVENTS: tuple[Event, ...] = ("tests_pass", "exact_match")
ARMS: Mapping[str, str] = {}
STREAMS: Mapping[str, str] = {}
FACT = PlaceFact

MAX_SHIFT = 0.02
MIN_ICC = 0.8
MAX_OFFSET = 0.05
# Of fewer lines a rule has no figure of its own.
MIN_OF_RULE = 30
_CLAIMS = {
    "M1": f"within ±{MAX_SHIFT}",
    "M1.icc": f"> {MIN_ICC}",
    "M1.absolute": "",
    "M1.logit": "",
    "M2": "> 0.5",
    "M3": "> 0",
    "M3.auc": "",
    "M4": "",
    "M4.other": "",
    "M5.context": "",
    "M5.wrong": "",
    "M6": f"within ±{MAX_OFFSET}",
    "M6.original": "",
    "M6.skill": "reaches 0",
}
_OF_REWRITES = tuple(id for id in _CLAIMS if not id.startswith("M6"))
_OF_SUGGESTIONS = tuple(id for id in _CLAIMS if id.startswith("M6"))
_RAW = "of the model's own p_tot, the same rewrites"
_LEAST = 1e-12
_NOT_EXACT = "without a claim: a line that is only written otherwise is no exact match either"


@dataclass(frozen=True, slots=True)
class Rewrites:
    """Rewrites (n,), each with the probability of its line before, of the same text once more (again), and after it.

    shown: whether an editor shows the last one: it shows none where the text is unlike all that the calibrator was fitted on. lines:
    numbers of their lines, groups: of their groups, from 0. arm, kind, rule: as of a `VariantFact`, the rule the last step's.
    steps: how many. by: what a group is.
    """

    before: Floats
    again: Floats
    after: Floats
    shown: NDArray[np.bool_]
    lines: NDArray[np.intp]
    groups: NDArray[np.intp]
    arm: NDArray[np.str_]
    rule: NDArray[np.str_]
    steps: NDArray[np.intp]
    kind: NDArray[np.str_]
    by: str = "project"

    def only(self, rows: NDArray[np.bool_]) -> Rewrites:
        """Some of them, lines and groups numbered anew."""
        lines, groups = (np.unique(of[rows], return_inverse=True)[1].astype(np.intp) for of in (self.lines, self.groups))
        return Rewrites(
            self.before[rows], self.again[rows], self.after[rows], self.shown[rows], lines, groups, self.arm[rows], self.rule[rows],
            self.steps[rows], self.kind[rows], self.by,
        )  # fmt: skip

    def of(self, arm: str) -> Rewrites:
        """Those of an arm."""
        return self.only(self.arm == arm)

    @property
    def drop(self) -> Floats:
        """How far the log odds fall."""
        return logit(self.before) - logit(self.after)

    def by_line(self, values: Floats) -> tuple[Floats, NDArray[np.intp]]:
        """The mean of values (n,) of each line, and the lines' groups."""
        _, first = np.unique(self.lines, return_index=True)
        return np.bincount(self.lines, values) / np.bincount(self.lines), self.groups[first]

    def figure(self, id: str, interval: Interval | None, n: int | None = None, note: str = "", claim: str | None = None) -> Figure:
        """A figure of all of them. n: of what it is the mean, where that is not each rewrite."""
        count = int(self.groups.max()) + 1 if len(self.groups) else 0
        return figure(id, interval, len(self.after) if n is None else n, count, self.by, _CLAIMS[id] if claim is None else claim, note)


def of_rewrites(found: Rewrites, event: str = "tests_pass") -> Iterator[Figure]:
    """M1 to M5 and M7."""
    yield from same_in_rewritten_code(found)
    yield falls_for_wrong(found)
    yield from meaning_not_strangeness(found, event)
    yield falls_for_wrong(found, "M4", kind="counterfeit")
    yield falls_for_wrong(found, "M4.other", kind="other")
    yield from band_flips(found)
    yield from by_rule(found, event)


def same_in_rewritten_code(found: Rewrites) -> tuple[Figure, ...]:
    """M1: how far the probability of a line changes where the code around it is rewritten; and how much of all variance lies between lines.

    M1 holds only with M1.icc: changes in both directions would cancel out.
    """
    context = found.only((found.arm == "context") & found.shown)
    lines = int(context.lines.max()) + 1 if len(context.lines) else 0
    shift, absolute, log_odds = (
        _mean(*context.by_line(values))
        for values in (
            context.after - context.before,
            abs(context.after - context.before) - abs(context.again - context.before),
            logit(context.after) - logit(context.again),
        )
    )
    _, first = np.unique(context.lines, return_index=True)
    orbit = np.concatenate([logit(context.before[first]), logit(context.after)])
    of, groups = (np.concatenate([each[first], each]) for each in (context.lines, context.groups))
    icc = intraclass_correlation(orbit, of, groups) if len(np.unique(groups)) > 1 else None
    kept = context.figure("M1.icc", icc, lines, "of the log odds of a line and its rewrites")
    moved = context.figure("M1", shift, lines, f"{len(context.after):,} rewrites, the mean of each line counts once")
    if moved.reading == "holds" and kept.reading != "holds":
        together = f"it holds only where M1.icc does, which is {kept.reading}"
        moved = replace(moved, reading="undecided", note=f"{moved.note}; {together}")
    floor = "minus that of the same text scored again"
    return (
        moved,
        kept,
        context.figure("M1.absolute", absolute, lines, f"mean size of the change, {floor}"),
        context.figure("M1.logit", log_odds, lines, f"mean change of the log odds, {floor}"),
    )


def falls_for_wrong(found: Rewrites, id: str = "M2", kind: str = "") -> Figure:
    """M2: how often the line has a higher probability than its wrong rewrite, ties counted half. M4: of one class of wrong ones."""
    rows = (found.arm == "wrong") & ((found.kind == kind) if kind else True)
    wrong = found.only(rows)
    won = (wrong.before > wrong.after) + 0.5 * (wrong.before == wrong.after)
    return wrong.figure(id, mean_share(won, wrong.groups) if len(won) else None, note=_unlike(wrong))


def meaning_not_strangeness(found: Rewrites, event: str = "tests_pass") -> tuple[Figure, Figure]:
    """M3: how much further the log odds fall for a wrong rewrite of a line than for one that does the same, and how well the falls tell
    one from the other.
    """
    both = _with_both(found)
    further, groups = _further(both)
    claim, note = ("", _NOT_EXACT) if event == "exact_match" else (None, "")
    apart = within_auc(sigmoid(both.drop), both.arm == "wrong", both.lines, both.groups) if len(np.unique(both.groups)) > 1 else None
    return (
        both.figure("M3", _mean(further, groups), len(further), joined(note, _unlike(both)), claim),
        both.figure("M3.auc", apart, len(further), "AUC of the falls of one line, wrong against equivalent"),
    )


def _unlike(found: Rewrites) -> str:
    """How many of them an editor shows no number for."""
    without = int((~found.shown).sum())
    return (
        f"{without:,} of {len(found.shown):,} rewrites are unlike all that the calibrator was fitted on, and have the number of the bound"
        if without
        else ""
    )


def _with_both(found: Rewrites) -> Rewrites:
    """The rewrites of lines that have wrong and equivalent ones."""
    own = found.only(found.arm != "context")
    if not len(own.lines):
        return own
    wrong, same = (np.bincount(own.lines, own.arm == arm) for arm in ("wrong", "equivalent"))
    return own.only(((wrong > 0) & (same > 0))[own.lines])


def _further(both: Rewrites) -> tuple[Floats, NDArray[np.intp]]:
    """By line the mean fall for wrong rewrites minus that for equivalent ones."""
    wrong = both.arm == "wrong"
    falls = [np.bincount(both.lines, both.drop * rows) / np.bincount(both.lines, rows) for rows in (wrong, ~wrong)]
    return falls[0] - falls[1], both.by_line(both.drop)[1]


def band_flips(found: Rewrites) -> tuple[Figure, Figure]:
    """M5: how often the band changes in rewritten code, or the number goes; and how often a wrong rewrite keeps at least the band that its
    line has, where there is a lower one.
    """
    edges = (BOUNDARIES.possible_from, BOUNDARIES.likely_from)
    context, wrong = found.of("context"), found.of("wrong")
    changed = (np.digitize(context.before, edges) != np.digitize(context.after, edges)) | ~context.shown
    high = wrong.only(wrong.before >= edges[0])
    stays = (np.digitize(high.after, edges) >= np.digitize(high.before, edges)) & high.shown
    return (
        context.figure("M5.context", _rate(changed, context.groups), note=f"{int((~context.shown).sum()):,} have no number any more"),
        high.figure("M5.wrong", _rate(stays, high.groups), note="of wrong rewrites of lines above the lowest band"),
    )


def _rate(happens: NDArray[np.bool_], groups: NDArray[np.intp]) -> Interval | None:
    return rate_interval(happens, groups) if len(np.unique(groups)) > 1 else None


def _mean(values: Floats, groups: NDArray[np.intp]) -> Interval | None:
    return mean(values, groups) if len(np.unique(groups)) > 1 else None


def by_rule(found: Rewrites, event: str = "tests_pass") -> Iterator[Figure]:
    """M7: M1 of each rule, and M3 with the rewrites of one rule alone, where it has enough lines."""
    single = found.only((found.arm == "context") & (found.steps == 1) & found.shown)
    for rule in np.unique(single.rule).tolist():
        one = single.only(single.rule == rule)
        values, groups = one.by_line(one.after - one.before)
        if len(values) >= MIN_OF_RULE:
            yield one.figure(f"M7.context_{rule}", _mean(values, groups), len(values), claim="")
    for arm, name in (("equivalent", "line"), ("wrong", "wrong")):
        for rule in np.unique(found.rule[found.arm == arm]).tolist():
            both = _with_both(found.only((found.arm != arm) | (found.rule == rule)))
            values, groups = _further(both) if len(both.lines) else (np.zeros(0), np.zeros(0, dtype=np.intp))
            if len(values) >= MIN_OF_RULE:
                note = _NOT_EXACT if event == "exact_match" else ""
                yield both.figure(f"M7.{name}_{rule}", _mean(values, groups), len(values), note, claim="")


@dataclass(frozen=True, slots=True)
class Suggestions:
    """Probabilities and labels of what is suggested at places (n,): in the code as it is, and in rewritten code."""

    p: Floats
    y: NDArray[np.bool_]
    rewritten_p: Floats
    rewritten_y: NDArray[np.bool_]
    groups: NDArray[np.intp]
    by: str = "project"

    def figure(self, id: str, interval: Interval | None, note: str = "") -> Figure:
        """A figure of all of them."""
        count = int(self.groups.max()) + 1 if len(self.groups) else 0
        return figure(id, interval, len(self.p), count, self.by, _CLAIMS[id], note)


def in_rewritten_code(found: Suggestions) -> tuple[Figure, Figure, Figure]:
    """M6: the offset of what is suggested in rewritten code, that in the code as it was, and the skill of the first minus the second's."""
    if len(np.unique(found.groups)) < 2:
        return found.figure("M6", None), found.figure("M6.original", None), found.figure("M6.skill", None)
    own = skill(found.rewritten_p, found.rewritten_y, found.groups)
    offset, original = mean(found.rewritten_p - found.rewritten_y, found.groups), mean(found.p - found.y, found.groups)
    gain = skill_gain(found.p, found.y, found.rewritten_p, found.rewritten_y, found.groups)
    note = f"mean p {found.rewritten_p.mean():.3f}, right {found.rewritten_y.mean():.3f}"
    return (
        only_with_skill(found.figure("M6", offset, note), own is not None and own.low > 0),
        found.figure("M6.original", original, f"the same places: mean p {found.p.mean():.3f}, right {found.y.mean():.3f}"),
        found.figure("M6.skill", gain, "skill in rewritten code minus that in the code as it was"),
    )


def figures(calibrator: Calibrator, inputs: Inputs, source: HeldOut) -> tuple[Figure, ...]:
    """All figures of a calibrator. Raises NotHeldOut.

    Lines without a number are left out. Of P(exact_match) only rewrites of the projects' own lines count.
    """
    by = calibrator.fitted_on.grouped_by
    rewrites, suggestions = _rewrites(calibrator, inputs, source), _suggestions(calibrator, inputs, source)
    first: tuple[Figure, ...]
    if isinstance(rewrites, str):
        first = tuple(not_run(id, _CLAIMS[id], rewrites, by) for id in _OF_REWRITES)
    else:
        found, raw, left_out = rewrites
        note = f"{left_out:,} rewrites of lines without a number are left out" if left_out else ""
        first = tuple(replace(each, note=joined(source.how, each.note, note)) for each in of_rewrites(found, calibrator.event))
        first += beside(raw, calibrator.event)
        if not (found.arm != "context").any():
            first = tuple(each if _of_context(each.id) else not_run(each.id, "", "the line itself was not rewritten", by) for each in first)
    if isinstance(suggestions, str):
        return (*first, *(not_run(id, _CLAIMS[id], suggestions, by) for id in _OF_SUGGESTIONS))
    return (*first, *with_note(source.how, *in_rewritten_code(suggestions)))


def _of_context(id: str) -> bool:
    return id.startswith(("M1", "M5.context", "M7.context"))


def beside(raw: Rewrites, event: str) -> tuple[Figure, ...]:
    """M1, M2 and M3 of the model's own probability, without a claim."""
    found = same_in_rewritten_code(raw)[0], falls_for_wrong(raw), meaning_not_strangeness(raw, event)[0]
    return tuple(replace(without_claim(each), id=f"{each.id}.raw", note=_RAW) for each in found)


def _rewrites(calibrator: Calibrator, inputs: Inputs, source: HeldOut) -> tuple[Rewrites, Rewrites, int] | str:
    """The rewrites of lines that have a number, the same with the raw probability, and how many more rewrites there are; or why there
    are none.

    What the editor gives no number, because it is unlike all that the calibrator was fitted on, has that of the bound.
    """
    lines = [
        (place, line, line.plain, line.identity)
        for place in inputs.facts.values()
        for line in place.lines
        if line.plain is not None and line.identity is not None and (line.exact or calibrator.event != "exact_match")
    ]
    if not lines or not inputs.plain:
        return "no line and its rewrites were scored"
    measured = [
        (row, place, variant, measures)
        for row, (place, line, *_) in enumerate(lines)
        for variant in line.variants
        if (measures := variant.measures) is not None
    ]
    by, template = calibrator.fitted_on.grouped_by, inputs.plain[0]
    before, again = (source.own([_as_sample(template, place, texts[which]) for place, _, *texts in lines]) for which in (0, 1))
    rewritten = [_as_sample(template, place, measures) for _, place, _, measures in measured]
    after, shown = source.everywhere(rewritten), np.isfinite(source.own(rewritten))
    line_of = np.array([row for row, *_ in measured], dtype=np.intp)
    has_line = np.isfinite(before) & np.isfinite(again)
    rows = np.flatnonzero(np.isfinite(after) & has_line[line_of])
    if not len(rows):
        return "the calibrator has a number for none of the lines that were rewritten"
    variants = [measured[row][2] for row in rows.tolist()]
    found = Rewrites(
        before[line_of[rows]],
        again[line_of[rows]],
        after[rows],
        shown[rows],
        np.unique(line_of[rows], return_inverse=True)[1].astype(np.intp),
        grouped([rewritten[row] for row in rows.tolist()], by, least=1)[1],
        np.array([variant.arm for variant in variants]),
        np.array([variant.rules[-1] for variant in variants]),
        np.array([len(variant.rules) for variant in variants], dtype=np.intp),
        np.array([variant.kind for variant in variants]),
        by,
    )
    first, second = ([texts[which] for _, _, *texts in lines] for which in (0, 1))
    raw = replace(
        found,
        before=_raw([first[line_of[row]] for row in rows]),
        again=_raw([second[line_of[row]] for row in rows]),
        after=_raw([measured[row][3] for row in rows.tolist()]),
    )
    return found, raw, sum(len(line.variants) for _, line, *_ in lines) - len(rows)


def _raw(measures: Sequence[Mapping[str, float]]) -> Floats:
    """p_tot (n,), away from 0 and 1, where log odds end."""
    totals = np.array([each["total_logprob"] for each in measures])
    return np.asarray(np.clip(np.exp(totals), _LEAST, 1 - _LEAST))


def _as_sample(template: Sample, place: PlaceFact, measures: Mapping[str, float]) -> Sample:
    """A text as a sample of the run: what gives it its number."""
    return msgspec.structs.replace(
        template, id=place.id, project=place.project, file=place.file, measures=dict(measures), rank=1, alternatives=1
    )


def _suggestions(calibrator: Calibrator, inputs: Inputs, source: HeldOut) -> Suggestions | str:
    event, by = calibrator.event, calibrator.fitted_on.grouped_by
    plain: list[Sample] = []
    rewritten: list[Sample] = []
    labels: list[tuple[bool, bool]] = []
    for sample in inputs.plain:
        place: PlaceFact | None = inputs.facts.get(sample.id)
        if place is None or place.regenerated is None or sample.rank != 1:
            continue
        again = place.regenerated
        right, still = sample.labels.get(event), again.passes if event == "tests_pass" else again.exact
        if right is not None and still is not None:
            plain.append(sample)
            rewritten.append(_as_sample(sample, place, again.measures))
            labels.append((right, still))
    if not labels:
        return f"nothing was suggested in rewritten code whose {event} is known"
    p, after = (source(samples, event, calibrator.features) for samples in (plain, rewritten))
    rows = np.flatnonzero(np.isfinite(p) & np.isfinite(after))
    if not len(rows):
        return "the calibrator has a number for none of the suggestions in rewritten code"
    y = np.array(labels, dtype=np.bool_)[rows]
    return Suggestions(p[rows], y[:, 0], after[rows], y[:, 1], grouped([plain[row] for row in rows.tolist()], by, least=1)[1], by)
