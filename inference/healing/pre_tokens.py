r"""Pre-tokens: the pieces that a tokenizer cuts a text into before it makes tokens of them. No token reaches over their borders.

A prompt that ends inside a pre-token ends where no text ended in training, and the model continues it badly: behind `filena` it does not
write `me`. So a prompt ends before the pre-token at the cursor.

The pieces are those of the byte-level tokenizers of today's code models (GPT-2, cl100k, Qwen2, StarCoder, DeepSeek-Coder …), or larger
ones that have the same borders: words with the one space or sign before them, digits, runs of signs, white space. What they differ in is
read off the vocabulary. A SentencePiece vocabulary has its borders there as well, though it may join more.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from dataclasses import dataclass

# The last pre-token is looked for in so many characters before the cursor.
_REACH = 256
# What is held back of a longer pre-token (a line of dashes, deep indentation). A byte costs at most a step of the model. Bytes of
# characters outside of ASCII do cost one in most vocabularies, so they count four times: four or five characters of CJK are held back.
MAX_HELD, _OUTSIDE_ASCII = 64, 4

_JOINED_PUNCTUATION = re.compile(rb"[!-/:-@\[-^`{-~][A-Za-z]{2}")
_JOINED_DIGITS = re.compile(rb"[ 0-9][0-9]")
# A border in every tokenizer: between a letter or a digit and white space.
_BORDER = re.compile(r"[^\W_](?=\s)")


@dataclass(frozen=True, slots=True)
class Pieces:
    """What a tokenizer joins.

    punctuation: a sign and the word behind it (`.load`). Tokenizers that do also join newlines to the signs before them, and part them from
        the indentation behind them; the others have white space in one piece.
    digits: several of them, or a space and one.
    """

    punctuation: bool
    digits: bool

    @property
    def pattern(self) -> re.Pattern[str]:
        """A pattern that matches one pre-token after the other."""
        return _pattern(self)


@functools.cache
def _pattern(pieces: Pieces) -> re.Pattern[str]:
    # Letters are \w without digits and underscore.
    word = r"(?:[^\r\n\w]|_)?[^\W\d_]+" if pieces.punctuation else r" ?[^\W\d_]+"
    number = r" ?\d+" if pieces.digits else r"\d"
    signs = r" ?(?:[^\s\w]|_)+"
    if pieces.punctuation:
        signs += r"[\r\n]*|\s*[\r\n]+"
    return re.compile(rf"{word}|{number}|{signs}|\s+(?!\S)|\s+")


def pieces_of(vocabulary: Iterable[bytes]) -> Pieces:
    """What the tokenizer joins that made this vocabulary."""
    punctuation = digits = False
    for token in vocabulary:
        punctuation = punctuation or _JOINED_PUNCTUATION.match(token) is not None
        digits = digits or _JOINED_DIGITS.match(token) is not None
        if punctuation and digits:
            break
    return Pieces(punctuation, digits)


def last_pre_token(prefix: str, pieces: Pieces) -> int:
    """Where the last pre-token of a text begins, or as much before its end as `MAX_HELD` allows."""
    near = max(0, len(prefix) - _REACH)
    border = _BORDER.search(prefix, near) if near else None
    last = len(prefix)
    for match in pieces.pattern.finditer(prefix, border.end() if border else near):
        last = match.start()
    left = MAX_HELD
    for start in range(len(prefix), last, -1):
        left -= sum(map(cost, prefix[start - 1].encode("utf-8", "replace")))
        if left < 0:
            return start
    return last


def cost(byte: int) -> int:
    """What holding back a byte counts for."""
    return 1 if byte < 0x80 else _OUTSIDE_ASCII


def without_last_space(prefix: str) -> tuple[str, str]:
    """For a model that can't be held to what stands before the cursor: the prefix without the space or tab that it ends with, and that.

    A tokenizer joins it to the next word, so no training text ends with it.
    """
    return (prefix[:-1], prefix[-1]) if prefix.endswith((" ", "\t")) else (prefix, "")


def ends_and_reaches(text: str, pieces: Pieces) -> list[tuple[int, int]]:
    """The pre-tokens of a text that begins at a border: where each ends, and the last cursor that holds back what it begins with.

    The two differ only for white space before a word: a cursor behind it all holds all of it back, though its last character is the word's.
    """
    spans = [match.span() for match in pieces.pattern.finditer(text)]
    found: list[tuple[int, int]] = []
    for index, (start, end) in enumerate(spans):
        before_word = index + 1 < len(spans) and text[start:end].isspace() and text[end].isspace()
        if pieces.punctuation and text[end - 1] in "\r\n":  # ended by a newline, not by a word
            before_word = False
        found.append((end, end + before_word))
    return found
