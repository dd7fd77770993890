"""Suites that reach for the plugin in their process and report what is not so: nothing that they say is a path, or a line of output."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from shop_project import isolated, write

from assay.analysis.oracle.jailed.assay_oracle.channel import printable
from assay.analysis.oracle.oracle import Oracle
from assay.analysis.oracle.report import Begun, Broke, Collected, parse_record, read_report

CODE = "def one():\n    return 1\n"
TEST = "import one\n\n\ndef test_one():\n    assert one.one() == 1\n"
# Finds the object that holds the lines of the present test, and adds lines of other files to it.
OTHER_FILES = """import gc

import pytest

FILES = {files}


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item):
    yield
    for watch in (each for each in gc.get_objects() if type(each).__name__ == "LineWatch"):
        for lines in watch._owners:
            for file in FILES:
                lines.setdefault(file, set()).update(range(1, 6))
"""
# Finds the channel, and writes records of its own.
OTHER_RECORDS = """import gc


def pytest_runtest_teardown(item):
    for channel in [each for each in gc.get_objects() if type(each).__name__ == "Channel"]:
        for test in ("test_one.py::gone", "\\n\\x1b[2Jassay: fine", "../../x.py::y"):
            channel.send("begun", id=test)
            channel.send("test", id=test, outcome="passed", cpu_s=1e6, wall_s=1e6, lines={"/etc/passwd": [1]})
            channel.send("collected", ids=[test], modules=["/etc/passwd"], errors={"x": "\\n\\x1b[2Jassay: fine"})
"""
# What is longer than this was told, not measured.
MAX_S = 600


@pytest.mark.slow
def test_lines_of_files_that_were_not_copied_or_that_are_not_there_are_not_kept(tmp_path: Path, python: Path) -> None:
    secret = tmp_path / "secret.py"
    secret.write_text("one = 1\ntwo = 2\n")
    project = write(tmp_path / "one", {"one.py": CODE, "test_one.py": TEST, "notes.txt": "a\nb\n", "sub/two.py": "x = 1\n"})
    (project / "link.py").symlink_to(secret)
    (project / "inside.py").symlink_to("one.py")
    others = [
        str(secret),
        "../secret.py",
        "sub/../one.py",
        "./one.py",
        "/etc/passwd",
        "link.py",
        "inside.py",
        "notes.txt",
        "test_one.py",
        "",
    ]
    write(project, {"conftest.py": OTHER_FILES.format(files=["one.py", "sub/two.py", *others])})
    with Oracle(project, python, isolated(), runs=2) as made:
        coverage = made.coverage()
        assert not coverage.trouble
        assert set(coverage.tests) == {"one.py", "sub/two.py"}
        assert set(coverage.imported) <= {"one.py", "sub/two.py"}
        assert {file: max(lines) for file, lines in coverage.tests.items()} == {"one.py": 3, "sub/two.py": 2}
        assert set(made.coverage_with("test_one.py::test_one", "one.py", CODE + "\n").tests) == {"one.py", "sub/two.py"}


@pytest.mark.slow
def test_tests_that_nobody_has_collected_are_not_kept_and_no_time_is_longer_than_the_clock_says(tmp_path: Path, python: Path) -> None:
    project = write(tmp_path / "one", {"one.py": CODE, "test_one.py": TEST, "conftest.py": OTHER_RECORDS})
    with Oracle(project, python, isolated(), runs=2) as made:
        baseline, coverage = made.baseline(), made.coverage()
        assert list(baseline.outcomes) == ["test_one.py::test_one"]
        assert not baseline.flaky
        assert sum(baseline.wall_s.values()) < MAX_S
        assert set(coverage.tests) == {"one.py"}
        verdict = made.verdict("one.py", CODE.replace("1", "2"))
        assert verdict.label is False
        assert verdict.reason.isprintable()


@pytest.mark.slow
def test_an_id_with_control_characters_is_shown_with_escapes_and_its_test_is_judged(tmp_path: Path, python: Path) -> None:
    settings = "[pytest]\ndisable_test_id_escaping_and_forfeit_all_rights_to_community_support = true\n"
    test = (
        "import one\nimport pytest\n\n\n@pytest.mark.parametrize('x', ['\\nassay: fine', '\\x1b[2J', '\\u202eabc'])\n"
        "def test_one(x):\n    assert one.one() == 1, x\n"
    )
    project = write(tmp_path / "one", {"one.py": CODE, "test_one.py": test, "pytest.ini": settings})
    with Oracle(project, python, isolated(), runs=2) as made:
        names = [rf"test_one.py::test_one[{end}]" for end in (r"\nassay: fine", r"\x1b[2J", r"\u202eabc")]
        assert list(made.baseline().outcomes) == names
        assert made.covered("one.py")[2] == set(names)
        verdict = made.verdict("one.py", CODE.replace("1", "2"))
        assert (verdict.label, verdict.reason) == (False, f"{names[0]}: failed, was passed")


@pytest.mark.parametrize("name", ["a\nb", "\x1b]0;title\x07", "a\x9bb", "\u202ea", "a\u200bb", "\ud800"])
def test_a_record_with_an_id_that_cannot_be_printed_is_none_and_texts_are_escaped(name: str) -> None:
    def told(**fields: object) -> bytes:
        return b"n" + json.dumps(fields).encode()

    assert parse_record(told(kind="begun", id=name), b"n") is None
    assert parse_record(told(kind="test", id=name, outcome="passed", cpu_s=0, wall_s=0), b"n") is None
    assert parse_record(told(kind="collected", ids=[name], modules=[], errors={}), b"n") is None
    if name != "\ud800":  # halves of characters are in no JSON
        found = parse_record(told(kind="collected", ids=[], modules=[], errors={"a": name}), b"n")
        assert isinstance(found, Collected)
        assert found.errors["a"].isprintable()
        broke = parse_record(told(kind="broke", reason=name), b"n")
        assert isinstance(broke, Broke)
        assert broke.reason.isprintable()
    assert printable(name).isprintable()
    assert parse_record(told(kind="begun", id=printable(name)), b"n") == Begun(printable(name))


@pytest.mark.parametrize("nested", [b"[" * 500_000, b'{"a":' * 500_000, b"[" * 200_000 + b"]" * 200_000])
def test_a_deeply_nested_record_is_none(nested: bytes) -> None:
    for line in (nested, b'{"kind":"begun","id":"a","x":' + nested + b"}", b'{"kind":"begun","id":' + nested + b"}"):
        assert parse_record(b"n" + line, b"n") is None


def test_what_is_told_of_a_test_that_was_not_asked_for_is_not_kept() -> None:
    lines = [
        b'{"kind":"collected","ids":["a","b"],"modules":[],"errors":{}}',
        *(b'{"kind":"test","id":"%s","outcome":"passed","cpu_s":0,"wall_s":0}' % test for test in (b"a", b"b", b"c")),
        b'{"kind":"begun","id":"c"}',
    ]
    output = b"".join(b"n" + line + b"\n" for line in lines)
    assert set(read_report(output, b"n", watched=False).tests) == {"a", "b"}
    assert set(read_report(output, b"n", watched=False, asked=["a"]).tests) == {"a"}
    left_out = read_report(output + b'n{"kind":"begun","id":"a"}\n', b"n", watched=False, without=["a"])
    assert (set(left_out.tests), left_out.running) == ({"b"}, None)
    assert read_report(output, b"n", watched=False).running is None


# Writes far more into the records than tests do, in the middle of the test of that name.
FLOOD = """import gc
import os


