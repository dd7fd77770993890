"""Read the items of code benchmarks from their published files: a prompt, a right solution, and a test that the sandbox runs.

HumanEval (arXiv 2107.03374), HumanEval-X (2303.17568), MBPP (2108.07732), HumanEval+ and MBPP+ (2305.01210): JSON lines, plain or gzip. A
test for Python is one piece of trusted code; the names that it does not define are the program's. Helpers that it takes from the prompt
are copied from the published prompt, since the program could have changed them.
"""

from __future__ import annotations

import ast
import gzip
import json
import re
import symtable
import warnings
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from .evalplus import Shape, differential, within

Language = Literal["python", "java", "javascript"]


class UnreadableItems(ValueError):
    """A file without items of a known benchmark; the message says which line, and why."""


@dataclass(frozen=True, slots=True)
class Item:
    """One task. prompt + solution is a whole program. entry_point: the function that the test calls; None where that is no single name.

    base_inputs, plus_inputs: how many inputs of the original benchmark the test has, and how many of EvalPlus behind them; 0 where its
    inputs are not counted.
    """

    id: str
    language: Language
    prompt: str
    canonical_solution: str
    test: str
    entry_point: str | None
    base_inputs: int = 0
    plus_inputs: int = 0

    def program(self, solution: str | None = None) -> str:
        """The whole program with a solution, the canonical one by default."""
        return self.prompt + (self.canonical_solution if solution is None else solution)


def read_items(path: Path) -> list[Item]:
    """The items of a file, in its order; its records show which benchmark it is. Raises UnreadableItems, OSError."""
    items = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of invalid escapes in the benchmark's code
        for number, line in numbered_lines(path):
            try:
                items.append(_item(json.loads(line)))
            except json.JSONDecodeError as error:
                raise UnreadableItems(f"{path}, line {number}: no JSON: {error}") from None
            except KeyError as error:
                raise UnreadableItems(f"{path}, line {number}: no field {error}, which this benchmark's records have") from None
            except (SyntaxError, ValueError, TypeError, AttributeError) as error:
                raise UnreadableItems(f"{path}, line {number}: {error}") from None
    return items


def numbered_lines(path: Path) -> Iterator[tuple[int, str]]:
    """The lines of a file, plain or gzip, that are not empty, with their numbers from 1. Raises UnreadableItems, OSError."""
    try:
        with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as file:
            yield from ((number, line) for number, line in enumerate(file, 1) if line.strip())
    except (gzip.BadGzipFile, zlib.error, EOFError, UnicodeDecodeError) as error:
        raise UnreadableItems(f"{path}: {error}") from None


def _item(record: dict[str, Any]) -> Item:
    if "test_list" in record:
        return _mbpp(record)
    benchmark = str(record["task_id"]).partition("/")[0]
    match benchmark:
        case "HumanEval" if "plus_input" in record:
            return _human_eval_plus(record)
        case "HumanEval":
            entry = record["entry_point"]
            return _python(record, _helpers(record["prompt"], record["test"], entry) + f"{record['test']}\ncheck({entry})\n", entry)
        case "Mbpp":
            return _mbpp_plus(record)
        case "Python":
            entry = _checked_name(record["test"])
            return _python(record, _helpers(record["prompt"], record["test"], entry) + record["test"], entry)
        case "Java":
            return Item(record["task_id"], "java", record["prompt"], record["canonical_solution"], _java_test(record), None)
        case "JavaScript":
            return Item(record["task_id"], "javascript", record["prompt"], record["canonical_solution"], _javascript_test(record), None)
    raise ValueError(f"an item of {benchmark!r}, which is no benchmark known here")


def _python(record: dict[str, Any], test: str, entry_point: str) -> Item:
    inputs = (len(record.get(name, ())) for name in ("base_input", "plus_input"))
    return Item(record["task_id"], "python", record["prompt"], record["canonical_solution"], test, entry_point, *inputs)


def _checked_name(test: str) -> str:
    """The entry point of a test of HumanEval-X, which ends in `check(name)`."""
    match ast.parse(test).body[-1]:
        case ast.Expr(ast.Call(ast.Name("check"), [ast.Name(name)])):
            return name
    raise ValueError("the test does not end in a call of check")


def _javascript_test(record: dict[str, Any]) -> str:
    """The test, behind the prompt's functions that it calls: they stand before the comment on the last one, which is the entry point."""
    helpers, test = str(record["prompt"]).rpartition("/*")[0], str(record["test"])
    used = any(re.search(rf"\b{name}\(", test) for name in re.findall(r"^const (\w+) =", helpers, re.MULTILINE))
    return f"{helpers}\n{test}" if used else test


