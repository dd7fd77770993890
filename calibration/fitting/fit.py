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
from ..guards import are_too_few, guards_of, status_of
from ..held_out import FoldMap, Folds, Group, path_of
from ..language_names import names_of_languages
from ..maps.platt import PlattMap, fit_platt
from ..maps.registry import Map, problems_of
from ..measures.registry import MEASURES
from ..metrics.intervals import RESAMPLES
from ..samples import Sample, samples_sha256
from .adaptation import MAX_SAMPLES, Variation, adapt, is_adaptable, variations
from .between_groups import between_group_sd
from .checks import FitError as FitError
from .checks import alternatives_of, check_adaptable, check_samples, column_of, entered_of
from .dial import dial
from .folds import MIN_GROUPS, Grouping, folds_of, grouped, numbered, renumbered
from .model_selection import Selection, fit_map, log_losses, mean_and_standard_error, select_map
from .shrinkage import Level, Tree, deepest_log_odds, fit_tree, log_odds_of

DEFAULT_FEATURES = ("total_logprob",)
# With fewer samples in each group, how much groups differ can hardly be told from chance.
MIN_PER_GROUP = 3
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
        """For each project the map that did not see it. Raises FitError where something else than projects was held out together."""
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
    data = _Data(
        x,
        y,
        apart,
        tuple(features),
        "platt" if levels else kind,
        seed,
        *_paths_and_files(known, levels),
        adapt_from,
        next(iter(levels), None),
        numbered([sample.project for sample in known]) if adapt_from else None,
    )
    fitted = _fit_map(data)
    held_out, fold_maps = _cross_fitted(data, fold)
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
    fitted: _Fitted,
    data: _Data,
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
        variances = []
        for model in range(int(groups.max()) + 1):
            those = groups == model
            log_odds = np.log(p[those] / (1 - p[those]))[:, None]
            own = bounded(sigmoid(fit_platt(log_odds, y[those]).log_odds(log_odds)), len(log_odds))
            variances.append(between_group_sd(own, y[those], renumbered(projects[those])) ** 2)
        return float(np.sqrt(np.mean(variances)))
    if data.parent and data.parent.models:
        return data.parent.between_group_sd
    return 0.0 if by == "sample" else between_group_sd(_of_languages(fitted, data, p), y, groups)


def _parent(parent: Calibrator) -> Parent:
    projects = parent.projects.n if parent.models and parent.projects else 0
    return Parent(parent.id, parent.fitted_on.n, parent.models.n if parent.models else 1, projects)


def _of_languages(fitted: _Fitted, data: _Data, p: Floats) -> Floats:
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


def _those(paths: list[tuple[str, ...]], which: NDArray[np.bool_]) -> list[tuple[str, ...]]:
    return [paths[i] for i in np.flatnonzero(which)]


@dataclass(frozen=True, slots=True)
class _Data:
    """What a map is fitted to: features x (n, k) with their names, labels y (n,) and groups (n,).

    projects (n,): their numbers, where a parent's map is adapted.
    paths, files: of each sample, where levels are asked for; top: the first of these. parent: the calibrator whose map is adapted.
    """

    x: Floats
    y: NDArray[np.bool_]
    groups: NDArray[np.intp]
    names: tuple[str, ...]
    wanted: str
    seed: int
    paths: list[tuple[str, ...]]
    files: NDArray[np.intp]
    parent: Calibrator | None = None
    top: Level | None = None
    projects: NDArray[np.intp] | None = None

    @property
    def parent_n(self) -> int:
        """The number of samples that the parent was fitted on."""
        return self.parent.fitted_on.n if self.parent else 0

    def only(self, rows: NDArray[np.bool_]) -> _Data:
        """The same for some of the samples."""
        paths, files = (_those(self.paths, rows), renumbered(self.files[rows])) if self.paths else ([], self.files)
        groups = renumbered(self.groups[rows])
        projects = None if self.projects is None else renumbered(self.projects[rows])
        return replace(self, x=self.x[rows], y=self.y[rows], groups=groups, paths=paths, files=files, projects=projects)


