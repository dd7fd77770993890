"""Samples in, calibrator out: a map fitted on all of them, and evidence from maps fitted without the group that they are judged on.

What is held out is the whole way to a map, the choice of its kind included: in each fold the ladder is climbed anew on the other folds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from operator import attrgetter

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats, sigmoid
from ..calibrator import Calibrator, FittedOn, Parent
from ..evidence import evidence_of
from ..guards import are_too_few, guards_of, status_of
from ..maps.platt import PlattMap, fit_platt
from ..maps.registry import Map, problems_of
from ..measures.registry import MEASURES
from ..metrics.intervals import RESAMPLES
from ..monitoring.dial import dial
from ..samples import Sample, samples_sha256
from .adaptation import MAX_SAMPLES, Projects, adapt, projects_around
from .between_groups import between_group_sd
from .checks import FitError as FitError
from .checks import alternatives_of, check_samples, column_of, entered_of, why_not_adaptable
from .folds import MIN_GROUPS, Grouping, folds_of, grouped, numbered, renumbered
from .model_selection import Selection, fit_map, log_losses, mean_and_standard_error, select_map
from .shrinkage import Level, Tree, fit_tree, log_odds_of

DEFAULT_FEATURES = ("total_logprob",)
# With fewer samples in each, how much groups differ can hardly be told from chance.
MIN_PER_GROUP = 3


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

    samples: those with a known label, n of them. held_out (n,): probabilities, each from a map fitted without the sample's group;
    labels (n,); groups (n,): what was held out together, from 0; fold (n,). unknown: how many samples had no label. notes: what a reader
    must know of how groups were made, for people.
    """

    calibrator: Calibrator
    samples: Sequence[Sample]
    held_out: Floats
    labels: NDArray[np.bool_]
    groups: NDArray[np.intp]
    fold: NDArray[np.intp]
    by_project: tuple[GroupRow, ...]
    by_language: tuple[GroupRow, ...]
    unknown: int
    notes: tuple[str, ...]