def _java_test(record: dict[str, Any]) -> str:
    """The test, with the prompt's methods that it calls in a class of its own: they stand before the comment on the last one."""
    helpers, test = str(record["prompt"]).rpartition("/**")[0].partition("class Solution {")[2], str(record["test"])
    used = [name for name in re.findall(r"^    public \S+ (\w+)\(", helpers, re.MULTILINE) if f"s.{name}(" in test]
    for name in used:
        test = test.replace(f"s.{name}(", f"new PromptHelpers().{name}(")
    # not a number is not near zero
    test = re.sub(r"if \((Math\.abs\(new PromptHelpers\(\)\..*\)) > 1e-4\)", r"if (!(\1 <= 1e-4))", test)
    return f"{test}\nclass PromptHelpers {{{helpers}}}\n" if used else test


def _mbpp(record: dict[str, Any]) -> Item:
    """An item of MBPP.

    Its prompt is the text with the first assertion; its entry point the first solution's function that assertions call.
    """
    defined = {node.name for node in ast.parse(record["code"]).body if isinstance(node, ast.FunctionDef)}
    asserts = [node for text in record["test_list"] for node in ast.walk(ast.parse(text))]
    called = [node.func.id for node in asserts if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
    entry = next((name for name in called if name in defined), None)
    test = "\n".join([record["test_setup_code"], *record["test_list"], ""]).replace("\r\n", "\n")
    return Item(
        f"MBPP/{record['task_id']}", "python", _docstring(f"{record['text']}\n{record['test_list'][0]}"), record["code"], test, entry
    )


def _docstring(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    return f'"""\n{escaped}\n"""\n'


def _helpers(prompt: str, test: str, entry_point: str) -> str:
    """The code of the prompt's functions that a test calls besides the entry point, with the prompt's imports; usually nothing."""
    body = ast.parse(f"{prompt}\n    pass\n").body
    functions = [node for node in body if isinstance(node, ast.FunctionDef) and node.name != entry_point and node.name in _names(test)]
    imports = [node for node in body if isinstance(node, ast.Import | ast.ImportFrom)]
    return "".join(ast.unparse(node) + "\n" for node in [*imports, *functions]) if functions else ""


def _names(code: str) -> set[str]:
    """Every global name that code uses."""
    tables, found = [symtable.symtable(code, "<test>", "exec")], set()
    while tables:
        table = tables.pop()
        tables += table.get_children()
        found |= {symbol.get_name() for symbol in table.get_symbols() if symbol.is_global()}
    return found


def _human_eval_plus(record: dict[str, Any]) -> Item:
    inputs, atol = record["base_input"] + record["plus_input"], record["atol"]
    entry = record["entry_point"]
    if entry == "find_zero":
        # any zero of the polynomial is right: as published, the answer is put into it
        helpers = _helpers(record["prompt"], "poly", entry)
        return _python(record, differential(record, inputs, f"abs(poly(*arguments, value)) <= {atol}", helpers), entry)
    return _python(record, differential(record, inputs, within(atol)), entry)


def _mbpp_plus(record: dict[str, Any]) -> Item:
    """An item of MBPP+.

    Its assertions tell what JSON does not: which lists are tuples or sets, which texts are numbers, and what is compared.
    """
    entry = record["entry_point"]
    asserts = [node.test for node in ast.parse(record["assertion"]).body if isinstance(node, ast.Assert)]
    calls = [node for test in asserts for node in ast.walk(test) if _calls(node, entry)]
    shapes: list[Shape] = []
    for call in calls:
        assert isinstance(call, ast.Call)
        for place, argument in enumerate(call.args):
            if place == len(shapes):
                shapes.append(Shape())
            try:
                shapes[place].see(ast.literal_eval(argument))
            except ValueError:  # an expression: the other assertions have to tell
                continue
    plain = record["base_input"] + list(record["plus_input"])
    for arguments in plain:
        for shape, value in zip(shapes, arguments, strict=True):
            shape.see_text(value)
    inputs = [[shape.shaped(value) for shape, value in zip(shapes, arguments, strict=True)] for arguments in plain]
    if all(_calls(test, entry) or (isinstance(test, ast.UnaryOp) and _calls(test.operand, entry)) for test in asserts):
        same = "oracle_truth(value) == oracle_truth(answer)"
    elif all(isinstance(test, ast.Compare) and _of_set(test.left, entry) for test in asserts):
        same = "set(value) == set(answer)"
    else:
        same = within(record["atol"])
    return _python(record, differential(record, inputs, same), entry)


def _calls(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name


def _of_set(node: ast.AST, name: str) -> bool:
    return _calls(node, "set") and isinstance(node, ast.Call) and len(node.args) == 1 and _calls(node.args[0], name)
