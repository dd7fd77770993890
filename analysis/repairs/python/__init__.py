"""The rules for Python, one file each."""

from __future__ import annotations

from collections.abc import Mapping

from ..rule import Rule
from . import misplaced_statement, missing_guard, missing_negation, off_by_one, swapped_arguments, wrong_name, wrong_operator
from .parsing import parses as parses

RULES: Mapping[str, Rule] = {
    "wrong_operator": wrong_operator,
    "off_by_one": off_by_one,
    "missing_negation": missing_negation,
    "swapped_arguments": swapped_arguments,
    "wrong_name": wrong_name,
    "missing_guard": missing_guard,
    "misplaced_statement": misplaced_statement,
}
