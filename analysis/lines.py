"""Lines of real functions to complete: the line-completion task of Spiess et al. (arXiv 2402.02047, section 3.1).

From each function of more than three lines that has a docstring, one random line of its body that is neither blank, nor a comment, nor
inside the docstring or another multi-line string.
"""

from __future__ import annotations

import ast
import io
import random
import tokenize
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

MIN_FUNCTION_LINES = 4
BRACKETS = {"(": ")", "[": "]", "{": "}"}


class UnreadableSource(ValueError):
    """Text that Python does not parse; the message says line and reason."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a function's body. start and end are character offsets in the source; end is before the newline."""

    function: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Gap:
    """A piece of a line that is taken out, to be completed: source[start:end] was there."""

    start: int
    end: int


def documented_functions(source: str) -> Iterator[tuple[str, range]]:
    """Dotted name, and the numbers (from 1) of the lines after the docstring, of each function of over three lines that has one.

    Raises UnreadableSource.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # invalid escapes in other people's code are not our user's business
            tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError) as error:
        raise UnreadableSource(f"not Python that can be parsed: {error}") from None

    def walk(node: ast.AST, names: tuple[str, ...]) -> Iterator[tuple[str, range]]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                first, last = child.lineno, child.end_lineno or child.lineno
                if ast.get_docstring(child, clean=False) is not None and last - first + 1 >= MIN_FUNCTION_LINES:
                    yield ".".join((*names, child.name)), range((child.body[0].end_lineno or first) + 1, last + 1)
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                yield from walk(child, (*names, child.name))
            else:
                yield from walk(child, names)

    yield from walk(tree, ())


def lines_inside_strings(source: str) -> set[int]:
    """Numbers (from 1) of the lines on which a string that began on an earlier line goes on."""
    inside: set[int] = set()
    starts: list[int] = []
    fstring = getattr(tokenize, "FSTRING_START", None), getattr(tokenize, "FSTRING_END", None)
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.STRING:
            inside.update(range(token.start[0] + 1, token.end[0] + 1))
        elif fstring[0] is not None and token.type == fstring[0]:
            starts.append(token.start[0])
        elif fstring[1] is not None and token.type == fstring[1]:
            inside.update(range(starts.pop() + 1, token.end[0] + 1))
    return inside


def sample_lines(source: str, seed: str) -> list[Line]:
    """One line per documented function, no line twice (functions nest), the same for the same source and seed. Raises UnreadableSource."""
    # Only \\n ends a line here, as in the tokenizer: a form feed or U+2028 inside one must not shift the numbers.
    texts = source.split("\n")
    starts = [0]
    for text in texts:
        starts.append(starts[-1] + len(text) + 1)
    functions = list(documented_functions(source))
    if not functions:
        return []
    try:
        taken = lines_inside_strings(source)
    except (tokenize.TokenError, SyntaxError) as error:
        raise UnreadableSource(f"not Python that can be tokenized: {error}") from None
    lines = []
    for name, numbers in functions:
        candidates = [n for n in numbers if (t := texts[n - 1].strip()) and not t.startswith("#") and n not in taken]
        if candidates:
            n = random.Random(f"{seed}:{name}:{numbers.start}").choice(candidates)
            taken.add(n)
            lines.append(Line(name, starts[n - 1], starts[n - 1] + len(texts[n - 1].rstrip("\r"))))
    return lines


def whole(source: str, line: Line) -> Gap:
    """The line without its indentation and trailing space: the cursor stands where the code begins."""
    text = source[line.start : line.end]
    return Gap(line.start + len(text) - len(text.lstrip()), line.start + len(text.rstrip()))


def rest(source: str, line: Line, seed: str) -> Gap | None:
    """From a random place inside the line's code to its end; None for a line of one character."""
    gap = whole(source, line)
    if gap.end - gap.start < 2:
        return None
    return Gap(random.Random(f"{seed}:rest:{line.start}").randint(gap.start + 1, gap.end - 1), gap.end)


def middle(source: str, line: Line, seed: str) -> Gap | None:
    """From a random place inside a random bracket pair of the line to just before the closing bracket.

    That is where the cursor stands in editors that close brackets by themselves. None where the line has no pair with something in it.
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
        pass  # a line of a longer statement ends in the middle of it: the pairs that it closed are known by then
    offset = whole(source, line).start
    pairs = [(a + offset, b + offset) for a, b in pairs if source[a + offset : b + offset].strip()]
    if not pairs:
        return None
    rng = random.Random(f"{seed}:middle:{line.start}")
    start, end = rng.choice(pairs)
    return Gap(rng.randint(start, end - 1), end)
