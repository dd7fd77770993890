"""Lines of real functions to complete: the line-completion task of Spiess et al. (arXiv 2402.02047, section 3.1).

One random line is taken from the body of each function of more than three lines; the paper's have a docstring, others are drawn from on
request. The line is not blank, no comment, and not inside the docstring or another multi-line string.
"""

from __future__ import annotations

import io
import random
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from .source_text import UnreadableSource as UnreadableSource
from .statements import parse_statements

MIN_FUNCTION_LINES = 4
BRACKETS = {"(": ")", "[": "]", "{": "}"}


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a function's body. start and end are character offsets in the source; end is before the newline."""

    function: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Gap:
    """A piece of a line that is removed to be completed: source[start:end]."""

    start: int
    end: int


def functions(source: str, *, documented: bool = True) -> Iterator[tuple[str, range]]:
    """The functions of more than three lines: dotted name, and the numbers (from 1) of the lines of the body, after the docstring.

    documented: only those with a docstring. Raises UnreadableSource.
    """
    for function in parse_statements(source).functions:
        docstring, last = function.docstring, function.last_line
        if (documented and docstring is None) or last - function.first_line + 1 < MIN_FUNCTION_LINES:
            continue
        yield function.name, range(docstring.last_line + 1 if docstring else function.body[0].first_line, last + 1)


def sample_lines(source: str, seed: str, *, documented: bool = True) -> list[Line]:
    """One random line of each function, no line twice (functions nest). The same source and seed give the same lines.

    documented: as in `functions`. Raises UnreadableSource.
    """
    found = list(functions(source, documented=documented))
    if not found:
        return []
    module = parse_statements(source)
    starts, taken = module.starts, set(module.continued)
    texts = [source[start:end].rstrip("\r\n") for start, end in pairwise(starts)]
    lines = []
    for name, numbers in found:
        candidates = [n for n in numbers if (t := texts[n - 1].strip()) and not t.startswith("#") and n not in taken]
        if candidates:
            n = random.Random(f"{seed}:{name}:{numbers.start}").choice(candidates)
            taken.add(n)
            lines.append(Line(name, starts[n - 1], starts[n - 1] + len(texts[n - 1])))
    return lines


def whole(source: str, line: Line) -> Gap:
    """The whole line without its indentation and trailing space: the cursor stands where its code begins."""
    text = source[line.start : line.end]
    return Gap(line.start + len(text) - len(text.lstrip()), line.start + len(text.rstrip()))


def rest(source: str, line: Line, seed: str) -> Gap | None:
    """The rest of the line from a random place inside its code; None for a line of one character."""
    gap = whole(source, line)
    if gap.end - gap.start < 2:
        return None
    return Gap(random.Random(f"{seed}:rest:{line.start}").randint(gap.start + 1, gap.end - 1), gap.end)


def middle(source: str, line: Line, seed: str) -> Gap | None:
    """The text from a random place inside a random bracket pair of the line to just before the closing bracket.

    The cursor stands there in editors that close brackets by themselves. None where the line has no pair with something in it.
    """
    open_: list[int] = []
    pairs: list[tuple[int, int]] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(source[line.start : line.end].strip()).readline):
            if token.string in BRACKETS:
                open_.append(token.end[1])
            elif token.string in BRACKETS.values() and open_:
                pairs.append((open_.pop(), token.start[1]))
    except (tokenize.TokenError, SyntaxError):
        pass  # the line ends in the middle of a statement; the pairs that it closes were found before
    offset = whole(source, line).start
    pairs = [(a + offset, b + offset) for a, b in pairs if source[a + offset : b + offset].strip()]
    if not pairs:
        return None
    rng = random.Random(f"{seed}:middle:{line.start}")
    start, end = rng.choice(pairs)
    return Gap(rng.randint(start, end - 1), end)
