"""The cache of keys and values: which tokens llama.cpp holds, and how a prompt is read with as few new ones as possible.

One sequence is *live*: generations continue it, and attention costs nothing for the others. Other sequences are *parked*: copied into
this process's memory, from where they come back without being computed again. *Forks* are short-lived copies of the live one that share
its cells.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from .session import Interrupted, Session, State

LIVE = 0
# A sequence is parked or loaded only where that saves so many tokens: to copy it takes as long as the smallest models need for them.
MIN_PARKED_TOKENS = 32
# The first tokens of a moved run are computed again, because they depend most on the change in front of them. After one typed letter the
# embedded model in PSM kept its most likely token in 10 % of prompts with 0 recomputed tokens, in 95 % with 1, 97 % with 4 and 96 % with
# 16 (n = 212, a part of the 914 prompts in docs/performance.md, where 4 kept it in 95 %).
RECOMPUTED_TOKENS = 4
# While a word is typed the prompt stays as it is, because the word is held back. So the logits behind this many prompts are kept.
KEPT_ROWS = 4

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class CacheOptions:
    """Bounds of the cache.

    parked_bytes, parked_sequences: the most that is parked. shift_tokens: as for `LlamaModel`.
    """

    parked_bytes: int
    parked_sequences: int
    shift_tokens: int | None


@dataclass(frozen=True, slots=True)
class PromptReading:
    """How a prompt was read.

    reused: tokens that were not computed again. shifted: those of them that stand at new positions, or behind such. whole: whether all of
    the prompt was read.
    """

    reused: int
    shifted: int
    whole: bool


@dataclass(frozen=True, slots=True)
class MovedRun:
    """The same `length` tokens at two positions: `held` in the cache, `wanted` in a prompt."""

    held: int
    wanted: int
    length: int


@dataclass(frozen=True, slots=True)
class Parked:
    """A sequence in host memory.

    exact: the number of tokens at its start whose keys and values are those of a fresh context.
    """

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


def reusable_tokens(held: Sequence[int], wanted: Sequence[int], can_cut: bool) -> int:
    """How many of the held tokens `wanted` can continue: all or none where the end of a sequence can't be cut off."""
    common = common_prefix(held, wanted)
    return common if can_cut or common == len(held) else 0


def moved_runs(held: Sequence[int], wanted: Sequence[int], start: int, min_length: int, max_runs: int) -> list[MovedRun]:
    """Runs of tokens that `wanted` and `held` have in common behind `start`, in the order of both.

    Each run has at least `min_length` tokens, and there are at most `max_runs`. A run begins at the first place behind the last one where
    `min_length` tokens agree, and it is as long as they agree.
    """
    places: dict[tuple[int, ...], list[int]] = {}
    for place in range(len(held) - min_length, start - 1, -1):
        places.setdefault(tuple(held[place : place + min_length]), []).append(place)
    runs: list[MovedRun] = []
    at = behind = start
    while at + min_length <= len(wanted) and len(runs) < max_runs:
        found = places.get(tuple(wanted[at : at + min_length]), [])
        while found and found[-1] < behind:
            found.pop()
        if not found:
            at += 1
            continue
        length = min_length + common_prefix(held[found[-1] + min_length :], wanted[at + min_length :])
        runs.append(MovedRun(found[-1], at, length))
        behind = found[-1] + length
        at += length
    return runs


def eviction_index(parked: Sequence[list[int]]) -> int:
    """The index of the parked sequence to drop; they are ordered from the least recently used.

    It is the oldest that shares more than half of its tokens with a newer one, which is nearly as good, else the oldest.
    """
    for index, tokens in enumerate(parked):
        if any(common_prefix(tokens, newer) * 2 > len(tokens) for newer in parked[index + 1 :]):
            return index
    return 0


