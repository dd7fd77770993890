"""Files without their docstrings, to ask for the same line with and without them (Spiess et al., arXiv 2402.02047, section 3.1)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..text_edits import Edit
from .lines import Line
from .source_text import LINE_END
from .statements import Docstring, Module, begins_line, parse_statements

_SPACE = re.compile(r"(?:[ \t\f]|\\(?:\r\n?|\n))*")
_LINE_END = re.compile(rf"{LINE_END.pattern}|\Z")


@dataclass(frozen=True, slots=True)
class Undocumented:
    """A file without docstrings. cuts: what was removed from the source, in its order."""

    text: str
    cuts: tuple[Edit, ...]

    def offset(self, offset: int) -> int | None:
        """The offset in the text of a character of the source; None where it was removed."""
        moved = 0
        for cut in self.cuts:
            if offset < cut.start:
                break
            if offset < cut.end:
                return None
            moved += len(cut.text) - (cut.end - cut.start)
        return offset + moved

    def line(self, line: Line) -> Line | None:
        """The same line in the text; None where a docstring stands on it."""
        if any(cut.start < line.end and line.start < cut.end for cut in self.cuts):
            return None
        start = self.offset(line.start)
        return None if start is None else Line(line.function, start, start + line.end - line.start)


def without_docstrings(source: str) -> Undocumented:
    """Remove the docstrings of a module, its classes and functions; all else stays, comments included.

    A body that has nothing else gets `...`. A string right after a docstring is removed too, since it would become the docstring.
    Raises UnreadableSource.
    """
    module, text = parse_statements(source), source
    cuts = tuple(_cut(source, module, docstring) for docstring in module.docstrings)
    for cut in reversed(cuts):
        text = cut.of(text)
    return Undocumented(text, cuts)


def _cut(source: str, module: Module, docstring: Docstring) -> Edit:
    start, end = docstring.start, docstring.end
    line_start = module.starts[docstring.first_line - 1]
    first_on_line = not source[line_start:start].strip()
    if (docstring.alone and docstring.first) or (first_on_line and not begins_line(source, line_start, start)):
        return Edit(start, end, "...")
    end = _after_space(source, end)
    if source.startswith(";", end):
        end = _after_space(source, end + 1)
    if first_on_line and (line_end := _LINE_END.match(source, end)):
        return Edit(line_start, line_end.end(), "")
    return Edit(start, end, "")


def _after_space(source: str, offset: int) -> int:
    found = _SPACE.match(source, offset)
    return found.end() if found else offset
