from __future__ import annotations

import ast
import warnings

import pytest
from hypothesis import given, settings
from python_sources import sources

from assay.analysis.python.docstrings import without_docstrings
from assay.analysis.python.lines import Line, sample_lines
from assay.analysis.python.source_text import BOM

SCOPES = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def is_string(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def tree_without_docstrings(source: str) -> str:
    """By removing them from the tree, which is another way than cutting text."""
    tree = ast.parse(source.removeprefix(BOM))
    for node in ast.walk(tree):
        if isinstance(node, SCOPES):
            body = node.body
            while body and is_string(body[0]):
                body = body[1:]
            node.body = body or ([] if isinstance(node, ast.Module) else [ast.Expr(ast.Constant(...))])
    return ast.dump(tree)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ('"""Module."""\nx = 1\n', "x = 1\n"),
        ('def f():\n    """Doc.\n\n    More.\n    """\n\n    return 1\n', "def f():\n\n    return 1\n"),
        ('def f():\n    """Doc."""  # why\n    return 1\n', "def f():\n    # why\n    return 1\n"),
        ('def f():\n    """Doc."""\n', "def f():\n    ...\n"),
        ("def f(): 'doc'; return 1\n", "def f(): return 1\n"),
        ("class A:\r\n\t'doc';\r\n\tx = 1\r\n", "class A:\r\n\tx = 1\r\n"),
        ("def f():\n    'one'\n    'two'\n    return 1\n", "def f():\n    return 1\n"),
        ("def f():\n    'doc' \\\n\n    return 1\n", "def f():\n    return 1\n"),
        ("def f():\n    b'bytes'\n    f'no {docstring}'\n", "def f():\n    b'bytes'\n    f'no {docstring}'\n"),
        ("\ufeff'doc'\nfrom __future__ import annotations\n", "\ufefffrom __future__ import annotations\n"),
    ],
)
def test_docstrings_go_and_all_else_stays(source: str, expected: str) -> None:
    found = without_docstrings(source)
    assert found.text == expected
    assert tree_without_docstrings(source) == ast.dump(ast.parse(found.text.removeprefix(BOM)))


def test_a_docstring_behind_a_backslash_gives_way_to_an_ellipsis_since_its_line_can_not_go() -> None:
    assert without_docstrings("def f():\n    \\\n    'doc'\n    return 1\n").text == "def f():\n    \\\n    ...\n    return 1\n"


def check(source: str) -> None:
    found = without_docstrings(source)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert ast.dump(ast.parse(found.text.removeprefix(BOM))) == tree_without_docstrings(source)
    assert without_docstrings(found.text).text == found.text
    kept = [(source[offset], place) for offset in range(len(source)) if (place := found.offset(offset)) is not None]
    assert [found.text[place] for _, place in kept] == [character for character, _ in kept]
    put_in = sum(len(cut.text) for cut in found.cuts)
    assert len(kept) + put_in == len(found.text)


@settings(max_examples=20, deadline=None)
@given(sources())
def test_the_code_without_docstrings_is_the_code_and_every_other_character_is_found_again(source: str) -> None:
    check(source)


def test_the_same_line_can_be_asked_with_and_without_docstrings() -> None:
    source = 'class A:\n    """Class."""\n\n    def f(self, a):\n        """Doc.\n\n        More.\n        """\n'
    source += "        b = a\n        return b\n"
    for seed in range(10):
        (line,) = sample_lines(source, str(seed))
        found = without_docstrings(source)
        same = found.line(line)
        assert same is not None
        assert same.function == line.function
        assert found.text[same.start : same.end] == source[line.start : line.end]
        assert found.text.splitlines()[found.text[: same.start].count("\n")] == source[line.start : line.end]


def test_a_line_with_a_docstring_on_it_has_no_place_in_the_file_without() -> None:
    source = "def f():\n    'doc'  # c\n    return 1\n"
    found = without_docstrings(source)
    assert found.line(Line("f", 9, source.index("\n", 9))) is None
    assert found.line(Line("f", 0, 8)) == Line("f", 0, 8)
    assert found.offset(source.index("doc")) is None
