"""QuixBugs: small programs with one bug each (Lin et al. 2017), those of Python whose bug is one line replaced by another.

The tests are the published ones of pytest, as they are, with a stand-in for the little of pytest that they use. Cases that they skip for
their time are left out. A test that can't be run so leaves its problem without one: `shortest_path_length` makes keys of the program's own
objects.
"""

from __future__ import annotations

import ast
import difflib
from pathlib import Path

from .problem import Problem, SetError

# What the published tests need of pytest, and of the module that loads their cases.
_STANDINS = """\
import json

CASES = {cases!r}


class Skipped(Exception):
    pass


class approx:
    def __init__(self, value, abs):
        self.low, self.high = value - abs, value + abs

    def __eq__(self, other):
        return type(other) in (int, float) and self.low <= other <= self.high


class pytest:
    approx, run_slow = approx, False

    def skip(reason):
        raise Skipped(reason)


def load_json_testcases(name):
    return [json.loads(line) for line in CASES.splitlines()]


"""
_RUN = """
for case in {cases}:
    try:
        {name}(*case)
    except Skipped:
        pass
"""
_NO_SANDBOX = frozenset(("shortest_path_length",))


def quixbugs(folder: Path) -> list[Problem]:
    """The problems, by name. folder: a copy of the project. Raises SetError."""
    programs = folder / "python_programs"
    if not programs.is_dir():
        raise SetError(f"{programs} is missing: a folder of QuixBugs has python_programs, correct_python_programs and python_testcases")
    try:
        paths = [path for path in sorted(programs.glob("*.py")) if not path.stem.endswith("_test") and path.stem != "node"]
        return [problem for path in paths if (problem := _problem(folder, path.stem))]
    except (OSError, SyntaxError) as error:
        raise SetError(f"{folder}: {error}") from None


def _problem(folder: Path, name: str) -> Problem | None:
    before = _code((folder / "python_programs" / f"{name}.py").read_text(encoding="utf-8"))
    after = _code((folder / "correct_python_programs" / f"{name}.py").read_text(encoding="utf-8"))
    changes = [step for step in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes() if step[0] != "equal"]
    if len(changes) != 1 or changes[0][0] != "replace" or changes[0][2] - changes[0][1] != 1 or changes[0][4] - changes[0][3] != 1:
        return None
    _, at, _, right, _ = changes[0]
    test = "" if name in _NO_SANDBOX else _test(folder, name)
    # graphs are made of the program's own nodes
    node = (folder / "python_programs" / "node.py").read_text(encoding="utf-8") + "\n\n" if "Node(" in test else ""
    prompt, suffix = (node + _joined(before[:at]), _joined(before[at + 1 :]))
    return Problem(f"quixbugs/{name}", "quixbugs", "repair", "python", name, prompt, suffix, after[right], before[at], test, name)


def _code(source: str) -> list[str]:
    """The lines of a program without blank lines, comment lines and the texts at its top level, which say what is wrong or right."""
    lines = source.splitlines()
    for node in ast.parse(source).body:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            lines[node.lineno - 1 : node.end_lineno] = [""] * ((node.end_lineno or node.lineno) - node.lineno + 1)
    return [line.rstrip() for line in lines if line.strip() and not line.lstrip().startswith("#")]


def _joined(lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _test(folder: Path, name: str) -> str:
    """The published test as a program: every case of every test function."""
    tree = ast.parse((folder / "python_testcases" / f"test_{name}.py").read_text(encoding="utf-8"))
    kept = [node for node in tree.body if not isinstance(node, ast.Import | ast.ImportFrom | ast.If)]
    calls = []
    for node in kept:
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test"):
            node.decorator_list = []
            calls.append(_RUN.format(cases="testdata" if node.args.args else "[()]", name=node.name))
    cases = folder / "json_testcases" / f"{name}.json"
    text = cases.read_text(encoding="utf-8") if cases.is_file() else ""
    return _STANDINS.format(cases=text) + "\n".join(map(ast.unparse, kept)) + "\n" + "".join(calls)
