"""How a name or an attribute is used at its place."""

from __future__ import annotations

import libcst as cst

from ...python.syntax.parsed import Parsed


def is_called(parsed: Parsed, node: cst.CSTNode) -> bool:
    """Whether it is what a call calls."""
    above = parsed.parents[node]
    return isinstance(above, cst.Call) and above.func is node


def in_annotation(parsed: Parsed, node: cst.CSTNode) -> bool:
    """Whether it is a part of an annotation."""
    return any(isinstance(above, cst.Annotation) for above in parsed.ancestors(node))
