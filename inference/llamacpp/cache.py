"""Which tokens llama.cpp holds keys and values of, and how a prompt is read with as few new ones as can be.

One sequence is *live*: generations go on from it, and attention pays for no other. Others are *parked*: copied into this process's
memory, from where they come back without being computed again. *Forks* are short-lived copies of the live one that share its cells.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from .session import Interrupted, Session, State

LIVE = 0
# A sequence is parked, or loaded, for the sake of so many tokens: a few milliseconds of the smallest models' time, as the copy is.
WORTH = 32
# The first tokens of what is moved are computed again: they saw what changed right in front of them, and models read there where a part
# begins and ends. Behind a letter typed, the embedded model in PSM kept its most likely token in 10 % of prompts with 0 of them, 95 % with
# 1, 97 % with 4 and 96 % with 16 (n = 212); chosen on these, which are part of the 914 in docs/performance.md, where 4 kept it in 95 %.
AFRESH = 4

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class CacheOptions:
    """parked_bytes, parked_sequences: how much is parked at most; shift_tokens: see `LlamaModel`."""

    parked_bytes: int
    parked_sequences: int
    shift_tokens: int | None


@dataclass(frozen=True, slots=True)
class Reading:
    """How a prompt was read: tokens that were not computed again, those of them behind a change of positions, whether it was read whole."""

    reused: int
    shifted: int
    whole: bool


@dataclass(frozen=True, slots=True)
class Run:
    """The same `length` tokens at two positions: `held` in the cache, `wanted` in a prompt."""

    held: int
    wanted: int
    length: int


@dataclass(frozen=True, slots=True)
class Parked:
    """A sequence in host memory; the first `exact` of its tokens are what a fresh context would hold."""

    tokens: list[int]
    exact: int
    state: State


def common_prefix(first: Sequence[int], second: Sequence[int]) -> int:
    """How many tokens two lists have in common at their beginning."""
    low, high = 0, min(len(first), len(second))
    while low < high:
        # Slices are compared in C: halving what is not known yet beats a loop over the tokens.
        middle = (low + high + 1) // 2
        if first[low:middle] == second[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def usable(held: Sequence[int], wanted: Sequence[int], can_cut: bool) -> int:
    """How many of the held tokens `wanted` can go on from; all or none of them where their end can't be cut off."""
    common = common_prefix(held, wanted)
    return common if can_cut or common == len(held) else 0


def moved_runs(held: Sequence[int], wanted: Sequence[int], start: int, least: int, most: int) -> list[Run]:
    """Runs of at least `least` tokens that `wanted` has in common with `held` behind `start`, in the order of both; at most `most`.

    A run begins at the first place behind the last run where `least` tokens agree, and is as long as they do.
    """
    places: dict[tuple[int, ...], list[int]] = {}
    for place in range(len(held) - least, start - 1, -1):
        places.setdefault(tuple(held[place : place + least]), []).append(place)
    runs: list[Run] = []
    at = behind = start
    while at + least <= len(wanted) and len(runs) < most:
        found = places.get(tuple(wanted[at : at + least]), [])
        while found and found[-1] < behind:
            found.pop()
        if not found:
            at += 1
            continue
        length = least + common_prefix(held[found[-1] + least :], wanted[at + least :])
        runs.append(Run(found[-1], at, length))
        behind = found[-1] + length
        at += length
    return runs


def dispensable(parked: Sequence[list[int]]) -> int:
    """Which of the parked sequences (the least recently used first) is given up first.

    The oldest of those that share more than half of their tokens with a newer one, which is nearly as good; else the oldest.
    """
    for index, tokens in enumerate(parked):
        if any(common_prefix(tokens, newer) * 2 > len(tokens) for newer in parked[index + 1 :]):
            return index
    return 0


