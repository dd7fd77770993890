"""How much of a text is still there: the share of its tokens that stand in another text, in their order. Pure.

A token is a word (an identifier, a number, a word of a string or a comment) or one other character. White space does not count, and an
operator of two characters is two tokens, so that no formatter that only moves white space changes a share.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

# The event `kept`: so much of a suggestion stands in the document later. A renamed name or a changed argument leaves a suggestion kept.
KEPT_FROM = 0.8

_TOKEN = re.compile(r"\w+|[^\w\s]")


def tokens_of(text: str) -> list[str]:
    """The tokens of a text in any language."""
    return _TOKEN.findall(text)


def share(inserted: str, current: str) -> float:
    """Of the tokens of `inserted` so many, 0 to 1, stand in `current`, in their order: their longest common subsequence.

    1 where `inserted` has no tokens. 2 x 10,000 tokens that have nothing in common at their ends take 10 ms, 2 x 100 take 50 µs.
    """
    tokens = tokens_of(inserted)
    return common(tokens, tokens_of(current)) / len(tokens) if tokens else 1.0


def common(one: Sequence[str], other: Sequence[str]) -> int:
    """The length of the longest common subsequence.

    By Hyyrö's bit-parallel recurrence (Bit-parallel LCS-length computation revisited, AWOCA 2004): after each token of the longer text, bit i
    of `row` is 0 where the common subsequence with the first i + 1 tokens of the shorter is one longer than that with the first i.
    """
    if len(one) > len(other):
        one, other = other, one
    start = 0
    while start < len(one) and one[start] == other[start]:
        start += 1
    end = 0
    while end < len(one) - start and one[-1 - end] == other[-1 - end]:
        end += 1
    places: dict[str, int] = {}
    for index, token in enumerate(one[start : len(one) - end]):
        places[token] = places.get(token, 0) | 1 << index
    size = len(one) - start - end
    row = whole = (1 << size) - 1
    for token in other[start : len(other) - end]:
        if (found := places.get(token)) is not None:
            both = row & found
            row = (row + both | row - both) & whole
    return start + end + size - row.bit_count()
