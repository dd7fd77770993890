from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.analysis.corpora.benchmarks import Language
from assay.analysis.corpora.comments import without_comments
from assay.analysis.python.source_text import UnreadableSource

PYTHON = '''"""A module."""
# of it

def half(x):  # a function
    """Halve."""
    # here
    text = "# no comment"
    return x / 2  # there


def empty():
    """Nothing else."""
'''
JAVA = """import java.util.*;
/** A class.
 *  Of two lines. */
class Solution { // opened
    // alone
    int half(int x) {
        String s = "// no comment"; /* behind */
        return/* between */x / 2;
    }
}
"""


JAVASCRIPT = "/* Halve. */\nconst half = (x) => {\n  // here\n  const s = '// no comment'; // there\n  return x / 2;\n}\n"
BARE_PYTHON = 'def half(x):\n    text = "# no comment"\n    return x / 2\n\n\ndef empty():\n    ...\n'
BARE_JAVA = """import java.util.*;
class Solution {
    int half(int x) {
        String s = "// no comment";
        return x / 2;
    }
}
"""
BARE_JAVASCRIPT = "const half = (x) => {\n  const s = '// no comment';\n  return x / 2;\n}\n"


@pytest.mark.parametrize(
    ("source", "language", "bare"),
    [(PYTHON, "python", BARE_PYTHON), (JAVA, "java", BARE_JAVA), (JAVASCRIPT, "javascript", BARE_JAVASCRIPT)],
)
def test_comments_and_docstrings_go_and_nothing_else(source: str, language: Language, bare: str) -> None:
    assert without_comments(source, language) == bare


@given(st.lists(st.sampled_from(["# a", "x = 1  # b", "x = '# c'", "", "def f():\n    # d\n    return 1  # e", "y = (1,  # f\n # g\n 2)"])))
def test_the_program_stays_the_same(pieces: list[str]) -> None:
    source = "\n".join(pieces) + "\n"
    assert ast.dump(ast.parse(without_comments(source, "python"))) == ast.dump(ast.parse(source))


@pytest.mark.parametrize(("source", "language"), [("def (", "python"), ("class {", "java"), ("const = 1 // x", "javascript")])
def test_what_can_not_be_parsed_is_refused(source: str, language: Language) -> None:
    with pytest.raises(UnreadableSource):
        without_comments(source, language)
