"""Small problems in Python and JavaScript, in HumanEval-X's format, and a chat server that translates, describes and rebuilds them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

# Of each problem the expression in Python, the same in JavaScript, and words for it.
PROBLEMS = (
    ("x // 2", "Math.floor(x / 2)", "Halve it."),
    ("-x", "-x", "Negate it."),
    ("x * x", "x * x", "Square it."),
    ("x + 1", "x + 1", "Add one."),
    ("x - 1", "x - 1", "return x - 1"),
    ("abs(x)", "Math.abs(x)", "Do something."),
)
VALUES = (-3, 7)
PY_NAME, JS_NAME = "halve_{}", "halve{}"

Reply = Callable[[dict[str, Any]], Sequence[str]]


def value(number: int, x: int) -> int:
    """What a problem's function gives."""
    return int(eval(PROBLEMS[number][0], {"x": x}))


def written(folder: Path, count: int = len(PROBLEMS), broken: int | None = None) -> list[Path]:
    """The files of both languages. broken: a problem whose JavaScript fails its own test."""
    python, javascript = [], []
    for number in range(count):
        expression, other, _ = PROBLEMS[number]
        asserted = "".join(f"    assert {PY_NAME.format(number)}({x}) == {value(number, x)}\n" for x in VALUES)
        name, js = PY_NAME.format(number), JS_NAME.format(number)
        python.append(
            {
                "task_id": f"Python/{number}",
                "prompt": f'import math\n\n\ndef {name}(x: int) -> int:\n    """Number {number}."""\n',
                "canonical_solution": f"    return {expression}\n",
                "test": f"def check({name}):\n{asserted}\ncheck({name})",
            }
        )
        solution = "null" if number == broken else other
        javascript.append(
            {
                "task_id": f"JavaScript/{number}",
                "prompt": f"/* Number {number}. */\nconst {js} = (x) => {{\n",
                "canonical_solution": f"  return {solution};\n}}\n",
                "test": "".join(f"console.assert({js}({x}) === {value(number, x)})\n" for x in VALUES),
            }
        )
    files = []
    for name, records in (("python", python), ("js", javascript)):
        files.append(folder / f"humaneval_{name}.jsonl")
        files[-1].write_text("".join(json.dumps(record) + "\n" for record in records))
    return files


def replying(translations: Mapping[int, str], named: Mapping[str, str] | None = None, unnamed: Mapping[str, str] | None = None) -> Reply:
    """A reply that knows the answer to each problem's translation, and the code of each description, with names and without."""

    def reply(body: dict[str, Any]) -> Sequence[str]:
        asked = body["messages"][-1]["content"]
        if body["messages"][-1]["role"] == "assistant":
            asked = body["messages"][-2]["content"]
        if asked.startswith("Translate"):
            number = re.search(r"halve_?(\d)", asked)
            return [translations.get(int(number[1]), "What?") if number else "What?"]
        if "[DESCRIPTION]" in asked:
            words = asked.partition("[DESCRIPTION]\n")[2].partition("\n[/DESCRIPTION]")[0]
            known = (named if "[HEADER]" not in asked else unnamed) or {}
            return ["[CODE]\n", known.get(words, "pass"), "\n[/CODE]"]
        code = asked.partition("[SOURCE]\n")[2].partition("\n[/SOURCE]")[0]
        number = next(
            (n for n, (python, other, _) in enumerate(PROBLEMS) if f"return {python}\n" in f"{code}\n" or f"return {other};" in code), 0
        )
        return ["[DESCRIPTION]", PROBLEMS[number][2], "[/DESCRIPTION]"]

    return reply
