"""Fitting a calibrator: from samples to a map and its held-out evidence.

The map is fitted on all samples. The evidence comes from cross-fitting: in each fold the whole procedure, selection of the map included, is
repeated on the other folds.
"""

from __future__ import annotations

import hashlib
import random
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from operator import attrgetter

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats, bounded, sigmoid
from ..by_language import by_file_where_few, by_language
from ..calibrator import Calibrator, FittedOn, Parent
from ..evidence import evidence_of
from ..guards import guards_of, status_of
from ..held_out import FoldMap, Folds, Group
from ..language_names import names_of_languages
from ..maps.registry import Map, problems_of
from ..metrics.intervals import RESAMPLES
from ..samples import Sample, samples_sha256
from .adaptation import MAX_SAMPLES, Variation, is_adaptable, variations
from .between_groups import between_group_sd, within_groups_sd
from .checks import FitError as FitError
from .checks import alternatives_of, check_adaptable, check_samples, column_of, entered_of
from .dial import dial
from .folds import MIN_GROUPS, Grouping, folds_of, grouped, numbered
from .procedure import Data, Fitted, cross_fitted, fit_whole, paths_and_files
from .shrinkage import Level, deepest_log_odds

DEFAULT_FEATURES = ("total_logprob",)
# How many times as many samples a model may have as another, in a map for any model.
MOST_OF_ONE = 2


@dataclass(frozen=True, slots=True)
class GroupRow:
    """Held-out results of one project or language.

    skill: 1 - Brier score / Brier score of always saying the base rate of all the samples; None where all labels everywhere are equal.
    """

    name: str
    n: int
    positives: int
    base_rate: float
    mean_probability: float
    brier: float
    skill: float | None


@dataclass(frozen=True, slots=True)
class Fit:
    """A calibrator with what it was judged by.

    samples: the n samples with a known label.
    held_out (n,): probabilities, each from a map that was fitted without the sample's fold.
    labels (n,), groups (n,), fold (n,): groups are what is taken as independent; groups and folds are numbered from 0.
    measures, levels: those that were asked for. fold_maps: the map that was fitted without each fold.
    unknown: the number of samples without a label.
    notes: what people must know of groups, levels and left-out samples.
    """

    calibrator: Calibrator
    samples: Sequence[Sample]
    held_out: Floats
    labels: NDArray[np.bool_]
    groups: NDArray[np.intp]
    fold: NDArray[np.intp]
    measures: tuple[str, ...]
    levels: tuple[Level, ...]
    fold_maps: tuple[FoldMap, ...]
    by_project: tuple[GroupRow, ...]
    by_language: tuple[GroupRow, ...]
    unknown: int
    notes: tuple[str, ...]

    def kept_folds(self) -> Folds:
        """For each project the map that did not see it. Raises FitError where something other than projects was held out together."""
        if (by := self.calibrator.fitted_on.grouped_by) != "project":
            raise FitError(
                f"folds can't be kept: held out by {by}, each map has seen something of every project; samples of {MIN_GROUPS} projects or "
                "more are needed"
            )
        fold_of = {sample.project: int(fold) for sample, fold in zip(self.samples, self.fold, strict=True)}
        if parted := next((s.project for s, fold in zip(self.samples, self.fold, strict=True) if fold_of[s.project] != fold), None):
            raise FitError(
                f"folds can't be kept: project {parted} has a language that few projects have, which was held out by file; leave these "
                "samples out, or add some of more projects in that language"
            )
        ranges = _ranges([column_of(name, self.samples) for name in self.measures], None)
        groups = tuple(Group(name, fold) for name, fold in sorted(fold_of.items()))
        try:
            return Folds(self.calibrator.id, self.measures, ranges, self.levels, groups, self.fold_maps)
        except ValueError as error:
            raise FitError(f"folds can't be kept, for the samples of one differ too little or too much ({error})") from None


