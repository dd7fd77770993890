r"""A text as words: names, runs of signs, and line ends that say whether the next line is indented more, less or as much.

A word is a sign or a space with the letters, digits and underscores behind it (`.append`, `(self`, ` return`), or a run of signs with the
space before it (` ==`, `):`). Every beginning of a word is one word, so that a word can be looked up while it is written. Tokenizers that
split a text before they merge bytes (GPT-2, Qwen, Llama 3) split it between such words too, except behind an underscore and before a
line end. So the tokens of a word do not depend on its neighbours.
"""

from __future__ import annotations

import re
import sys
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.int32]

# Ids that are no words: the border between two texts, and a line end by the next line's indentation.
BORDER, SAME, DEEPER, SHALLOWER = range(4)
FIRST_WORD = 4
# A word that stands in no text, as a part of what is looked up.
UNKNOWN = -1
_TAB = 8
# Blank lines and the indentation behind them belong to the line end.
_WORD = re.compile(r"(?: |[^\w\s])?\w+| ?[^\w\s]+|\s*\n\s*|\s+(?!\S)|\s")
_LINE_START = re.compile(r"\n\s*")
_NAME = re.compile(r"([^\w]|_)?(\w+)")
# Names with the same first characters: of more than `_FEW` those that are wanted are looked up, and more than `_MANY` say nothing.
_FEW, _MANY = 64, 4_000
# Text that is cut at once, in characters: less than a millisecond, in which no other thread runs.
_PIECE = 4_000


class Words(dict[str, int]):
    """The ids of words, given out in order; what was given out never changes.

    Attributes
        texts: the words by id.
        open_ended: by id, 1 for a word that ends with an underscore, whose last token depends on the next word.
        remembered: for each vocabulary, the events at places (`lookup.Lookup`).
    """

    def __init__(self, shortest: int) -> None:
        """shortest: how many characters of a name must be known to look it up (`beginning_with`)."""
        super().__init__()
        self.texts = [""] * FIRST_WORD
        self.open_ended = bytearray(FIRST_WORD)
        self.remembered: WeakKeyDictionary[object, defaultdict[tuple[str, str | None, int], dict[int, int]]] = WeakKeyDictionary()
        # By id less than 0, from -1 down: line ends with the blank lines and the indentation behind them.
        self.newlines: list[int] = []
        self.columns: list[int] = []
        self._shortest, self._shortest_signs = shortest, min(shortest, 2)
        # Ids by the words' first characters: of names, whatever sign stands before them, and of runs of signs. Ids of names by their sign.
        self._names: dict[str, list[int]] = {}
        self._signs: dict[str, list[int]] = {}
        self._behind: dict[str, list[int]] = {}
        # Of first characters that many names have: how many these were, the names in order, and their ids.
        self._sorted: dict[str, tuple[int, list[str], list[int]]] = {}

    def __missing__(self, text: str) -> int:
        if "\n" in text:
            self.newlines.append(text.count("\n"))
            self.columns.append(columns(text[text.rindex("\n") + 1 :]))
            self[text] = number = -len(self.columns)
            return number
        number = len(self.texts)
        # First, for `beginning_with` may be asked by another thread.
        self.open_ended.append(text[-1] == "_")
        self.texts.append(text)
        if named := _NAME.fullmatch(text):
            sign, name = named[1] or "", named[2]
            self._names.setdefault(name[: self._shortest], []).append(number)
            self._behind.setdefault(sign, []).append(number)
        else:
            self._signs.setdefault(text[: self._shortest_signs], []).append(number)
        self[text] = number
        return number

    def beginning_with(self, begun: str) -> tuple[list[int], dict[int, str]]:
        """The words that begin so; and, of those that are the same name behind another sign, how they would be behind this one.

        Where too little is known of the word, it alone.
        """
        named = sign_and_name(begun)
        if len(begun if named is None else named[1]) < (self._shortest_signs if named is None else self._shortest):
            word = self.get(begun)
            return [] if word is None else [word], {}
        texts = self.texts
        if named is None:
            behind = self._behind.get(begun, []) if self._shortest == 1 else []
            return [word for word in self._signs.get(begun[: self._shortest_signs], ()) if texts[word].startswith(begun)] + behind, {}
        sign, name = named
        same, others = list[int](), dict[int, str]()
        for word in self._names_like(name):
            text = texts[word]
            signs = int(len(text) > 1 and not text[0].isalnum())
            if text.startswith(name, signs):
                if text[:signs] == sign:
                    same.append(word)
                else:
                    others[word] = sign + text[signs:]
        return same, others

    def _names_like(self, name: str) -> Sequence[int]:
        """Words of which the names may begin so; none where these are too many to say anything."""
        start = name[: self._shortest]
        words = self._names.get(start, [])
        if len(words) <= _FEW:
            return words
        count, names, sorted_words = self._sorted.get(start, (0, [], []))
        if count != len(words):
            count, named = len(words), sorted((_without_sign(self.texts[word]), word) for word in words[:])
            names, sorted_words = [name for name, _ in named], [word for _, word in named]
            self._sorted[start] = count, names, sorted_words
        first, last = bisect_left(names, name), bisect_left(names, name + chr(sys.maxunicode))
        return sorted_words[first:last] if last - first <= _MANY else ()


