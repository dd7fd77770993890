"""Lines to mend, made from real code: what the model learns besides completion.

An item is an ordinary prompt for filling in the middle (SPM), then a line in question, then the task's control token, then the line as it
should be. No text has control tokens.

    <prefix> <suffix> after <middle> before shown <fix> answer <end>

So the question behind a completion costs only its own tokens: everything before them is in the cache. `before` never ends with the space
that belongs to the next word (tokenizer.token_start); shown and answer begin with it.
"""

from __future__ import annotations

import ast
import random
import warnings
from dataclasses import dataclass

from assay.analysis.bugs import inject
from assay.analysis.morphisms.morphism import Refused
from assay.analysis.python.lines import UnreadableSource

from .tokenizer import token_start

RIGHT_SHARE = 0.17  # of the lines are right: a model that always changes something is no use
CONTEXT = 1200  # characters of the file around a line, at most
MAX_LINE = 160  # characters
TRIES = 8  # functions of a file, and lines of a function, until one can have a bug
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Fix:
    """A line, with a bug of ours or as it was, and the line as it was. before + shown + after is what a document holds.

    kind: of the bug (`analysis.bugs`); "none" where the line is right. function: the name of the one around it.
    """

    kind: str
    before: str
    shown: str
    after: str
    answer: str
    function: str


@dataclass(frozen=True, slots=True)
class Source:
    """A file that Python parses. starts: the offset of each line, split at \n alone as Python's parser does."""

    text: str
    lines: list[str]
    starts: list[int]
    functions: list[Function]

    def line_end(self, number: int) -> int:
        """The offset of the end of a line (numbered from 1), before its newline."""
        return self.starts[number - 1] + len(self.lines[number - 1])


def read(text: str) -> Source | None:
    """The parsed source; None for a text that Python does not parse, or with a carriage return."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    if "\r" in text:
        return None
    lines, starts = text.split("\n"), [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    functions = [node for node in ast.walk(tree) if isinstance(node, Function)]
    return Source(text, lines, starts, functions)


def above(source: Source, offset: int, characters: int) -> str:
    """Whole lines before an offset that begins a line, about so many characters."""
    if offset <= characters:
        return source.text[:offset]
    return source.text[source.text.find("\n", offset - characters - 1, offset) + 1 : offset]


def below(source: Source, offset: int, characters: int) -> str:
    """From an offset that ends a line to the end of a line, about so many characters."""
    if len(source.text) - offset <= characters:
        return source.text[offset:]
    return source.text[offset : max(offset, source.text.rfind("\n", offset, offset + characters) + 1)]


def with_bug(source: Source, function: Function, rng: random.Random) -> tuple[int, str, str] | None:
    """A line of a function (numbered from 1), the line with a bug, and its kind; None where no line that was tried can have one.

    The function is looked at by itself, without its indentation: that is much faster than the file.
    """
    first, last = function.lineno, function.end_lineno or function.lineno
    lines = source.lines[first - 1 : last]
    indent = len(lines[0]) - len(lines[0].lstrip())
    if any(line[:indent].strip() for line in lines):
        return None  # what stands in quotes, or a comment, begins further left
    own = "\n".join(line[indent:] for line in lines) + "\n"
    body = [number for number in range(1, len(lines)) if lines[number].strip() and len(lines[number]) <= MAX_LINE]
    for number in rng.sample(body, min(TRIES, len(body))):
        start = sum(len(line[indent:]) + 1 for line in lines[:number])
        try:
            step = inject(own, str(rng.random()), (start, start + len(lines[number][indent:])))
        except (Refused, UnreadableSource):
            continue
        line = lines[number][indent:]
        wrong = line[: step.start - start] + step.text + line[step.end - start :]
        return first + number, lines[number][:indent] + wrong, step.morphism
    return None


def fix(source: Source, function: Function, rng: random.Random) -> Fix | None:
    """A line of the function to mend. The right ones among them are such as could have had a bug."""
    found = with_bug(source, function, rng)
    if found is None:
        return None
    number, wrong, kind = found
    right, top, start = source.lines[number - 1], source.starts[function.lineno - 1], source.starts[number - 1]
    if rng.random() < RIGHT_SHARE:
        wrong, kind = right, "none"
    begun = start + len(right) - len(right.lstrip())
    begun = token_start(source.text, begun)
    # From the function's head on where there is room; from somewhere in its body where it is long.
    shown = start - top if start - top <= CONTEXT else 0
    before = above(source, start, rng.randint(shown, CONTEXT)) + source.text[start:begun]
    after = below(source, source.line_end(number), rng.randint(CONTEXT // 8, CONTEXT // 2))
    return Fix(kind, before, wrong[begun - start :], after, right[begun - start :], function.name)


def drawn(text: str, rng: random.Random) -> Fix | None:
    """One item of a file; None of a file that has none, or that Python does not parse."""
    source = read(text)
    if source is None:
        return None
    for function in rng.sample(source.functions, min(TRIES, len(source.functions))):
        if item := fix(source, function, rng):
            return item
    return None
