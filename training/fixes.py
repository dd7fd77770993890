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
from dataclasses import dataclass

from .mutate import Function, bug, edits, parse
from .tokenizer import token_start

RIGHT_SHARE = 0.17  # of the lines are right: a model that always changes something is no use
CONTEXT = 1200  # characters of the file around a line, at most
TRIES = 8  # functions of a file, until one has a line to mend


@dataclass(frozen=True, slots=True)
class Fix:
    """A line, with a bug of ours or as it was, and the line as it was. before + shown + after is what a document holds.

    kind: of the bug; "none" where the line is right. function: the name of the one around it.
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
    if "\r" in text or (tree := parse(text)) is None:
        return None
    lines, starts = text.split("\n"), [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
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


def fix(source: Source, function: Function, rng: random.Random) -> Fix | None:
    """A line of the function to mend. The right ones among them are such as could have had a bug."""
    if rng.random() < RIGHT_SHARE:
        found = edits(function, source.lines)
        if not found:
            return None
        number, kind = rng.choice(found).line, "none"
        wrong = source.lines[number - 1]
    else:
        made = bug(function, source.lines, rng)
        if made is None:
            return None
        number, kind, wrong = made.line, str(made.kind), made.wrong
    right, top, start = source.lines[number - 1], source.starts[function.lineno - 1], source.starts[number - 1]
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
