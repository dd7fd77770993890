"""Whole programs with tests, of published benchmarks or of a folder: what CatCode rewrites, translates and explains.

HumanEval, HumanEval-X, MBPP, and mxeval's MBXP, MathQA and HumanEval, for which a file of published completions may give the solutions that
the tasks lack. In a folder each program stands beside its test.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from ...analysis.corpora.benchmarks import Item, Language, UnreadableItems, numbered_lines, read_items
from ...analysis.corpora.comments import without_comments
from ...analysis.corpora.mxeval import Task, read_completions, read_tasks, set_of
from ...analysis.python.source_text import UnreadableSource
from ...analysis.sandbox.isolation.tree import entries_below
from .problem import SetError

# Benchmarks by the first part of an item's name, and the name of their problems, which is one for all languages.
_ITEMS = {"HumanEval": "HumanEval", "Python": "HumanEval", "Java": "HumanEval", "JavaScript": "HumanEval", "MBPP": "MBPP", "Mbpp": "MBPP"}
_SETS = {"HumanEval": "humaneval", "MBPP": "mbpp"}
# What stands beside a program in a folder, by its ending: names of tests, with the program's name for {}.
_TESTS: dict[str, tuple[Language, tuple[str, ...]]] = {
    ".py": ("python", ("test_{}.py", "{}_test.py")),
    ".java": ("java", ("{}Test.java",)),
    ".js": ("javascript", ("{}.test.js",)),
}
HOW = (
    "--data names files of HumanEval, HumanEval-X, MBPP or mxeval (its tasks, and its completions where the tasks have no solution), or a "
    "folder with programs and their tests: sum.py and test_sum.py, Sum.java and SumTest.java"
)


@dataclass(frozen=True)
class Program:
    """A program that is to pass its test.

    set: its benchmark, or the folder's name. problem: what it solves, one name for all languages; such programs are alike.
    published: the program with its comments; "" of a task without a solution. prompt: what of it is given, such as signature and docstring;
    "" where nothing tells.
    """

    id: str
    set: str
    problem: str
    language: Language
    published: str
    test: str
    entry_point: str | None = None
    prompt: str = ""

    @cached_property
    def source(self) -> str:
        """The program without comments and docstrings; as it was published where it can't be parsed."""
        try:
            return without_comments(self.published, self.language)
        except UnreadableSource:
            return self.published


def read_programs(paths: Sequence[Path], *, unsolved_too: bool = False) -> list[Program]:
    """The programs of files and folders, in their order. unsolved_too: also tasks without a solution, which one can be written for.

    Raises SetError, which says what is wrong, where, and what can be read.
    """
    programs, unsolved, completions = list[Program](), list[Task](), dict[tuple[str, Language], str]()
    for path in paths:
        try:
            if path.is_dir():
                programs += _of_folder(path)
                continue
            match _form(path):
                case "completions":
                    completions |= read_completions(path)
                case "tasks":
                    tasks = read_tasks(path)
                    programs += [_of_task(task, task.solution) for task in tasks if task.solution is not None]
                    unsolved += [task for task in tasks if task.solution is None]
                case "items":
                    programs += [_of_item(item) for item in read_items(path)]
        except OSError as error:
            raise SetError(f"{path}: can't be read: {error.strerror}. {HOW}") from None
        except UnreadableItems as error:
            raise SetError(f"{error}. {HOW}") from None
    for task in unsolved:
        text = completions.get((task.id, task.language))
        if text is not None or unsolved_too:
            programs.append(_of_task(task, text))
    if not programs:
        what = "tasks without solutions: name the file of completions, too" if unsolved else "no program with a test"
        raise SetError(f"{', '.join(map(str, paths))}: {what}. {HOW}")
    _check_ids(programs)
    return programs


def is_completions(path: Path) -> bool:
    """Whether a file has published completions of mxeval's tasks, one for each. Raises OSError."""
    try:
        return _form(path) == "completions"
    except UnreadableItems:
        return False


def _check_ids(programs: Sequence[Program]) -> None:
    seen: set[str] = set()
    for program in programs:
        if program.id in seen:
            raise SetError(f"the program {program.id} is there twice: --data names the same set twice")
        seen.add(program.id)


def _form(path: Path) -> str:
    number, line = next(numbered_lines(path), (1, ""))
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        record = None
    if not isinstance(record, dict):
        raise UnreadableItems(f"{path}, line {number}: a record is a JSON object")
    if record.keys() >= {"task_id", "completion", "language"}:
        return "completions"
    return "tasks" if record.keys() >= {"task_id", "language", "description"} else "items"


def _of_task(task: Task, solution: str | None) -> Program:
    name = set_of(task.id)
    program = "" if solution is None else task.prompt + solution
    return _published(name, task.problem, task.language, program, task.test, task.entry_point, task.prompt)


def _of_item(item: Item) -> Program:
    prefix, _, number = item.id.partition("/")
    name = _ITEMS[prefix]
    # MBPP's prompt is a sentence, and no part of its program
    program, prompt = (item.canonical_solution, "") if prefix == "MBPP" else (item.program(), item.prompt)
    return _published(_SETS[name], f"{name}/{number}", item.language, program, item.test, item.entry_point, prompt)


def _published(name: str, problem: str, language: Language, program: str, test: str, entry_point: str | None, prompt: str) -> Program:
    return Program(f"{name}-{language}/{problem.partition('/')[2]}", name, problem, language, program, test, entry_point, prompt)


def _of_folder(folder: Path) -> list[Program]:
    """The programs below a folder that have a test beside them."""
    programs = []
    for path in sorted(Path(entry.path) for entry in entries_below(folder)):
        if path.suffix not in _TESTS or not path.is_file():
            continue
        language, names = _TESTS[path.suffix]
        test = next((each for name in names if (each := path.with_name(name.format(path.stem))).is_file()), None)
        if test is None:
            continue
        name = path.relative_to(folder).as_posix()
        try:
            program, told = path.read_text(encoding="utf-8"), test.read_text(encoding="utf-8")
            checked = _calling(told, path.stem) if language == "python" else told
        except (UnicodeDecodeError, SyntaxError) as error:
            raise SetError(f"{test}: can't be read as a program's test: {error}") from None
        programs.append(Program(f"{folder.name}/{name}", folder.name, f"{folder.name}/{name}", language, program, checked))
    return programs


def _calling(test: str, module: str) -> str:
    """A test of Python for the sandbox: names that it imports from the program are the program's there, and its functions are called."""
    tree = ast.parse(test)
    imports = [node for node in tree.body if isinstance(node, ast.ImportFrom) and (node.module or "").rpartition(".")[2] == module]
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("test") and not node.args.args]
    kept = [node for node in tree.body if node not in imports]
    return "".join([*(f"{ast.unparse(node)}\n" for node in kept), *(f"{node.name}()\n" for node in functions)])
