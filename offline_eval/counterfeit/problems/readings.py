"""What a model's answers say: a program, a verdict, a value. Pure functions; None where an answer can't be read."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Hashable, Iterable, Sequence
from functools import lru_cache

from ....analysis.python.source_text import tree_or_none
from ....inference.asking.asker import last_block
from ...asked_model import p_of_first
from ...sets.problem import literal

_FENCE = re.compile(r"```[a-zA-Z0-9]*\n(.*?)```", re.DOTALL)
_WORDS = {"correct": 1.0, "incorrect": 0.0}


def program_in(text: str) -> str | None:
    """The program in the last complete block of tags, or else of Markdown."""
    block = last_block(text, "PYTHON")
    fenced = _FENCE.findall(text if block is None else block)
    found: str | None = fenced[-1] if fenced else block
    return found.strip("\n").rstrip() + "\n" if found and found.strip() else None


def verdict_in(text: str) -> float | None:
    """1 for Correct and 0 for Incorrect, in the last complete answer tag, in any case."""
    block = last_block(text, "ANSWER")
    return None if block is None else _WORDS.get(block.strip(" \n\t.*`'\"").casefold())


def voted(verdicts: Iterable[float | None]) -> float | None:
    """What most answers say; ½ where as many say the one as the other, None where none can be read."""
    said = [verdict for verdict in verdicts if verdict is not None]
    if not said:
        return None
    right = sum(said)
    return 0.5 if 2 * right == len(said) else float(2 * right > len(said))


def p_correct(top: Sequence[tuple[str, float]]) -> float | None:
    """P(Correct) over P(Correct) + P(Incorrect), from the likeliest first tokens (text, log p) of the answer."""
    return p_of_first(top, ("correct", "incorrect"))


def value_in(text: str) -> Hashable | None:
    """The literal of an assertion, as `literal` gives it: in the last complete answer tag, or of the whole text where it has no tag."""
    block = last_block(text, "ANSWER")
    if block is None:
        if "[ANSWER]" in text:
            return None
        block = text.strip()
    tree = tree_or_none(block)
    if tree is None:
        return literal(block.rpartition("==")[2]) if block.startswith("assert ") else None
    match tree.body[-1:]:
        case [ast.Assert(test=ast.Compare(comparators=[value]))]:
            return literal(ast.unparse(value))
    return literal(block)


@lru_cache(maxsize=1 << 15)
def with_specification(program: str, prompt: str, entry_point: str) -> str:
    """The program with the docstring of the prompt, whatever stands in its place: a judge must see what was asked for.

    A body alone is put behind the prompt. Any other program that does not parse, or lacks the function, is given back as it is.
    """
    whole = f"{prompt.rstrip()}\n{program}"
    if tree_or_none(program) is None and tree_or_none(whole) is not None:
        return whole
    found, asked = (_function_in(text, entry_point) for text in (program, prompt))
    if found is None or asked is None:
        return program
    wanted = ast.get_docstring(asked[1])
    if wanted is None or ast.get_docstring(found[1]) == wanted:
        return program
    made = _spliced(program, found[1], wanted)
    return made if _what_it_does(made, entry_point) == _what_it_does(program, entry_point) else _rewritten(*found, wanted)


def _spliced(program: str, function: ast.FunctionDef, docstring: str) -> str:
    """The text of a program with another docstring, and all else as it is written. Wrong where a line has more than a statement."""
    lines, first = program.split("\n"), function.body[0]
    begin = end = min([first.lineno, *(each.lineno for each in getattr(first, "decorator_list", ()))]) - 1
    indent = lines[begin][: first.col_offset]
    rest: tuple[str, ...] = ()
    if ast.get_docstring(function, clean=False) is not None:
        end = first.end_lineno or first.lineno
        rest = () if len(function.body) > 1 else (f"{indent}pass", "")
    text = docstring.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    quoted = [f"{indent}{line}" if line else "" for line in f'"""{text}'.split("\n")]
    return "\n".join([*lines[:begin], *quoted, f'{indent}"""', *rest, *lines[end:]]).rstrip("\n") + "\n"


def _rewritten(tree: ast.Module, function: ast.FunctionDef, docstring: str) -> str:
    """A program with another docstring as Python spells it, without its comments."""
    said = ast.Expr(ast.Constant(textwrap.indent(docstring, "    ").lstrip() + "\n    "))
    function.body = [said, *_body(function)]
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


def _what_it_does(program: str, entry_point: str) -> str:
    """The program without the function's docstring, as a text that only equal programs have."""
    found = _function_in(program, entry_point)
    if found is None:
        return ""
    tree, function = found
    function.body = _body(function)
    return ast.dump(tree)


def _body(function: ast.FunctionDef) -> list[ast.stmt]:
    """What a function does, without its docstring."""
    return function.body if ast.get_docstring(function, clean=False) is None else function.body[1:] or [ast.Pass()]


def _function_in(text: str, name: str) -> tuple[ast.Module, ast.FunctionDef] | None:
    """A program with its function of that name; of several the last."""
    tree = tree_or_none(text)
    found = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == name] if tree else []
    return (tree, found[-1]) if tree and found else None
