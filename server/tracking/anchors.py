"""Where a text is that was put into a document, or would have been: followed through edits, a formatter's of the whole file too."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate

from ..documents.documents import Splice

# A longer replacement is not compared with what it replaces: what it covers is lost. Nor are more characters than the second compared by
# their tokens for one edit. So a formatter that changes every line costs 4 to 6 ms with one place in it (60,000 characters are 1,600
# lines), 9 with 50, 11 with 600, the most that are watched. Half of both would cost half, and lose 4 places of 10 in a file of 300 lines.
MAX_REPLACED, MAX_COMPARED = 60_000, 10_000

_TOKEN = re.compile(r"\w+|[^\w\s]")

# So many elements are the same in both, from the one index on in the one and from the other in the other.
_Run = tuple[int, int, int]


class Anchor:
    """From `start` to `end` stands what was put in; from there to `reach` what came right behind it since. Offsets in characters.

    Of a text that was not put in, `start` and `end` are one, and up to `reach` stands what came in its place. What is put in right before
    a text shifts it. Of a text that is taken away its place is left.
    """

    __slots__ = ("end", "reach", "start")

    def __init__(self, start: int, end: int, reach: int | None = None) -> None:
        self.start = start
        self.end = end
        self.reach = end if reach is None else reach

    def take(self, splice: Splice) -> None:
        """Follow an edit. What it puts in place of a text and of something around it belongs to neither, and stays within reach."""
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

    def crossed(self, splice: Splice) -> bool:
        """Whether an edit replaces all of its text, or text on both sides of one of its ends."""
        start, end = splice.start, splice.end
        apart = end <= self.start or start > self.reach
        part = self.start <= start and end <= self.end and (start, end) != (self.start, self.end)
        return not apart and not part and not (self.end <= start and end <= self.reach)


def move_anchors(anchors: Iterable[Anchor], splice: Splice) -> list[Anchor]:
    """Follow an edit. Given back are those that it loses: nothing around them is as it was, or there is too much of it to look."""
    if splice.removed and splice.added:
        return _follow_replacement(list(anchors), splice)
    start = splice.start
    for anchor in anchors:
        if start <= anchor.reach:
            anchor.take(splice)
    return []


def trimmed(splice: Splice) -> Splice:
    """The same edit without what begins or ends both texts."""
    removed, added = splice.removed, splice.added
    before = common_start(removed, added)
    removed, added = removed[before:], added[before:]
    behind = common_start(removed[::-1], added[::-1])
    return Splice(splice.start + before, removed[: len(removed) - behind], added[: len(added) - behind])


def common_start(one: str, other: str) -> int:
    """How many characters begin both. Comparing slices is a hundred times as fast as comparing characters."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _follow_replacement(anchors: list[Anchor], splice: Splice) -> list[Anchor]:
    splice = trimmed(splice)
    compared: _Compared | None = None
    lost = []
    for anchor in anchors:
        if not (splice.removed and splice.added and anchor.crossed(splice)):
            anchor.take(splice)
        elif max(len(splice.removed), len(splice.added)) > MAX_REPLACED:
            lost.append(anchor)
        else:
            compared = compared or _Compared(splice)
            if not compared.move(anchor):
                lost.append(anchor)
    return lost


class _Compared:
    """A replacement, and what is the same in both of its texts: by lines where they are long, by tokens around each anchor."""

    def __init__(self, splice: Splice) -> None:
        old, new = splice.removed, splice.added
        short = max(len(old), len(new)) <= MAX_COMPARED  # then lines that are alike are a worse guide than tokens
        self._splice = splice
        self._lines = _Matched([], [], (len(old), len(new))) if short else _Matched(_lines(old), _lines(new), (len(old), len(new)))
        self._tokens: dict[tuple[int, int], _Matched] = {}
        self._left = MAX_COMPARED

    def move(self, anchor: Anchor) -> bool:
        """Bring a anchor to where its text is now: between what the same tokens as before stand around. False where it is lost."""
        splice = self._splice
        (old_start, new_start), (old_end, new_end) = self._lines.around(anchor.start - splice.start, anchor.reach - splice.start)
        tokens = self._tokens.get((old_start, old_end))
        if tokens is None:
            self._left -= max(old_end - old_start, new_end - new_start)
            if self._left < 0:
                return False
            old, new = splice.removed[old_start:old_end], splice.added[new_start:new_end]
            tokens = self._tokens[old_start, old_end] = _Matched(_tokens(old), _tokens(new), (len(old), len(new)))
        if not tokens.runs:
            around = splice.start < anchor.start and splice.end > anchor.reach
            anchor.take(splice)
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


