"""The value that a text says as a Python literal. Nothing is executed."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Hashable
from typing import Any


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
