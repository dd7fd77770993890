"""Read the items of code benchmarks from their published files: a prompt, a right solution, and a test that the sandbox runs.

HumanEval (arXiv 2107.03374), HumanEval-X (2303.17568), MBPP (2108.07732), HumanEval+ and MBPP+ (2305.01210): JSON lines, plain or gzip. A
test for Python is one piece of trusted code; the names that it does not define are the program's. Helpers that it takes from the prompt
are copied from the published prompt, since the program could have changed them.
"""

from __future__ import annotations

import ast
import contextlib
import gzip
import json
import re
import symtable
import warnings
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

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


# The test of HumanEval+ and MBPP+: the reference solution's answers to all inputs, within the published tolerance.
_DIFFERENTIAL = """\
import copy
import json
import math

inf, nan = math.inf, math.nan
oracle_inputs = {inputs}
oracle = {{"__name__": "oracle"}}
exec({reference!r}, oracle)
oracle_answers = [oracle[{entry!r}](*copy.deepcopy(arguments)) for arguments in oracle_inputs]


def oracle_floats(value):
    return isinstance(value, float) or (isinstance(value, (list, tuple)) and all(isinstance(item, float) for item in value))


def oracle_near(value, answer, tolerance):
    if isinstance(answer, (list, tuple)):
        return type(value) is type(answer) and len(value) == len(answer) and all(map(oracle_near, value, answer, [tolerance] * len(answer)))
    if isinstance(answer, (int, float, complex)) and isinstance(value, (int, float, complex)):
        return value == answer or abs(value - answer) <= tolerance + 1e-7 * abs(answer) or (value != value and answer != answer)
    return value == answer


def oracle_truth(value):
    return bool(value) if type(value).__module__ == "builtins" else True


def oracle_same(arguments, value, answer):
    return {same}


"""
_ASSERTED = """\
for arguments, answer in zip(oracle_inputs, oracle_answers):
    value = {entry}(*copy.deepcopy(arguments))
    assert oracle_same(arguments, value, answer), f"{entry}{{tuple(arguments)!r:.200}} is {{value!r:.200}}, not {{answer!r:.200}}"
"""
# The same calls, none of which ends the test. It reports a digest of all values, and a mark of each (`profiled`), as far as the program
# came. In the digest floats count to six digits, and what is of the program's own class by its class.
_PROFILED = """\
import hashlib


def oracle_shown(value):
    if isinstance(value, bool) or value is None:
        return str(value)
    if isinstance(value, float):
        return hex(int(value)) if value.is_integer() else format(value, ".6g")
    if isinstance(value, int):
        return hex(value)
    if isinstance(value, (list, tuple)):
        return type(value).__name__ + "(" + ",".join(map(oracle_shown, value)) + ")"
    if isinstance(value, (set, frozenset)):
        return "set(" + ",".join(sorted(map(oracle_shown, value))) + ")"
    if isinstance(value, dict):
        return "dict(" + ",".join(sorted(oracle_shown(key) + ":" + oracle_shown(held) for key, held in value.items())) + ")"
    return repr(value) if isinstance(value, (str, bytes, complex)) else type(value).__name__


oracle_digest, oracle_marks, test_report = hashlib.sha256(), "", " "
for arguments, answer in zip(oracle_inputs, oracle_answers):
    try:
        value = {entry}(*copy.deepcopy(arguments))
        oracle_digest.update(oracle_shown(value).encode("utf-8", "surrogatepass") + b"\\n")
        oracle_marks += "1" if oracle_same(arguments, value, answer) else "0"
    except Exception as error:
        oracle_digest.update(b"!" + type(error).__name__.encode() + b"\\n")
        oracle_marks += "x"
    test_report = oracle_digest.hexdigest() + " " + oracle_marks
assert set(oracle_marks) <= {{"1"}}, f"{{oracle_marks.count('1')}} of {{len(oracle_marks)}} inputs"
"""


def _differential(record: dict[str, Any], inputs: list[Any], same: str, helpers: str = "") -> str:
    reference = record["prompt"] + record["canonical_solution"]
    entry = record["entry_point"]
    made = _DIFFERENTIAL.format(inputs=_written(inputs), reference=reference, entry=entry, same=same)
    return helpers + made + _ASSERTED.format(entry=entry)


def _up_to_its_calls(test: str, entry_point: str | None) -> str:
    asserted = _ASSERTED.format(entry=entry_point)
    if not test.endswith(asserted):
        raise ValueError(f"the test of {entry_point} has no list of inputs: only those of HumanEval+ and MBPP+ have one")
    return test.removesuffix(asserted)


def profiled(test: str, entry_point: str | None) -> str:
    """The test of an item of HumanEval+ or MBPP+ as one that ends at no input, and reports what became of each.

    It reports a digest of the values, a space, and a mark for each input: 1 right, 0 wrong, x an exception; fewer where the program ended.

    Raises ValueError for the test of another benchmark.
    """
    return _up_to_its_calls(test, entry_point) + _PROFILED.format(entry=entry_point)


