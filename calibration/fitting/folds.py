"""Groups and folds: what is held out together, so that no sample is judged by a map that was fitted to samples like it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from ..samples import Sample

Grouping = Literal["model", "project", "file", "sample"]
FOLDS = 5
MIN_GROUPS = 5

GROUP_OF: dict[Grouping, Callable[[Sample], object]] = {
    "model": lambda sample: sample.kin or sample.model,
    "project": attrgetter("project"),
    "file": attrgetter("project", "file"),
    "sample": attrgetter("id"),
}


def grouped(samples: Sequence[Sample], wanted: Grouping, least: int = MIN_GROUPS) -> tuple[Grouping, NDArray[np.intp], tuple[str, ...]]:
    """The coarsest grouping, from `wanted` on, with at least `least` groups.

    Returns its name, the group of each sample (n,) from 0, and a note if it is not the wanted one.
    """
    kinds = get_args(Grouping)
    few = []
    for kind in kinds[kinds.index(wanted) :]:
        index = numbered(list(map(GROUP_OF[kind], samples)))
        count = int(index.max()) + 1
        if count >= least or kind == "sample":
            break
        few.append(f"{count} {kind}{'s' if count > 1 else ''}")
    if not few:
        return kind, index, ()
    short = f"only {' and '.join(few)}, of which {least} are needed" if least > MIN_GROUPS else f"only {' and '.join(few)}"
    missed = " or ".join(kinds[kinds.index(wanted) : kinds.index(kind)])
    return kind, index, (f"{short}: held out and resampled by {kind}; how well it does in another {missed} is not known",)


def numbered(names: Sequence[object]) -> NDArray[np.intp]:
    """A number for each name, from 0 in the order of first appearance."""
    numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
    return np.fromiter(map(numbers.__getitem__, names), np.intp, len(names))


def renumbered(groups: NDArray[np.intp]) -> NDArray[np.intp]:
    """The groups (n,) numbered from 0 without a gap, in the same order."""
    there = np.bincount(groups) > 0
    return (np.cumsum(there) - 1)[groups]


def folds_of(groups: NDArray[np.intp], seed: int) -> NDArray[np.intp]:
    """The fold of each sample (n,), from 0. A group is never parted.

    Groups are placed from the largest on, each into the smallest fold so far.
    """
    sizes = np.bincount(groups)
    shuffled = np.random.default_rng(seed).permutation(len(sizes))
    if sizes.max() == 1:
        fold_of = np.empty(len(sizes), dtype=np.intp)
        fold_of[shuffled] = np.arange(len(sizes)) % FOLDS
        return fold_of[groups]
    fold_of, filled = np.zeros(len(sizes), dtype=np.intp), np.zeros(min(FOLDS, len(sizes)))
    for group in shuffled[np.argsort(-sizes[shuffled], kind="stable")]:
        fold_of[group] = filled.argmin()
        filled[fold_of[group]] += sizes[group]
    return fold_of[groups]