class Cache:
    """The sequences of one session. `tokens` always says what the live one holds, also after a failure."""

    def __init__(self, session: Session, options: CacheOptions) -> None:
        self.session = session
        self.tokens: list[int] = []
        self._exact = 0
        self._options = options
        self._parked: list[Parked] = []
        # The logits behind the last prompts; and those behind the live sequence, where they come from there.
        self._rows: OrderedDict[tuple[int, ...], NDArray[np.float32]] = OrderedDict()
        self._row: NDArray[np.float32] | None = None
        # Moved keys wait for a decode to rotate them: until then a copy of the sequence would be wrong.
        self._unturned = False

    @property
    def parked_bytes(self) -> int:
        """The memory of the parked sequences."""
        return sum(parked.state.nbytes for parked in self._parked)

    def forget(self) -> None:
        """Empty it, the parked sequences included."""
        self._parked.clear()
        self._rows.clear()
        self._clear()

    def read(self, prompt: Sequence[int], interrupted: Interrupted | None = None) -> PromptReading:
        """Make the live sequence hold `prompt`, so that `row` gives the logits behind it. Where interrupted, it holds only a beginning."""
        wanted = list(prompt)
        reusable = wanted[:-1]
        common = self._activate_best(reusable)
        if self._has_row(wanted):
            if len(self.tokens) - len(wanted) >= MIN_PARKED_TOKENS:
                self._park()
            self.cut(len(wanted))
            self._row = self._rows[tuple(wanted)]
            self._rows.move_to_end(tuple(wanted))
            return PromptReading(len(wanted), max(0, len(wanted) - self._exact), True)
        runs: list[MovedRun] = []
        if self._options.shift_tokens and self.session.can_shift and self._can_cut_live() and not self._unturned:
            found = moved_runs(self.tokens, reusable, common, self._options.shift_tokens + RECOMPUTED_TOKENS, self.session.forks)
            runs = [MovedRun(run.held + RECOMPUTED_TOKENS, run.wanted + RECOMPUTED_TOKENS, run.length - RECOMPUTED_TOKENS) for run in found]
        reused, exact = common + sum(run.length for run in runs), min(self._exact, common)
        lost = len(self.tokens) - common
        if lost >= MIN_PARKED_TOKENS:
            self._park()
        try:
            whole = self._move_and_decode(wanted, common, runs, interrupted)
        finally:
            if runs:
                for fork in range(1, 1 + len(runs)):
                    self.session.cut(fork, 0)
        if whole and self._exact == len(wanted):
            self._keep_row(wanted)
        return PromptReading(reused, reused - exact, whole)

    def _has_row(self, wanted: list[int]) -> bool:
        """Whether the live sequence begins with these tokens, and the logits behind them are kept."""
        return tuple(wanted) in self._rows and self.tokens[: len(wanted)] == wanted and self._can_cut_live() and not self._unturned

    def _keep_row(self, tokens: list[int]) -> None:
        row = self.row().copy()
        row.flags.writeable = False
        self._rows[tuple(tokens)] = row
        while len(self._rows) > KEPT_ROWS:
            self._rows.popitem(last=False)

    def _move_and_decode(self, wanted: list[int], common: int, runs: list[MovedRun], interrupted: Interrupted | None) -> bool:
        """Cut to what is common, fork each run, move it, and put it back once all that stands before it is decoded."""
        session = self.session
        for fork, run in enumerate(runs, 1):
            session.copy(LIVE, fork, run.held, run.held + run.length)
        # A cell has one position for all sequences that share it. It may change only when the live one no longer has it.
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
        """Decode at most a chunk behind the live tokens. False where `interrupted` ended it; then the live sequence is as before."""
        start, done = len(self.tokens), False
        try:
            done = self.session.decode(LIVE, start, tokens, len(tokens) - row, interrupted)
        finally:
            if not done:
                self._cut_memory(start)
        if done:
            self._unturned, self._row = False, None
            if self._exact == start:
                self._exact += len(tokens)
            self.tokens.extend(tokens)
            self._last = len(tokens) - 1
        return done

    def row(self) -> NDArray[np.float32]:
        """The logits behind the live sequence's last token, right after it was decoded."""
        return self.session.row(self._last) if self._row is None else self._row

    def ask(self, tokens: Sequence[int], first: int, take: Callable[[NDArray[np.float32]], T]) -> list[T]:
        """`take` of the logits behind each token from number `first` on.

        The live sequence stays as it is where it holds at least half of the tokens before `first`; else it is made to hold them.
        """
        wanted = list(tokens)
        session = self.session
        common = self._activate_best(wanted[:first])
        if common * 2 < first:
            if len(self.tokens) - common >= MIN_PARKED_TOKENS:
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
                # Logits are costly: no more rows than the session gives at once, and none before `first`.
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
            # A recurrent state is always copied whole; `reusable_tokens` never gives a part of one.
            self.session.copy(LIVE, number, 0, length)

    def adopt(self, number: int, tokens: Sequence[int]) -> None:
        """Make a fork live that has the whole live sequence and `tokens` behind it."""
        self.session.cut(LIVE, 0)
        self.session.copy(number, LIVE)
        self.session.cut(number, 0)
        if self._exact == len(self.tokens):
            self._exact += len(tokens)
        self.tokens.extend(tokens)

    def cut(self, length: int) -> None:
        """Keep the first `length` tokens of the live sequence, or none where the model can't cut."""
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
        """Whether the end of the live sequence can be cut off: not where a sliding window has dropped its first cells."""
        return self.session.can_cut and self.session.first_position(LIVE) <= 0

    def _activate_best(self, wanted: list[int]) -> int:
        """Make the sequence live that shares the longest beginning with `wanted`. Returns how many tokens that is."""
        common = reusable_tokens(self.tokens, wanted, self._can_cut_live())
        others = [reusable_tokens(parked.tokens, wanted, self.session.can_cut_loaded) for parked in self._parked]
        best = max(range(len(others)), key=lambda index: others[index], default=None)
        if best is None or others[best] < common + MIN_PARKED_TOKENS:
            return common
        chosen = self._parked.pop(best)
        if len(self.tokens) >= MIN_PARKED_TOKENS:
            self._park()
        self._clear()
        if not self.session.load(LIVE, chosen.state):
            self._clear()
            return 0
        self.tokens[:], self._exact = chosen.tokens, chosen.exact
        if len(chosen.tokens) - others[best] >= MIN_PARKED_TOKENS:
            # This prompt cuts its end off, which the next one may ask for.
            self._keep(chosen)
        return others[best]

    def _park(self) -> None:
        if self._unturned or self._options.parked_sequences == 0:
            return
        # A parked sequence that continues this one already holds it.
        for index, parked in enumerate(self._parked):
            if reusable_tokens(parked.tokens, self.tokens, self.session.can_cut_loaded) == len(self.tokens):
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
            del self._parked[eviction_index([parked.tokens for parked in self._parked])]
