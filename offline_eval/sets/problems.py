"""The sets of problems by name: functions of benchmarks, and published bugs whose repair is one line in the place of another.

MBPP publishes a sentence, and a program that answers it. As in the paper that becomes a function with the sentence as its docstring (Spiess
et al. 2024, §3): what the program has before the function's docstring stands in the prompt, what it has after its body in the suffix. Its
problems without one function that the assertions call are left out.

ODEX (Wang et al. 2022, arXiv 2212.10481) has a line of intent, which with the tests is the docstring: who judges a program is shown them
(Gu et al. 2024). Each test is trusted code, and counts as one input. Problems that need other libraries than Python's are left out.

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
import sys
import tarfile
import textwrap
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec

from ...analysis.corpora.benchmarks import Item, UnreadableItems, read_items
from ..recorded.answers import RecordedError
from ..recorded.records import AnyRecord, typed
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


class Odex(msgspec.Struct):
    """A problem of ODEX."""

    task_id: int
    entry_point: str
    prompt: str
    suffix: str
    canonical_solution: str
    intent: str
    test_start: str
    test: list[str]
    library: list[str]


def odex(path: Path) -> list[Problem]:
    """The problems that need nothing but Python. Raises SetError."""
    return [problem for number, each in _records(path, Odex) if (problem := _problem(path, number, each)) is not None]


def _records(path: Path, kind: type[AnyRecord]) -> Iterator[tuple[int, AnyRecord]]:
    try:
        yield from typed(path, kind)
    except RecordedError as error:
        raise SetError(str(error)) from None


def _problem(path: Path, number: int, record: Odex) -> Problem | None:
    entry, name = record.entry_point, f"ODEX/{record.task_id}"
    tests = [textwrap.dedent(text).strip("\n") for text in record.test]
    libraries = {each.partition(".")[0] for each in record.library}
    if not libraries <= sys.stdlib_module_names or not tests:
        return None
    program = f"{record.prompt}{record.canonical_solution}{record.suffix}\n"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of invalid escapes
            before, signature = _head(program, entry)
            for text in tests:
                ast.parse(text)
    except (SyntaxError, ValueError) as error:
        raise SetError(f"{path}:{number}: {name} is no Python: {error}") from None
    shown = f"{before}{signature}\n{textwrap.indent(_docstring(record.intent, tests), '    ')}"
    functions = "\n".join(f"def odex_test_{n}():\n{textwrap.indent(text, '    ')}" for n, text in enumerate(tests))
    names = ", ".join(f"odex_test_{n}" for n in range(len(tests)))
    test = _TEST.format(
        imports=record.test_start.partition("def check")[0].strip(), functions=functions, entry=entry, names=names, count=len(tests)
    )
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


class Cruxeval(msgspec.Struct):
    """A problem of CRUXEval."""

    id: str
    code: str
    input: str
    output: str


def cruxeval(path: Path) -> list[Problem]:
    """The problems. Raises SetError."""
    return [
        Problem(
            each.id,
            "cruxeval",
            "execution",
            "python",
            each.id,
            f"{each.code}\nassert f({each.input}) == ",
            "",
            each.output,
            entry_point="f",
        )
        for _, each in _records(path, Cruxeval)
    ]


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


@dataclass(frozen=True, slots=True)
class ProblemSet:
    """A set. read: its problems from a file or folder. what, whence: what is to be had, and the project that has it, for people."""

    read: Callable[[Path], list[Problem]]
    what: str
    whence: str

    def needed(self, name: str) -> str:
        """What a user is told who names no file of it."""
        return f"--set {name} needs --data: {self.what}, of the project {self.whence}; Assay brings none with it"


SETS = {
    "humaneval": ProblemSet(
        human_eval, "HumanEval.jsonl.gz or HumanEvalPlus.jsonl.gz", "openai/human-eval or evalplus/humanevalplus_release"
    ),
    "mbpp": ProblemSet(mbpp, "mbpp.jsonl or MbppPlus.jsonl.gz", "google-research (mbpp/) or evalplus/mbppplus_release"),
    "quixbugs": ProblemSet(quixbugs, "a copy of the project", "jkoppel/QuixBugs"),
    "defects4j": ProblemSet(defects4j, "a copy of the project, or an archive of its folder framework/", "rjust/defects4j"),
    "odex": ProblemSet(odex, "en_test.jsonl", "zorazrw/odex"),
    "cruxeval": ProblemSet(cruxeval, "data/cruxeval.jsonl", "facebookresearch/cruxeval"),
}


def problems(name: str, path: Path, limit: int | None = None) -> list[Problem]:
    """The problems of a set, in its order; with a limit the first so many. Raises SetError, which says where to get it."""
    if name not in SETS:
        raise SetError(f"no set {name!r}; there are {', '.join(SETS)}")
    known = SETS[name]
    if not path.exists():
        raise SetError(f"{path} is missing. Assay brings no set with it: {name} is {known.what}, of the project {known.whence}")
    try:
        return known.read(path)[:limit]
    except SetError as error:
        raise SetError(f"{error}. The set {name} is {known.what}, of the project {known.whence}") from None


def countable_problems(name: str, path: Path, limit: int | None = None) -> list[Problem]:
    """The same, each with tests that can be counted one by one. Raises SetError."""
    found = problems(name, path, limit)
    for problem in found:
        try:
            _ = problem.counting_test
        except ValueError as error:
            raise SetError(f"{path}: {error}; name HumanEvalPlus.jsonl.gz or MbppPlus.jsonl.gz as --data") from None
    return found
