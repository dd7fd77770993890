"""The example that each prompt shows: one function in every language, and its descriptions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ....analysis.corpora.benchmarks import Language
from .placing.header import Header
from .placing.registry import LANGUAGES


@dataclass(frozen=True, slots=True)
class WorkedExample:
    """The function in one language. prompt: to where its body begins. code: all of it. named: its description with names and types."""

    prompt: str
    code: str
    named: str

    def header(self, language: Language) -> Header:
        """What the prompt gives."""
        return LANGUAGES[language].header_of(self.prompt, None)


# Without names and types, in any language.
UNNAMED = (
    "Begin a count at zero. Go through the first argument, a sequence, and add one to the count for each element that is greater than the "
    "second argument. The result is the count."
)
_NAMED = (
    "The function {name} takes two arguments, {values} and {limit}, and returns {result}. It begins a count at zero, goes through values, "
    "and adds one to the count for each element that is greater than limit. It returns the count."
)
_PYTHON = "def count_above(values, limit):\n"
_JAVA = "import java.util.*;\n\nclass Solution {\n    public int countAbove(List<Integer> values, int limit) {\n"
_JAVASCRIPT = "const countAbove = (values, limit) => {\n"

EXAMPLES: Mapping[Language, WorkedExample] = {
    "python": WorkedExample(
        _PYTHON,
        f"{_PYTHON}    count = 0\n    for value in values:\n        if value > limit:\n            count += 1\n    return count\n",
        _NAMED.format(name="count_above", values="values (a list of numbers)", limit="limit (a number)", result="an int"),
    ),
    "java": WorkedExample(
        _JAVA,
        f"{_JAVA}        int count = 0;\n        for (int value : values) {{\n            if (value > limit) {{\n                count++;\n"
        "            }\n        }\n        return count;\n    }\n}\n",
        _NAMED.format(
            name="countAbove, a public method of the class Solution,", values="List<Integer> values", limit="int limit", result="an int"
        ),
    ),
    "javascript": WorkedExample(
        _JAVASCRIPT,
        f"{_JAVASCRIPT}  let count = 0;\n  for (const value of values) {{\n    if (value > limit) {{\n      count++;\n    }}\n  }}\n"
        "  return count;\n};\n",
        _NAMED.format(name="countAbove", values="values (an array of numbers)", limit="limit (a number)", result="a number"),
    ),
}
