"""Python files that hypothesis makes up."""

from __future__ import annotations

from hypothesis import strategies as st

SIMPLE = [
    "value = compute(a, b)",
    'text = "é" * 3  # ünïcode',
    "a = 1; b = 2",
    "total += weight * (price - discount);",
    "items: list[int]",
    "call(first, second,\n     third)",
    'block = """one\n  two\n"""',
    "'just a string'",
    "pass",
    "assert value, 'message'",
    "del value.attribute",
    "if a: b = 1; c = 2",
    "for i in range(3): total += i",
    "joined = a + \\\n    b",
    "@decorate(1)\nclass Inner: pass",
    "f'{value!r:>{width}}'",
    "if (found := search(text)) is not None: use(found)",
    "raise ValueError(value) from None",
    "# a comment alone",
    "",
    "\f",
]
DOCSTRINGS = [
    "",
    '"""Doc."""',
    '"""Doc.\n\n  More é.\n"""',
    "'one'; a = 1",
    '"a" "b"  # comment',
    '("in brackets")',
    '"""Doc."""\n"another"',
]
HEADS = [
    ["if value:"],
    ["if value:", "elif other:", "else:"],
    ["for item in items:"],
    ["for item in items:", "else:"],
    ["while True:"],
    ["try:", "except ValueError as error:", "finally:"],
    ["try:", "except* ValueError:"],
    ["with open(path) as file, lock:"],
    ["class Local(Base):"],
]


@st.composite
def functions(draw: st.DrawFn, depth: int = 2, name: str = "f") -> list[str]:
    """Lines of one function, maybe decorated, async, documented, with functions inside it that rebind its names."""
    lines = draw(st.sampled_from([[], ["@decorate"], ["@decorate(", "    1)"]]))
    head = draw(st.sampled_from(["def {}(a, b=1):", "async def {}(a,\n    # here\n    b=1):", "def {}(a, b=1) -> int:  # comment"])).format(
        name
    )
    body = draw(blocks(depth=depth))
    docstring = draw(st.sampled_from(DOCSTRINGS))
    return [*lines, *head.split("\n"), *_indented([*(docstring.split("\n") if docstring else []), *body])]


@st.composite
def blocks(draw: st.DrawFn, depth: int, *, of_class: bool = False) -> list[str]:
    """Lines of one to five statements. of_class: none whose names a function inside declares nonlocal, which a class's can't be."""
    lines: list[str] = []
    for _ in range(draw(st.integers(1, 5))):
        kind = draw(st.integers(0, 5 if depth else 3))
        if kind <= 3:
            lines += draw(st.sampled_from(SIMPLE)).split("\n")
        elif kind == 4:
            for head in draw(st.sampled_from(HEADS)):
                lines += [head, *_indented(draw(blocks(depth=depth - 1, of_class=of_class or head.startswith("class"))))]
        elif of_class or draw(st.booleans()):
            lines += draw(functions(depth=depth - 1, name="inner"))
        else:
            inner = _indented(["nonlocal state", *draw(blocks(depth=0)), "state = 2"])
            lines += ["with make() as (state, _):", *_indented(["use(state)"]), "def rebinds():", *inner]
    return [*lines, "return_value = 0"]


def _indented(lines: list[str]) -> list[str]:
    """One level deeper, but for lines of a string and what a backslash joins, which stay valid wherever they stand."""
    return ["    " + line if line and line != "\f" else line for line in lines]


@st.composite
def sources(draw: st.DrawFn) -> str:
    """A whole file: a function and a method, with tabs or spaces, any line ends, maybe a byte order mark, maybe no newline at its end."""
    lines = draw(st.sampled_from([[], ['"""Module."""'], ["# -*- coding: utf-8 -*-"], ["\f", "import os"]]))
    lines = [*lines, *draw(functions()), "", "class Outer:", *_indented(draw(functions(depth=1, name="method"))), "value = 1"]
    if draw(st.booleans()):
        lines = [line.replace("    ", "\t") for line in lines]
    ends = draw(st.sampled_from([["\n"], ["\r\n"], ["\r"], ["\n", "\r\n"]]))
    text = "".join(line + ends[i % len(ends)] for i, line in enumerate(lines))
    if draw(st.booleans()):
        text = text.rstrip("\r\n")
    return draw(st.sampled_from(["", "\ufeff"])) + text
