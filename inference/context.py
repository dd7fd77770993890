"""What of a document a model is shown: whole lines around the cursor that fit a budget of tokens."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence

# Code has about 3 characters to a token, and never as many as this on average over a whole budget: more text is not looked at.
_MOST_CHARACTERS = 16
_LINE_END = re.compile(r"\r\n|\r|\n")


def cut_step(prefix_tokens: int) -> int:
    """Characters between the places where a prefix of this budget may be cut: about a quarter of the budget.

    A power of two, so that the steps of all smaller budgets divide it: a text whose beginning is left out up to a multiple of it is cut
    where the whole text is.
    """
    return 1 << max(0, prefix_tokens.bit_length() - 1)


def fit(count: Callable[[str], int], prefix: str, suffix: str, prefix_tokens: int, suffix_tokens: int) -> tuple[str, str]:
    """The end of the prefix and the beginning of the suffix, in at most so many tokens each; count: how many tokens a text has.

    Both are cut between lines; a line that alone is over its budget is cut inside. A prefix is cut at the first line behind a multiple of
    `cut_step`, counted from the document's start: so the cut stays in place while text is typed at the end, and moves on by a step at
    once. A model's cache is worth something only behind an unchanged start.
    """

    def fits(budget: int) -> Callable[[str], bool]:
        return lambda text: count(text) <= budget

    return _end_of(prefix, prefix_tokens, fits(prefix_tokens)), _start_of(suffix, suffix_tokens, fits(suffix_tokens))


def _end_of(text: str, budget: int, fits: Callable[[str], bool]) -> str:
    if budget < 1:
        return ""
    earliest = max(0, len(text) - budget * _MOST_CHARACTERS)
    if earliest == 0 and fits(text):
        return text
    step = cut_step(budget)
    start = _first(list(_line_starts_behind(text, range(0, len(text), step), earliest)), lambda offset: fits(text[offset:]))
    if start is None:
        # A character is at most 4 tokens of one byte each, so that the last of these steps always fits.
        step = max(1, step // 4)
        start = _first(range(-(-earliest // step) * step, len(text), step), lambda offset: fits(text[offset:]))
    return "" if start is None else text[start:]


def _start_of(text: str, budget: int, fits: Callable[[str], bool]) -> str:
    if budget < 1:
        return ""
    if len(text) <= budget * _MOST_CHARACTERS and fits(text):
        return text
    text = text[: budget * _MOST_CHARACTERS]
    ends = [match.end() for match in _LINE_END.finditer(text)]
    end = _first(ends[::-1], lambda offset: fits(text[:offset]))
    if end is None:
        end = _first(range(min(len(text), ends[0] if ends else len(text)), 0, -1), lambda offset: fits(text[:offset]))
    return "" if end is None else text[:end]


def _line_starts_behind(text: str, offsets: range, earliest: int) -> Iterator[int]:
    """For each offset the first start of a line at or behind it, none twice, those before `earliest` left out."""
    last = -1
    for offset in offsets[bisect_left(offsets, max(0, earliest - offsets.step)) :]:
        if offset <= last:
            continue
        match = _LINE_END.search(text, max(0, offset - 1))
        start = match.end() if match else len(text)
        if offset == 0:
            start = 0
        if earliest <= start < len(text) and start != last:
            yield start
            last = start


def _first(offsets: Sequence[int], fits: Callable[[int], bool]) -> int | None:
    """The first of the offsets that fits, where all behind it do as well; None where the last does not."""
    index = bisect_left(offsets, True, key=fits)
    return offsets[index] if index < len(offsets) else None
