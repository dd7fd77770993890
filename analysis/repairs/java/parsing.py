"""Whether a Java program with a change still parses."""

from __future__ import annotations

import tree_sitter_java
from tree_sitter import Language, Parser

from ..rule import Change

_PARSER = Parser(Language(tree_sitter_java.language()))


def parses(source: str, change: Change) -> bool:
    """Whether the source with the change parses. That javac accepts it is not asked."""
    return not _PARSER.parse(change.of(source).encode()).root_node.has_error
