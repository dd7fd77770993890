"""The parts of a document, and of other files, that go into a prompt: whole lines that fit budgets of tokens."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from .task import start_of_line

Count = Callable[[str], int]

# Code has about 3 characters to a token, and over a whole budget never so many on average. Text beyond that is not looked at.
_MAX_CHARACTERS_PER_TOKEN = 16
# Fewer than the average: the steps between cuts are counted so that one nearly always fits its share of a budget.
_FEW_CHARACTERS_PER_TOKEN = 3.3
# A little more than the average, so that the first text that is tried is short.
_USUAL_CHARACTERS_PER_TOKEN = 3.5
_LINE_END = re.compile(r"\r\n|\r|\n")
_OPENER = {")": "(", "]": "[", "}": "{", "'": "'", '"': '"', "`": "`"}
_CLOSERS = re.compile(r"""([)\]}'"`]+)[ \t]*(?=[\r\n]|\Z)""")
# The beginning of a definition at the left margin. What stands before the first is the head of a file.
_DEFINITION = re.compile(
    r"^(?:@|(?:export\s+(?:default\s+)?|public\s+|private\s+|internal\s+|abstract\s+|final\s+|sealed\s+|static\s+|async\s+|pub(?:\([a-z]+\))?\s+"
    r"|unsafe\s+)*(?:def|class|fn|func|fun|function|interface|struct|enum|trait|impl|type|object|module|record)\b)",
    re.MULTILINE,
)
# Between the head and the prefix: a blank line, as between definitions.
_GAP = "\n"
# Tokens that a path takes in a prompt besides its own: a separator or a comment sign, and a newline behind the text.
_LINE_OF_A_PATH = 3


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The parts of one document that go into a prompt.

    prefix, suffix: the text that ends and begins at the cursor. head: the beginning of the file, where lines between it and `prefix` are
    left out; else empty. begun: how much of the prefix an anchored prompt's middle begins with.
    """

    head: str
    prefix: str
    suffix: str
    begun: int = 0

    @property
    def before(self) -> str:
        """The text before the cursor as the model reads it."""
        return f"{self.head}{_GAP}{self.prefix}" if self.head else self.prefix


def cut_step(prefix_tokens: int) -> int:
    """Characters between the places where a prefix of this budget may be cut, at most half of the budget.

    It is a power of two, so that the steps of all smaller budgets divide it. A text without its first characters, a multiple of the step,
    is then cut where the whole text is.
    """
    return 1 << max(0, int(prefix_tokens * _FEW_CHARACTERS_PER_TOKEN / 2).bit_length() - 1)


def without_closers(prefix: str, suffix: str) -> str:
    """The suffix without brackets and quotes that close what the cursor's line opens, where they are all that stands behind the cursor.

    Editors close by themselves. An anchored prompt with the closers in it would change behind its prefix at each bracket that is typed, and
    be read anew. Without them a model writes them itself, and the cut takes them away again (docs/context.md says what that costs).
    """
    line = start_of_line(prefix)
    closers = _CLOSERS.match(suffix)
    return suffix[closers.end() :] if closers and all(_OPENER[closer] in line for closer in closers[1]) else suffix


def head_characters(head_tokens: int) -> int:
    """The length of a document's beginning that `excerpt_of` may need as its head."""
    return head_tokens * _MAX_CHARACTERS_PER_TOKEN