def fit(
    samples: Sequence[Sample],
    event: str,
    features: Sequence[str] = DEFAULT_FEATURES,
    *,
    kind: str = "auto",
    levels: Sequence[Level] = (),
    groups: Grouping = "project",
    toward: Calibrator | None = None,
    gives_way: bool = False,
    resamples: int = RESAMPLES,
    seed: int = 0,
    date: datetime | None = None,
) -> Fit:
    """Fit a calibrator for an event; its evidence is held out by group in 5 folds, its map fitted on all samples with a known label.

    kind: of the map, by default the ladder's choice, which may leave out all measures but the first. levels: give each language, project
    or user a Platt map of its own, shrunk toward the one above it, where that is better on files that were held out (asked anew in each
    fold, as the kind is). With fewer than 5 projects (or fewer than the map has parameters, and one) files are the groups, with too few
    files the samples; a note says so. toward: a calibrator of other projects, whose map is moved as far as these samples, of one project,
    say (`toward.moved`), instead of fitting one to them alone; it names the features. gives_way: where samples of one project can't
    tell whether there is skill, the calibrator is `insufficient`; with `toward` it is so anyway. date: of the fit, now by default.

    Raises FitError where samples of several models, prompts, tasks or numbers of alternatives are mixed, an event or a measure is unknown,
    a measure or the name of a level is missing, fewer than two samples have a label, agreement is asked for of first choices alone, the
    kind of map can't be fitted to these measures, or the map of `toward` can't be moved or is for something else.
    """
    known = [sample for sample in samples if sample.labels.get(event) is not None]
    features = toward.features if toward else features
    check_samples(samples, known, event, features, kind, levels)
    if toward and (why_not := why_not_adaptable(toward, known, event)):
        raise FitError(why_not)
    if toward and (count := len({sample.project for sample in known})) > 1:
        raise FitError(f"the samples are of {count} projects; a map is moved toward those of one")
    raw = [column_of(name, known) for name in features]
    x = np.column_stack([entered_of(name, values, known) for name, values in zip(features, raw, strict=True)])
    y = np.array([sample.labels[event] for sample in known], dtype=np.bool_)
    # a map that is moved has its shape already
    grouped_by, index, notes = grouped(known, groups, MIN_GROUPS if toward else max(MIN_GROUPS, len(features) + 2))
    fold = folds_of(index, seed)
    given = _Given(x, y, index, tuple(features), "platt" if levels else kind, seed, *_paths_and_files(known, levels), toward)
    made, held_out = _climb(given), _held_out(given, fold)
    evidence = evidence_of(held_out, y, index, resamples, seed)
    if levels:
        notes = (*notes, f"levels{'' if made.tree else ' are left out'}: {made.said}")
    used, entered = tuple(features[: made.choice.features]), x[:, : made.choice.features]
    p = _bounded(sigmoid(made.map.log_odds(entered)), len(y) + given.more)
    ranges = tuple((float(values.min()), float(values.max())) for values in raw[: len(used)])
    if toward:
        ranges = tuple((min(a, c), max(b, d)) for (a, b), (c, d) in zip(ranges, toward.ranges, strict=True))
    guards = guards_of(used, ranges, entered, y, made.map, p, evidence, len(y) + given.more)
    may_have_skill = evidence.skill is None or evidence.skill.high > 0
    status, reason = status_of(guards, undecided=may_have_skill and (gives_way or toward is not None))
    if grouped_by != groups:
        reason += f"; held out by {grouped_by}, so that how well it does in another {groups} is not known"
    if wrong := next(problems_of(made.map, len(used)), None):
        raise FitError(
            f"no {made.choice.kind} map of {', '.join(used)} can be kept, which differs too little or too much ({': '.join(wrong)})"
        )
    first = known[0]
    calibrator = Calibrator(
        event=event,
        task=first.task,
        features=used,
        ranges=ranges,
        map=made.map,
        # between single samples an offset can't be told from chance
        between_group_sd=0.0 if grouped_by == "sample" else between_group_sd(p, y, index),
        levels=tuple(levels) if made.tree else (),
        children=made.tree.children if made.tree else (),
        tried=made.choice.tried,
        fitted_on=FittedOn(
            model=first.model,
            model_name=first.model_name,
            prompt=first.prompt,
            languages=tuple(sorted({s.language for s in known})),
            n=len(y),
            positives=int(y.sum()),
            grouped_by=grouped_by,
            groups=int(index.max()) + 1,
            date=(date or datetime.now(UTC)).isoformat(timespec="seconds"),
            samples_sha256=samples_sha256(known),
            alternatives=alternatives_of(known),
        ),
        status=status,
        reason=reason,
        guards=guards,
        evidence=evidence,
        # "only if it is at least this likely" is said of each suggestion
        dial=dial(held_out, y, index, each=True),
        projects=_projects(made.map, held_out, known, y) if grouped_by == "project" and not toward else None,
        moved_from=Parent(toward.id, toward.fitted_on.n) if toward else None,
    )
    return Fit(
        calibrator,
        samples=known,
        held_out=held_out,
        labels=y,
        groups=index,
        fold=fold,
        by_project=_rows(list(map(attrgetter("project"), known)), held_out, y),
        by_language=_rows(list(map(attrgetter("language"), known)), held_out, y),
        unknown=len(samples) - len(known),
        notes=(*notes, *_notes(samples, known, event, used)),
    )


