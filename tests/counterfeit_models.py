"""Models behind a chat server, made up for the counterfeit study: they draw, judge, execute and repair by the seed they are asked with."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

# Of the problems below: six ways to be right, and six to be wrong at -3 alone.
RIGHT = [f"return x // {{k}}  # {n}" for n in range(6)]
WRONG = [f"return x // {{k}} if x >= 0 else 0  # {n}" for n in range(6)]
OTHER = ["return y", "return x // {k}  # 0"]
BODIES = [*RIGHT, *WRONG, *OTHER]


def problem(number: int) -> dict[str, Any]:
    """A problem of HumanEval+, with three tests of its own and three of EvalPlus."""
    return {
        "task_id": f"HumanEval/{number}",
        "prompt": f'def f{number}(x: int) -> int:\n    """ The part of it, rounded down. """\n',
        "entry_point": f"f{number}",
        "canonical_solution": f"    return x // {number + 2}\n",
        "test": "",
        "base_input": [[2], [3], [-3]],
        "plus_input": [[0], [-6], [100]],
        "atol": 0,
    }


def published(path: Path, programs: int) -> Path:
    """A set of so many programs."""
    rows = [
        {"problem": f"HumanEval/{n // 2}", "index": n, "text": f"def f{n // 2}(x):\n    return {n}\n", "base": 1.0, "plus": 1.0 - n % 2 / 2,
         "class": "counterfeit" if n % 2 else "right", "pass_at_1": 0.5}
        for n in range(programs)
    ]  # fmt: skip
    header = {"schema": "assay/counterfeits/1", "name": "made up", "benchmark": "humaneval", "generator": "some-7b"}
    path.write_text("".join(json.dumps(line) + "\n" for line in (header, *rows)))
    return path


def program_asked_about(body: dict[str, Any]) -> str:
    """The last program in the question."""
    text = body["messages"][-1]["content"]
    return str(text.rsplit("[PYTHON]\n", 1)[1].partition("\n[/PYTHON]")[0])


def step_of(body: dict[str, Any]) -> str:
    """Which prompt it is."""
    text = body["messages"][-1]["content"]
    if "Complete this Python function" in text:
        return "draw"
    if "INCORRECT CODE" in text:
        return "repair"
    if "Complete the assertion" in text:
        return "execute"
    if "[THOUGHT]" in text:
        return "judge_reasoning"
    return "judge" if "[ANSWER]" in text else "hello"


def able(body: dict[str, Any]) -> Sequence[str]:
    """A model that judges well with reasoning, always says Correct without, executes each program as if right, and repairs half of them."""
    seed, step = int(body.get("seed") or 0), step_of(body)
    if step == "hello":
        return ["Hello"]
    program = program_asked_about(body)
    number = int(next(iter(re.findall(r"def f(\d+)", program)), 0))
    signature = f"def f{number}(x: int) -> int:\n"
    if step == "draw":
        return ["[PYTHON]", f"\n{signature}    {BODIES[seed % len(BODIES)].format(k=number + 2)}\n", "[/PYTHON]"]
    if step == "repair":
        body_of_it = RIGHT[0] if seed % 2 else WRONG[5]
        return ["It is wrong below zero.", f"\n[PYTHON]\n{signature}    {body_of_it.format(k=number + 2)}\n[/PYTHON]"]
    if step == "execute":
        call = re.findall(r"assert (f\d+\((-?\d+)\)) == \?\?", program)[-1]
        return ["[ANSWER]", f"\nassert {call[0]} == {int(call[1]) // (number + 2)}\n", "[/ANSWER]"]
    if step == "judge_reasoning":
        return ["[THOUGHT]I see.[/THOUGHT]\n[ANSWER]", "Incorrect" if "else 0" in program else "Correct", "[/ANSWER]"]
    return ["[ANSWER]", "Correct", "[/ANSWER]"]


def nonsense(body: dict[str, Any]) -> Sequence[str]:
    """A model that draws as the able one does, and else says what nobody can read."""
    return able(body) if step_of(body) == "draw" else ["la", " la", " la"]
