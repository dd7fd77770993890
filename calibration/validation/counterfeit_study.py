"""The figures F1 to F9 of the counterfeit study: does a calibrator know the wrong texts that look right?

Texts have classes: right (R), counterfeit (C: wrong, and they look right), other (T). Counterfeits are defined by their label, so no
probability can be calibrated on them alone; what a figure asks is whether they are told apart, and how sure the wrong ones look.

F1 and F3 to F7 are of what the editor shows, F2 of the texts that were drawn at one place, F9 of repairs. F2, F3.counterfeit and the shares
of F5 are also of calibrators for another event than passing tests. All are held out (`held_out`), with intervals by group. Each figure is a
pure function; `figures` finds the samples for all.

Own counterfeits beside another model's (F8) are of programs: the heat map of the study on problems.

References: Gu et al. (2024).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats
from ..bands import BANDS, BOUNDARIES, NO_EVIDENCE, band_of
from ..calibrator import Calibrator
from ..fitting.folds import Grouping
from ..measures.registry import MEASURES, raw_probability
from ..metrics.groups import difference, jackknife, mean, skill_gain, within_auc
from ..metrics.intervals import Interval, intervals, rate_interval, student_t
from ..metrics.scores import auc
from ..samples import Event, Sample
from .calibration_study import judged_of
from .counterfeit_facts import Fact
from .figures import Figure, figure, not_applicable, not_run, only_with_skill, with_note
from .held_out import CrossFitted, HeldOut, NotHeldOut, Source
from .inputs import Inputs

STUDY = "counterfeit"
RUNS_OF = (STUDY,)
EVENTS: tuple[Event, ...] = ("tests_pass", "exact_match")
ARMS: Mapping[str, str] = {}
# The paper's temperature; texts of another one are another stream.
STREAM = "t0.6"
STREAMS: Mapping[str, str] = {STREAM: "drawn at temperature 0.6"}
FACT = Fact

MAX_EXCESS = 0.03
MAX_OFFSET = 0.05
# What the model says when it is asked whether its text is right, in log odds.
SELF_CHECK = "ask_true_normalised"
SHOWN = tuple(band for band in BANDS if band is not NO_EVIDENCE)
_CLAIMS = {
    "F1": f"within ±{MAX_EXCESS}",
    "F2": "> 0.5",
    "F2.raw": "",
    "F3": "",
    "F3.counterfeit": "> 0.5",
    "F4": "> 0",
    "F4.offset": f"within ±{MAX_OFFSET}",
    "F5.likely": f"> -{MAX_OFFSET}",
    "F5.possible": f"> -{MAX_OFFSET}",
    **{f"F5.counterfeits_{band.word}": "" for band in SHOWN},
    "F6": "> 0",
    "F6.parses": "> 0",
    "F7": "",
    "F7.right": "",
    "F7.counterfeit": "",
    "F9": "> 0",
}
_OF_TEXTS = tuple(id for id in _CLAIMS if id not in ("F2", "F2.raw", "F9"))
# What a probability of any event can show: that it is lower for a counterfeit than for what passes its tests.
_OF_ANY_EVENT = ("F2", "F2.raw", "F3.counterfeit", *(f"F5.counterfeits_{band.word}" for band in SHOWN))
_CHOSEN_BY_FAILURE = "the places are those where a draw failed, so up to 2 points speak for repair without reason"
_NO_MORE = "no sample has a label, a number and a class"
_ITSELF = "of the calibrator itself, by the measures of each text; outside of their range, by those at its bound"
_RAW = "of the model's own p_tot, the same texts"
_AMONG_THEMSELVES = "both maps cross-fitted to these samples"


@dataclass(frozen=True, slots=True)
class Texts:
    """Held-out probabilities p (n,) of texts in groups (n,) from 0. right, counterfeit, parses (n,): bool. by: what a group is."""

    p: Floats
    right: NDArray[np.bool_]
    counterfeit: NDArray[np.bool_]
    parses: NDArray[np.bool_]
    groups: NDArray[np.intp]
    by: str = "project"

    @property
    def count(self) -> int:
        """The number of groups."""
        return len(np.unique(self.groups))

    def only(self, rows: NDArray[np.bool_]) -> Texts:
        """Some of them, their groups numbered anew."""
        groups = np.unique(self.groups[rows], return_inverse=True)[1].astype(np.intp)
        return Texts(self.p[rows], self.right[rows], self.counterfeit[rows], self.parses[rows], groups, self.by)

    @property
    def plausible(self) -> Texts:
        """Those that are right or counterfeit."""
        return self.only(self.right | self.counterfeit)

    def figure(self, id: str, interval: Interval | None, note: str = "") -> Figure:
        """A figure of all these texts."""
        return figure(id, interval, len(self.p), self.count, self.by, _CLAIMS[id], note)


def figures(calibrator: Calibrator, inputs: Inputs, source: HeldOut) -> tuple[Figure, ...]:
    """All figures of a calibrator. Raises NotHeldOut."""
    by = calibrator.fitted_on.grouped_by
    facts: Mapping[str, Fact] = inputs.facts
    shown, kept = _texts(inputs.plain, facts, calibrator, source, by)
    drawn = of_drawn(calibrator, inputs.others.get(STREAM, ()), facts, source, by)
    if not len(shown.p):
        of_texts: tuple[Figure, ...] = tuple(not_run(id, _CLAIMS[id], _NO_MORE, by) for id in _OF_TEXTS)
    else:
        of_texts = (
            *with_note(source.how, *of_shown(shown)),
            *_self_check(calibrator, shown, kept, source.cross_fitted.wanted, by),
        )
    found = (*of_texts, *drawn, _of_repairs([fact for fact in facts.values() if fact.task == calibrator.task], by))
    if calibrator.event != "tests_pass":
        why = f"it is about passing tests, and not about {calibrator.event}"
        found = tuple(each if each.id in _OF_ANY_EVENT else not_applicable(each.id, why, by) for each in found)
    return tuple(sorted(found, key=lambda one: list(_CLAIMS).index(one.id)))


def of_shown(texts: Texts) -> Iterator[Figure]:
    """F1, F3, F4 and F5: of what the editor shows."""
    has_skill = (skill := _skill(texts)) is not None and skill.low > 0
    yield only_with_skill(excess_on_failures(texts), has_skill)
    yield from told_apart(texts)
    yield from on_what_parses(texts)
    yield from by_band(texts)


def excess_on_failures(texts: Texts) -> Figure:
    """F1: how much surer the failures look than they would with calibrated probabilities.

    These have Σ p (1 - p) / Σ (1 - p) on failures: each text fails with the probability 1 - p.
    """
    p, fails = texts.p, ~texts.right
    sums = np.stack([np.bincount(texts.groups, each, texts.count) for each in (p * fails, fails, p * (1 - p), 1 - p)])
    found = jackknife(sums.astype(np.float64), lambda s: s[0] / s[1] - s[2] / s[3])
    classes = (("right", texts.right), ("counterfeit", texts.counterfeit), ("other", fails & ~texts.counterfeit))
    means = ", ".join(f"{name} {p[rows].mean():.3f} of {int(rows.sum()):,}" for name, rows in classes if rows.any())
    return texts.figure("F1", found, f"mean p: {means}")


def within_places(texts: Texts, places: NDArray[np.integer], id: str = "F2") -> Figure:
    """F2: the AUC of right against counterfeit texts of one place (n,), the mean over the places that have both.

    A probability that only knows which places are hard gets 1/2.
    """
    rows = texts.right | texts.counterfeit
    names, place = np.unique(places, return_inverse=True)
    right, wrong = (np.bincount(place, each, len(names)) for each in (texts.right, texts.counterfeit))
    both = ((right > 0) & (wrong > 0))[place] & rows
    among = texts.only(both)
    note = f"{len(np.unique(place[both])):,} places have both"
    found = within_auc(among.p, among.right, place[both], among.groups) if among.count > 1 else None
    return among.figure(id, found, note)


def told_apart(texts: Texts) -> tuple[Figure, Figure]:
    """F3: what of the AUC of right texts is against trivial failures, and what is left against counterfeits."""
    plausible = texts.plausible
    found = intervals(plausible.p, plausible.right, plausible.groups, resamples=2) if plausible.count > 1 else None
    against = plausible.figure("F3.counterfeit", found.auc if found else None, "AUC of right against counterfeit texts")
    other = texts.right | ~texts.counterfeit
    value, without = _auc_difference(texts, other, texts.right | texts.counterfeit)
    interval = None
    if without is not None:
        half = student_t(texts.count - 1) * math.sqrt(texts.count - 1) * float(without.std())
        interval = Interval(value, value - half, value + half)
    return texts.figure("F3", interval, "AUC against other failures minus that against counterfeits"), against


def on_what_parses(texts: Texts) -> tuple[Figure, Figure]:
    """F4: skill and offset among the texts that parse, which anybody can see before anything runs."""
    parsing = texts.only(texts.parses)
    skill = _skill(parsing)
    offset = mean(parsing.p - parsing.right, parsing.groups) if parsing.count > 1 else None
    note = f"mean p {parsing.p.mean():.3f}, right {parsing.right.mean():.3f}" if len(parsing.p) else ""
    found = parsing.figure("F4.offset", offset, note)
    return parsing.figure("F4", skill, note), only_with_skill(found, skill is not None and skill.low > 0)


def by_band(texts: Texts) -> Iterator[Figure]:
    """F5: in each band the share that is right minus the mean of p; and the share of all counterfeits that has the band."""
    words = np.array([band_of(each).word for each in texts.p.tolist()])
    for band in SHOWN[:2]:
        inside = texts.only(words == band.word)
        rate = rate_interval(inside.right, inside.groups) if inside.count > 1 else None
        said = float(inside.p.mean()) if len(inside.p) else math.nan
        found = Interval(rate.value - said, rate.low - said, rate.high - said) if rate else None
        note = f"{int(inside.counterfeit.sum()):,} of {len(inside.p):,} are counterfeits"
        yield inside.figure(f"F5.{band.word}", found, note if len(inside.p) else "no text has this band")
    wrong = texts.only(texts.counterfeit)
    for band in SHOWN:
        got = words[texts.counterfeit] == band.word
        yield wrong.figure(
            f"F5.counterfeits_{band.word}",
            rate_interval(got, wrong.groups) if wrong.count > 1 else None,
            f"share of the counterfeits with this band (likely from {BOUNDARIES.likely_from}, possible from {BOUNDARIES.possible_from})",
        )


def self_check_adds(id: str, free: Texts, with_check: Floats) -> Figure:
    """F6: the skill of probabilities (n,) that also know what the model says when asked, minus that without."""
    gain = skill_gain(free.p, free.right, with_check, free.right, free.groups) if free.count > 1 else None
    left_out = "; model selection leaves it out" if np.array_equal(free.p, with_check) else ""
    return free.figure(id, gain, f"skill with {SELF_CHECK} minus that without{left_out}")


def self_check_bias(texts: Texts, says_right: NDArray[np.bool_]) -> tuple[Figure, Figure, Figure]:
    """F7: Youden's J of the model's own answer, and the shares of right texts and of counterfeits that it calls right. says_right: (n,)."""
    plausible, said = texts.plausible, says_right[texts.right | texts.counterfeit]
    j = difference(said, plausible.right, plausible.groups)
    shares = []
    for id, rows in (("F7.right", plausible.right), ("F7.counterfeit", plausible.counterfeit)):
        among = plausible.only(rows)
        shares.append(among.figure(id, rate_interval(said[rows], among.groups) if among.count > 1 else None, "called right by the model"))
    return plausible.figure("F7", j, "share of right texts called right minus that of counterfeits"), shares[0], shares[1]


def repair_pays(repaired: Floats, drawn: Floats, groups: NDArray[np.intp], by: str) -> Figure:
    """F9: the share of passing repairs at a place (n,) minus that of texts drawn anew there (n,).

    A place is there because one of these texts failed. That alone makes their share too low: by 1 to 2 points, of ten draws.
    """
    count = len(np.unique(groups))
    found = mean(repaired - drawn, groups) if count > 1 else None
    wins, ties = int((repaired > drawn).sum()), int((repaired == drawn).sum())
    note = f"repair wins at {wins:,} of {len(drawn):,} places, {ties:,} ties; {_CHOSEN_BY_FAILURE}"
    return figure("F9", found, len(drawn), count, by, _CLAIMS["F9"], note)


def _skill(texts: Texts) -> Interval | None:
    return intervals(texts.p, texts.right, texts.groups, resamples=2).skill if texts.count > 1 else None


def _auc_difference(texts: Texts, first: NDArray[np.bool_], second: NDArray[np.bool_]) -> tuple[float, Floats | None]:
    """The AUC of right texts among the first rows minus that among the second; the same without each group, None if one is undefined."""

    def of(rows: NDArray[np.bool_]) -> float:
        y = texts.right[rows]
        return auc(texts.p[rows], y) if y.any() and not y.all() else math.nan

    groups = np.unique(texts.groups)
    without = np.array([of(first & (texts.groups != group)) - of(second & (texts.groups != group)) for group in groups])
    defined = len(groups) > 1 and np.isfinite(without).all()
    return of(first) - of(second), without if defined else None


def _texts(
    samples: Sequence[Sample], facts: Mapping[str, Fact], calibrator: Calibrator, source: Source, by: Grouping
) -> tuple[Texts, list[Sample]]:
    """The samples with a label, a number and a class."""
    known = [sample for sample in samples if sample.id in facts and facts[sample.id].kind is not None]
    judged, kept = judged_of(known, calibrator.event, calibrator.features, source, by)
    of = [facts[sample.id] for sample in kept]
    counterfeit = np.array([one.kind == "counterfeit" for one in of], dtype=np.bool_)
    parses = np.array([one.parses for one in of], dtype=np.bool_)
    right = np.array([one.kind == "right" for one in of], dtype=np.bool_)
    return Texts(judged.p, right, counterfeit, parses, judged.groups, by), kept


def of_drawn(
    calibrator: Calibrator, samples: Sequence[Sample], facts: Mapping[str, Fact], source: HeldOut, by: Grouping
) -> tuple[Figure, Figure]:
    """F2 of the distinct texts of each place, and the same of the raw probability."""
    texts, kept = _texts(samples, facts, calibrator, lambda those, *_: source.everywhere(those), by)
    if not kept:
        why = _NO_MORE if samples else f"there are no texts {STREAMS[STREAM]}"
        return not_run("F2", _CLAIMS["F2"], why, by), not_run("F2.raw", "", why, by)
    gaps = [facts[sample.id].gap for sample in kept]
    first = _first_of_each([(gap, sample.text_sha256) for gap, sample in zip(gaps, kept, strict=True)])
    places = np.unique(gaps, return_inverse=True)[1][first]
    raw = raw_probability("total_logprob", np.array([sample.measures.get("total_logprob", math.nan) for sample in kept]))
    assert raw is not None, "its raw probability is exp"
    (own,) = with_note(f"{source.how}; {_ITSELF}", within_places(texts.only(first), places))
    (beside,) = with_note(_RAW, within_places(replace(texts, p=raw).only(first), places, "F2.raw"))
    return own, beside


def _first_of_each(keys: Sequence[tuple[str, str]]) -> NDArray[np.bool_]:
    """Which keys (n,) were not there before."""
    found = np.zeros(len(keys), dtype=np.bool_)
    found[np.unique([f"{gap} {text}" for gap, text in keys], return_index=True)[1]] = True
    return found


def _self_check(calibrator: Calibrator, shown: Texts, kept: Sequence[Sample], wanted: str, by: Grouping) -> Iterator[Figure]:
    """F6 and F7, of the texts that the model was asked about: a prompt may have no room for the question."""
    said = np.array([sample.measures.get(SELF_CHECK, math.nan) for sample in kept], dtype=np.float64)
    asked = np.isfinite(said)
    if not asked.any():
        ids = ("F6", "F6.parses", "F7", "F7.right", "F7.counterfeit")
        yield from (not_run(id, _CLAIMS[id], "the model was not asked about its texts", by) for id in ids)
        return
    left_out = f"texts that the model was not asked about are left out: {int((~asked).sum()):,}" if not asked.all() else ""
    texts, samples = shown.only(asked), [kept[row] for row in np.flatnonzero(asked).tolist()]
    yield from with_note(left_out, *self_check_bias(texts, said[asked] > 0))
    yield from with_note(left_out, *_self_check_gains(calibrator, texts, samples, wanted, by))


def _self_check_gains(calibrator: Calibrator, texts: Texts, samples: Sequence[Sample], wanted: str, by: Grouping) -> tuple[Figure, Figure]:
    """F6, of texts and their samples, all with the model's own answer. wanted: the kind of map."""
    free = tuple(name for name in calibrator.features if not MEASURES[name].cost)
    try:
        if not free:
            raise NotHeldOut("the calibrator has no measure that costs nothing")
        fitted = CrossFitted(tuple(samples), by, wanted)
        plain, more = (judged_of(samples, calibrator.event, measures, fitted, by)[0] for measures in (free, (*free, SELF_CHECK)))
    except NotHeldOut as error:
        return not_run("F6", _CLAIMS["F6"], str(error), by), not_run("F6.parses", _CLAIMS["F6.parses"], str(error), by)
    texts = replace(texts, p=plain.p)
    of_parsing = self_check_adds("F6.parses", texts.only(texts.parses), more.p[texts.parses])
    all_of_them, parsing = with_note(_AMONG_THEMSELVES, self_check_adds("F6", texts, more.p), of_parsing)
    return all_of_them, parsing


def _of_repairs(facts: Iterable[Fact], by: str) -> Figure:
    found = [one for one in facts if one.repair_rate is not None and one.pass_rate is not None]
    if not found:
        return not_run("F9", _CLAIMS["F9"], "nothing was repaired", by)
    repaired, drawn = (np.array(each, dtype=np.float64) for each in zip(*((one.repair_rate, one.pass_rate) for one in found), strict=True))
    groups = np.unique([one.project for one in found], return_inverse=True)[1].astype(np.intp)
    return repair_pays(repaired, drawn, groups, "project")
