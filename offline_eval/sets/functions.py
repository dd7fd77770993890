"""Functions of benchmarks: signature and docstring are shown, and the body is asked for; of CRUXEval the output for an input.

MBPP publishes a sentence, and a program that answers it. As in the paper that becomes a function with the sentence as its docstring (Spiess
et al. 2024, §3): what the program has before the function's docstring stands in the prompt, what it has after its body in the suffix. Its
problems without one function that the assertions call are left out.

ODEX (Wang et al. 2022, arXiv 2212.10481) has a line of intent, which with the tests is the docstring: who judges a program is shown them
(Gu et al. 2024). Each test is trusted code, and counts as one input. Problems that need other libraries than Python's are left out.
"""

from __future__ import annotations

import ast
import sys
import textwrap
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ...analysis.corpora.benchmarks import Item, UnreadableItems, read_items
from ..recorded.answers import RecordedError
from ..recorded.records import records, wanted
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


_TEST = """\
{imports}
test_report = " "
{functions}
candidate = {entry}
for odex_test in [{names}]:
    try:
        odex_test()
        odex_mark = "1"
    except Exception:
        odex_mark = "0"
    test_report += odex_mark
assert set(test_report) == {{" ", "1"}}, f"{{test_report.count('1')}} of {count} tests"
"""


def odex(path: Path) -> list[Problem]:
    """The problems that need nothing but Python. Raises SetError."""
    try:
        found = [_problem(path, number, record) for number, record in records(path)]
    except RecordedError as error:
        raise SetError(str(error)) from None
    return [problem for problem in found if problem is not None]


def _problem(path: Path, number: int, record: dict[str, Any]) -> Problem | None:
    entry, prompt, suffix, solution, intent, start = (
        wanted(path, number, record, name, str)
        for name in ("entry_point", "prompt", "suffix", "canonical_solution", "intent", "test_start")
    )
    name = f"ODEX/{wanted(path, number, record, 'task_id', int)}"
    tests = [textwrap.dedent(str(text)).strip("\n") for text in wanted(path, number, record, "test", list)]
    libraries = {str(each).partition(".")[0] for each in wanted(path, number, record, "library", list)}
    if not libraries <= sys.stdlib_module_names or not tests:
        return None
    program = f"{prompt}{solution}{suffix}\n"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of invalid escapes
            before, signature = _head(program, entry)
            for text in tests:
                ast.parse(text)
    except (SyntaxError, ValueError) as error:
        raise SetError(f"{path}:{number}: {name} is no Python: {error}") from None
    shown = f"{before}{signature}\n{textwrap.indent(_docstring(intent, tests), '    ')}"
    functions = "\n".join(f"def odex_test_{n}():\n{textwrap.indent(text, '    ')}" for n, text in enumerate(tests))
    names = ", ".join(f"odex_test_{n}" for n in range(len(tests)))
    test = _TEST.format(imports=start.partition("def check")[0].strip(), functions=functions, entry=entry, names=names, count=len(tests))
    return Problem(*(name, "odex", "function", "python", name, shown, "", program, "", test, entry), base_inputs=len(tests), counts=True)


def _head(program: str, entry: str) -> tuple[str, str]:
    """What stands before the function, and its first line as Python spells it."""
    tree = ast.parse(program)
    function = next(node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == entry)
    before = "".join(f"{line}\n" for line in program.splitlines()[: function.lineno - 1])
    return before, f"def {entry}({ast.unparse(function.args)}):"


def _docstring(intent: str, tests: list[str]) -> str:
    text = "\n".join((intent, "", *tests)).replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    return f'"""{text}\n"""\n'


def cruxeval(path: Path) -> list[Problem]:
    """The problems. Raises SetError."""
    made = []
    try:
        for number, record in records(path):
            code, given, output, name = (wanted(path, number, record, field, str) for field in ("code", "input", "output", "id"))
            made.append(Problem(name, "cruxeval", "execution", "python", name, f"{code}\nassert f({given}) == ", "", output, "", "", "f"))
    except RecordedError as error:
        raise SetError(str(error)) from None
    return made
