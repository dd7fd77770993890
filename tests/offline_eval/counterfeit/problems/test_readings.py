from __future__ import annotations

import ast
import inspect
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.offline_eval.counterfeit.problems.readings import (
    p_correct,
    program_in,
    value_in,
    verdict_in,
    voted,
    with_specification,
)
from assay.offline_eval.sets.problem import literal

PROMPT = 'def f(x):\n    """What is asked.\n    >>> f(1)\n    2\n    """\n'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[ANSWER]Correct[/ANSWER]", 1.0),
        ("[ANSWER] incorrect.\n[/ANSWER]", 0.0),
        ("[ANSWER]Correct[/ANSWER] no: [ANSWER]Incorrect[/ANSWER]", 0.0),
        ("[ANSWER]Correct[/ANSWER] and [ANSWER]Incor", 1.0),
        ("Correct", None),
        ("[ANSWER]Correct and Incorrect[/ANSWER]", None),
        ("[ANSWER]Corr", None),
    ],
)
def test_the_last_complete_answer_counts_in_any_case(text: str, said: float | None) -> None:
    assert verdict_in(text) == said


def test_a_tie_is_half_and_no_vote_is_none() -> None:
    assert (voted([1.0, 0.0, None]), voted([None, None]), voted([1.0, 1.0, 0.0]), voted([0.0])) == (0.5, None, 1.0, 0.0)


def test_the_probability_is_over_the_two_words_and_their_beginnings() -> None:
    top = [("Correct", math.log(0.3)), (" inc", math.log(0.1)), ("maybe", math.log(0.5))]
    assert p_correct(top) == pytest.approx(0.75)
    assert p_correct([("maybe", -0.1)]) is None
    assert p_correct([]) is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[ANSWER]\nassert f("a") == "b"\n[/ANSWER]', "'b'"),
        ("[ANSWER][1, 2][/ANSWER]", "[1, 2]"),
        ("[ANSWER]assert f(1) == [1[/ANSWER]", None),
        ("[ANSWER]assert f(1) == g(2)[/ANSWER]", None),
        ("[ANSWER]3", None),
        ("3", "3"),
        ("I think it is 3", None),
        ("", None),
    ],
)
def test_the_value_of_an_answer_is_the_literal_of_its_assertion(text: str, said: str | None) -> None:
    assert value_in(text) == (None if said is None else literal(said))


@pytest.mark.parametrize(
    ("text", "program"),
    [
        ("[PYTHON]\ndef f():\n    pass\n[/PYTHON]", "def f():\n    pass\n"),
        ("[PYTHON]\n```python\nx = 1\n```\n[/PYTHON]", "x = 1\n"),
        ("so:\n```python\nx = 1\n```\nor:\n```\nx = 2\n```\n", "x = 2\n"),
        ("[PYTHON]\ndef f():\n    pa", None),
        ("[PYTHON]\n[/PYTHON]", None),
        ("nothing", None),
    ],
)
def test_the_program_of_an_answer_is_its_last_block(text: str, program: str | None) -> None:
    assert program_in(text) == program


BODIES = st.sampled_from(["return x", "y = x\n    return y", "for i in x:\n        pass", "return '''a\n  b'''", "pass"])
DOCSTRINGS = st.sampled_from(["", '    """Other."""\n', '    """What is asked.\n    >>> f(1)\n    2\n    """\n', "    'One.'\n"])


@given(DOCSTRINGS, BODIES, st.booleans())
def test_a_program_gets_the_docstring_of_the_problem_and_nothing_else_changes(docstring: str, body: str, imports: bool) -> None:
    before = "import math\n\n\ndef g():\n    return 1\n\n\n" if imports else ""
    program = f"{before}def f(x):\n{docstring}    {body}\n"
    made = with_specification(program, PROMPT, "f")
    function = next(node for node in ast.parse(made).body if isinstance(node, ast.FunctionDef) and node.name == "f")
    asked = ast.parse(PROMPT).body[0]
    assert isinstance(asked, ast.FunctionDef)
    assert ast.get_docstring(function) == ast.get_docstring(asked)
    plain = ast.parse(f"{before}def f(x):\n    {body}\n")
    function.body = function.body[1:]
    rest = ast.parse(made)
    assert ast.dump(ast.Module([*rest.body[:-1], function], [])) == ast.dump(plain)
    assert with_specification(made, PROMPT, "f") == made


@pytest.mark.parametrize("program", ["def g(x):\n    return x\n", "def f(x:\n", "f = abs\n"])
def test_a_program_without_such_a_function_stays_as_it_is(program: str) -> None:
    assert with_specification(program, PROMPT, "f") == program


@pytest.mark.parametrize(
    "program",
    [
        "import functools\n\ndef f(x):\n    @functools.cache\n    def g(y):\n        return y\n    return g(x)\n",
        "def f(x):\n\treturn x\n",
        "def f(x):\n\t'''Other.'''\n\treturn x\n",
        "def f(x): return x\n",
        "def f(\n    x): return x\n",
        "def f(x):\n    'Other.'; return x\n",
        "def f(x):\n    y = '\x0c\x1c'\n    return x\n",
        "def f(x):\r\n    return x\r\n",
        "    return x\n",
    ],
)
def test_a_docstring_never_breaks_the_program_that_gets_it(program: str) -> None:
    made = with_specification(program, PROMPT, "f")
    defined: dict[str, Any] = {}
    exec(made, defined)
    assert defined["f"](3) == 3
    assert inspect.getdoc(defined["f"]) == "What is asked.\n>>> f(1)\n2"


@pytest.mark.parametrize("indent", [" ", "  ", "    ", "\t"])
def test_a_problem_may_be_indented_as_it_likes(indent: str) -> None:
    prompt = f'def f(x):\n{indent}"""What is asked."""\n'
    assert "What is asked." in with_specification("def f(x):\n    return x\n", prompt, "f")
