"""HumanEval, HumanEval+, MBPP and MBPP+ as functions: signature and docstring are shown, the body is asked for.

MBPP publishes a sentence, and a program that answers it. As in the paper that becomes a function with the sentence as its docstring (Spiess
et al. 2024, §3): what the program has before the function's docstring stands in the prompt, what it has after its body in the suffix. Its
problems without one function that the assertions call are left out.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from ...analysis.corpora.benchmarks import Item, UnreadableItems, read_items
from .problem import Problem, SetError


def human_eval(path: Path) -> list[Problem]:
    """The problems of HumanEval or HumanEval+. Raises SetError."""
    return [
        Problem(
            *(item.id, "humaneval", "function", "python", item.id, item.prompt, "", item.canonical_solution, "", item.test),
            item.entry_point,
            item.base_inputs,
            item.plus_inputs,
        )
        for item in _items(path, "HumanEval")
    ]


def mbpp(path: Path) -> list[Problem]:
    """The problems of MBPP or MBPP+. Raises SetError."""
    return list(_functions(_items(path, "mbpp")))


def _items(path: Path, prefix: str) -> list[Item]:
    try:
        items = read_items(path)
    except OSError as error:
        raise SetError(f"{path}: can't be read: {error.strerror}") from None
    except UnreadableItems as error:
        raise SetError(str(error)) from None
    if not items or not items[0].id.lower().startswith(f"{prefix.lower()}/"):
        raise SetError(f"{path}: {f'its first item is {items[0].id}' if items else 'it has no items'}, which is not of {prefix}")
    return items


def _functions(items: list[Item]) -> Iterator[Problem]:
    for item in items:
        if item.entry_point is not None and (parts := _parts(item)):
            prompt, body, suffix = parts
            yield Problem(
                *(item.id, "mbpp", "function", "python", item.id, prompt, suffix, body, "", item.test),
                item.entry_point,
                item.base_inputs,
                item.plus_inputs,
            )


def _parts(item: Item) -> tuple[str, str, str] | None:
    """The program before the body, with the sentence as docstring, the body, and what follows it."""
    source = item.canonical_solution.replace("\r\n", "\n").strip("\n") + "\n"
    found = [node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef) and node.name == item.entry_point]
    if not found:
        return None
    # of several of one name the last counts
    function, lines = found[-1], source.splitlines(keepends=True)
    first = function.body[0]
    if first.lineno <= function.lineno:
        lines = [*lines[: function.lineno - 1], *ast.unparse(function).splitlines(keepends=True), "\n", *lines[function.end_lineno :]]
        return _parts(_with(item, "".join(lines)))
    start = min([first.lineno, *(decorator.lineno for decorator in getattr(first, "decorator_list", ()))]) - 1
    body = "".join(lines[start : function.end_lineno])
    indent = body[: len(body) - len(body.lstrip(" \t"))]
    text = (ast.get_docstring(ast.parse(item.prompt)) or "").replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    docstring = "".join(f"{indent}{line}\n" if line else "\n" for line in ['"""', *text.splitlines(), '"""'])
    signed = start
    while not lines[signed - 1].strip() or lines[signed - 1].lstrip().startswith("#"):  # comments there tell of the body
        signed -= 1
    return "".join(lines[:signed]) + docstring, body, "".join(lines[function.end_lineno :])


def _with(item: Item, solution: str) -> Item:
    return Item(item.id, item.language, item.prompt, solution, item.test, item.entry_point)
