"""The tests of HumanEval+ and MBPP+ (arXiv 2305.01210): the reference solution's answers to all inputs, and inputs as JSON lacks them."""

from __future__ import annotations

import contextlib
import json
from dataclasses import dataclass, field
from typing import Any

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


def differential(record: dict[str, Any], inputs: list[Any], same: str, helpers: str = "") -> str:
    """The test of a record. same: an expression that compares a value with the answer to arguments. helpers: code before it."""
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


def within(atol: float) -> str:
    """The published comparison: equal, or near where a tolerance is given, or within 1e-6 where all of the answer is floats."""
    near = f"(type(value) is type(answer) and oracle_near(value, answer, {atol or 1e-6}))"
    return f"value == answer or {near}" if atol else f"value == answer or (oracle_floats(answer) and {near})"


@dataclass(slots=True)
class Shape:
    """What the examples have at one place of the arguments: types of scalars and of containers, and the shape of the containers' items."""

    scalars: set[type] = field(default_factory=set)
    containers: set[type] = field(default_factory=set)
    inside: list[Shape] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)

    def see(self, value: Any) -> None:
        """Add an example."""
        if not isinstance(value, list | tuple | set | frozenset | dict):
            self.scalars.add(type(value))
            return
        self.containers.add(type(value))
        for item in value.values() if isinstance(value, dict) else value:
            if not self.inside:
                self.inside.append(Shape())
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
        inside = self.inside[0] if self.inside else Shape()
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
