from __future__ import annotations

import ast
import json
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from training.mutate import Function
from training.places import Guess, Place
from training.tasks import Item, docstring_lines, items_of, judge, load, read, without_docstring

ROOT = Path(__file__).parents[2]
STDLIB = [p.read_text(encoding="utf-8") for p in sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))]
SMALL = [text for text in STDLIB if len(text) < 30_000][:40]

SOURCE = '''import os


def add(a, b):
    """Add two numbers.

    The second paragraph.
    """

    if a is None:
        return b
    return a + b


def nothing():
    pass
'''


def one(task: str) -> Item:
    return next(i for i in items_of("p", SOURCE, "0") if i.task == task)


def test_implement_shows_the_docstring_and_wants_the_body() -> None:
    item = one("implement")
    assert item.before.endswith('paragraph.\n    """\n\n   ')
    assert item.answer == " if a is None:\n        return b\n    return a + b"
    assert item.before + item.answer + item.after in SOURCE


def test_describe_shows_the_code_alone_and_wants_the_first_line() -> None:
    item = one("describe")
    assert item.before.endswith("def add(a, b):\n\n    if a is None:\n        return b\n    return a + b")
    assert item.answer == "Add two numbers."


def test_what_an_item_shows_and_answers_is_the_file_itself() -> None:
    tasks = set()
    for number, text in enumerate(SMALL):
        for item in items_of("python", text, str(number)):
            tasks.add(item.task)
            if item.task == "describe":
                continue
            assert item.before + item.answer + item.after in text
            if item.task == "fix":
                assert (item.kind == "none") == (item.shown == item.answer)
                assert "\n" not in item.shown + item.answer
            # The cursor stands where code begins, and the space there is held back.
            assert item.answer.strip()
            assert item.answer[:1].isspace() or item.before.endswith("\n")
            assert not item.answer[1:2].isspace()
    assert tasks == {"implement", "describe", "fix"}


def test_a_function_without_its_docstring_is_otherwise_the_same() -> None:
    removed = 0
    for text in SMALL:
        source = read("python", text)
        assert source is not None
        for function in source.functions:
            parts = without_docstring(source, function)
            if parts is None:
                continue
            removed += 1
            code, docstring = parts
            opening = "if 1:\n" if code[0].isspace() else ""
            left = next(node for node in ast.walk(ast.parse(opening + code)) if isinstance(node, Function))
            assert ast.get_docstring(function) == docstring
            # Decorators stand above the code that is shown.
            expected = type(function)(**{**dict(ast.iter_fields(function)), "body": function.body[1:], "decorator_list": []})
            assert ast.dump(left) == ast.dump(expected)
    assert removed > 100


@pytest.mark.parametrize(
    "function", ["def f(): 'doc'; return 1", "def f():\n    'doc'; return 1", "def f():\n    'doc'", "def f():\n    return 1"]
)
def test_a_docstring_that_shares_its_lines_or_is_all_there_is_stays(function: str) -> None:
    source = read("p", function)
    assert source is not None
    assert docstring_lines(source, source.functions[0]) is None


@given(st.text())
def test_any_text_gives_items_or_none_but_no_error(text: str) -> None:
    list(items_of("p", text, "0"))
    list(items_of("p", "def f(a, b):\n    '''Do it now please.'''\n    return a\n" + text, "0"))


def test_the_same_seed_gives_the_same_items() -> None:
    assert list(items_of("p", SMALL[3], "1")) == list(items_of("p", SMALL[3], "1"))


def test_a_place_is_judged_by_its_real_text_and_by_every_guess() -> None:
    guesses = (Guess(" return a", False, True, -1.0, 3), Guess(" return b", True, False, -2.0, 3))
    place = Place("p", "f.py", "line", "def f(a, b):\n   ", "\n", " return b", guesses)
    items = list(judge(place))
    assert [(i.kind, i.shown, i.answer) for i in items] == [
        ("real", " return b", "True"),
        ("wrong", " return a", "False"),
        ("right", " return b", "True"),
    ]
    assert {i.before for i in items} == {place.before}


def test_the_command_writes_what_load_reads(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text("".join(json.dumps({"project": "python", "path": str(i), "text": t}) + "\n" for i, t in enumerate(SMALL[:5])))
    out = tmp_path / "tasks.jsonl"
    arguments = ["--corpus", str(corpus), "--items", "10", "--out", str(out)]
    subprocess.run([sys.executable, "-m", "training.tasks", *arguments], cwd=ROOT, check=True, capture_output=True)
    items = load(out)
    assert 10 <= len(items) < 18
    assert {i.project for i in items} == {"python"}
