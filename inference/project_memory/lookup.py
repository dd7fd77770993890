"""What one index says of the next token: the places where the text continued like this one, and the event that followed at each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .index import MAX_PLACES, NOWHERE, Index, Numbers
from .spelling import Spelling
from .words import BORDER, FIRST_WORD, UNKNOWN

NO_EVENT = -1
# Words of the next line that are compared.
_NEXT_WORDS = 4
_MAX_LINES = 8 * MAX_PLACES

# Places of which the events are remembered, for each index of words.
_MAX_REMEMBERED = 200_000


@dataclass(frozen=True, slots=True)
class Written:
    """The word that the next token is of.

    Attributes
        begun: what there is of it.
        ahead: what of this is not yet written but must come: the end of `begun`, or more than that.
    """

    begun: str
    ahead: str


class Numbered(dict[int, int]):
    """The events that were seen, each with a number from 0; no event is number -1."""

    def __init__(self) -> None:
        super().__init__({NO_EVENT: -1})

    def __missing__(self, event: int) -> int:
        self[event] = number = len(self) - 1
        return number

    @property
    def events(self) -> list[int]:
        """The events by number."""
        return list(self)[1:]


@dataclass(frozen=True, slots=True)
class Seen:
    """What followed at places like this one.

    Attributes
        at: the places.
        matched: how many words before the next token are the same there.
        of: the number of the event that follows.
        same_next_line: how many words of the next line are the same as in the line behind the cursor; None where there is no such place.
        renamed: the numbers of the events that follow the same name behind another sign.
    """

    at: Numbers
    matched: Numbers
    of: Numbers
    same_next_line: Numbers | None
    renamed: Numbers


class Lookup:
    """One index, as it is asked during one generation.

    Parameters
        next_words: the first words of the line behind the cursor's.
        allowed: by number of text, whether it counts; None where all do.
        paths, first_lines: by number of text, its file (without any, that is the open one), and the number of its first line (without any,
            1).
    """

    def __init__(
        self,
        index: Index,
        spelling: Spelling,
        next_words: Sequence[str],
        *,
        allowed: NDArray[np.bool_] | None = None,
        paths: Sequence[str] = (),
        first_lines: Sequence[int] = (),
    ) -> None:
        self._index, self._spelling = index, spelling
        self._events = index.words.remembered.setdefault(spelling, defaultdict(dict))
        if sum(map(len, self._events.values())) > _MAX_REMEMBERED:
            self._events.clear()
        self._allowed, self._paths, self._first_lines = allowed, paths, first_lines
        self._lines = _lines_before(index, self.ids(next_words[:_NEXT_WORDS]))

    def ids(self, words: Sequence[str | int]) -> list[int]:
        """The ids of words; a line end is its id already."""
        known = self._index.words
        return [word if isinstance(word, int) else known.get(word, UNKNOWN) for word in words]

    def seen(self, context: Sequence[int], written: Written, numbers: Numbered) -> Seen:
        """What followed where the last words, most recent last, and the begun one stood before."""
        index, begun = self._index, written.begun
        same, others = index.words.beginning_with(begun) if begun else ([], {})
        places = index.places(context, begun, same)
        at, matched = places.at, places.matched
        if self._allowed is not None and len(at):
            ours = self._allowed[index.text_of(at)]
            at, matched = at[ours], matched[ours]
        renamed = self._renamed(written, others, numbers) if others else NOWHERE.at
        if not len(at):
            return Seen(at, matched, at, None, renamed)
        of = self._numbers(at, written, None, numbers)
        known = of >= 0
        if not known.all():
            at, matched, of = at[known], matched[known], of[known]
        return Seen(at, matched, of, self._same_next_line(at), renamed)

    def line_of(self, place: int) -> tuple[str | None, int]:
        """The file and the number of the line that a place is in."""
        text, line = self._index.line_of(place)
        return self._paths[text] if self._paths else None, line + (self._first_lines[text] if self._first_lines else 1)

    def _renamed(self, written: Written, others: Mapping[int, str], numbers: Numbered) -> Numbers:
        if not self._index.few(others, MAX_PLACES):
            return NOWHERE.at
        at = self._index.all_of(list(others))
        if self._allowed is not None:
            at = at[self._allowed[self._index.text_of(at)]]
        of = self._numbers(at, written, others, numbers)
        known: Numbers = of[of >= 0]
        return known

    def _numbers(self, at: Numbers, written: Written, renamed: Mapping[int, str] | None, numbers: Numbered) -> Numbers:
        """The number of the event that follows at each place. renamed: what the words there would be behind the begun word's sign."""
        index, begun, ahead = self._index, written.begun, written.ahead
        size, missing = len(begun.encode("utf-8", "replace")), len(ahead.encode("utf-8", "replace"))
        # So much of the next word is written, or this stands before it.
        offset = max(0, size - missing)
        before = ahead[: len(ahead) - len(begun)] if missing > size else ""
        whole: list[bool] | None = None
        if begun and not ahead:
            wanted = [word for word, text in renamed.items() if text == begun] if renamed else self.ids([begun])
            if wanted and wanted != [UNKNOWN]:
                here = index.ids[at]
                complete = here == wanted[0]
                for word in wanted[1:]:
                    complete |= here == word
                at = at + complete
                whole = complete.tolist()
        keys = index.keys[at].tolist()
        sign = begun[:1] if renamed else None
        begun_events, next_events = self._events[before, sign, offset], self._events["", None, 0]
        found = []
        for place, key in enumerate(keys):
            if whole is None or not whole[place]:
                event = begun_events.get(key)
                if event is None:
                    event = self._event(key, begun_events, before, renamed, offset)
            else:
                event = next_events.get(key)
                if event is None:
                    event = self._event(key, next_events, "", None, 0)
            found.append(numbers[event])
        return np.array(found)

    def _event(self, key: int, events: dict[int, int], before: str, renamed: Mapping[int, str] | None, offset: int) -> int:
        """The event at a place: what is written next of its word, or before it. It is remembered in `events`."""
        word, behind = self._index.words_of(key)
        if word < FIRST_WORD:
            line_end = self._spelling.line_end
            return NO_EVENT if word == BORDER or line_end is None else line_end
        text = before + (renamed[word] if renamed else self._index.words.texts[word]) + behind
        if key & 1 and not text[-1].isalnum():
            text += "\n"
        event = self._spelling.next_event(text, offset)
        found = NO_EVENT if event is None else event
        if not behind:
            events[key] = found
        return found

    def _same_next_line(self, at: Numbers) -> Numbers | None:
        begins, ends, same = self._lines
        if not len(ends):
            return None
        line = np.minimum(np.searchsorted(ends, at), len(ends) - 1)
        found: Numbers = same[line] * ((begins[line] < at) & (at <= ends[line]))
        return found if found.any() else None


def _lines_before(index: Index, words: Sequence[int]) -> tuple[Numbers, Numbers, Numbers]:
    """The lines of which the next line begins like this: where they begin and end, and how many words of the next line are the same."""
    none = NOWHERE.at
    if not words or words[0] < FIRST_WORD or not index.few(words[:1], _MAX_LINES):
        return none, none, none
    at = np.sort(index.all_of(words[:1]))
    at = at[index.ids[at - 1] < FIRST_WORD]
    same = np.ones(len(at), dtype=np.int64)
    going = np.ones(len(at), dtype=np.bool_)
    for number, word in enumerate(words[1:], start=1):
        going &= index.ids[np.minimum(at + number, len(index.ids) - 1)] == word
        same += going
    ends = at - 1
    begins = index.line_ends[np.maximum(np.searchsorted(index.line_ends, ends) - 1, 0)]
    return begins, ends, same