def _projects(fitted: Map, held_out: Floats, known: Sequence[Sample], y: NDArray[np.bool_]) -> Projects | None:
    """How projects lie around a map; None for one that can't be moved anyway."""
    if not isinstance(fitted, PlattMap):
        return None
    some = slice(None, None, -(-len(known) // MAX_SAMPLES))
    p = held_out[some]
    return projects_around(np.log(p / (1 - p)), y[some], [sample.project for sample in known[some]])


def _notes(samples: Sequence[Sample], known: Sequence[Sample], event: str, used: Sequence[str]) -> Iterator[str]:
    """What a reader must know of the samples: values that only stand in for others, and labels that are not known."""
    stand_ins = Counter(name for sample in known for name in sample.fallbacks)
    for name in used:
        if stand_ins[name]:
            yield f"in {stand_ins[name]} of {len(known)} samples {name} only stands in for a value that could not be had"
    if unknown := len(samples) - len(known):
        yield f"{unknown} of {len(samples)} samples have no known label for {event} and were left out"


def _bounded(p: Floats, n: int) -> Floats:
    return np.clip(p, 1 / (n + 2), 1 - 1 / (n + 2))


def _those(paths: list[tuple[str, ...]], which: NDArray[np.bool_]) -> list[tuple[str, ...]]:
    return [paths[i] for i in np.flatnonzero(which)]


@dataclass(frozen=True, slots=True)
class _Given:
    """What a map is made of: features x (n, k) by names, labels y (n,), groups (n,), and where levels are asked for paths and files."""

    x: Floats
    y: NDArray[np.bool_]
    groups: NDArray[np.intp]
    names: tuple[str, ...]
    wanted: str
    seed: int
    paths: list[tuple[str, ...]]
    files: NDArray[np.intp]
    toward: Calibrator | None = None

    @property
    def more(self) -> int:
        """How many samples are behind the map besides these."""
        return self.toward.fitted_on.n if self.toward else 0

    def only(self, rows: NDArray[np.bool_]) -> _Given:
        """The same of some samples."""
        paths, files = (_those(self.paths, rows), renumbered(self.files[rows])) if self.paths else ([], self.files)
        groups = renumbered(self.groups[rows])
        return replace(self, x=self.x[rows], y=self.y[rows], groups=groups, paths=paths, files=files)


@dataclass(frozen=True, slots=True)
class _Made:
    """The map, what was chosen on the way to it, and the tree whose root it is where there are levels; said: what they bring."""

    choice: Selection
    map: Map
    tree: Tree | None
    said: str


def _climb(given: _Given) -> _Made:
    """The whole way from samples to a map: the ladder, the fit, and the levels; or from another map, moved toward the samples."""
    if given.toward:
        parent, projects = given.toward.map, given.toward.projects
        assert isinstance(parent, PlattMap), "`why_not_adaptable` lets no other pass"
        assert projects is not None, "nor one without"
        choice = Selection("platt", len(given.names), parent.ridge, ())
        return _Made(choice, adapt(parent, projects, given.x, given.y), None, "")
    choice = select_map(given.x, given.y, given.groups, given.names, given.wanted, given.seed)
    tree, said = _tree(given, choice) if given.paths else (None, "")
    return _Made(choice, tree.root if tree else fit_map(choice, given.x, given.y, given.names, given.groups), tree, said)


def _held_out(given: _Given, fold: NDArray[np.intp]) -> Floats:
    """Probabilities (n,), each from the way that was gone without its fold (n,)."""
    p = np.empty(len(given.y))
    for f in range(int(fold.max()) + 1):
        out = fold == f
        left = _climb(given.only(~out))
        entered = given.x[out, : left.choice.features]
        z = log_odds_of(left.tree, entered, _those(given.paths, out)) if left.tree else left.map.log_odds(entered)
        p[out] = _bounded(sigmoid(z), int((~out).sum()) + given.more)
    return p


def _tree(given: _Given, choice: Selection) -> tuple[Tree | None, str]:
    """The tree where it beats one map for all, on files that neither saw, by more than one standard error; and by how much it does.

    A group whose own map would point the other way than its only measure has its parent's.
    """
    x, y, paths = given.x[:, : choice.features], given.y, given.paths
    if are_too_few(y):
        return None, "there are too few samples"
    if len(set(paths)) * MIN_PER_GROUP > len(y):
        return None, f"there are {len(set(paths))} groups for {len(y)} samples, fewer than {MIN_PER_GROUP} in each"
    fold = folds_of(given.files, given.seed)
    gains = np.empty(len(y))
    for f in range(int(fold.max()) + 1):
        out = fold == f
        rest = ~out
        alone = fit_platt(x[rest], y[rest], ridge=choice.ridge).log_odds(x[out])
        shrunk = log_odds_of(fit_tree(x[rest], y[rest], _those(paths, rest), ridge=choice.ridge), x[out], _those(paths, out))
        n = int(rest.sum())
        gains[out] = log_losses(alone, y[out], n) - log_losses(shrunk, y[out], n)
    gain, error = mean_and_standard_error(gains, given.files)
    said = (
        f"log loss {'lower' if gain >= 0 else 'higher'} by {abs(gain):.2g} ± {error:.2g} nats than with one map for all, on files held out"
    )
    if gain <= error:
        return None, said
    tree = fit_tree(x, y, paths, ridge=choice.ridge)
    # with several measures the first may well be there to take from the others
    direction = MEASURES[given.names[0]].direction if choice.features == 1 else 0
    right = tuple(child for child in tree.children if child.slopes[0] * direction >= 0)
    wrong = len(tree.children) - len(right)
    return replace(tree, children=right), said + (
        f"; {wrong} groups whose own map points the wrong way have their parents'" if wrong else ""
    )


def _paths_and_files(samples: Sequence[Sample], levels: Sequence[Level]) -> tuple[list[tuple[str, ...]], NDArray[np.intp]]:
    if not levels:
        return [], np.zeros(0, dtype=np.intp)
    return [tuple(getattr(sample, level) for level in levels) for sample in samples], grouped(samples, "file")[1]


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
