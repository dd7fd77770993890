"""Anchors: ranges of a document that are tracked through edits.

An anchor marks where the text of a suggestion stands, or would stand. It survives a formatter that replaces the whole file: what was
replaced is compared with its replacement, by lines and tokens.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate

from ..documents.documents import Splice

# Anchors in a replacement of more than MAX_REPLACED characters are lost. For one edit, at most MAX_COMPARED characters are compared by
# tokens. With these limits a formatter that changes every one of 1,600 lines (60,000 characters) costs 4 to 6 ms with one anchor, 9 ms with
# 50 and 11 ms with 600. Half of both limits would cost half, but lose 4 anchors of 10 in a file of 300 lines.
MAX_REPLACED, MAX_COMPARED = 60_000, 10_000

_TOKEN = re.compile(r"\w+|[^\w\s]")

# Index in the old sequence, index in the new one, and how many elements from there on are equal.
_Run = tuple[int, int, int]


class Anchor:
    """A range from `start` to `end`, and up to `reach` what was inserted right after it since. Offsets in characters.

    If the text was never inserted, `start` equals `end`, and what the user wrote in its place stands up to `reach`. An insertion right
    before the range shifts it. If the text is deleted, an empty range remains.
    """

    __slots__ = ("end", "reach", "start")

    def __init__(self, start: int, end: int, reach: int | None = None) -> None:
        self.start = start
        self.end = end
        self.reach = end if reach is None else reach

    def move(self, splice: Splice) -> None:
        """Move with an edit. If the text is replaced together with its surroundings, the replacement is only within `reach`."""
        start, end, added = splice.start, splice.end, len(splice.added)
        if start > self.reach:
            return
        shift = added - len(splice.removed)
        if end <= self.start and (start < self.start or self.start < self.end):
            self.start += shift
            self.end += shift
            self.reach += shift
            return
        if start <= self.start and end >= self.end:
            self.start = self.end = start
        elif start < self.start:
            self.start, self.end = start + added, self.end + shift
        elif start < self.end:
            self.end = self.end + shift if end <= self.end else start
        self.reach = max(self.end, start + added + max(0, self.reach - end))

    def is_crossed_by(self, splice: Splice) -> bool:
        """Whether an edit replaces the whole range, or crosses one of its ends."""
        start, end = splice.start, splice.end
        apart = end <= self.start or start > self.reach
        part = self.start <= start and end <= self.end and (start, end) != (self.start, self.end)
        return not apart and not part and not (self.end <= start and end <= self.reach)


def move_anchors(anchors: Iterable[Anchor], splice: Splice) -> list[Anchor]:
    """Move anchors with an edit. Returns the lost ones: nothing around them is left unchanged, or the edit is too large to compare."""
    if splice.removed and splice.added:
        return _move_by_replacement(list(anchors), splice)
    start = splice.start
    for anchor in anchors:
        if start <= anchor.reach:
            anchor.move(splice)
    return []


def trimmed(splice: Splice) -> Splice:
    """The same edit without the common beginning and end of its two texts."""
    removed, added = splice.removed, splice.added
    before = common_start(removed, added)
    removed, added = removed[before:], added[before:]
    behind = common_start(removed[::-1], added[::-1])
    return Splice(splice.start + before, removed[: len(removed) - behind], added[: len(added) - behind])


def common_start(one: str, other: str) -> int:
    """The length of the common beginning. (Comparing slices is a hundred times as fast as comparing characters.)"""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _move_by_replacement(anchors: list[Anchor], splice: Splice) -> list[Anchor]:
    splice = trimmed(splice)
    compared: _Replacement | None = None
    lost = []
    for anchor in anchors:
        if not (splice.removed and splice.added and anchor.is_crossed_by(splice)):
            anchor.move(splice)
        elif max(len(splice.removed), len(splice.added)) > MAX_REPLACED:
            lost.append(anchor)
        else:
            compared = compared or _Replacement(splice)
            if not compared.move(anchor):
                lost.append(anchor)
    return lost


class _Replacement:
    """A replacement, with what is equal in its two texts: by lines if they are long, and by tokens around each anchor."""

    def __init__(self, splice: Splice) -> None:
        old, new = splice.removed, splice.added
        short = max(len(old), len(new)) <= MAX_COMPARED  # equal lines are then a worse guide than tokens
        self._splice = splice
        self._lines = _Matches([], [], (len(old), len(new))) if short else _Matches(_lines(old), _lines(new), (len(old), len(new)))
        self._tokens: dict[tuple[int, int], _Matches] = {}
        self._left = MAX_COMPARED

    def move(self, anchor: Anchor) -> bool:
        """Move an anchor to where its text is now: between the tokens that surrounded it before. False if it is lost."""
        splice = self._splice
        (old_start, new_start), (old_end, new_end) = self._lines.around(anchor.start - splice.start, anchor.reach - splice.start)
        tokens = self._tokens.get((old_start, old_end))
        if tokens is None:
            self._left -= max(old_end - old_start, new_end - new_start)
            if self._left < 0:
                return False
            old, new = splice.removed[old_start:old_end], splice.added[new_start:new_end]
            tokens = self._tokens[old_start, old_end] = _Matches(_tokens(old), _tokens(new), (len(old), len(new)))
        if not tokens.runs:
            around = splice.start < anchor.start and splice.end > anchor.reach
            anchor.move(splice)
            return not around

        def moved(position: int, find: Callable[[int], int]) -> int:
            if position < splice.start:
                return position
            if position > splice.end:
                return position + len(splice.added) - len(splice.removed)
            return splice.start + new_start + find(position - splice.start - old_start)

        start = moved(anchor.start, tokens.start if anchor.start < anchor.reach else tokens.before)
        end = moved(anchor.end, tokens.end) if anchor.start < anchor.end else start
        anchor.reach = max(start, end, moved(anchor.reach, tokens.end))
        anchor.start, anchor.end = start, max(start, end)
        return True


class _Matches:
    """Two texts as sequences of pieces (lines or tokens), and which runs of pieces are equal."""

    def __init__(self, old: Sequence[tuple[int, int, str]], new: Sequence[tuple[int, int, str]], sizes: tuple[int, int]) -> None:
        """old, new: pieces as (start, end, text). sizes: the lengths of the two texts."""
        self.runs = _runs([piece for _, _, piece in old], [piece for _, _, piece in new])
        pairs = [(old[i + k][:2], new[j + k][:2]) for i, j, size in self.runs for k in range(size)]
        self._old_starts = [old[0] for old, _ in pairs]
        self._old_ends = [old[1] for old, _ in pairs]
        self._new = [new for _, new in pairs]
        self._sizes = sizes

    def start(self, position: int) -> int:
        """The new position of what starts at an old position: inside its own piece, or after the previous equal piece."""
        inside = self._inside(position)
        return self.before(position) if inside is None else inside

    def end(self, position: int) -> int:
        """The new position of what ends at an old position: inside its own piece, or before the next equal piece."""
        inside = self._inside(position - 1)
        if inside is not None:
            return inside + 1
        index = bisect_left(self._old_starts, position)
        return self._new[index][0] if index < len(self._new) else self._sizes[1]

    def _inside(self, position: int) -> int | None:
        """The new position of a character in an equal piece. None if its piece is not equal."""
        index = bisect_right(self._old_starts, position) - 1
        if index < 0 or position >= self._old_ends[index]:
            return None
        return self._new[index][0] + position - self._old_starts[index]

    def before(self, position: int) -> int:
        """The new end of the last equal piece that ends at or before an old position."""
        index = bisect_right(self._old_ends, position) - 1
        return self._new[index][1] if index >= 0 else 0

    def around(self, first: int, last: int) -> tuple[tuple[int, int], tuple[int, int]]:
        """The nearest equal pieces around two old positions.

        Returns (old, new) of the start of the last equal piece before `first`, and (old, new) of the end of the first equal piece after
        `last`. Without such a piece it is the start or the end of the texts.
        """
        before = bisect_left(self._old_starts, first) - 1
        behind = bisect_right(self._old_ends, last)
        start = (self._old_starts[before], self._new[before][0]) if before >= 0 else (0, 0)
        return start, (self._old_ends[behind], self._new[behind][1]) if behind < len(self._new) else self._sizes


def _lines(text: str) -> list[tuple[int, int, str]]:
    """The lines, without the white space around them, which a formatter changes."""
    lines = text.split("\n")
    starts = accumulate((len(line) + 1 for line in lines), initial=0)
    return [(start, start + len(line), line.strip()) for start, line in zip(starts, lines, strict=False)]


def _tokens(text: str) -> list[tuple[int, int, str]]:
    return [(match.start(), match.end(), match[0]) for match in _TOKEN.finditer(text)]


def _runs(old: list[str], new: list[str]) -> list[_Run]:
    """Runs of equal pieces, in order, as in B. Cohen's patience diff.

    A run grows around each piece that occurs exactly once in both texts, and from both ends, as far as its neighbours are equal too.
    """
    at_end = 0
    while at_end < min(len(old), len(new)) and old[-1 - at_end] == new[-1 - at_end]:
        at_end += 1
    in_new = _once(new)
    unique = _increasing([(i, in_new[piece]) for piece, i in _once(old).items() if piece in in_new])
    runs: list[_Run] = []
    old_done = new_done = 0
    for i, j in [(0, 0), *unique, (len(old) - at_end, len(new) - at_end)]:
        if i < old_done or j < new_done:
            continue
        start, size = 0, 0
        while i - start > old_done and j - start > new_done and old[i - start - 1] == new[j - start - 1]:
            start += 1
        while i + size < len(old) and j + size < len(new) and old[i + size] == new[j + size]:
            size += 1
        if start + size:
            runs.append((i - start, j - start, start + size))
            old_done, new_done = i + size, j + size
    return runs


def _once(pieces: list[str]) -> dict[str, int]:
    """The pieces that occur once, with their index."""
    places: dict[str, int] = {}
    for index, piece in enumerate(pieces):
        places[piece] = -1 if piece in places else index
    return {piece: index for piece, index in places.items() if index >= 0 and piece}


def _increasing(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest subsequence of the pairs, which are sorted by the first number, in which the second number increases too."""
    ends: list[int] = []  # of the subsequence of each length, the smallest second that it can end with
    at: list[int] = []  # and the index of that pair
    before: list[int] = []
    for index, (_, second) in enumerate(pairs):
        place = bisect_left(ends, second)
        ends[place : place + 1] = [second]
        at[place : place + 1] = [index]
        before.append(at[place - 1] if place else -1)
    found = []
    index = at[-1] if at else -1
    while index >= 0:
        found.append(pairs[index])
        index = before[index]
    return found[::-1]
