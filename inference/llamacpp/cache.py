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
# While a word is typed the prompt stays as it is, because the word is held back. So the logits behind this many prompts are kept.
KEPT_ROWS = 4

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Parked:
    """A sequence in host memory."""

    tokens: list[int]
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


def eviction_index(parked: Sequence[list[int]]) -> int:
    """The index of the parked sequence to drop; they are ordered from the least recently used.

    It is the oldest that shares more than half of its tokens with a newer one, which is nearly as good, else the oldest.
    """
    for index, tokens in enumerate(parked):
        if any(common_prefix(tokens, newer) * 2 > len(tokens) for newer in parked[index + 1 :]):
            return index
    return 0


class Cache:
    """The sequences of one session. `tokens` always says what the live one holds, also after a failure.

    max_parked_bytes, max_parked: how much may be parked, and how many sequences.
    """

    def __init__(self, session: Session, max_parked_bytes: int, max_parked: int) -> None:
        self.session = session
        self.tokens: list[int] = []
        self._max_parked_bytes, self._max_parked = max_parked_bytes, max_parked
        self._parked: list[Parked] = []
        # The logits behind the last prompts; and those behind the live sequence, where they come from there.
        self._rows: OrderedDict[tuple[int, ...], NDArray[np.float32]] = OrderedDict()
        self._row: NDArray[np.float32] | None = None

    @property
    def parked_bytes(self) -> int:
        """The memory of the parked sequences."""
        return sum(parked.state.nbytes for parked in self._parked)

    def forget(self) -> None:
        """Empty it, the parked sequences included."""
        self._parked.clear()
        self._rows.clear()
        self._clear()

    def read(self, prompt: Sequence[int], interrupted: Interrupted | None = None) -> int:
        """Make the live sequence hold `prompt`, so that `row` gives the logits behind it. Where interrupted, it holds only a beginning.

        Returns how many tokens were not computed again.
        """
        wanted = list(prompt)
        common = self._activate_best(wanted[:-1])
        if self._has_row(wanted):
            self._cut_to(len(wanted))
            self._row = self._rows[tuple(wanted)]
            self._rows.move_to_end(tuple(wanted))
            return len(wanted)
        self._cut_to(common)
        reused = len(self.tokens)
        if self._extend_by(wanted[reused:], interrupted, row=True):
            self._keep_row(wanted)
        return reused

    def _has_row(self, wanted: list[int]) -> bool:
        """Whether the live sequence begins with these tokens, and the logits behind them are kept."""
        return tuple(wanted) in self._rows and self.tokens[: len(wanted)] == wanted and self._can_cut_live()

    def _keep_row(self, tokens: list[int]) -> None:
        row = self.row().copy()
        row.flags.writeable = False
        self._rows[tuple(tokens)] = row
        while len(self._rows) > KEPT_ROWS:
            self._rows.popitem(last=False)

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
            self._row = None
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
            self._cut_to(common)
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
        self.tokens.extend(tokens)

    def cut(self, length: int) -> None:
        """Keep the first `length` tokens of the live sequence, or none where the model can't cut."""
        if length < len(self.tokens):
            self._cut_memory(length)
            del self.tokens[length:]

    def _cut_to(self, length: int) -> None:
        """Cut to the first `length` tokens, and park what was there if that loses enough."""
        if len(self.tokens) - length >= MIN_PARKED_TOKENS:
            self._park()
        self.cut(length)

    def _cut_memory(self, length: int) -> None:
        if not self.session.cut(LIVE, length):
            self._clear()

    def _clear(self) -> None:
        self.session.clear()
        self.tokens.clear()

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
        self.tokens[:] = chosen.tokens
        if len(chosen.tokens) - others[best] >= MIN_PARKED_TOKENS:
            # This prompt cuts its end off, which the next one may ask for.
            self._keep(chosen)
        return others[best]

    def _park(self) -> None:
        if self._max_parked == 0:
            return
        # A parked sequence that continues this one already holds it.
        for index, parked in enumerate(self._parked):
            if reusable_tokens(parked.tokens, self.tokens, self.session.can_cut_loaded) == len(self.tokens):
                self._parked.append(self._parked.pop(index))
                return
        state = self.session.save(LIVE)
        if 0 < state.nbytes <= self._max_parked_bytes:
            self._keep(Parked(self.tokens.copy(), state))

    def _keep(self, new: Parked) -> None:
        if self.session.can_cut_loaded:
            self._parked = [old for old in self._parked if common_prefix(old.tokens, new.tokens) < len(old.tokens)]
        self._parked.append(new)
        while len(self._parked) > self._max_parked or self.parked_bytes > self._max_parked_bytes:
            del self._parked[eviction_index([parked.tokens for parked in self._parked])]
