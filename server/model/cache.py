"""What the model wrote around here: typing along with it, taking some of it back and undoing are answered without the model."""

from __future__ import annotations

import sys
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from ...inference.completion.task import Kind
from ...inference.model import Generation, StopReason
from ...suggestion.remainder import MAX_BEHIND, gained, rest_of
from .request import GenerationResult

# Characters before and behind a place that must be as they were. An edited line changes what the embedded model writes at 37 % of places
# where it is less than 125 characters above, at 16 % between 750 and 1,000, at 15 % up to 1,500 and at 10 % beyond; behind the cursor at
# 9 to 15 %, however far up to 800 characters (224 to 240 places of CPython's library each).
MAX_BEFORE, MAX_AFTER = 1_000, MAX_BEHIND
# Characters that may have been typed since: 256 tokens, the most that a budget allows, have 1,000 of CPython's library, and at most 1,267
# (the embedded model's tokens, 60 files). A search passes no more than the longest text that it knows has.
MAX_TYPED = 1_300
# Places are indexed by so many characters before them. Where many places share these, a text repeats itself, and a search ends after
# so many of them; it still reaches whoever was given something else at each of the last 200 keystrokes.
TAIL, MAX_LOOKED_AT = 64, 200
# All that is remembered, in bytes: 512 lines of 64 tokens, or the last 370 blocks of 160.
MAX_SIZE = 16_000_000
# One token with its numbers, and each of its shares for who types along: 222 and 32 bytes on 64-bit CPython 3.11.
_TOKEN_SIZE, _SHARE_SIZE = 256, 32

# Ends that say nothing of how a text goes on.
_CUT_SHORT = (StopReason.TOKENS, StopReason.TIME)

_Place = tuple[str, Kind, str, str]


@dataclass(frozen=True, slots=True, eq=False)
class _Entry:
    """What was made at one place. number: of the entry, counted up; text_hash: of all of the text around the place; size: in bytes."""

    place: _Place
    generations: tuple[Generation, ...]
    number: int
    text_hash: int
    size: int


def _size(generation: Generation) -> int:
    shares = sum(len(token.shares) for token in generation.tokens)
    return sys.getsizeof(generation.text) + _TOKEN_SIZE * len(generation.tokens) + _SHARE_SIZE * shares