def fit(
    samples: Sequence[Sample],
    event: str,
    features: Sequence[str] = DEFAULT_FEATURES,
    *,
    kind: str = "auto",
    levels: Sequence[Level] = (),
    groups: Grouping = "project",
    least_models: int = MIN_GROUPS,
    adapt_from: Calibrator | None = None,
    allow_insufficient: bool = False,
    resamples: int = RESAMPLES,
    seed: int = 0,
    date: datetime | None = None,
) -> Fit:
    """Fit a calibrator for an event.

    The map is fitted on all samples with a known label. Its evidence is cross-fitted: each sample is judged by a map that was fitted and
    selected without the sample's fold. A fold never parts a group.

    Parameters:
        features: measures. The selected map may leave out all but the first.
        kind: of the map; "auto" selects it.
        levels: give each language, project or user a Platt map of its own, shrunk toward the one above it. They are kept only where they
            are better on held-out files.
        groups: what is held out together. With fewer than 5 projects, or fewer than the map has parameters and one, files are the groups.
            With too few files each sample is its own group. Of several languages, one that few projects have is held out by file. A note
            says so. "model": the samples are of five models or more, and the map is for any other one.
        least_models: how many models that takes at least.
        adapt_from: a calibrator of other projects, or of other models. Its map is adapted to these samples, which are of one project or
            one model, instead of fitting a map to them alone. It names the features.
        allow_insufficient: where the samples of one project can't tell whether there is skill, the status is `insufficient` instead of
            `uninformative`. `adapt_from` implies it.
        resamples: of the bootstrap for the calibration error.
        date: of the fit, now by default.

    Raises FitError if
        * samples of several tasks or numbers of alternatives are mixed, or of several models or prompts where not models are held out;
        * an event, a measure or a kind of map is unknown, or a sample lacks a measure or the name of a level;
        * fewer than two samples have a label;
        * agreement is asked for where samples are first choices alone;
        * the kind of map can't be fitted to these measures;
        * the map of `adapt_from` can't be adapted or is for something else.
    """
    known = [sample for sample in samples if sample.labels.get(event) is not None]
    if groups == "model":
        known = _with_models_alike(known, seed)
    features = adapt_from.features if adapt_from else features
    check_samples(samples, known, event, features, kind, levels, least_models=least_models if groups == "model" else 0)
    if adapt_from:
        check_adaptable(adapt_from, known, event)
    raw = [column_of(name, known) for name in features]
    x = np.column_stack([entered_of(name, values, known) for name, values in zip(features, raw, strict=True)])
    y = np.array([sample.labels[event] for sample in known], dtype=np.bool_)
    # An adapted map has its shape already, so it needs no more groups than the evidence does. Models are few, and judge it all the same.
    least = min(MIN_GROUPS, least_models) if adapt_from or groups == "model" else max(MIN_GROUPS, len(features) + 2)
    grouped_by, index, notes = grouped(known, groups, least)
    # Files are held out where few projects have a language. A project that has its own map is held out whole all the same. Intervals, and
    # how much projects differ, are by whole projects.
    apart, few = by_file_where_few(known) if grouped_by == "project" and "project" not in levels else (index, frozenset[str]())
    fold = folds_of(apart, seed)
    data = Data(
        x,
        y,
        apart,
        tuple(features),
        "platt" if levels else kind,
        seed,
        *paths_and_files(known, levels),
        adapt_from,
        next(iter(levels), None),
        numbered([sample.project for sample in known]) if adapt_from else None,
    )
    fitted = fit_whole(data)
    held_out, fold_maps = cross_fitted(data, fold)
    evidence = evidence_of(held_out, y, index, resamples, seed)
    if levels:
        notes = (*notes, f"levels{'' if fitted.tree else ' are left out'}: {fitted.about_levels}")
    used, entered = tuple(features[: fitted.selection.features]), x[:, : fitted.selection.features]
    if problem := next(problems_of(fitted.map, len(used)), None):
        named = f"{fitted.selection.kind} map of {', '.join(used)}"
        raise FitError(f"no {named} can be kept, which differs too little or too much ({': '.join(problem)})")
    p = bounded(sigmoid(fitted.map.log_odds(entered)), len(y) + data.parent_n)
    ranges = _ranges(raw[: len(used)], adapt_from)
    guards = guards_of(used, ranges, entered, y, fitted.map, p, evidence, len(y) + data.parent_n)
    may_have_skill = evidence.skill is None or evidence.skill.high > 0
    of_models = adapt_from is not None and adapt_from.models is not None
    status, reason = status_of(guards, may_have_skill and (allow_insufficient or adapt_from is not None), borrows=of_models)
    if grouped_by == "model" and status == "informative":
        status = "borrowed"
    around = _variations(fitted.map, held_out, known, y, grouped_by, few) if not adapt_from else ()
    if grouped_by == "model" and not around:
        raise FitError(f"a map for any model is of kind platt or beta, which can be moved, not {fitted.map.kind}: name one with --map")
    if grouped_by != groups:
        reason += f"; held out by {grouped_by}, so that how well it does in another {groups} is not known"
    if few:
        caveat = f"few projects have {names_of_languages(tuple(few))}: held out by file there; how well it does in another is not known"
        reason, notes = f"{reason}; {caveat}", (*notes, caveat)
    calibrator = Calibrator(
        event=event,
        task=known[0].task,
        features=used,
        ranges=ranges,
        map=fitted.map,
        between_group_sd=_between(fitted, data, p, y, index, numbered([s.project for s in known]), grouped_by),
        levels=tuple(levels) if fitted.tree else (),
        children=fitted.tree.children if fitted.tree else (),
        tried=fitted.selection.tried,
        fitted_on=_fitted_on(known, y, grouped_by, index, date),
        status=status,
        reason=reason,
        guards=guards,
        evidence=evidence,
        # "Only if it is at least this likely" is promised of each suggestion.
        dial=dial(held_out, y, index, each=True),
        projects=around[-1] if around else adapt_from.projects if adapt_from and adapt_from.models else None,
        models=around[0] if grouped_by == "model" and around else None,
        moved_from=_parent(adapt_from) if adapt_from else None,
        by_language=by_language([sample.language for sample in known], held_out, y, apart, grouped_by, few),
    )
    return Fit(
        calibrator,
        samples=known,
        held_out=held_out,
        labels=y,
        groups=index,
        fold=fold,
        measures=tuple(features),
        levels=tuple(levels),
        fold_maps=fold_maps,
        by_project=_rows(list(map(attrgetter("project"), known)), held_out, y),
        by_language=_rows(list(map(attrgetter("language"), known)), held_out, y),
        unknown=sum(sample.labels.get(event) is None for sample in samples),
        notes=(*notes, *_notes(samples, known, event, used)),
    )


