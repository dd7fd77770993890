"""The parse guard: whether a text leaves the code around the cursor as whole as it was.

Code is mostly broken while a line of it is typed. So it is compared with what it is without the cursor's line: if that is whole, it must be
whole with the text, too. A line that opens a block, or whose statement goes on below, counts as whole with what ends it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..cursor import Cursor
from .ends import ends_of
from .fragments import Fragment, fragments, unpaired
from .mistakes import STRICT, in_tree, is_comment_at, is_wrong_before_its_end, readings

# With more mistakes than this around, the grammar does not know the file's dialect, or its macros.
_MAX_MISTAKES = 2

_INDENT = re.compile(r"[ \t]*")
_HEADER = re.compile(r":\s*(?:#.*)?\Z")
_COMMENT_SIGN = re.compile(r"#|//|/\*|--")


def breaks(text: str, cursor: Cursor) -> bool | None:
    """Whether a text at a cursor breaks code that is whole without it; None where nothing tells.

    That is so in a language without a parser, where the parser does not understand what is around, because it does not know the file's
    dialect, and where the code is broken already, on the cursor's line or around it, unless the text adds a mistake. A text that turns the
    rest of the line into a comment breaks the code, too.
    """
    ways = readings(cursor.language)
    parts = list(fragments(cursor, text)) if ways else []
    if parts and all(_makes_a_comment(part, text, cursor.language) for part in parts):
        return True
    for alike in ways:
        for part in parts:
            for mistakes in alike:
                if mistakes(part.having(text)) == 0:
                    return False
                if all(mistakes(before) for before in _without(part, cursor.language)):
                    continue  # this part tells nothing, and trying each end in it would take most of the time
                if any(mistakes(after) == 0 for after in _ended(part, text, cursor.language)):
                    return False
                if alike is STRICT:
                    return None if is_wrong_before_its_end(part.above + part.start) else True
                return True if _mistakes_around(parts[-1], cursor) <= _MAX_MISTAKES else None
    if not parts:
        return None
    if cursor.language == "python" and is_wrong_before_its_end(parts[-1].start.lstrip()):
        return None
    before = _mistakes_around(parts[-1], cursor)
    if before > _MAX_MISTAKES or in_tree(cursor.language, parts[-1].having(text)) <= before:
        return None
    return None if any(in_tree(cursor.language, after) <= before for after in _ended(parts[-1], text, cursor.language)) else True


def _makes_a_comment(part: Fragment, text: str, language: str) -> bool:
    """Whether the rest of the cursor's line is code, and a comment behind the text."""
    blanks = len(part.rest) - len(part.rest.lstrip())
    if blanks == len(part.rest) or not _COMMENT_SIGN.search(text):
        return False
    at = len(part.above + part.start) + blanks
    return is_comment_at(language, part.having(text), at + len(text)) and not is_comment_at(language, part.having(""), at)


def _mistakes_around(part: Fragment, cursor: Cursor) -> int:
    return min(in_tree(cursor.language, before) for before in _without(part, cursor.language))


def _without(fragment: Fragment, language: str) -> Iterator[str]:
    """The code without the cursor's line, or with the least that may stand in its place; last as it is."""
    indent, skeleton = _INDENT.match(fragment.line)[0], unpaired(fragment.line)  # type: ignore[index]
    is_header = language == "python" and _HEADER.search(fragment.line)
    yield fragment.with_line(indent + (skeleton or "if 1") + ":" if is_header else indent + skeleton if skeleton else "")
    if language == "python":
        yield fragment.with_line(f"{indent}pass")
    if fragment.line.strip():
        yield fragment.having("")


def _ended(fragment: Fragment, text: str, language: str) -> Iterator[str]:
    """The code with a text and what would end it below, if the text ends in the middle of a statement or opens a block."""
    line = (fragment.start + text + fragment.rest).rsplit("\n", 1)[-1].rstrip()
    for end in ends_of(line, language):
        yield fragment.having(text)[: -1 - len(fragment.below)] + f"\n{end}\n{fragment.below}"
