"""Words of texts, sorted, and the places where words like the last ones stood."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from .words import BORDER, FIRST_WORD, Cut, Ids, Words

Numbers = NDArray[np.int64]

# Three ids of so many bits make a number that can be sorted.
_BITS = 21
MAX_DISTINCT = 1 << _BITS
_SORTED_BY = 3
# So many words before a place are compared.
MAX_MATCHED = 16
# Levels with more places are left out: they are costly, and say less than the model.
MAX_PLACES = 256
# So few places are compared one by one.
_FEW = 8
# Places that are looked at for those where the right word stands.
_MAX_LOOKED_AT = 16 * MAX_PLACES


@dataclass(frozen=True, slots=True)
class Places:
    """Where the last words stood before.

    at: where in the index the next word stands, or the one that is being written. matched: how many words are the same there, with that
    one. Where some places are left out, they are all those with the fewest words.
    """

    at: Numbers
    matched: Numbers


NOWHERE = Places(np.empty(0, np.int64), np.empty(0, np.int64))


class Index:
    """The words of some texts, and their places sorted by the word and the two before it.

    Attributes
        cuts: the texts, of which the ids are parts of `ids`.
        ids: all words in order, with a border before each text and behind the last.
        begins: where in `ids` each text begins, and where one more would.
        line_ends: where in `ids` a line or a text ends.
        keys: for each place what its next token depends on (`words_of`): twice the word's id, and 1 where a line ends behind it. A word
            that ends with an underscore has one id with the word behind it, from `MAX_DISTINCT` on, which is of this index alone.
    """

    def __init__(self, words: Words, cuts: Sequence[Cut]) -> None:
        border = np.array([BORDER], dtype=np.int32)
        self.words = words
        self.size = len(words.texts)
        self.ids: Ids = np.concatenate([part for each in cuts for part in (border, each.ids)] + [border])
        self.begins = np.cumsum([1, *(len(each.ids) + 1 for each in cuts)])
        # With the part of `ids` in place of its own, which would take as much again.
        spans = zip(cuts, self.begins.tolist(), self.begins[1:].tolist(), strict=False)
        self.cuts = tuple(replace(each, ids=self.ids[begin : end - 1]) for each, begin, end in spans)
        self.line_ends = np.flatnonzero(self.ids < FIRST_WORD)
        key = self.ids.astype(np.int64) << (2 * _BITS)
        key[1:] |= self.ids[:-1].astype(np.int64) << _BITS
        key[2:] |= self.ids[:-2]
        self._order = np.argsort(key).astype(np.int32)
        self.keys, self._pairs = _keys(self.ids, np.frombuffer(bytes(words.open_ended[: self.size]), dtype=np.bool_))
        counts = np.bincount(self.ids, minlength=self.size)
        self._starts = np.cumsum(np.concatenate(([0], counts)))
        self._counts: list[int] = counts.tolist()

    def few(self, words: Collection[int], most: int) -> bool:
        """Whether words have at most so many places."""
        counts = self._counts
        return len(words) <= most and sum([counts[word] for word in words if word < self.size]) <= most

    def all_of(self, words: Sequence[int]) -> Numbers:
        """All places of some words."""
        parts = [self._order[self._starts[word] : self._starts[word + 1]] for word in words if word < self.size]
        return np.concatenate(parts).astype(np.int64) if parts else NOWHERE.at

    def words_of(self, key: int) -> tuple[int, str]:
        """The word of a key, and the text of the word behind it where it ends with an underscore."""
        word = key >> 1
        if word < MAX_DISTINCT:
            return word, ""
        pair = self._pairs[word - MAX_DISTINCT]
        return pair >> _BITS, self.words.texts[pair & (MAX_DISTINCT - 1)]

    def text_of(self, places: Numbers) -> Numbers:
        """The number of the text that each place is in."""
        return np.searchsorted(self.begins, places, side="right") - 1

    def line_of(self, place: int) -> tuple[int, int]:
        """The number of the text that a place is in, and of the line, from 0."""
        text = int(np.searchsorted(self.begins, place, side="right")) - 1
        cut = self.cuts[text]
        ended = int(np.searchsorted(cut.line_ends, place - self.begins[text]))
        return text, int(cut.lines[ended - 1]) if ended else 0

    def places(self, context: Sequence[int], beginning: str, beginning_ids: Sequence[int]) -> Places:
        """The places behind words like the last ones, most recent last, where a word stands that begins so.

        beginning: what is written of the next word. beginning_ids: the words with this beginning, as far as they are known; nothing is
        found by them alone where they have too many places.
        """
        own = int(bool(beginning))
        if own and beginning_ids and self.few(beginning_ids, MAX_PLACES):
            return self._compared(self.all_of(beginning_ids), context, 0, own)
        low, high, known = self._range(context)
        if high - low > _MAX_LOOKED_AT:
            return NOWHERE
        at = self._order[low:high].astype(np.int64) + 1
        for back in range(known + 1, min(MAX_MATCHED - own, len(context)) + 1):
            if len(at) <= 2 * MAX_PLACES:
                break
            known = back
            at = at[self.ids[at - back] == context[-back]]
        here = self.ids[at]
        if own:
            texts = self.words.texts
            begun = {word: texts[word].startswith(beginning) for word in set(here.tolist())}
            at = at[[begun[word] for word in here.tolist()]]
        else:
            at = at[here >= FIRST_WORD]
        found = self._compared(at, context, known, own)
        while len(found.at) > MAX_PLACES:
            more = found.matched > found.matched.min()
            found = Places(found.at[more], found.matched[more])
        return found

    def _range(self, context: Sequence[int]) -> tuple[int, int, int]:
        """The part of the sorted places behind the last words, as few of them as leave few enough places, and how many words that are."""
        low = high = depth = 0
        for depth, word in enumerate(context[: -_SORTED_BY - 1 : -1], start=1):
            low, high = self._narrowed(low, high, depth - 1, word)
            if high - low <= MAX_PLACES:
                break
        return low, high, depth

    def _narrowed(self, low: int, high: int, back: int, word: int) -> tuple[int, int]:
        if not BORDER < word < self.size:
            return 0, 0
        if back == 0:
            return int(self._starts[word]), int(self._starts[word + 1])
        ids, order = self.ids, self._order

        def before(place: int) -> int:
            return int(ids[place - back])

        low = bisect_left(order, word, low, high, key=before)
        return low, bisect_right(order, word, low, high, key=before)

    def _compared(self, at: Numbers, context: Sequence[int], known: int, own: int) -> Places:
        """How many words are the same at places where so many of the context are. own: 1 where the word at the place counts too."""
        matched = np.full(len(at), known + own)
        left = np.arange(len(at))
        ids, most = self.ids, min(MAX_MATCHED - own, len(context))
        for back in range(known + 1, most + 1):
            if len(left) <= _FEW:
                _compare(ids, at, context[-most:], back, own, left.tolist(), matched)
                break
            left = left[ids[at[left] - back] == context[-back]]
            matched[left] = back + own
        return Places(at, matched)


def _keys(ids: Ids, open_ended: NDArray[np.bool_]) -> tuple[Ids, list[int]]:
    """The keys of all places, and the two words that each id from `MAX_DISTINCT` on stands for."""
    behind = np.append(ids[1:], BORDER)
    keys = ids * 2 + ((behind > BORDER) & (behind < FIRST_WORD))
    joined = np.flatnonzero(open_ended[ids] & (behind >= FIRST_WORD))
    pairs, which = np.unique(ids[joined].astype(np.int64) << _BITS | behind[joined], return_inverse=True)
    keys[joined] = (MAX_DISTINCT + which) * 2
    return keys, pairs.tolist()


def _compare(ids: Ids, at: Numbers, context: Sequence[int], begin: int, own: int, left: Sequence[int], matched: Numbers) -> None:
    """Compare the words before some places one by one, from the `begin`-th on."""
    most = len(context)
    for number in left:
        place = int(at[number])
        back = begin
        for here in ids[max(0, place - most) : place - begin + 1][::-1].tolist():
            if here != context[-back]:
                break
            back += 1
        matched[number] = back - 1 + own