def _without_sign(text: str) -> str:
    return text[1:] if len(text) > 1 and not text[0].isalnum() else text


@dataclass(frozen=True, slots=True)
class Cut:
    """A text as words.

    Attributes
        ids: of the words in order.
        line_ends: where in `ids` a line ends.
        lines: the number of the line, from 0, that begins behind each of them.
    """

    ids: Ids
    line_ends: Ids
    lines: Ids


def columns(indentation: str) -> int:
    """How far a line is indented."""
    return len(indentation.expandtabs(_TAB))


def line_end(before: int, after: int) -> int:
    """The id of a line end between two indentations."""
    return DEEPER if after > before else SHALLOWER if after < before else SAME


def split(text: str) -> list[str]:
    """The words of a text."""
    return _WORD.findall(text)


def sign_and_name(word: str) -> tuple[str, str] | None:
    """The sign, if any, and the name that a word consists of; None for one without a name."""
    named = _NAME.fullmatch(word)
    return (named[1] or "", named[2]) if named else None


def being_written(line: str) -> tuple[list[str], str]:
    """The words of a line's beginning, behind its indentation: those that are complete, and the last, which may continue."""
    words = split(line)
    if not words:
        return [], ""
    last = words.pop()
    if len(last) > 1 and last[-1] == " " and last.isspace():
        words.append(last[:-1])
        last = " "
    return words, last


def pieces(text: str, *, from_the_end: bool = False) -> Iterator[str]:
    """A text in pieces that can be cut on their own.

    Where the text changes at its end, all but its last pieces stay the same; counted from the end, where it changes at its start.
    """
    first = len(text) % _PIECE if from_the_end else _PIECE
    begin = 0
    for at in range(first, len(text), _PIECE):
        if at >= begin and (found := _LINE_START.search(text, at)):
            yield text[begin : found.end()]
            begin = found.end()
    if begin < len(text):
        yield text[begin:]


def raw_ids(piece: str, words: Words) -> Ids:
    """The ids of a piece of text; less than 0 for line ends."""
    found = split(piece)
    return np.fromiter(map(words.__getitem__, found), np.int32, len(found))


def cut(text: str, words: Words) -> Cut:
    r"""A text as words. Its lines end with `\n`."""
    head = len(text) - len(text.lstrip(" \t"))
    return cut_of([raw_ids(piece, words) for piece in pieces(text[head:])], columns(text[:head]), words)


def cut_of(raw: list[Ids], indentation: int, words: Words) -> Cut:
    """A text of which the ids are known. indentation: that of its first line, which `raw` lacks."""
    ids = np.concatenate([*raw, np.empty(0, np.int32)])
    line_ends = np.flatnonzero(ids < 0)
    kinds = ~ids[line_ends]
    after = np.array(words.columns, dtype=np.int32)[kinds]
    before = np.concatenate(([indentation], after))[:-1]
    ids[line_ends] = SAME + (after > before) + 2 * (after < before)
    lines = np.array(words.newlines, dtype=np.int32)[kinds].cumsum(dtype=np.int32)
    return Cut(ids, line_ends.astype(np.int32), lines)