@dataclass(frozen=True, slots=True)
class _Fitted:
    """The map and how it was selected. tree: the maps of the levels, if they are used; about_levels: what they bring, for people."""

    selection: Selection
    map: Map
    tree: Tree | None
    about_levels: str


def _fit_map(data: _Data) -> _Fitted:
    """The whole procedure: select a map, fit it and its levels; or adapt the parent's map."""
    if data.parent:
        parent = data.parent.map
        assert is_adaptable(parent), "`check_adaptable` refuses any other"
        around = data.parent.models or data.parent.projects
        assert around is not None, "`check_adaptable` refuses one without"
        selection = Selection(parent.kind, len(data.names), parent.ridge if isinstance(parent, PlattMap) else 0.0, ())
        # A model's map is for any project, so what the lines of one have in common is not the map's.
        between_sd = data.parent.between_group_sd if data.parent.models else 0.0
        return _Fitted(selection, adapt(parent, around, data.x, data.y, data.projects, between_sd), None, "")
    selection = select_map(data.x, data.y, data.groups, data.names, data.wanted, data.seed)
    tree, about_levels = _tree(data, selection) if data.paths else (None, "")
    fitted = tree.root if tree else fit_map(selection, data.x, data.y, data.names, data.groups)
    return _Fitted(selection, fitted, tree, about_levels)


def _cross_fitted(data: _Data, fold: NDArray[np.intp]) -> tuple[Floats, tuple[FoldMap, ...]]:
    """Probabilities (n,), each from the procedure without the sample's fold (n,), and the map of each fold."""
    p, maps = np.empty(len(data.y)), []
    for f in range(int(fold.max()) + 1):
        out = fold == f
        fitted = _fit_map(data.only(~out))
        features, children = fitted.selection.features, fitted.tree.children if fitted.tree else ()
        made = FoldMap(int((~out).sum()) + data.parent_n, features, fitted.map, children)
        paths = _those(data.paths, out) if data.paths else [()] * int(out.sum())
        p[out] = made.probabilities(data.x[out, :features], paths)
        maps.append(made)
    return p, tuple(maps)


def _tree(data: _Data, selection: Selection) -> tuple[Tree | None, str]:
    """The maps of the levels, and by how much they beat one map for all on held-out files.

    None where that is not more than one standard error. A group whose own map points the wrong way has its parent's.
    """
    x, y, paths = data.x[:, : selection.features], data.y, data.paths
    if are_too_few(y):
        return None, "there are too few samples"
    if len(set(paths)) * MIN_PER_GROUP > len(y):
        return None, f"there are {len(set(paths))} groups for {len(y)} samples, fewer than {MIN_PER_GROUP} in each"
    fold = folds_of(data.files, data.seed)
    gains = np.empty(len(y))
    for f in range(int(fold.max()) + 1):
        out = fold == f
        rest = ~out
        single = fit_platt(x[rest], y[rest], ridge=selection.ridge).log_odds(x[out])
        shrunk = log_odds_of(fit_tree(x[rest], y[rest], _those(paths, rest), ridge=selection.ridge), x[out], _those(paths, out))
        n = int(rest.sum())
        gains[out] = log_losses(single, y[out], n) - log_losses(shrunk, y[out], n)
    gain, error = mean_and_standard_error(gains, data.files)
    about = (
        f"log loss {'lower' if gain >= 0 else 'higher'} by {abs(gain):.2g} ± {error:.2g} nats than with one map for all, on files held out"
    )
    if gain <= error:
        return None, about
    tree = fit_tree(x, y, paths, ridge=selection.ridge)
    # With several measures the first may rightly correct the others.
    direction = MEASURES[data.names[0]].direction if selection.features == 1 else 0
    right = tuple(child for child in tree.children if child.slopes[0] * direction >= 0)
    wrong = len(tree.children) - len(right)
    return replace(tree, children=right), about + (
        f"; {wrong} groups whose own map points the wrong way have their parents'" if wrong else ""
    )


def _paths_and_files(samples: Sequence[Sample], levels: Sequence[Level]) -> tuple[list[tuple[str, ...]], NDArray[np.intp]]:
    if not levels:
        return [], np.zeros(0, dtype=np.intp)
    return [path_of(sample, levels) for sample in samples], grouped(samples, "file")[1]


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
