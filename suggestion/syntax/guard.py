"""The parse guard: whether a text leaves the code around the cursor as whole as it was.

Code is mostly broken while a line of it is typed. So it is compared with what it is without the cursor's line: if that is whole, it must be
whole with the text, too. A line that opens a block counts as whole with an empty body.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ..cursor import Cursor
from .fragments import Fragment, fragments
from .mistakes import STRICT, in_tree, readings

# A grammar that does not understand more of what is around does not know all that the language has, such as macros or a dialect.
_MAX_MISTAKES = 2

_INDENT = re.compile(r"[ \t]*")
_HEADER = re.compile(r":\s*(?:#.*)?\Z")
_PAIRS = {"(": ")", "[": "]", "{": "}"}
# What ends a block that a line opens by a word.
_WORDS = {"lua": ("end", "until _"), "ruby": ("end",), "shellscript": ("fi", "done", "esac")}
# What an annotation or a decorator may stand above.
_ANNOTATED = ("class _ {}", "_() {}", "fn _f() {}")


def breaks(text: str, cursor: Cursor) -> bool | None:
    """Whether a text at a cursor breaks code that is whole without it; None for a language without a parser.

    Of code that is broken without it, too, it is asked whether the text adds a mistake; where the parser does not understand what is
    around, because it does not know the file's dialect, it breaks nothing.
    """
    ways = readings(cursor.language)
    parts = list(fragments(cursor, text)) if ways else []
    for alike in ways:
        for part in parts:
            for mistakes in alike:
                if any(mistakes(after) == 0 for after in _with(part, text, cursor.language)):
                    return False
                if any(mistakes(before) == 0 for before in _without(part, cursor.language)):
                    return alike is STRICT or _mistakes_around(parts[-1], cursor) <= _MAX_MISTAKES
    if not parts:
        return None
    before = _mistakes_around(parts[-1], cursor)
    return before <= _MAX_MISTAKES and all(in_tree(cursor.language, after) > before for after in _with(parts[-1], text, cursor.language))


def _mistakes_around(part: Fragment, cursor: Cursor) -> int:
    return min(in_tree(cursor.language, before) for before in _without(part, cursor.language))


def _without(fragment: Fragment, language: str) -> Iterator[str]:
    """The code without the cursor's line, or with the least that may stand in its place; last as it is."""
    indent, skeleton = _INDENT.match(fragment.line)[0], fragment.skeleton  # type: ignore[index]
    is_header = language == "python" and _HEADER.search(fragment.line)
    yield fragment.with_line(indent + (skeleton or "if 1") + ":" if is_header else indent + skeleton if skeleton else "")
    if language == "python":
        yield fragment.with_line(f"{indent}pass")
    yield fragment.having("")


def _with(fragment: Fragment, text: str, language: str) -> Iterator[str]:
    """The code with a text; then with an empty body as well, if its last line can open a block."""
    yield fragment.having(text)
    line = (fragment.start + text + fragment.rest).rsplit("\n", 1)[-1].rstrip()
    for body in _bodies(line, language):
        yield fragment.having(text)[: -1 - len(fragment.below)] + f"\n{body}\n{fragment.below}"


def _bodies(line: str, language: str) -> Sequence[str]:
    """What may stand below a line that opens a block, so that the block is whole and empty."""
    indent = _INDENT.match(line)[0]  # type: ignore[index]
    if language == "python":
        if line.lstrip().startswith("@"):
            return (f"{indent}def _(): pass",)
        if not _HEADER.search(line):
            return ()
        return (f"{indent} pass", f"{indent} pass\n{indent}finally: pass", f"{indent} case _: pass")
    if line.endswith("{"):
        open_ = "".join(_PAIRS[bracket] for bracket in reversed(Fragment("", line, "", "").skeleton) if bracket in _PAIRS)
        return (open_, f"{open_};")
    if line.lstrip().startswith(("@", "#[")):
        return _ANNOTATED
    if re.match(r"\s*#\s*if", line):
        return ("#endif",)
    return _WORDS.get(language, ())
