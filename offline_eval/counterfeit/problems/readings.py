"""What a model's answers say: a program, a verdict, a value. Pure functions; None where an answer can't be read."""

from __future__ import annotations

import ast
import math
import re
import warnings
from collections.abc import Hashable, Iterable, Sequence

from ....inference.asking.reading import last_block
from ...sets.literals import literal

_FENCE = re.compile(r"```[a-zA-Z0-9]*\n(.*?)```", re.DOTALL)
_WORDS = {"correct": 1.0, "incorrect": 0.0}


def program_in(text: str) -> str | None:
    """The program in the last complete block of tags, or else of Markdown."""
    block = last_block(text, "PYTHON")
    fenced = _FENCE.findall(text if block is None else block)
    found: str | None = fenced[-1] if fenced else block
    return found.strip("\n").rstrip() + "\n" if found and found.strip() else None


def verdict_in(text: str) -> float | None:
    """1 for Correct and 0 for Incorrect, in the last complete answer tag, in any case."""
    block = last_block(text, "ANSWER")
    return None if block is None else _WORDS.get(block.strip(" \n\t.*`'\"").casefold())


def voted(verdicts: Iterable[float | None]) -> float | None:
    """What most answers say; ½ where as many say the one as the other, None where none can be read."""
    said = [verdict for verdict in verdicts if verdict is not None]
    if not said:
        return None
    right = sum(said)
    return 0.5 if 2 * right == len(said) else float(2 * right > len(said))


def p_correct(top: Sequence[tuple[str, float]]) -> float | None:
    """P(Correct) over P(Correct) + P(Incorrect), from the likeliest first tokens (text, log p) of the answer, whole words or beginnings."""
    mass = {"correct": 0.0, "incorrect": 0.0}
    for text, logprob in top:
        begun = text.strip().casefold()
        word = next((word for word in mass if begun and (word.startswith(begun) or begun.startswith(word))), None)
        if word is not None:
            mass[word] += math.exp(logprob)
    total = sum(mass.values())
    return mass["correct"] / total if total > 0 else None


def value_in(text: str) -> Hashable | None:
    """The literal of an assertion, as `literal` gives it: in the last complete answer tag, or of the whole text where it has no tag."""
    block = last_block(text, "ANSWER")
    if block is None:
        if "[ANSWER]" in text:
            return None
        block = text.strip()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            statements = ast.parse(block).body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return literal(block.rpartition("==")[2]) if block.startswith("assert ") else None
    match statements[-1:]:
        case [ast.Assert(test=ast.Compare(comparators=[value]))]:
            return literal(ast.unparse(value))
    return literal(block)


def with_specification(program: str, prompt: str, entry_point: str) -> str:
    """The program with the docstring of the prompt, whatever stands in its place: a judge must see what was asked for.

    A program that does not parse, or lacks the function, is given back as it is.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            function, asked = (_function(text, entry_point) for text in (program, f"{prompt.rstrip()}\n    pass\n"))
        except (SyntaxError, ValueError, MemoryError, RecursionError):
            return program
    if function is None or asked is None or (wanted := ast.get_docstring(asked)) is None or ast.get_docstring(function) == wanted:
        return program
    lines, first = program.splitlines(), function.body[0]
    if first.lineno == function.lineno:
        return program
    indent = " " * first.col_offset
    is_docstring = ast.get_docstring(function) is not None
    begin, end = first.lineno - 1, first.end_lineno if is_docstring else first.lineno - 1
    text = wanted.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    quoted = [f"{indent}{line}" if line else "" for line in f'"""{text}'.splitlines()] + [f'{indent}"""']
    rest = lines[end:] if not is_docstring or len(function.body) > 1 else [f"{indent}pass", *lines[end:]]
    return "\n".join([*lines[:begin], *quoted, *rest]) + "\n"


def _function(text: str, name: str) -> ast.FunctionDef | None:
    found = [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef) and node.name == name]
    return found[-1] if found else None
