from __future__ import annotations

import ast
from pathlib import Path

from hypothesis import given, settings
from python_sources import sources

from assay.analysis.python.bodies import bodies
from assay.analysis.python.regions import context, deleted
from assay.analysis.python.source_text import BOM, decoded
from assay.analysis.python.statement_parsing import parse_statements

SOURCE = '''
def documented(
    a,  # first
):
    """Doc.

    # not a comment
    """

    # what comes
    b = a
    return b  # at last

def bare(a="""
# not a comment either"""):  # of the header
    # a comment of the body
    return a

def stub():
    """Nothing yet."""
    ...

def short(a): return a

def shared(a):
    """Doc."""; return a
'''


def test_a_body_is_all_behind_the_docstring_with_its_comments() -> None:
    (body,) = bodies(SOURCE)
    assert SOURCE[body.start : body.end] == "# what comes\n    b = a\n    return b  # at last"
    assert (body.function, body.first_line, body.last_line, body.statement) == ("documented", 10, 12, "assign")
    assert SOURCE[: body.start].endswith('"""\n\n    ')


def test_functions_without_docstring_are_given_where_asked_for_but_none_that_does_nothing_or_shares_a_line() -> None:
    assert [body.function for body in bodies(SOURCE, documented=False)] == ["documented", "bare"]
    body = bodies(SOURCE, documented=False)[1]
    assert SOURCE[body.start : body.end] == "# a comment of the body\n    return a"
    assert SOURCE[: body.start].endswith("# of the header\n    ")


def test_only_functions_all_of_whose_code_was_executed() -> None:
    assert bodies(SOURCE, covered={11, 12})
    assert not bodies(SOURCE, covered={11})


@settings(max_examples=50, deadline=None)
@given(sources())
def test_without_its_body_a_function_has_its_docstring_alone(source: str) -> None:
    for body in bodies(source, documented=False):
        before, after = context(source, body, 0)
        assert before.strip() == after.strip() == ""
        tree = ast.parse(deleted(source, body).removeprefix(BOM))
        compile(deleted(source, body).removeprefix(BOM), "source", "exec", dont_inherit=True)
        functions = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
        line = max(f.first_line for f in parse_statements(source).functions if f.name == body.function and f.first_line < body.first_line)
        (function,) = (f for f in functions if f.lineno == line)
        assert all(isinstance(s, ast.Pass | ast.Expr | ast.AnnAssign) for s in function.body)


def test_bodies_of_this_projects_own_functions_are_found() -> None:
    path = Path(__file__).parents[3] / "analysis" / "python" / "bodies.py"
    source, _ = decoded(path.read_bytes())
    assert [body.function for body in bodies(source)] == ["bodies"]
