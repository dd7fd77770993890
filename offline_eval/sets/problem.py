"""A problem of a set, the program that an answer to it makes, and the value that a text says as a literal. Nothing is executed."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, Literal

from ...analysis.corpora.evalplus import profiled
from ..errors import UsageError


def literal(text: str) -> Hashable | None:
    """What the text says, as something hashable that is equal where `==` holds; None where it is no literal."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of escapes that Python does not know
            return hashable(ast.literal_eval(text.strip()))
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None


def hashable(value: Any) -> Hashable:
    """A value of literals as something hashable, which is equal to another exactly where the values are."""
    match value:
        case list() | tuple():
            return (type(value).__name__, tuple(map(hashable, value)))
        case set():
            return ("set", frozenset(map(hashable, value)))
        case dict():
            return ("dict", frozenset((hashable(key), hashable(held)) for key, held in value.items()))
    return ("value", value)


Kind = Literal["function", "repair", "execution"]


class SetError(UsageError):
    """A set can't be read; the message says which file, why, and where to get it."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem.

    kind: `function`: the text is a function's body. `repair`: it is one line in place of the line `wrong`. `execution`: it is the literal
    that the program gives for an input.
    prompt, suffix: what stands before and after the text. truth: a right text. group: what problems are alike, such as a project.
    test: for the sandbox; "" where no test of ours can decide. entry_point: the function that the test calls.
    base_inputs, plus_inputs: as of an `Item`. counts: whether the test itself reports what became of each input, as `profiled` makes it do.
    """

    id: str
    set: str
    kind: Kind
    language: Literal["python", "java"]
    group: str
    prompt: str
    suffix: str
    truth: str
    wrong: str = ""
    test: str = ""
    entry_point: str | None = None
    base_inputs: int = 0
    plus_inputs: int = 0
    counts: bool = False

    @property
    def counting_test(self) -> str:
        """The test as one that ends at no input, and reports what became of each. Raises ValueError where it can't be made one."""
        return self.test if self.counts else profiled(self.test, self.entry_point)

    def cut(self, text: str) -> str:
        """The text as far as it belongs to the answer: the body's block, a repair's one line, the literal's line.

        A text that defines the function itself is a whole program, and stays as it is.
        """
        match self.kind:
            case "function":
                return text if self._is_whole(text) else _block(text)
            case "repair":
                return next((line.rstrip() for line in text.splitlines() if line.strip()), "")
        return text.strip()

    def program(self, text: str) -> str:
        """The whole program with a text."""
        cut = self.cut(text)
        if self.kind == "function" and self._is_whole(cut):
            return cut
        return f"{self.prompt}{cut}\n{self.suffix}"

    def _is_whole(self, text: str) -> bool:
        return self.entry_point is not None and re.search(rf"^def {re.escape(self.entry_point)}\s*\(", text, re.MULTILINE) is not None


def _block(text: str) -> str:
    """The lines before the first one without indentation."""
    lines = text.splitlines(keepends=True)
    end = next((number for number, line in enumerate(lines) if line.strip() and line[0] not in " \t"), len(lines))
    return "".join(lines[:end]).rstrip()