def _between(
    fitted: Fitted,
    data: Data,
    p: Floats,
    y: NDArray[np.bool_],
    groups: NDArray[np.intp],
    projects: NDArray[np.intp],
    by: Grouping,
) -> float:
    """The standard deviation of the log odds between groups. Between single samples an offset can't be told from chance.

    Where models are held out it is that between projects, around each model's own map: how far that lies from the others' is told apart.
    """
    if by == "model":
        return within_groups_sd(p, y, groups, projects)
    if data.parent and data.parent.models:
        return data.parent.between_group_sd
    return 0.0 if by == "sample" else between_group_sd(_of_languages(fitted, data, p), y, groups)


def _parent(parent: Calibrator) -> Parent:
    projects = parent.projects.n if parent.models and parent.projects else 0
    return Parent(parent.id, parent.fitted_on.n, parent.models.n if parent.models else 1, projects)


def _of_languages(fitted: Fitted, data: Data, p: Floats) -> Floats:
    """Probabilities (n,) by the map of each language, where languages have their own: projects differ around these. Else p, the map's."""
    if fitted.tree is None or data.top != "language":
        return p
    own = [child for child in fitted.tree.children if len(child.path) == 1]
    log_odds = deepest_log_odds(fitted.map, own, data.x[:, : fitted.selection.features], [path[:1] for path in data.paths])
    return bounded(sigmoid(log_odds), len(p))


