"""Whole function bodies of real code, to be written from signature and docstring as in HumanEval."""

from __future__ import annotations

from collections.abc import Collection

from .regions import Region
from .source_text import code_end
from .statement_parsing import parse_statements
from .statements import Function, is_fully_covered


def bodies(source: str, *, documented: bool = True, covered: Collection[int] | None = None) -> list[Region]:
    """The body of each function, as a region of whole lines: source[: region.start] is the prompt, source[region.end :] what follows.

    The docstring stays in the prompt; comments before the first statement belong to the body. Functions that do nothing (`pass`, `...`),
    and bodies that share a line with their `def` or docstring, are left out.

    Parameters:
        documented: only functions with a docstring.
        covered: as in `lines.functions`.

    Raises: UnreadableSource.
    """
    found = []
    for function in parse_statements(source).functions:
        if (documented and function.docstring is None) or (covered is not None and not is_fully_covered(function, covered)):
            continue
        if (region := _body(source, parse_statements(source).starts, function)) is not None:
            found.append(region)
    return found


def _body(source: str, starts: tuple[int, ...], function: Function) -> Region | None:
    docstring = function.docstring
    statements = [s for s in function.body if docstring is None or s.start != docstring.start or s.end != docstring.end]
    if not any(s.runs and s.kind != "pass" for s in statements) or not statements[0].own_line:
        return None
    if docstring is not None and statements[0].first_line <= docstring.last_line:
        return None
    first = statements[0]
    start, line = first.start, first.first_line
    above = docstring.last_line if docstring else function.header_last_line
    for number in range(first.first_line - 1, above, -1):
        text = source[starts[number - 1] : starts[number]]
        if text.strip() and not text.lstrip().startswith("#"):
            break  # the end of the header: a bracket and a colon
        if text.strip():
            start, line = starts[number - 1] + len(text) - len(text.lstrip()), number
    last = statements[-1]
    return Region(function.name, start, code_end(source, last.end), line, last.last_line, first.kind)