class GenerationCache:
    """The generations of the last places for which there was a model's answer, at most `limit` of them and 16 MB.

    A place is known by the text near the cursor, not by its position: edits elsewhere in the document leave it known. What is found makes
    the same document as the generation would have made where it was asked for: what was typed since, what is left of it, and what came to
    stand behind the cursor since are together its text. So brackets that the editor closed by itself are no obstacle, and are not
    suggested twice.
    """

    def __init__(self, limit: int = 512) -> None:
        self._limit = limit
        # The one that was found or kept last at the end.
        self._entries: OrderedDict[_Place, _Entry] = OrderedDict()
        # By document and kind, then by the characters before the place; the newest at the end.
        self._by_tail: dict[tuple[str, Kind], dict[str, list[_Entry]]] = {}
        self._kept = self._size = self._longest = 0

    def keep(self, uri: str, prefix: str, suffix: str, kind: Kind, generations: tuple[Generation, ...]) -> tuple[Generation, ...]:
        """Remember what the model made between prefix and suffix, or by an empty tuple that it made nothing. Gives it as it is remembered.

        prefix: at least 1,000 characters, or all that stands before the place; suffix: at least 300, or all behind it. Where several are
        made of a text that one was made of before, that one stays the first: it may stand on the screen.
        """
        place, text_hash = (uri, kind, _before(prefix, len(prefix)), suffix[:MAX_AFTER]), hash((prefix, suffix))
        if (older := self._entries.get(place)) is not None:
            if older.text_hash == text_hash and 0 < len(older.generations) < len(generations):
                generations = _behind_first(older.generations[0], generations)
            self._drop(place)
        size = sum(map(sys.getsizeof, place[2:])) + sum(map(_size, generations))
        self._kept += 1
        entry = _Entry(place, generations, self._kept, text_hash, size)
        self._entries[place] = entry
        self._by_tail.setdefault((uri, kind), {}).setdefault(_tail(prefix), []).append(entry)
        self._size += size
        # In the document a newline may have two characters.
        self._longest = max([self._longest, *(len(g.text) + g.text.count("\n") for g in generations)])
        while len(self._entries) > self._limit or self._size > MAX_SIZE:
            self._drop(next(iter(self._entries)))
        return generations

    def find(self, uri: str, prefix: str, suffix: str, kind: Kind) -> GenerationResult | None:
        """What fits between prefix and suffix, which are as for `keep`; None where nothing is known of this place.

        The newest wins, but where a budget ended what it has, the longest that begins so and goes on does.
        """
        place: _Place | None = None
        found: GenerationResult | None = None
        for entry, typed in self._nearby(uri, prefix, kind):
            closed = gained(entry.place[3], suffix)
            left = None if closed is None else rest_of(entry.generations, typed, closed)
            if left is not None and (found is None or _goes_on(found.generations, left)):
                place = entry.place
                found = GenerationResult(left, kind, typed, "memory", drawn=len(entry.generations))
            if found is not None and not _cut_short(found.generations):
                break
        if place is not None:
            self._entries.move_to_end(place)
        return found

    def forget(self) -> None:
        """Forget everything."""
        self._entries.clear()
        self._by_tail.clear()
        self._size = self._longest = 0

    def _nearby(self, uri: str, prefix: str, kind: Kind) -> list[tuple[_Entry, str]]:
        """The entries whose place stands before the cursor or before what may have been typed since, and that; the newest first."""
        entries = [
            (entry, typed)
            for entry, typed in islice(self._with_tail(uri, prefix, kind), MAX_LOOKED_AT)
            if _before(prefix, len(prefix) - len(typed)) == entry.place[2]
        ]
        return sorted(entries, key=lambda pair: pair[0].number, reverse=True)

    def _with_tail(self, uri: str, prefix: str, kind: Kind) -> Iterator[tuple[_Entry, str]]:
        """The entries whose place ends as the text does before the cursor or before something that may have been typed, and that.

        Those behind which the least was typed come first, of these the newest.
        """
        by_tail = self._by_tail.get((uri, kind))
        if by_tail is None:
            return
        most = min(self._longest, MAX_TYPED, len(prefix))
        near = prefix[-TAIL - most :].rjust(TAIL + most)
        for start in [start for start in range(most, -1, -1) if near[start : start + TAIL] in by_tail]:
            for entry in reversed(by_tail[near[start : start + TAIL]]):
                yield entry, near[start + TAIL :]

    def _drop(self, place: _Place) -> None:
        entry = self._entries.pop(place)
        self._size -= entry.size
        by_tail = self._by_tail[place[:2]]
        tail = _tail(place[2])
        by_tail[tail].remove(entry)
        if not by_tail[tail]:
            del by_tail[tail]
        if not by_tail:
            del self._by_tail[place[:2]]


def _behind_first(first: Generation, drawn: tuple[Generation, ...]) -> tuple[Generation, ...]:
    """As many as were drawn, with this one in front: in place of the one that has its text, or else of the last.

    Side by side the model's sums are rounded otherwise than alone, so that near a tie another text comes first.
    """
    same = next((index for index, generation in enumerate(drawn) if generation.text == first.text), len(drawn) - 1)
    return (first, *drawn[:same], *drawn[same + 1 :])


def _before(text: str, end: int) -> str:
    return text[max(0, end - MAX_BEFORE) : end]


def _tail(text: str) -> str:
    return text[-TAIL:].rjust(TAIL)


def _cut_short(generations: tuple[Generation, ...]) -> bool:
    """Whether a budget ended the first of them."""
    return bool(generations) and generations[0].stopped_by in _CUT_SHORT


def _goes_on(shorter: tuple[Generation, ...], longer: tuple[Generation, ...]) -> bool:
    """Whether the first of the longer begins as the first of the shorter, and is longer."""
    return bool(longer) and longer[0].text.startswith(shorter[0].text) and len(longer[0].text) > len(shorter[0].text)