class _Matched:
    """Two texts in pieces, and which runs of them are the same."""

    def __init__(self, old: Sequence[tuple[int, int, str]], new: Sequence[tuple[int, int, str]], sizes: tuple[int, int]) -> None:
        """old, new: pieces with their starts and ends; sizes: of the texts."""
        self.runs = _runs([piece for _, _, piece in old], [piece for _, _, piece in new])
        pairs = [(old[i + k][:2], new[j + k][:2]) for i, j, size in self.runs for k in range(size)]
        self._old_starts = [old[0] for old, _ in pairs]
        self._old_ends = [old[1] for old, _ in pairs]
        self._new = [new for _, new in pairs]
        self._sizes = sizes

    def start(self, position: int) -> int:
        """Where in the new text begins what begins at a position in the old: with its piece, or behind the piece before it."""
        inside = self._inside(position)
        return self.before(position) if inside is None else inside

    def end(self, position: int) -> int:
        """Where in the new text ends what ends at a position in the old: with its piece, or before the piece behind it."""
        inside = self._inside(position - 1)
        if inside is not None:
            return inside + 1
        index = bisect_left(self._old_starts, position)
        return self._new[index][0] if index < len(self._new) else self._sizes[1]

    def _inside(self, position: int) -> int | None:
        """Where a character is that belongs to a piece of both texts."""
        index = bisect_right(self._old_starts, position) - 1
        if index < 0 or position >= self._old_ends[index]:
            return None
        return self._new[index][0] + position - self._old_starts[index]

    def before(self, position: int) -> int:
        """In the new text, the end of the last piece of both that ends in the old at or before a position."""
        index = bisect_right(self._old_ends, position) - 1
        return self._new[index][1] if index >= 0 else 0

    def around(self, first: int, last: int) -> tuple[tuple[int, int], tuple[int, int]]:
        """In both texts, the start of the last piece in both that begins before the first position, and the end of the first that ends
        behind the last; their starts and ends where there is none."""
        before = bisect_left(self._old_starts, first) - 1
        behind = bisect_right(self._old_ends, last)
        start = (self._old_starts[before], self._new[before][0]) if before >= 0 else (0, 0)
        return start, (self._old_ends[behind], self._new[behind][1]) if behind < len(self._new) else self._sizes


def _lines(text: str) -> list[tuple[int, int, str]]:
    """The lines, without the white space at their ends, that a formatter changes."""
    lines = text.split("\n")
    starts = accumulate((len(line) + 1 for line in lines), initial=0)
    return [(start, start + len(line), line.strip()) for start, line in zip(starts, lines, strict=False)]


def _tokens(text: str) -> list[tuple[int, int, str]]:
    return [(match.start(), match.end(), match[0]) for match in _TOKEN.finditer(text)]


def _runs(old: list[str], new: list[str]) -> list[_Run]:
    """Runs of pieces that are the same in both, in their order: around each piece that is in both once, as patience diff has it (B. Cohen),
    as far as the pieces before and behind it are the same too; and at both ends."""
    at_end = 0
    while at_end < min(len(old), len(new)) and old[-1 - at_end] == new[-1 - at_end]:
        at_end += 1
    in_new = _once(new)
    anchors = _increasing([(i, in_new[piece]) for piece, i in _once(old).items() if piece in in_new])
    runs: list[_Run] = []
    old_done = new_done = 0
    for i, j in [(0, 0), *anchors, (len(old) - at_end, len(new) - at_end)]:
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
    """The pieces that are there once, with their index."""
    places: dict[str, int] = {}
    for index, piece in enumerate(pieces):
        places[piece] = -1 if piece in places else index
    return {piece: index for piece, index in places.items() if index >= 0 and piece}


def _increasing(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Of pairs in the order of their first, the most whose second increases as well."""
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