# The same calls as a list of inputs, each with what the program gives and the right answer, as JSON of their spellings. What is not the
# literal that it spells is left out: an object of the program's own class spells what it likes, and may not be compared.
_TRACED = """\
import ast

oracle_pairs, test_report = [], "[]"
for arguments, answer in zip(oracle_inputs[:{inputs}], oracle_answers):
    try:
        value = {entry}(*copy.deepcopy(arguments))
        oracle_pair = [", ".join(map(repr, arguments)), repr(value), repr(answer)]
        assert len(oracle_pair[1]) > {length} or ast.literal_eval(oracle_pair[1]) == value
    except Exception:
        continue
    if sum(map(len, oracle_pair)) <= {length}:
        oracle_pairs.append(oracle_pair)
        oracle_told = json.dumps(oracle_pairs)
        if len(oracle_told) > 15_000:
            break
        test_report = oracle_told
"""
_MAX_SPELLED = 300


def traced(test: str, entry_point: str | None, inputs: int) -> str:
    """The test of an item of HumanEval+ or MBPP+ as one that ends at no input, and reports what the program gives for the first inputs.

    It reports a JSON list of triples: the arguments with commas between, the value and the right answer, as Python spells them. An input at
    which the program raises, or that is long, is left out. Raises ValueError for the test of another benchmark.
    """
    return _up_to_its_calls(test, entry_point) + _TRACED.format(entry=entry_point, inputs=inputs, length=_MAX_SPELLED)


def _written(inputs: list[Any]) -> str:
    """An expression for the inputs.

    Where possible it reads one string of JSON, as Python takes a hundred times as long to parse the lists.
    """
    try:
        text = json.dumps(inputs)
    except TypeError:
        return repr(inputs)
    return f"json.loads({text!r})" if repr(json.loads(text)) == repr(inputs) else repr(inputs)


def _within(atol: float) -> str:
    """The published comparison: equal, or near where a tolerance is given, or within 1e-6 where all of the answer is floats."""
    near = f"(type(value) is type(answer) and oracle_near(value, answer, {atol or 1e-6}))"
    return f"value == answer or {near}" if atol else f"value == answer or (oracle_floats(answer) and {near})"


def _human_eval_plus(record: dict[str, Any]) -> Item:
    inputs, atol = record["base_input"] + record["plus_input"], record["atol"]
    entry = record["entry_point"]
    if entry == "find_zero":
        # any zero of the polynomial is right: as published, the answer is put into it
        helpers = _helpers(record["prompt"], "poly", entry)
        return _python(record, _differential(record, inputs, f"abs(poly(*arguments, value)) <= {atol}", helpers), entry)
    return _python(record, _differential(record, inputs, _within(atol)), entry)


def _mbpp_plus(record: dict[str, Any]) -> Item:
    """An item of MBPP+.

    Its assertions tell what JSON does not: which lists are tuples or sets, which texts are numbers, and what is compared.
    """
    entry = record["entry_point"]
    asserts = [node.test for node in ast.parse(record["assertion"]).body if isinstance(node, ast.Assert)]
    calls = [node for test in asserts for node in ast.walk(test) if _calls(node, entry)]
    shapes: list[_Shape] = []
    for call in calls:
        assert isinstance(call, ast.Call)
        for place, argument in enumerate(call.args):
            if place == len(shapes):
                shapes.append(_Shape())
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
        same = _within(record["atol"])
    return _python(record, _differential(record, inputs, same), entry)


def _calls(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name


def _of_set(node: ast.AST, name: str) -> bool:
    return _calls(node, "set") and isinstance(node, ast.Call) and len(node.args) == 1 and _calls(node.args[0], name)


@dataclass(slots=True)
class _Shape:
    """What the examples have at one place of the arguments: types of scalars and of containers, and the shape of the containers' items."""

    scalars: set[type] = field(default_factory=set)
    containers: set[type] = field(default_factory=set)
    inside: list[_Shape] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)

    def see(self, value: Any) -> None:
        """Add an example."""
        if not isinstance(value, list | tuple | set | frozenset | dict):
            self.scalars.add(type(value))
            return
        self.containers.add(type(value))
        for item in value.values() if isinstance(value, dict) else value:
            if not self.inside:
                self.inside.append(_Shape())
            self.inside[0].see(item)

    def see_text(self, value: Any) -> None:
        """Add the text at this place.

        It stands for numbers that JSON can't write where no example has text and all of it reads as numbers.
        """
        if isinstance(value, str):
            self.texts.append(value)
        elif isinstance(value, list | dict) and self.inside:
            for item in value.values() if isinstance(value, dict) else value:
                self.inside[0].see_text(item)

    @property
    def numeric(self) -> bool:
        """Whether text at this place is a number."""
        return bool(self.scalars) and str not in self.scalars and None not in map(_number, self.texts)

    def shaped(self, value: Any, around: type = list) -> Any:
        """The value that JSON stands for. around: the type of the container around it, used where no example has one at this place."""
        inside = self.inside[0] if self.inside else _Shape()
        if isinstance(value, dict):
            return {key: inside.shaped(item) for key, item in value.items()}
        if isinstance(value, list):
            kinds = self.containers - {dict} or {around}
            kind = next(iter(kinds)) if len(kinds) == 1 else list
            return kind(inside.shaped(item, kind) for item in value)
        return _number(value) if isinstance(value, str) and self.numeric else value


def _number(text: str) -> complex | None:
    for kind in (int, float, complex):
        with contextlib.suppress(ValueError):
            return kind(text)
    return None
