"""Regions of real functions to complete: the sampler of round-trip correctness (Allamanis et al., arXiv 2402.08699, section 4.2).

A candidate is one or more consecutive sibling statements of a function, or of a block inside it, of 32 to 384 characters. Each is drawn
with a probability proportional to Σ 1 / n(c) over its characters c that are not white space, where n(c) is the number of candidates that
contain c. So code that many candidates contain is not drawn more often.

The paper also requires that deleting the region changes the result of some test; `deleted` gives the file to run them on.
"""

from __future__ import annotations

import heapq
import random
import re
import symtable
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from .source_text import BOM, code_end, without_warnings
from .statements import Function, Module, Statement, all_statements, blocks_of, is_covered, parse_statements

MIN_CHARACTERS = 32
MAX_CHARACTERS = 384

_NAME = re.compile(r"\w+")
_DECLARATION = re.compile(r"(?:^|;)\s*(?:nonlocal|global)\b([^;#]*)")
_UNBOUND = re.compile(r"no binding for nonlocal '(\w+)' found")


@dataclass(frozen=True, slots=True)
class Region:
    """Whole lines of a function. source[start:end] is their code without the first line's indentation and the last line's end.

    function: the dotted name of the innermost function around it. first_line, last_line: from 1. statement: the kind of its first statement
    ("assign", "return", "if", "for", "expression", …).
    """

    function: str
    start: int
    end: int
    first_line: int
    last_line: int
    statement: str


def candidates(source: str, *, eligible_lines: Collection[int] | None = None, min_characters: int = MIN_CHARACTERS) -> list[Region]:
    """Every region of min_characters to MAX_CHARACTERS, in the order of the functions.

    No region has a docstring, or a statement that shares a line with its block's header (`if x: return y`).

    Parameters:
        eligible_lines: the lines that tests execute, where that is known. Each statement of a region that makes code has to be executed
            then: one of its lines, or of its header's where it has blocks.

    Raises: UnreadableSource.
    """
    found: list[Region] = []
    for function in parse_statements(source).functions:
        for block in blocks_of(function):
            found.extend(_of_block(source, function, block, eligible_lines, min_characters))
    return found


def _of_block(
    source: str, function: Function, block: Sequence[Statement], lines: Collection[int] | None, min_characters: int
) -> Iterator[Region]:
    ends = [code_end(source, statement.end) for statement in block]
    usable = [
        _is_usable(statement, function) and (lines is None or not statement.runs or is_covered(statement, lines)) for statement in block
    ]
    for i, first in enumerate(block):
        runs = False
        for j in range(i, len(block)):
            length = ends[j] - first.start
            if not usable[j] or length > MAX_CHARACTERS:
                break
            runs = runs or block[j].runs
            if length >= min_characters and (lines is None or runs):
                yield Region(function.name, first.start, ends[j], first.first_line, block[j].last_line, first.kind)


def _is_usable(statement: Statement, function: Function) -> bool:
    return statement.own_line and (function.docstring is None or statement.start != function.docstring.start)


def weights(source: str, regions: Sequence[Region]) -> list[float]:
    """The weight of each region: Σ 1 / n(c) over its characters c that are not white space (section 4.2).

    n(c): how many regions contain c. The weights add up to the number of such characters that are in some region.
    """
    bounds = sorted({place for region in regions for place in (region.start, region.end)})
    index = {place: i for i, place in enumerate(bounds)}
    steps = [0] * len(bounds)
    for region in regions:
        steps[index[region.start]] += 1
        steps[index[region.end]] -= 1
    containing = accumulate(steps)
    shares = [len("".join(source[a:b].split())) / n if n else 0.0 for (a, b), n in zip(pairwise(bounds), containing, strict=False)]
    up_to = [0.0, *accumulate(shares)]
    return [up_to[index[region.end]] - up_to[index[region.start]] for region in regions]


