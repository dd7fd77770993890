"""Lines are indented as the document's are, by tabs or by spaces, and a block is one level deeper than what opens it.

A model counts indentation badly where a level is not the four spaces that most files have: it writes a tab too many, four spaces in a file
of two or of eight, spaces among tabs. So what it writes is read as levels, counted from a line whose level the cursor tells.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ...inference.completion.task import start_of_line
from ...inference.stopping.rules import indentation
from ...inference.stopping.statements import code_only
from ..cursor import Cursor

# So many characters on either side of the cursor are looked at for the document's indentation.
_NEAR = 1 << 13
# Columns of a tab, and of a level of spaces where nothing speaks against it.
_TAB, _LEVEL = 8, 4
# No header of a block has more lines.
_MAX_HEADER = 60

_LINE_END = re.compile(r"(\r\n|\r|\n)")
# Where a block follows a colon. Elsewhere one ends a label, and a block has braces. Of a plain text it is not known.
_WITH_COLONS = frozenset({"python", "plaintext", "yaml", "cython", "starlark", "nim", "gdscript"})
_COMMENT_AT_END = re.compile(r"(?:^|[ \t]+)//.*$")
_LABEL = re.compile(r"[ \t]*(?:case\b.*:|default[ \t]*:|(?:\w+[ \t]+)?\w+:[ \t]*$)")
# A block goes on behind a docstring, and behind a comment, as deep as that.
_COMMENT = re.compile(r"[ \t]*(?:#|//|--|/?\*)")
_DOCSTRING = re.compile(r"[ \t]*[rRuU]?([\"']).*\1[ \t]*$|.*(?:\"{3}|'{3})[ \t]*$")
# A line of C or JavaScript below which one line is deeper.
_HEADS_A_LINE = re.compile(r"(?:\}[ \t]*)?(?:else|do|(?:(?:else[ \t]+)?if|for|while)[ \t]*\(.*\))[ \t]*$")
_OPENING, _CLOSING = re.compile(r"[(\[{]"), re.compile(r"[)\]}]")


@dataclass(frozen=True, slots=True)
class _Style:
    """How a document is indented. level: columns of a level. tabs: whether as many as go into it are written for its columns."""

    level: int
    tabs: bool

    def written(self, columns: int) -> str:
        """An indentation of so many columns."""
        return "\t" * (columns // _TAB) + " " * (columns % _TAB) if self.tabs else " " * columns


@dataclass(frozen=True, slots=True)
class _Base:
    """What the lines of a text are counted from: a line that the model indents by `width` is to have `columns`.

    step: the width of the model's level. least: the columns that each line has.
    """

    width: int
    columns: int
    step: int
    least: int

    def columns_of(self, width: int, level: int) -> int:
        """Of a line that the model indents by a width: whole levels, and the spaces that are left."""
        levels, rest = divmod(width - self.width, self.step)
        return max(self.least, self.columns + levels * level + rest)


def in_the_documents_style(text: str, cursor: Cursor) -> str:
    """The text with its lines indented as the document's around it are; unchanged where nothing tells how these are, or how deep it is."""
    first, *later = _LINE_END.split(text)
    language = cursor.language
    own = start_of_line(cursor.prefix)
    is_changed = any(line.strip() for line in later) or (not own.strip() and first != first.lstrip(" \t"))
    style = _style_of(cursor) if is_changed else None
    if style is None:
        return text
    if not style.tabs and style.level == _LEVEL:  # as most files are: only tabs are wrong
        return first + "".join(_indent(part).replace("\t", " " * _LEVEL) + part.lstrip(" \t") if part.strip() else part for part in later)
    if own.strip():
        known = _below(cursor.prefix + first, style, language, is_header=cursor.kind != "line" and not first.strip())
        return first + "".join(_indented(later, style, _base(later, known, known or 0, style, language)))
    body = first.lstrip(" \t")
    if not body:
        return text
    lead, depth = first[: len(first) - len(body)], indentation(own)
    header = _header_above(cursor, own + lead, body, style)
    columns = header + style.level if depth <= header else depth
    wanted = style.written(columns)
    missing = lead if header < 0 else wanted.removeprefix(own) if wanted.startswith(own) else ""
    if not _COMMENT.match(body) and (_opens(body, language) or _HEADS_A_LINE.match(_code(body, language))):
        base = None if _is_half(body, columns, style, language) else _base(later, columns + style.level, columns, style, language)
    else:
        base = _beside(own, "" if lead == missing else lead, body, columns, later, style, language)
    return missing + body + "".join(_indented(later, style, base))


def _header_above(cursor: Cursor, indent: str, body: str, style: _Style) -> int:
    """The columns of what opens the block that the first line of a text is in; -1 where none does, or the line may be right as it is.

    indent: of the line as the model wrote it. Where blocks have braces, what is not deeper than its header may be right, as `}`, a label
    or what a namespace has.
    """
    above = _code(cursor.prefix[-_NEAR:], cursor.language).rstrip()
    if not _opens_a_block(start_of_line(above), cursor.language):
        return -1
    header, depth = _header(above), indentation(indent)
    if above.endswith(":"):
        return header
    is_as_written = depth <= header and (indent == style.written(depth) or not indent)
    return -1 if is_as_written or body[0] in ")]}#*" or _LABEL.match(body) else header


