from __future__ import annotations

import random
import sysconfig
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.suggestion.cursor import Cursor
from assay.suggestion.cut.indentation_style import in_the_documents_style

TABS = "class A:\n\tdef f(self):\n\t\treturn 1\n"
TWO = "class A:\n  def f(self):\n    return 1\n"


@pytest.mark.parametrize(
    ("text", "prefix", "suffix", "left"),
    [
        ("if x:\n        y()", TABS + "\t", "\n", "if x:\n\t\ty()"),
        ("if x:\n    y()\n  z()", TABS + "\t", "\n", "if x:\n\t\ty()\n\tz()"),
        ("    y()", TABS + "def g():\n", "\n", "\ty()"),
        ("if x:\n\t\ty()", TWO + "  ", "\n", "if x:\n    y()"),
        ("if x:\n        y()", "", "", "if x:\n        y()"),
        (" = [\n        1]", TABS + "\tx", " # why\n", " = [\n\t\t1]"),
    ],
)
def test_lines_are_indented_as_the_document_is(text: str, prefix: str, suffix: str, left: str) -> None:
    assert in_the_documents_style(text, Cursor(prefix, suffix, "block")) == left


STYLES = {"tabs": 8, "two": 2, "three": 3, "four": 4, "eight": 8, "mixed": 4}


def indent(style: str, level: int, rest: int = 0) -> str:
    """Of a level: by tabs, by spaces, or mixed, where eight columns are a tab."""
    if style == "tabs":
        return "\t" * level + " " * rest
    columns = level * STYLES[style] + rest
    return "\t" * (columns // 8) + " " * (columns % 8) if style == "mixed" else " " * columns


def written(levels: list[tuple[int, str]], style: str) -> list[str]:
    return [indent(style, level) + text for level, text in levels]


def ways(levels: list[tuple[int, str]], header: int, style: str) -> list[list[str]]:
    """How models write the lines of a block: as the document is, by four spaces, so from what they see of its header, a tab too many."""
    seen = indent(style, header)
    own, four = written(levels, style), written(levels, "four")
    from_header = [seen + " " * (4 * (level - header)) + text for level, text in levels]
    return [own, four, from_header, *([["\t" + line for line in own]] if style == "tabs" else [])]


@st.composite
def blocks(draw: st.DrawFn, depth: int = 0) -> list[tuple[int, str]]:
    """Lines of Python, with their levels."""
    lines: list[tuple[int, str]] = []
    for _ in range(draw(st.integers(1, 3))):
        if depth < 3 and draw(st.booleans()):
            lines.append((depth, draw(st.sampled_from(["if a:", "for a in b:  # each", "def f(a, b):", "class A(B):"]))))
            lines += [(level, text) for level, text in draw(blocks(depth + 1))]
        else:
            lines.append((depth, draw(st.sampled_from(["a = b", "f(a, b)", "# of a: b", "return a", 'a["b"] = 1']))))
    return lines


BEFORE = [(0, "class B:"), (1, "def g(self):"), (2, "if self:"), (3, "h()")]


@given(blocks(), st.integers(0, 3), st.sampled_from(sorted(STYLES)), st.data())
def test_a_block_is_indented_as_the_document_is(block: list[tuple[int, str]], header: int, style: str, data: st.DataObject) -> None:
    above = written([*BEFORE[:header], *BEFORE, *BEFORE[:header]], style)
    prefix = "\n".join([*above, indent(style, header) + "while a:"])
    inside = [(level + header + 1, text) for level, text in block]
    suffix = "\n" + "\n".join(written(BEFORE, style))
    truth, text = written(inside, style), data.draw(st.sampled_from(ways(inside, header, style)))
    behind = Cursor(prefix, suffix, "block")
    assert in_the_documents_style("\n" + "\n".join(text), behind) == "\n" + "\n".join(truth)
    begun = indent(style, header + 1)
    below = Cursor(f"{prefix}\n{begun}", suffix, "block")
    lead = "\t" if text[0].startswith("\t" * (header + 2)) else ""
    given_text = "\n".join([lead + text[0].lstrip(), *text[1:]])
    found = in_the_documents_style(given_text, below)
    assert begun + found == "\n".join(truth)
    assert in_the_documents_style(found, below) == found


def of_file(path: Path) -> list[tuple[int, str]] | None:
    """The lines of a file that is indented by four spaces, each by its columns; None of another."""
    lines = path.read_text(encoding="utf-8").split("\n")
    return None if any("\t" in line for line in lines) else [(len(line) - len(line.lstrip(" ")), line.lstrip(" ")) for line in lines]


GO = "func a() {\n\tif x {\n\t\tb()\n\t}\n}\n\nfunc c() {\n"
JAVASCRIPT = "function a() {\n  if (x) {\n    b();\n  }\n}\n\nfunction c() {\n  d();\n"
CPP = "class A {\n  int x;\n};\n\nvoid f() {\n  g();\n}\n\nclass B {\n private:\n"
PYTHON = "def f():\n  if x:\n    y()\n\n"


@pytest.mark.parametrize(
    ("prefix", "language", "text"),
    [
        (GO + '\tu := "http://x/y"\n', "go", "\tfetch(u)"),
        (GO + "\tswitch x {\n", "go", "\tcase 1:"),
        (GO + "\tswitch x {\n", "go", "\t}"),
        (JAVASCRIPT + "  fetch('http://x/y');\n", "javascript", "  b();"),
        (CPP, "cpp", "  int y;"),
        ("namespace a {\n\n/*\n" + CPP.replace("private:", "{") + " * of b {\n", "cpp", " * of c"),
        (PYTHON + "# note:\n", "python", "x = 1"),
        (PYTHON + "def g():\n  '''Of x:'''\n", "python", "  x = 1"),
    ],
)
def test_a_line_that_is_right_stays_as_the_model_wrote_it(prefix: str, language: str, text: str) -> None:
    assert in_the_documents_style(text, Cursor(prefix, "\n", "line", language)) == text
    assert in_the_documents_style("\t\tb()", Cursor(GO, "\n}\n", "line", "go")) == "\tb()", "a tab too many is taken away"


@pytest.mark.parametrize("style", ["tabs", "two"])
@pytest.mark.parametrize(("folder", "pattern", "language"), [("stdlib", "*.py", "python"), ("include", "**/*.h", "c")])
def test_each_line_of_a_real_file_stays_as_it_is(style: str, folder: str, pattern: str, language: str) -> None:
    drawn, n, changed = random.Random(style), 0, list[str]()
    files = sorted(Path(sysconfig.get_path(folder)).glob(pattern))
    for path in drawn.sample(files, min(10, len(files))):
        read = of_file(path) or []
        lines = [indent(style, *divmod(columns, 4)) + text if text else "" for columns, text in read]
        # Two spaces in a file of four are no level of another style.
        indented = [at for at, (columns, text) in enumerate(read) if text and columns and columns % 4 == 0]
        for at in drawn.sample(indented, min(10, len(indented))):
            line = lines[at]
            for begun in ("", line[: len(line) - len(line.lstrip())]):
                cursor = Cursor("\n".join([*lines[:at], begun]), "\n" + "\n".join(lines[at + 1 :]), "line", language)
                n += 1
                if begun + in_the_documents_style(line.removeprefix(begun), cursor) != line:
                    changed.append(f"{path.name}:{at + 1}")
    # A header of C may indent its first line by two levels, as nothing but its author's taste tells.
    assert n > 50
    assert len(changed) <= n // 100, changed