def drawn(weighted: Sequence[float], seed: str | int, count: int) -> list[int]:
    """Draw at most `count` items without replacement, each time in proportion to the weights; a project's are those of its files joined.

    Returns: their indices in the order drawn. The same seed and weights give the same ones; a smaller count gives the beginning of them.
    """
    # of exponential waiting times with the weights as rates, that of item i is the shortest with probability weight i / Σ weights
    rng = random.Random(f"{seed}:regions")
    waits = [(rng.expovariate(weight), i) for i, weight in enumerate(weighted)]
    return [i for _, i in heapq.nsmallest(count, waits)]


def context(source: str, region: Region, characters: int) -> tuple[str, str]:
    """The text before and after a region: whole lines of at most so many characters on either side.

    The indentation of the region's first line and the end of its last line belong to these texts, count, and are always there.
    """
    starts = parse_statements(source).starts
    before = bisect_left(starts, region.start - characters)
    after = bisect_right(starts, region.end + characters) - 1
    return source[starts[min(before, region.first_line - 1)] : region.start], source[region.end : starts[max(after, region.last_line)]]


def deleted(source: str, region: Region) -> str:
    """Delete a region's lines from the file, so that it is still Python.

    A block that would be empty gets `pass`. Where a function inside declares a name nonlocal that only the region binds, the deleted lines
    are replaced by `name: object`, which makes the name local and does nothing.

    Raises: UnreadableSource; ValueError for a region that is not of this source.
    """
    module = parse_statements(source)
    function, block = _place(module, region)
    start, end = module.starts[region.first_line - 1], module.starts[region.last_line]
    indentation = source[start : region.start]
    line_end = source[region.end : end].lstrip(" \t\f")

    def without(names: Sequence[str]) -> str:
        lines = [f"{name}: object" for name in names]
        if not lines and all(region.start <= statement.start < region.end for statement in block):
            lines = ["pass"]
        return source[:start] + "".join(indentation + line + (line_end or "\n") for line in lines) + source[end:]

    if "nonlocal" not in source:
        return without([])
    return without(_names_left_unbound(source, region, function, without))


def _place(module: Module, region: Region) -> tuple[Function, Sequence[Statement]]:
    """The function and the block that a region's statements are of."""
    for function in module.functions:
        if function.name == region.function and function.first_line < region.first_line and region.last_line <= function.last_line:
            for block in blocks_of(function):
                if any(region.start <= statement.start and statement.end <= region.end for statement in block):
                    return function, block
    raise ValueError(f"no statement of {region.function} begins at offset {region.start} of this source: was the region found in another?")


def _names_left_unbound(source: str, region: Region, function: Function, without: Callable[[Sequence[str]], str]) -> list[str]:
    """The names that functions inside declare nonlocal and that only the region binds."""
    if _complaint(source) is not None:
        return _names_perhaps_unbound(source, region, function)
    names: list[str] = []
    while found := _UNBOUND.match(_complaint(without(names)) or ""):
        names.append(found[1])
    return names


def _complaint(source: str) -> str | None:
    """Python's error message on the names or the syntax of a text; None where it has none."""
    try:
        with without_warnings():
            symtable.symtable(source.removeprefix(BOM), "source", "exec")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return getattr(error, "msg", None) or str(error)
    return None


def _names_perhaps_unbound(source: str, region: Region, function: Function) -> list[str]:
    """The same for syntax newer than this Python's, from words alone: any name in the region may be one that it binds."""

    def declared(statements: Iterable[Statement]) -> set[str]:
        texts = (source[s.start : s.end] for s in statements if not s.blocks and not region.start <= s.start < region.end)
        return {name for text in texts for found in _DECLARATION.finditer(text) for name in _NAME.findall(found[1])}

    own = [statement for block in blocks_of(function) for statement in block]
    mentioned = set(_NAME.findall(source[region.start : region.end]))
    return sorted((declared(all_statements(function.body)) - declared(own)) & mentioned)