def _code(text: str, language: str) -> str:
    """The text without what strings and comments say."""
    masked = code_only(text)
    return masked if language in _WITH_COLONS and language != "plaintext" else _COMMENT_AT_END.sub("", masked)


def _opens_a_block(line: str, language: str) -> bool:
    """Whether lines below a line are one level deeper, and it is no label."""
    code = _code(line, language).rstrip()
    return code.endswith("{") or (code.endswith(":") and language in _WITH_COLONS)


def _opens(line: str, language: str) -> bool:
    """Whether the lines below a line are one level deeper, as a rule."""
    return _code(line, language).rstrip().endswith((":", "{", "(", "["))


def _is_half(line: str, columns: int, style: _Style, language: str) -> bool:
    """Whether a line is a label that stands between two levels, as some do in C++: below it lines are at the next one."""
    return columns % style.level > 0 and language not in _WITH_COLONS and _LABEL.match(line) is not None


def _below(text: str, style: _Style, language: str, *, is_header: bool) -> int | None:
    """The columns that the line below a text has; None where it does not say. is_header: whether a block follows."""
    line = start_of_line(text)
    if not (is_header or _opens(line, language)) or _is_half(line, indentation(line), style, language):
        return None
    return indentation(line) if _COMMENT.match(line) or _DOCSTRING.match(line) else _header(text) + style.level


def _header(text: str) -> int:
    """The columns of the first line of a statement that a text ends with: where its brackets are opened."""
    lines, depth = _LINE_END.split(text)[::2], 0
    for line in reversed(lines[-_MAX_HEADER:]):
        depth += len(_CLOSING.findall(line)) - len(_OPENING.findall(line))
        if depth <= 0:
            return indentation(line)
    return indentation(lines[-1])


def _indented(later: Sequence[str], style: _Style, base: _Base | None) -> Iterator[str]:
    """Line ends and lines, by turns, the lines in the document's style."""
    for part in later:
        if base is None or not part.strip():
            yield part
        else:
            yield style.written(base.columns_of(indentation(part), style.level)) + part.lstrip(" \t")


def _base(later: Sequence[str], columns: int | None, least: int, style: _Style, language: str) -> _Base | None:
    """What lines are counted from of which the first is to have so many columns; None where they stay as they are."""
    bodies = [line for line in later[1::2] if line.strip()]
    if columns is None or not bodies or (language not in _WITH_COLONS and _LABEL.match(bodies[0])):
        return None
    if _indent(bodies[0]) != style.written(columns):
        return _Base(indentation(bodies[0]), columns, _step(bodies, language), least)
    # Where levels are written by tabs and by spaces, a model writes either.
    return _Base(columns, columns, style.level, least) if style.tabs and style.level != _TAB else None


def _beside(own: str, lead: str, body: str, columns: int, later: Sequence[str], style: _Style, language: str) -> _Base | None:
    """As `_base`, of the lines below one that opens nothing. columns: its own. own: before it; lead: what was written too much."""
    goes_on = len(_OPENING.findall(body)) > len(_CLOSING.findall(body)) or body.endswith(("\\", ",")) or body.startswith("/*")
    if not goes_on or body.startswith("#"):
        return _base(later, columns, columns, style, language)
    return _Base(indentation(own + lead), columns, style.level, columns) if lead else None


def _step(bodies: Sequence[str], language: str) -> int:
    """The width of a level in the lines that a model wrote."""
    if _indent(bodies[0]).endswith("\t"):
        return _TAB
    widths = list(map(indentation, bodies))
    pairs = zip(bodies, widths, widths[1:], strict=False)
    steps = [below - above for line, above, below in pairs if below > above and _opens_a_block(line, language)]
    steps += [widths[0] - width for width in widths if width < widths[0]]
    return min(steps, default=_LEVEL)


def _style_of(cursor: Cursor) -> _Style | None:
    """As the line above is indented, else the nearest one that is; by levels that blocks around it have."""
    near = cursor.prefix[-_NEAR:]
    above = _LINE_END.split(near)[::2][len(cursor.prefix) > len(near) :]
    below = _LINE_END.split(cursor.suffix[:_NEAR])[2::2]
    lines = [line for line in (*above, *below) if line.strip()]
    nearest = [line for line in (*reversed(above), *below) if _indent(line)]
    if not nearest:
        return None
    tabs = "\t" in _indent(nearest[0])
    steps, is_mixed = Counter[int](), False
    for line, next_line in pairwise(lines):
        outer, inner = _indent(line), _indent(next_line)
        step = indentation(inner) - indentation(outer)
        if step > 0 and _opens_a_block(line, cursor.language) and not _COMMENT.match(line):
            mixes = "\t" in inner and (inner.endswith(" ") or outer[:1] == " ")
            is_mixed |= mixes
            if step <= _TAB and step != 1 and (mixes or ("\t" in inner) is tabs):
                steps[step] += 1
    if tabs and not is_mixed:
        return _Style(_TAB, tabs=True)
    ((level, count),) = steps.most_common(1) or [(0, 0)]
    return _Style(level, tabs=is_mixed) if count > 1 and 2 * count > steps.total() else None


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" \t"))]
