"""Read the statements of a Python file: with Python's own parser, or with libcst where the syntax is newer than the Python that runs."""

from __future__ import annotations

from functools import lru_cache

from . import statements_ast
from .source_text import UnreadableSource
from .statements import Module


def parse_statements(source: str) -> Module:
    """The statements of a text, in any syntax from Python 3.0 on that the running Python or an installed libcst reads.

    Raises UnreadableSource with line and reason.
    """
    found = _read(source)
    if isinstance(found, str):
        raise UnreadableSource(found)
    return found


@lru_cache(maxsize=8)
def _read(source: str) -> Module | str:
    """The statements, or why they can't be read: that, too, is asked again and again."""
    try:
        return statements_ast.read(source)
    except UnreadableSource as refusal:
        try:
            from . import statements_libcst

            return statements_libcst.read(source)
        except ImportError:  # a Python that has nothing installed reads its own syntax
            return str(refusal)
        except UnreadableSource as other:
            return f"{refusal}; and by libcst: {str(other).splitlines()[0]}"