def _fitted_on(known: Sequence[Sample], y: NDArray[np.bool_], by: Grouping, groups: NDArray[np.intp], date: datetime | None) -> FittedOn:
    first = known[0]
    several = by == "model"
    return FittedOn(
        model=_hash_of(s.model for s in known) if several else first.model,
        model_name="" if several else first.model_name,
        prompt=_hash_of(s.prompt for s in known) if several else first.prompt,
        languages=tuple(sorted({s.language for s in known})),
        n=len(y),
        positives=int(y.sum()),
        grouped_by=by,
        groups=int(groups.max()) + 1,
        date=(date or datetime.now(UTC)).isoformat(timespec="seconds"),
        samples_sha256=samples_sha256(known),
        alternatives=alternatives_of(known),
        models=tuple(sorted({s.model: s.model_name or s.model for s in known}.values())) if several else (),
        kin="" if several else first.kin,
    )


def _with_models_alike(samples: Sequence[Sample], seed: int) -> list[Sample]:
    """Some of the samples, of each model at most `MOST_OF_ONE` times as many as the fewest have, so that no model speaks for the others."""
    of: dict[str, list[Sample]] = {}
    for sample in samples:
        of.setdefault(sample.kin or sample.model, []).append(sample)
    most = MOST_OF_ONE * min(map(len, of.values()), default=0)
    drawn = random.Random(seed)
    return [sample for each in of.values() for sample in (each if len(each) <= most else drawn.sample(each, most))]


def _hash_of(ids: Iterable[str]) -> str:
    return hashlib.sha256(" ".join(sorted(set(ids))).encode()).hexdigest()[:16]


def _ranges(raw: Sequence[Floats], parent: Calibrator | None) -> tuple[tuple[float, float], ...]:
    """The smallest and largest value of each measure, those of the parent's samples included."""
    ranges = tuple((float(values.min()), float(values.max())) for values in raw)
    if parent:
        ranges = tuple((min(a, c), max(b, d)) for (a, b), (c, d) in zip(ranges, parent.ranges, strict=True))
    return ranges


def _variations(
    fitted: Map, held_out: Floats, known: Sequence[Sample], y: NDArray[np.bool_], by: Grouping, without: Collection[str] = ()
) -> tuple[Variation, ...]:
    """How the maps of models, where these were held out, and of projects vary around this map. Empty for a kind that can't be adapted.

    without: languages whose projects were not held out whole.
    """
    rows = [i for i, sample in enumerate(known) if sample.language not in without]
    if not rows or not is_adaptable(fitted) or by not in ("model", "project"):
        return ()
    some = rows[:: -(-len(rows) // MAX_SAMPLES)]
    p = held_out[some]
    projects = [known[i].project for i in some]
    paths = [(known[i].kin or known[i].model, known[i].project) if by == "model" else (known[i].project,) for i in some]
    found = variations(np.log(p / (1 - p)), y[some], paths)
    return (found[0].of_few(), replace(found[1], n=max(2, len(set(projects))))) if by == "model" else found


def _notes(samples: Sequence[Sample], known: Sequence[Sample], event: str, used: Sequence[str]) -> Iterator[str]:
    """What a reader must know of the samples: fallback values and unknown labels."""
    stand_ins = Counter(name for sample in known for name in sample.fallbacks)
    for name in used:
        if stand_ins[name]:
            yield f"in {stand_ins[name]} of {len(known)} samples {name} only stands in for a value that could not be had"
    labelled = sum(sample.labels.get(event) is not None for sample in samples)
    if labelled > len(known):
        out = f"{labelled - len(known)} of {labelled} samples were left out"
        yield f"{out}, so that no model has more than {MOST_OF_ONE} times as many as another"
    if unknown := len(samples) - labelled:
        yield f"{unknown} of {len(samples)} samples have no known label for {event} and were left out"


def _rows(names: Sequence[str], p: Floats, y: NDArray[np.bool_]) -> tuple[GroupRow, ...]:
    index = numbered(names)
    sums = [np.bincount(index, column) for column in (np.ones(len(y)), y, p, (p - y) ** 2, (y.mean() - y) ** 2)]
    rows = (
        GroupRow(
            name=name,
            n=int(n),
            positives=int(positives),
            base_rate=float(positives / n),
            mean_probability=float(said / n),
            brier=float(brier / n),
            skill=float(1 - brier / reference) if reference > 0 else None,
        )
        for name, n, positives, said, brier, reference in zip(dict.fromkeys(names), *sums, strict=True)
    )
    return tuple(sorted(rows, key=lambda row: row.name))
