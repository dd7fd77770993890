from __future__ import annotations

import sys
from types import FrameType
from typing import Any

import pytest

from assay.analysis.python.source_text import BOM, UnreadableSource, decoded
from assay.analysis.python.statements import Statement, all_statements, is_covered, parse_statements

SOURCE = """
class A:
    @(
      decorate)
    async def f(self, x,
                y=1):  # c
        "doc"; a = 1; b = 2
        if x: return y
        elif (x and
              y):
            # comment
            global q
            z = "é"; w = 3  # é
        else:
            if x:
                pass
        try:
            a
        except E: b
        finally:
            x: int
        match x:
            case 1:
                return 2
"""


def shown(statement: Statement, source: str) -> str:
    """Kind, lines and what is inside, in one line."""
    inside = "".join(f"[{' '.join(shown(s, source) for s in block)}]" for block in statement.blocks)
    marks = ("" if statement.runs else "-") + ("" if statement.own_line else "<")
    return f"{statement.kind}{marks} {statement.first_line}-{statement.header_last_line}-{statement.last_line}{inside}"


def test_statements_have_kind_lines_and_blocks() -> None:
    (function,) = parse_statements(SOURCE).functions
    assert (function.name, function.first_line, function.last_line) == ("A.f", 5, 24)
    assert [shown(statement, SOURCE) for statement in function.body] == [
        "expression 7-7-7",
        "if 8-8-16[return< 8-8-8][global- 12-12-12 assign 13-13-13][if 15-15-16[pass 16-16-16]]",
        "try 17-17-21[expression 18-18-18][expression< 19-19-19][assign- 21-21-21]",
        "match 22-23-24[return 24-24-24]",
    ]
    assert SOURCE[function.body[0].start : function.body[0].end] == '"doc"; a = 1; b = 2'
    assert function.docstring is not None
    assert SOURCE[function.docstring.start : function.docstring.end] == '"doc"'


@pytest.mark.parametrize(
    "source",
    [
        "def f[T: int](a: T) -> list[T]:\n    type X = int\n    return [a]\n",
        "def f(a):\n    return f'{a['key']} {f'{'nested'}'}'\n",
        "def f(a):\n    try:\n        pass\n    except* (A, B) as error:\n        raise\n",
        "async def f(a):\n    async with a as b, c: return [x async for x in b]\n",
        "def f(a):\n    match a:\n        case {'k': [1, *rest], **others} if rest: pass\n        case A(b=1) | None as c: return c\n",
        "\ufeff# c\r\ndef f():\r\n    return 'é'\r\n",
        "def f():\n\x0c    a = 1\n\x0c\x0c    b = 2\n    return a",
        "def f(\n    a: int,\n    /,\n    *b,\n    c=(\n     1),\n    **d  # c\n) -> int: return a\n",
    ],
)
def test_statements_of_every_syntax_are_found_and_code_stays_what_it_was(source: str) -> None:
    module = parse_statements(source)
    (function,) = module.functions
    for statement in all_statements(function.body):
        assert source[statement.start : statement.end].strip() == source[statement.start : statement.end]
        assert module.starts[statement.first_line - 1] <= statement.start < module.starts[statement.first_line]


@pytest.mark.parametrize("text", ["(" * 5000, "f" + "()" * 50000, "a if b else " * 30000 + "c", "def f(:", "x = \0", "x = '\ud800'"])
def test_what_nests_without_end_or_is_not_python_is_refused(text: str) -> None:
    with pytest.raises(UnreadableSource):
        parse_statements("def f[T]():\n    type X = int\n" + text)


@pytest.mark.parametrize(
    ("data", "encoding", "begins"),
    [
        (b"# -*- coding: latin-1 -*-\nx = '\xe9'\r\n", "iso-8859-1", "# -*-"),
        (b"\xef\xbb\xbfx = '\xc3\xa9'\n", "utf-8", BOM),
        (b"", "utf-8", ""),
    ],
)
def test_text_of_any_encoding_is_the_bytes_again(data: bytes, encoding: str, begins: str) -> None:
    text, found = decoded(data)
    assert (found, text[: len(begins)]) == (encoding, begins)
    assert text.encode(found) == data


@pytest.mark.parametrize("data", [b"# coding: klingon\n", b"x = '\xe9'\n", b"\xef\xbb\xbf# coding: latin-1\n", b"# coding: rot13\nk\n"])
def test_bytes_that_are_not_of_the_encoding_they_name_are_refused(data: bytes) -> None:
    with pytest.raises(UnreadableSource, match="encoding"):
        decoded(data)


TRACED = '''
import contextlib

def everything(a):
    """Doc."""
    global seen
    bare: int
    "a string"
    ...
    pass
    seen = (
        a
    )
    def inner():
        """Doc."""
        nonlocal a
        a += 1
        return a
    class Local:
        """Doc."""
        x: int = 1
        def method(self): pass
    @contextlib.contextmanager
    def decorated(
        b
    ):
        yield b
    Local().method()
    while True:
        if inner() > 3: break
        else:
            continue
    for _ in range(2):
        pass
    else:
        del seen
    try:
        try:
            raise ValueError
        finally:
            seen = 1
    except (KeyError,
            ValueError):
        assert seen
    with decorated(1) as c, \\
            decorated(2):
        match c:
            case 0:
                seen = a
            case _:
                import os; seen = os
    return [
        seen
        for _ in "a"
    ]
'''


def test_what_a_tracer_sees_of_a_function_that_runs_whole_is_what_is_asked_for() -> None:
    ran: set[int] = set()

    def trace(frame: FrameType, event: str, _: object) -> object:
        if frame.f_code.co_filename == "traced" and event == "line":
            ran.add(frame.f_lineno)
        return trace

    names: dict[str, Any] = {}
    exec(compile(TRACED, "traced", "exec", dont_inherit=True), names)
    before = sys.gettrace()
    sys.settrace(trace)  # type: ignore[arg-type]
    try:
        names["everything"](0)
    finally:
        sys.settrace(before)
    function = parse_statements(TRACED).functions[0]
    missing = {s.first_line for s in all_statements(function.body) if s.runs and not is_covered(s, ran)}
    (never,) = (n for n, text in enumerate(TRACED.split("\n"), 1) if text.strip() == "seen = a")
    assert missing == {never}