def excerpt_of(
    count: Count,
    prefix: str,
    suffix: str,
    prefix_tokens: int,
    suffix_tokens: int,
    head: str = "",
    head_tokens: int = 0,
    *,
    anchored: bool = False,
) -> Excerpt:
    """The end of the prefix and the beginning of the suffix that fit into budgets of tokens.

    Both are cut between lines; a line that alone is over its budget is cut inside. A prefix is cut at the first line behind a multiple of
    `cut_step`, counted from the document's start. So the cut stays in place while text is typed at the end, and then moves by a whole
    step: a model's cache only helps behind an unchanged start. In an anchored prompt the middle begins at the last such line, and the start
    moves only where that does, so that between two steps nothing is read but what was typed.

    Where a prefix is cut and head_tokens is above 0, the head of the file stands in front of it: the lines before the first definition,
    at most head_tokens of them, which count as the prefix's.

    Parameters
        count: how many tokens a text has.
        head: the document's beginning, for a prefix that does not reach up to it.
        anchored: whether it is for an anchored prompt.
    """

    def fits(budget: int) -> Callable[[str], bool]:
        return lambda text: count(text) <= budget

    end = _start_of(suffix, suffix_tokens, fits(suffix_tokens))
    alone, begun = None, 0
    if anchored:
        step = cut_step(prefix_tokens)
        middle = _middle(prefix, step)
        above = prefix_tokens - int(step / _FEW_CHARACTERS_PER_TOKEN)
        shown, begun = _end_of(prefix[:middle], above, fits(above)) + prefix[middle:], len(prefix) - middle
        alone = shown if fits(prefix_tokens)(shown) else None
    if alone is None:
        alone = _end_of(prefix, prefix_tokens, fits(prefix_tokens))
    reaches_the_start = prefix[: len(head)] == head[: len(prefix)]
    if reaches_the_start and len(alone) == len(prefix):
        return Excerpt("", alone, end, min(begun, len(alone)))
    lead = _head_of(prefix if reaches_the_start else head, min(head_tokens, prefix_tokens // 2), count)
    if not lead:
        return Excerpt("", alone, end, min(begun, len(alone)))
    tail = _end_of(prefix, prefix_tokens - count(lead + _GAP), lambda text: count(f"{lead}{_GAP}{text}") <= prefix_tokens)
    if reaches_the_start and len(prefix) - len(tail) < len(lead):
        return Excerpt("", alone, end, min(begun, len(alone)))  # the two would overlap
    return Excerpt(lead, tail, end, min(begun, len(tail)))


def fit_extra(count: Count, extra: Sequence[tuple[str, str]], own_path: str, budget: int) -> tuple[tuple[str, str], ...]:
    """The texts of other files, (path, text) each, that fit into a budget of tokens: in order, the last one cut between lines.

    Each path counts as the line that it takes in a prompt, and so does the document's own.
    """
    if not extra or budget < 1:
        return ()
    fitting = []
    budget -= count(f"{own_path}\n") + _LINE_OF_A_PATH
    for path, text in extra:
        budget -= count(f"{path}\n") + _LINE_OF_A_PATH
        part = _start_of(text, budget, lambda part: count(part) <= budget, whole_lines=True)  # noqa: B023
        if not part.strip():
            break
        fitting.append((path, part))
        if len(part) < len(text):
            break
        budget -= count(part)
    return tuple(fitting)


def _head_of(text: str, budget: int, count: Count) -> str:
    """The whole lines before the first definition, as many as the budget holds."""
    if budget < 1:
        return ""
    text = text[: budget * _MAX_CHARACTERS_PER_TOKEN]
    first = _DEFINITION.search(text)
    text = text[: first.start()] if first else text
    text = text[: max((match.end() for match in _LINE_END.finditer(text)), default=0)]
    head = _start_of(text, budget, lambda part: count(part) <= budget, whole_lines=True)
    last = _LINE_END.search(head, len(head.rstrip()))
    return head[: last.end()] if last and head.strip() else ""


def _end_of(text: str, budget: int, fits: Callable[[str], bool]) -> str:
    if budget < 1:
        return ""
    earliest = max(0, len(text) - budget * _MAX_CHARACTERS_PER_TOKEN)
    if earliest == 0 and fits(text):
        return text
    step = cut_step(budget)
    starts = list(_line_starts_behind(text, range(0, len(text), step), earliest))
    start = _first(starts, lambda offset: fits(text[offset:]), bisect_left(starts, len(text) - budget * _USUAL_CHARACTERS_PER_TOKEN))
    if start is None:
        # A character has at most 4 tokens, of one byte each, so the last of these steps always fits.
        step = max(1, step // 4)
        start = _first(range(-(-earliest // step) * step, len(text), step), lambda offset: fits(text[offset:]))
    return "" if start is None else text[start:]


def _middle(prefix: str, step: int) -> int:
    """Where the middle of an anchored prompt begins: the last start of a line behind a multiple of the step.

    In the first step that is behind 64 characters, 128, and so on, so that about half of the text stays in front of the middle.
    """
    line = max(prefix.rfind("\n"), prefix.rfind("\r")) + 1
    offset = line // step * step or (1 << line.bit_length() - 1 if line else 0)
    match = _LINE_END.search(prefix, offset - 1) if offset else None
    return match.end() if match else 0


def _start_of(text: str, budget: int, fits: Callable[[str], bool], *, whole_lines: bool = False) -> str:
    if budget < 1:
        return ""
    if len(text) <= budget * _MAX_CHARACTERS_PER_TOKEN and fits(text):
        return text
    text = text[: budget * _MAX_CHARACTERS_PER_TOKEN]
    ends = [match.end() for match in _LINE_END.finditer(text)]
    longer = len(ends) - bisect_right(ends, budget * _USUAL_CHARACTERS_PER_TOKEN)
    end = _first(ends[::-1], lambda offset: fits(text[:offset]), longer)
    if end is None and not whole_lines:
        end = _first(range(min(len(text), ends[0] if ends else len(text)), 0, -1), lambda offset: fits(text[:offset]))
    return "" if end is None else text[:end]


def _line_starts_behind(text: str, offsets: range, earliest: int) -> Iterator[int]:
    """For each offset the first line start at or behind it, each once, from `earliest` on."""
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


def _first(offsets: Sequence[int], fits: Callable[[int], bool], guess: int | None = None) -> int | None:
    """The first offset that fits, where all behind it fit too; None where the last does not.

    guess: an index near the answer, so that long texts far from it need not be counted.
    """
    low, high = 0, len(offsets)
    if guess is not None and offsets:
        at, step = min(max(guess, 0), high - 1), 1
        while low <= at < high:
            if fits(offsets[at]):
                high = at
                at = max(low, at - step)
            else:
                low = at + 1
                at = min(high - 1, at + step)
            step *= 2
    index = bisect_left(offsets, True, low, high, key=fits)
    return offsets[index] if index < len(offsets) else None
