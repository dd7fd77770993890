"""The assertions that a model wrote for a problem: read from its texts, and run as a test that reports each.

Only plain assertions are taken: comparisons of calls of the function with literals and a few builtins. They run in the judge, which is
trusted, so nothing that could do more is.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterable

# A text goes on with other code behind an assertion (Chen et al. 2022, CodeT, stops at the same).
_END = re.compile(r"\n(?:class|def|#|if|print)")
_MAX_LENGTH = 2_000
_BUILTINS = frozenset(
    ("abs", "all", "any", "bool", "dict", "float", "int", "len", "list", "max", "min", "round", "set", "sorted", "str", "tuple")
)
_PLAIN = (
    *(ast.Expression, ast.Compare, ast.BoolOp, ast.UnaryOp, ast.Call, ast.Name, ast.Constant, ast.boolop, ast.unaryop, ast.cmpop),
    *(ast.List, ast.Tuple, ast.Set, ast.Dict, ast.Load, ast.Subscript, ast.Slice, ast.BinOp, ast.Add, ast.Sub, ast.Div),
)
_TEST = """\
test_report = ""
own_tests = [
{tests}
]
for own_test in own_tests:
    try:
        own_mark = "1" if own_test() else "0"
    except Exception:
        own_mark = "0"
    test_report += own_mark
"""


def assertions(texts: Iterable[str], entry_point: str) -> list[str]:
    """The distinct plain assertions in texts that go on from `assert `, in their order, each as an expression."""
    found: dict[str, None] = {}
    for text in texts:
        for part in re.split(r"\bassert\b", text):
            if (expression := _expression(part, entry_point)) is not None:
                found[expression] = None
    return list(found)


def _expression(part: str, entry_point: str) -> str | None:
    """What is asserted, spelled as Python spells it; None where that is no plain assertion on the function."""
    part = _END.split(part, maxsplit=1)[0].strip()
    if entry_point not in part or len(part) > _MAX_LENGTH:
        return None
    for text in dict.fromkeys((part, part.partition("\n")[0])):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of `is` with a literal
                statement = ast.parse(f"assert {text}").body
        except (SyntaxError, ValueError, MemoryError, RecursionError):
            continue
        if len(statement) == 1 and isinstance(statement[0], ast.Assert) and _is_plain(statement[0].test, entry_point):
            return ast.unparse(statement[0].test)
    return None


def _is_plain(test: ast.expr, entry_point: str) -> bool:
    nodes = list(ast.walk(test))
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    called = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
    return (
        all(isinstance(node, _PLAIN) for node in nodes)
        and entry_point in names
        and names <= _BUILTINS | {entry_point}
        # a name that is only called: nothing of the program's own is handed around
        and all(id(node) in called for node in nodes if isinstance(node, ast.Name))
        and not any(node.keywords for node in nodes if isinstance(node, ast.Call))
    )


def own_test(expressions: Iterable[str]) -> str:
    """A test for the sandbox that reports a mark for each expression: 1 where it holds, else 0; fewer where the program ended before."""
    return _TEST.format(tests="\n".join(f"    lambda: {expression}," for expression in expressions))
