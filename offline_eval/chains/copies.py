"""Whether a description recites code, which tells how well a model copies, and not what it understands."""

from __future__ import annotations

import keyword
import re
from collections.abc import Collection, Iterator, Sequence

# Of the names and literals of the code, in order.
SHARE = 0.8

_STRING = r"""(?i:\b[rbuft]{1,2})?(?:'''.*?'''|\"\"\".*?\"\"\"|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*")"""
_TOKEN = re.compile(rf"(?P<comment>\#[^\n]*)|(?P<string>{_STRING})|(?P<word>\w+(?:\.\d+)?)|(?P<sign>\S)", re.DOTALL)
_WORD = re.compile(r"\w+|[^\w\s]")
_QUOTES = re.compile(r"^(?i:[rbuft]{0,2})('''|\"\"\"|'|\")(.*)\1$", re.DOTALL)
# What is a keyword to Python's grammar, and a literal to whoever reads it.
_VALUES = frozenset(("True", "False", "None"))

PYTHON = frozenset(keyword.kwlist) - _VALUES
_OF_JAVA = (
    "abstract assert boolean break byte case catch char class const continue default do double else enum extends final finally float for "
    "goto if implements import instanceof int interface long native new package private protected public return short static strictfp "
    "super switch synchronized this throw throws transient try void volatile while"
)
JAVA = frozenset(_OF_JAVA.split())

Words = tuple[str, ...]


def is_copy(description: str, code: str, keywords: Collection[str] = PYTHON) -> bool:
    """Whether a description recites the code. Of an empty code there is no copy. keywords: words of the code that are no names."""
    text_words = _WORD.findall(description)
    named = list(_names_and_literals(code, keywords))
    if named:
        return _in_order(named, text_words) >= SHARE * len(named)
    tokens = [text for _, text in _tokens(code)]
    return bool(tokens) and tokens == [text for _, text in _tokens(description)]


def _tokens(code: str) -> Iterator[tuple[str, str]]:
    for found in _TOKEN.finditer(code):
        if found.lastgroup and found.lastgroup != "comment":
            yield found.lastgroup, found.group()


def _names_and_literals(code: str, keywords: Collection[str]) -> Iterator[Words]:
    """Each as the words that it is written with; a string without its quotes."""
    for kind, text in _tokens(code):
        if kind == "string":
            quoted = _QUOTES.match(text)
            words = tuple(_WORD.findall(quoted[2] if quoted else text))
            if words:
                yield words
        elif kind == "word" and text not in keywords:
            yield tuple(_WORD.findall(text))


def _in_order(wanted: Sequence[Words], text_words: Sequence[str]) -> int:
    """How many of these stand in a text, in this order: their longest common subsequence, where one may take several words."""
    before = [0] * (len(text_words) + 1)
    for words in wanted:
        size, row = len(words), [0] * (len(text_words) + 1)
        for end in range(1, len(text_words) + 1):
            row[end] = max(row[end - 1], before[end])
            if end >= size and tuple(text_words[end - size : end]) == words:
                row[end] = max(row[end], before[end - size] + 1)
        before = row
    return before[-1]
