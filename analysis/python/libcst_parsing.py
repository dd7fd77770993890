"""Parse Python with libcst. Nobody else calls its parser, which recurses in native code: a stack overflow ends the process.

So a text that is nested far deeper than code is refused before it is parsed, and the parser gets a stack of its own, whoever calls it. How
deep it is, tree-sitter says, whose parser does not recurse.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

import libcst as cst

from ..grammars import mistakes_in, parser_of
from .source_text import UnreadableSource

# What each level takes of a stack, measured with libcst 1.9: a bracket or a field of an f-string 8 KiB, a lambda in a lambda's default
# 14 KiB, a link of a chain 1.5 KiB, a block 25 KiB (of which libcst itself allows 100). All of that together is below 20 MiB.
_STACK_BYTES = 64 << 20
_MAX_DEPTH = 1000
# libcst takes up to four times as long for each further level of a pattern
_MAX_PATTERN_DEPTH = 5
_PATTERNS = frozenset(("list_pattern", "tuple_pattern", "dict_pattern", "class_pattern"))
# whose parts are side by side for tree-sitter, and in each other for libcst
_CHAINS = frozenset(("if_statement", "comparison_operator", "concatenated_string", "dotted_name"))
_CHAINS |= frozenset(("list_comprehension", "set_comprehension", "dictionary_comprehension", "generator_expression"))
# the size of a stack is set for all threads that start
_lock = threading.Lock()


def check_nesting(text: str) -> None:
    """Raise UnreadableSource for what tree-sitter does not parse, and for far deeper nesting, or longer chains, than code has."""
    tree = parser_of("python").parse(text.encode(errors="surrogatepass"))
    if mistakes := mistakes_in(tree):
        raise UnreadableSource(f"not Python that can be parsed: line {min(mistakes)[0] + 1}")
    pending = [(tree.root_node, 0, 0)]
    while pending:
        node, depth, patterns = pending.pop()
        if depth > _MAX_DEPTH or patterns > _MAX_PATTERN_DEPTH:
            raise UnreadableSource(f"line {node.start_point.row + 1}: nested too deep, or too long a chain of operators, for libcst")
        chained, patterns = node.type in _CHAINS, patterns + (node.type in _PATTERNS)
        pending += [(child, depth + 1 + chained * place, patterns) for place, child in enumerate(node.named_children)]


def parse_module(text: str) -> cst.Module:
    """The tree of a text. Raises UnreadableSource where it is nested too deep, or libcst does not parse it."""
    check_nesting(text)
    found: list[cst.Module | BaseException] = []

    def parse() -> None:
        try:
            found.append(cst.parse_module(text))
        # a panic of the native parser is no Exception
        except BaseException as error:
            found.append(error)

    try:
        _with_stack(parse)
    except RuntimeError as error:
        raise UnreadableSource(f"it can't be parsed: {error}") from None
    match found[0]:
        case cst.Module() as tree:
            return tree
        case cst.ParserSyntaxError() as wrong:
            raise UnreadableSource(f"not Python that can be parsed: line {wrong.raw_line}: {wrong.message}")
        case RecursionError() | UnicodeError() as why:
            raise UnreadableSource(f"not Python that can be parsed: {why}")
        case Exception() as other:
            raise other
        case panic:
            raise UnreadableSource(f"libcst fails to parse it: {panic}")


def _with_stack(call: Callable[[], None]) -> None:
    """Run a call to its end in a thread with a stack for the parser: that of the present thread may be small, or used up."""
    with _lock:
        before = threading.stack_size(_STACK_BYTES)
        try:
            thread = threading.Thread(target=call, name="libcst")
            thread.start()
        finally:
            threading.stack_size(before)
    thread.join()
