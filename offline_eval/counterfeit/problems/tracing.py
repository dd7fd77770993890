"""Which programs and inputs execution is asked of, by CRUXEval's filter (facebookresearch/cruxeval; Gu et al. 2024, arXiv 2401.03065).

A program is rewritten so that it ends with an error where it does what nobody can do in the head: arithmetic of two numbers or sequences
that are both long, floats, true division, many steps. It then runs in the sandbox on the benchmark's inputs.
"""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass

from ....analysis.python.source_text import tree_or_none
from ....analysis.sandbox.isolation.limits import Limits
from ...sets.problem import literal

LIMITS = Limits(cpu_s=2)
MAX_STEPS = 100_000
# Inputs a program is asked about.
INPUTS = 2
_BARRED = frozenset(("eval", "exec", "open", "input", "hash", "set", "globals", "locals", "__import__", "compile"))
_PRELUDE = f"""\
import operator as _assay_operator
import sys as _assay_sys


class _AssayRefused(Exception):
    pass


# The program may catch the error, and go on to what it would not give without it.
_assay_reason = ""


def _assay_refuse(reason):
    global _assay_reason
    _assay_reason = reason
    raise _AssayRefused(reason)


def _assay_op(name, left, right):
    both = (left, right)
    if name == "truediv" or any(isinstance(value, (float, complex)) for value in both):
        _assay_refuse("floats")
    if all(isinstance(value, int) for value in both):
        if (abs(left) > 3 and abs(right) > 3) or (name.strip("i") == "pow" and right > 1):
            _assay_refuse("large numbers")
    if all(hasattr(value, "__len__") for value in both) and all(len(value) > 3 for value in both):
        _assay_refuse("long sequences")
    return getattr(_assay_operator, name)(left, right)


_assay_steps, _assay_running = 0, []


def _assay_tracer(frame, event, argument):
    global _assay_steps
    _assay_steps += event == "line"
    if _assay_steps > {MAX_STEPS}:
        _assay_refuse("many steps")
    return _assay_tracer


"""
_WRAPPED = """

_assay_entry = {entry}


def {entry}(*arguments):
    global _assay_reason, _assay_steps
    outermost = not _assay_running
    if outermost:
        _assay_steps, _assay_reason = 0, ""
        _assay_running.append(True)
        _assay_sys.settrace(_assay_tracer)
    try:
        value = _assay_entry(*arguments)
    finally:
        if outermost:
            _assay_sys.settrace(None)
            _assay_running.clear()
    if _assay_reason:
        raise _AssayRefused(_assay_reason)
    return value
"""
_OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "truediv", ast.FloorDiv: "floordiv", ast.Mod: "mod", ast.Pow: "pow",
    ast.BitAnd: "and_", ast.BitOr: "or_", ast.BitXor: "xor", ast.LShift: "lshift", ast.RShift: "rshift", ast.MatMult: "matmul",
}  # fmt: skip
# `%` of a text is no arithmetic, and is left as it is by the guard: a text and a tuple are seldom both long.


class _Guarded(ast.NodeTransformer):
    """Each operation as a call of the guard."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        return ast.copy_location(_call(_OPERATORS[type(node.op)], node.left, node.right), node)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        calls = any(isinstance(inner, ast.Call) for inner in ast.walk(node.target))
        self.generic_visit(node)
        if calls:
            return node  # guarded, what stands in its target would be called twice
        name = _OPERATORS[type(node.op)]
        inplace = name if name == "truediv" else f"i{name.rstrip('_')}"
        called = _call(inplace, ast.parse(ast.unparse(node.target), mode="eval").body, node.value)
        return ast.copy_location(ast.Assign([node.target], called), node)


def _call(name: str, left: ast.expr, right: ast.expr) -> ast.Call:
    return ast.Call(ast.Name("_assay_op", ast.Load()), [ast.Constant(name), left, right], [])


def guarded(program: str, entry_point: str) -> str | None:
    """The program that refuses; None for one that is barred by its text: imports, and functions that reach outside."""
    tree = tree_or_none(program)
    if tree is None:
        return None
    kept = [node for node in tree.body if not _is_typing(node)]
    nodes = [inner for node in kept for inner in ast.walk(node)]
    names = {node.id for node in nodes if isinstance(node, ast.Name)} | {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    if names & _BARRED or any(isinstance(node, ast.Import | ast.ImportFrom) for node in nodes):
        return None
    if any(isinstance(node, ast.Constant) and isinstance(node.value, float | complex) for node in nodes):
        return None
    rewritten = ast.fix_missing_locations(_Guarded().visit(tree))
    return _PRELUDE + ast.unparse(rewritten) + _WRAPPED.format(entry=entry_point)


def shown(program: str) -> str:
    """The program as it is shown for execution: without docstrings, and without the imports for its annotations."""
    tree = tree_or_none(program)
    if tree is None:
        return program
    lines = program.split("\n")
    dropped = [(node.lineno, node.end_lineno or node.lineno, False) for node in tree.body if _is_typing(node)]
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef) and ast.get_docstring(node, clean=False) is not None:
            text, *rest = node.body
            end = text.end_lineno or text.lineno
            if text.lineno > node.lineno and (not rest or rest[0].lineno > end):  # else code stands on its lines
                dropped.append((text.lineno, end, not rest))
    for begin, end, alone in sorted(dropped, reverse=True):
        indent = re.match(r"\s*", lines[begin - 1])
        lines[begin - 1 : end] = [f"{indent[0] if indent else ''}pass"] if alone else []
    return "\n".join(lines).strip("\n") + "\n"


@dataclass(frozen=True, slots=True)
class Pair:
    """An input with what the program gives for it, and what the right one does: literals. arguments: with commas between."""

    arguments: str
    value: str
    answer: str

    @property
    def agrees(self) -> bool:
        """Whether both give the same."""
        return literal(self.value) == literal(self.answer)


def chosen(program_id: str, is_right: bool, pairs: Sequence[Pair], seed: int) -> list[Pair]:
    """At most two inputs of a program, by a seed: of a counterfeit one for which its output is right, and one for which it is not."""
    draw = random.Random(f"{seed} {program_id}")
    plain = [pair for pair in pairs if _is_plain(pair)]
    agreeing = draw.sample(agree := [pair for pair in plain if pair.agrees], len(agree))
    differing = draw.sample(differ := [pair for pair in plain if not pair.agrees], len(differ))
    if is_right:
        return agreeing[:INPUTS]
    return [*agreeing[: INPUTS - 1], *differing[: INPUTS - 1]]


def _is_plain(pair: Pair) -> bool:
    """Whether all of it can be printed on a line as a literal without floats."""
    texts = (f"({pair.arguments},)", pair.value, pair.answer)
    return all(text.isprintable() and literal(text) is not None and not _has_float(text) for text in texts)


def _has_float(text: str) -> bool:
    return any(
        isinstance(node, ast.Constant) and isinstance(node.value, float | complex) for node in ast.walk(ast.parse(text, mode="eval"))
    )


def _is_typing(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == "typing"
