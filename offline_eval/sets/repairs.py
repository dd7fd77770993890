"""Published bugs whose repair is one line in the place of another: of QuixBugs (Lin et al. 2017) and of Defects4J (Just et al. 2014).

QuixBugs, of Python: the tests are the published ones of pytest, with a stand-in for the little of pytest that they use, without the cases
that they skip for their time. A test that can't be run so leaves its problem without one: `shortest_path_length` makes keys of the
program's own objects.

Defects4J, of Java: a published patch turns the right file into the wrong one. The files are not in it, so a model is shown the patch's few
lines around the changed one, and only an exact match can be judged. Bugs that are no longer listed as active are left out.
"""

from __future__ import annotations

import ast
import difflib
import lzma
import re
import tarfile
from collections.abc import Iterator
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
        return [problem for path in paths if (problem := _of_quixbugs(folder, path.stem))]
    except (OSError, SyntaxError) as error:
        raise SetError(f"{folder}: {error}") from None


def _of_quixbugs(folder: Path, name: str) -> Problem | None:
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


_PATCH = re.compile(r"framework/projects/([^/]+)/patches/(\d+)\.src\.patch$")
_ACTIVE = re.compile(r"framework/projects/([^/]+)/active-bugs\.csv$")


def defects4j(path: Path) -> list[Problem]:
    """The problems, by project and number. path: a copy of the project, or an archive of its folder framework/. Raises SetError."""
    try:
        files = dict(_in_archive(path) if path.is_file() else _in_folder(path))
    except (OSError, tarfile.TarError, lzma.LZMAError, EOFError) as error:
        raise SetError(f"{path}: can't be read: {error}") from None
    patches = sorted((found[1], int(found[2]), text) for name, text in files.items() if (found := _PATCH.search(name)))
    if not patches:
        raise SetError(f"{path}: it has no framework/projects/PROJECT/patches/NUMBER.src.patch")
    active = {found[1]: re.findall(r"^\d+", text, re.MULTILINE) for name, text in files.items() if (found := _ACTIVE.search(name))}
    listed = [patch for patch in patches if patch[0] not in active or str(patch[1]) in active[patch[0]]]
    return [problem for patch in listed if (problem := _of_defects4j(*patch))]


def _in_folder(folder: Path) -> Iterator[tuple[str, str]]:
    for pattern in ("patches/*.src.patch", "active-bugs.csv"):
        for path in folder.glob(f"framework/projects/*/{pattern}"):
            yield path.as_posix(), path.read_text(encoding="latin-1")


def _in_archive(path: Path) -> Iterator[tuple[str, str]]:
    with tarfile.open(path) as archive:
        for member in archive:
            if (_PATCH.search(member.name) or _ACTIVE.search(member.name)) and (file := archive.extractfile(member)):
                yield member.name, file.read().decode("latin-1")


def _of_defects4j(project: str, number: int, patch: str) -> Problem | None:
    """The problem of a patch; None where it replaces more than a line, or none."""
    lines = [line for line in patch.splitlines() if not line.startswith(("--- ", "+++ "))]
    right = [at for at, line in enumerate(lines) if line.startswith("-")]
    wrong = [at for at, line in enumerate(lines) if line.startswith("+")]
    if len(right) != 1 or len(wrong) != 1 or wrong[0] != right[0] + 1:
        return None
    start = max(at for at, line in enumerate(lines[: right[0]]) if line.startswith("@@")) + 1
    end = next((at for at in range(wrong[0] + 1, len(lines)) if not lines[at].startswith(" ")), len(lines))
    before, after = ("".join(f"{line[1:]}\n" for line in part) for part in (lines[start : right[0]], lines[wrong[0] + 1 : end]))
    identity = f"defects4j/{project}/{number}"
    return Problem(identity, "defects4j", "repair", "java", project, before, after, lines[right[0]][1:], lines[wrong[0]][1:])