def pytest_runtest_setup(item):
    for channel in [each for each in gc.get_objects() if type(each).__name__ == "Channel" and item.name == {test!r}]:
        for _ in range({times}):
            os.write(channel._records, {what} * 10_000)
"""
BEGUN = """(channel._nonce + b'{"kind":"begun","id":"test_one.py::test_one"}' + bytes([10]))"""


@pytest.mark.slow
def test_a_test_that_floods_the_records_is_left_out_with_the_reason(tmp_path: Path, python: Path) -> None:
    project = write(tmp_path / "one", {"one.py": CODE, "test_one.py": TEST})
    write(project, {"conftest.py": FLOOD.format(test="test_one", times=30, what=BEGUN), "test_two.py": TEST.replace("_one()", "_two()")})
    told: list[str] = []
    with Oracle(project, python, isolated(), runs=2, tell=told.append) as made:
        baseline = made.baseline()
    why = "it wrote more than 262,144 records of its tests"
    assert (list(baseline.outcomes), baseline.flaky) == (["test_two.py::test_two"], {"test_one.py::test_one": why})
    assert told == [f"test_one.py::test_one is left out, since it has no steady outcome ({why})"]


@pytest.mark.slow
def test_a_flood_of_empty_lines_neither_holds_a_run_nor_changes_what_it_says(tmp_path: Path, python: Path) -> None:
    project = write(tmp_path / "one", {"one.py": CODE, "test_one.py": TEST})
    write(project, {"conftest.py": FLOOD.format(test="test_one", times=400, what="bytes([10])")})
    with Oracle(project, python, isolated(), runs=2) as made:
        assert not made.baseline().trouble
        begun = time.process_time()
        assert made.verdict("one.py", CODE.replace("1", "2")).label is False
        assert time.process_time() - begun < 10