class Cache:
    """The sequences of one session. `tokens` is what the live one holds, always; whatever fails, it stays so."""

    def __init__(self, session: Session, options: CacheOptions) -> None:
        self.session = session
        self.tokens: list[int] = []
        self._exact = 0
        self._options = options
        self._parked: list[Parked] = []
        # Keys that wait for a decode to turn them: a copy of the sequence would have them at the wrong angle.
        self._unturned = False

    @property
    def parked_bytes(self) -> int:
        """Memory that the parked sequences take."""
        return sum(parked.state.nbytes for parked in self._parked)

    def forget(self) -> None:
        """Empty it, the parked sequences included."""
        self._parked.clear()
        self._clear()

    def read(self, prompt: Sequence[int], interrupted: Interrupted | None = None) -> Reading:
        """Make the live sequence hold `prompt`; `row` then has the logits behind it. Where interrupted, it holds a beginning of it."""
        wanted = list(prompt)
        reusable = wanted[:-1]
        common = self._choose(reusable)
        runs: list[Run] = []
        if self._options.shift_tokens and self.session.can_shift and self._can_cut_live() and not self._unturned:
            found = moved_runs(self.tokens, reusable, common, self._options.shift_tokens + AFRESH, self.session.forks)
            runs = [Run(run.held + AFRESH, run.wanted + AFRESH, run.length - AFRESH) for run in found]
        reused, exact = common + sum(run.length for run in runs), min(self._exact, common)
        lost = len(self.tokens) - common
        if lost >= WORTH:
            self._park()
        try:
            whole = self._follow(wanted, common, runs, interrupted)
        finally:
            if runs:
                for fork in range(1, 1 + len(runs)):
                    self.session.cut(fork, 0)
        return Reading(reused, reused - exact, whole)

    def _follow(self, wanted: list[int], common: int, runs: list[Run], interrupted: Interrupted | None) -> bool:
        """Cut to what is common, take each run out, move it, and put it back as soon as what stands before it is decoded."""
        session = self.session
        for fork, run in enumerate(runs, 1):
            session.copy(LIVE, fork, run.held, run.held + run.length)
        # A cell has one position for all sequences that share it: only when the live one has let go may it change.
        self.cut(common)
        for fork, run in enumerate(runs, 1):
            if run.held != run.wanted:
                session.shift(fork, run.wanted - run.held)
                self._unturned = True
        for fork, run in enumerate(runs, 1):
            if not self._extend_by(wanted[len(self.tokens) : run.wanted], interrupted, row=False):
                return False
            session.copy(fork, LIVE, run.wanted, run.wanted + run.length)
            self.tokens += wanted[run.wanted : run.wanted + run.length]
        return self._extend_by(wanted[len(self.tokens) :], interrupted, row=True)

    def _extend_by(self, tokens: list[int], interrupted: Interrupted | None, *, row: bool) -> bool:
        chunk = self.session.chunk
        for start in range(0, len(tokens), chunk):
            if interrupted is not None and interrupted():
                return False
            if not self.extend(tokens[start : start + chunk], interrupted, row=row and start + chunk >= len(tokens)):
                return False
        return True

    def extend(self, tokens: Sequence[int], interrupted: Interrupted | None = None, *, row: bool = True) -> bool:
        """Decode at most a chunk behind the live tokens; False where `interrupted` ended it: then the live sequence is as before."""
        start, done = len(self.tokens), False
        try:
            done = self.session.decode(LIVE, start, tokens, len(tokens) - row, interrupted)
        finally:
            if not done:
                self._cut_memory(start)
        if done:
            self._unturned = False
            if self._exact == start:
                self._exact += len(tokens)
            self.tokens.extend(tokens)
            self._last = len(tokens) - 1
        return done

    def row(self) -> NDArray[np.float32]:
        """The logits behind the live sequence's last token, right after it was decoded."""
        return self.session.row(self._last)

    def ask(self, tokens: Sequence[int], first: int, take: Callable[[NDArray[np.float32]], T]) -> list[T]:
        """take(logits behind a token) for each token from number `first` on.

        Where half of what stands before is in the cache, the live sequence stays as it is; else it takes that as it takes any prompt.
        """
        wanted = list(tokens)
        session = self.session
        common = self._choose(wanted[:first])
        if common * 2 < first:
            if len(self.tokens) - common >= WORTH:
                self._park()
            self.cut(common)
            self._extend_by(wanted[len(self.tokens) : first], None, row=False)
            common = len(self.tokens)
        elif len(self.tokens) + len(wanted) - common > session.cells:
            self._park()
            self.cut(common)
        fork = 1
        taken: list[T] = []
        try:
            self.fork(fork, common)
            at = common
            while at < len(wanted):
                # No more rows than the session gives at once, and none that nobody asked for.
                end = min(at + session.chunk, max(first, at) + session.rows, len(wanted))
                rows_from = max(0, first - at)
                session.decode(fork, at, wanted[at:end], rows_from)
                taken += [take(session.row(index)) for index in range(rows_from, end - at)]
                at = end
        finally:
            session.cut(fork, 0)
        self._unturned = False
        return taken

    def fork(self, number: int, length: int) -> None:
        """Let fork `number` (1 to the session's forks) begin as the live sequence's first `length` tokens."""
        if length == len(self.tokens):
            self.session.copy(LIVE, number)
        elif length:
            # A recurrent state is copied whole whatever part is asked for; `_usable` gives no part of one.
            self.session.copy(LIVE, number, 0, length)

    def adopt(self, number: int, tokens: Sequence[int]) -> None:
        """Make a fork of the whole live sequence, longer by `tokens`, the live one."""
        self.session.cut(LIVE, 0)
        self.session.copy(number, LIVE)
        self.session.cut(number, 0)
        if self._exact == len(self.tokens):
            self._exact += len(tokens)
        self.tokens.extend(tokens)

    def cut(self, length: int) -> None:
        """Keep of the live sequence its first `length` tokens, or none where the model can't cut."""
        if length < len(self.tokens):
            self._cut_memory(length)
            del self.tokens[length:]
            self._exact = min(self._exact, len(self.tokens))

    def _cut_memory(self, length: int) -> None:
        if not self.session.cut(LIVE, length):
            self._clear()

    def _clear(self) -> None:
        self.session.clear()
        self.tokens.clear()
        self._exact = 0
        self._unturned = False

    def _can_cut_live(self) -> bool:
        """Whether the live sequence can lose its end: the first cells of a sliding window may be used again, or were never loaded."""
        return self.session.can_cut and self.session.first_position(LIVE) <= 0

    def _choose(self, wanted: list[int]) -> int:
        """Make the sequence live that has most in common with the beginning of `wanted`; how many tokens that is."""
        common = usable(self.tokens, wanted, self._can_cut_live())
        others = [usable(parked.tokens, wanted, self.session.can_cut_loaded) for parked in self._parked]
        best = max(range(len(others)), key=lambda index: others[index], default=None)
        if best is None or others[best] < common + WORTH:
            return common
        chosen = self._parked.pop(best)
        if len(self.tokens) >= WORTH:
            self._park()
        self._clear()
        if not self.session.load(LIVE, chosen.state):
            self._clear()
            return 0
        self.tokens[:], self._exact = chosen.tokens, chosen.exact
        if len(chosen.tokens) - others[best] >= WORTH:
            # Its end is lost to this prompt, and may be what the next one asks for.
            self._keep(chosen)
        return others[best]

    def _park(self) -> None:
        if self._unturned or self._options.parked_sequences == 0:
            return
        # What a parked sequence that goes on from this one holds need not be held twice.
        for index, parked in enumerate(self._parked):
            if usable(parked.tokens, self.tokens, self.session.can_cut_loaded) == len(self.tokens):
                self._parked.append(self._parked.pop(index))
                return
        state = self.session.save(LIVE)
        if 0 < state.nbytes <= self._options.parked_bytes:
            self._keep(Parked(self.tokens.copy(), self._exact, state))

    def _keep(self, new: Parked) -> None:
        if self.session.can_cut_loaded:
            self._parked = [old for old in self._parked if common_prefix(old.tokens, new.tokens) < len(old.tokens)]
        self._parked.append(new)
        while len(self._parked) > self._options.parked_sequences or self.parked_bytes > self._options.parked_bytes:
            del self._parked[dispensable([parked.tokens for parked in self._parked])]
