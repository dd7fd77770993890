"""ODEX: a function for one line of intent in English, with tests by hand (Wang et al. 2022, arXiv 2212.10481).

Each test is a piece of trusted code of its own, and is counted as one input. The docstring has the intent and the tests, as those who judge
a program are shown them (Gu et al. 2024). Problems whose libraries are not of Python itself are left out: the sandbox has no others.
"""

from __future__ import annotations

import ast
import sys
import textwrap
import warnings
from pathlib import Path
from typing import Any

from ..recorded.answers import RecordedError
from ..recorded.records import records, wanted
from .problem import Problem, SetError

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
