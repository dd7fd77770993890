"""When the background run trains on a constant learning rate, and when it makes a file to ship.

The run itself stays on the constant rate (Hu et al., arXiv 2404.06395). A file of M million tokens branches off once the run has seen the
first 70 % of them, and sees the rest on a rate that falls linearly to zero. Then the run goes on from where the branch began.
"""

from __future__ import annotations

from collections.abc import Sequence

MILLION = 1_000_000
DECAY_SHARE = 0.3
MIN_DECAY_SHARE = 0.1
WARM_UP_STEPS = 100


def constant_rate(steps: int) -> float:
    """The share of the peak rate after so many steps since the optimisers began: linear warm-up, then constant."""
    return min(1.0, (steps + 1) / WARM_UP_STEPS)


def decayed_rate(tokens: int, begun: int, end: int) -> float:
    """The share of the peak rate in a branch that began at so many tokens and ends at others."""
    return max(0.0, (end - tokens) / (end - begun))


def branch_point(millions: int) -> int:
    """The tokens after which a file of so many million tokens branches off."""
    return round((1 - DECAY_SHARE) * millions * MILLION)


def due(tokens: int, wanted: Sequence[int]) -> int | None:
    """The file, in millions of tokens, that is to branch off a run that has seen so many tokens; None while none is."""
    return min((m for m in wanted if tokens >= branch_point(m)), default=None)


def least(tokens: int) -> int:
    """The smallest file in millions of tokens that a run with so many can still make: its rate must have time to fall."""
    return max(1, -int(-tokens // ((1 - MIN_DECAY_SHARE) * MILLION)))
