"""Worlds in which it is known how the number of a line changes when the line, or the code around it, is rewritten.

Of each line the log odds are drawn. Three rewrites of the code around it move them by noise alone, with a part that is the same in a whole
group. A rewrite that does the same lets them fall by 1 on average, for being strange, and a wrong one by `meaning` more. What is suggested
in the code as it is and in rewritten code is right with exactly the probability that is said.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from assay.calibration.arrays import sigmoid
from assay.calibration.validation.catcode_study import Rewrites, Suggestions, in_rewritten_code, of_rewrites
from assay.calibration.validation.figures import Figure

CHAIN = 3


def groups_of(rng: np.random.Generator, n: int, groups: int) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    """n groups of very unequal size."""
    return np.concatenate([np.arange(groups), rng.choice(groups, n - groups, p=rng.dirichlet(np.full(groups, 3.0)))]).astype(np.intp)


def world(seed: int, meaning: float = 1.0, n: int = 400, groups: int = 20, noise: float = 0.2) -> Rewrites:
    """n lines with three rewrites of the code around them, one that does the same, and a wrong one."""
    rng = np.random.default_rng(seed)
    group = groups_of(rng, n, groups)
    z = rng.normal(0, 1.5, n)
    common = rng.normal(0, noise / 2, groups)[group]
    moved = [z + common + rng.normal(0, noise, n) for _ in range(CHAIN)]
    strange = rng.normal(1, 0.5, groups)[group]
    same, wrong = z - strange + rng.normal(0, 0.7, n), z - strange - meaning + rng.normal(0, 0.7, n)
    each = CHAIN + 2
    return Rewrites(
        before=np.tile(sigmoid(z), each),
        again=np.tile(sigmoid(z + rng.normal(0, 0.02, n)), each),
        after=sigmoid(np.concatenate([*moved, same, wrong])),
        shown=np.ones(each * n, dtype=np.bool_),
        lines=np.tile(np.arange(n), each),
        groups=np.tile(group, each),
        arm=np.repeat(["context"] * CHAIN + ["equivalent", "wrong"], n),
        rule=np.repeat(["unused_statement", "loop_exchange", "permute_statements", "rename_variable", "wrong_name"], n),
        steps=np.repeat([1, 2, 3, 1, 1], n).astype(np.intp),
        kind=np.concatenate([np.repeat("right", (CHAIN + 1) * n), np.where(rng.random(n) < 0.5, "counterfeit", "other")]),
    )


def suggestions(seed: int, n: int = 400, groups: int = 20, off: float = 0.0) -> Suggestions:
    """n places; off: how much too high the log odds are in rewritten code."""
    rng = np.random.default_rng(seed)
    z = rng.normal(0, 1.5, n)
    rewritten = z + rng.normal(0, 0.2, n)
    y, rewritten_y = rng.random(n) < sigmoid(z), rng.random(n) < sigmoid(rewritten)
    return Suggestions(sigmoid(z), y, sigmoid(rewritten + off), rewritten_y, groups_of(rng, n, groups))


def figures_of(seed: int, meaning: float = 1.0) -> Iterator[Figure]:
    """Every figure M1 to M7 of a world."""
    yield from of_rewrites(world(seed, meaning))
    yield from in_rewritten_code(suggestions(seed))
