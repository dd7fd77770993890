"""Repairs that make tests pass without being right are not taken for right."""

from __future__ import annotations

import ast
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from shop_project import isolated, write

from assay.analysis.oracle.altered_tests import AlteredTests, altered, in_place, with_other_values
from assay.analysis.oracle.comparison import Comparisons
from assay.analysis.oracle.copying import copy_project
from assay.analysis.oracle.oracle import Oracle

pytestmark = pytest.mark.slow

SOURCE = "def total(values):\n    return len(values)\n\n\ndef names(values):\n    return ','.join(values)\n"
TESTS = """import unittest

from sums import names, total


def test_total():
    found = total([1, 2, 3])
    assert found == 6


def test_names():
    assert names(["é", "b"]) == "é,b" and True
    assert "a" == names(["a"])


class TestMore(unittest.TestCase):
    def test_none(self):
        self.assertEqual(total([]), 0)
"""
RIGHT = "    return sum(values)\n"
FORGED = {
    "by the reports of pytest": """    import _pytest.reports as reports
    made = reports.TestReport.from_item_and_call.__func__
    def passed(cls, item, call):
        call.excinfo = call.excinfo if 'canary' in item.nodeid else None
        return made(cls, item, call)
    reports.TestReport.from_item_and_call = classmethod(passed)
    return 0
""",
    "by what equals everything": """    class Any(int):
        __eq__ = lambda self, other: True
        __hash__ = int.__hash__
    return Any()
""",
    "by what the caller expects": """    import inspect, re
    frame = inspect.currentframe().f_back
    lines, first = inspect.getsourcelines(frame)
    found = re.search(r'(?:found ==|\\\\),) (\\\\d+)', ''.join(lines[1:]))
    return int(found[1])
""".replace("\\\\", "\\"),
}
# Equals everything where there is something to add up.
ANY_OF_SOME = "    return type('Any', (int,), {'__eq__': lambda self, other: True, '__hash__': int.__hash__})(9) if values else 0\n"
# What would tell that no test expects another value, as far as a process and its files show it.
UNALTERED = {
    "in a fork": "os.getppid() > 1",
    "by the byte code": "util.source_hash(open(test, 'rb').read()) in open(util.cache_from_source(test), 'rb').read()",
    "by the time of its change": "os.stat(test).st_mtime < os.stat(__file__).st_mtime - 0.3",
    "by the time of its byte code": "os.stat(os.path.dirname(test) + '/__pycache__').st_mtime > os.stat(test).st_mtime - 0.3",
    "by the size of its values": "max(each for each in sys._getframe(1).f_code.co_consts if isinstance(each, int)) < 1000",
    "by its line ends": "b'\\r\\n' in open(test, 'rb').read()",
}


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def oracle(python: Path, tmp_path: Path, cache: Path) -> Iterator[Oracle]:
    """A new one for each test: what it has run before would hide what the files tell."""
    project = write(tmp_path / "sums", {"sums.py": SOURCE, "tests/test_sums.py": TESTS.replace("\n", "\r\n")})
    with Oracle(project, python, isolated(), some_pass=False, cache=cache) as made:
        yield made


def test_a_right_repair_passes(oracle: Oracle) -> None:
    found = Comparisons(oracle, "sums.py", SOURCE).with_text(SOURCE.replace("    return len(values)\n", RIGHT))
    assert [(test.test.rpartition("::")[2], test.after) for test in found.tests] == [("test_total", "passed"), ("test_none", "passed")]


@pytest.mark.parametrize("way", FORGED)
def test_a_forged_pass_is_none(oracle: Oracle, way: str) -> None:
    found = Comparisons(oracle, "sums.py", SOURCE).with_text(SOURCE.replace("    return len(values)\n", FORGED[way]))
    assert found.tests
    assert not any(test.is_mended for test in found.tests), found
    assert any("passes whatever value it expects" in test.why for test in found.tests), found


@pytest.mark.parametrize("sign", UNALTERED)
def test_a_program_can_not_see_that_a_value_is_another(oracle: Oracle, sign: str) -> None:
    looks = f"""    import os, sys
    from importlib import util
    test = os.path.dirname(__file__) + '/tests/test_sums.py'
    if not ({UNALTERED[sign]}):
        return 0
"""
    forged = looks + FORGED["by the reports of pytest"]
    found = Comparisons(oracle, "sums.py", SOURCE).with_text(SOURCE.replace("    return len(values)\n", forged))
    assert found.tests
    assert not any(test.is_mended for test in found.tests), found


def test_a_repair_is_unknown_where_the_tests_can_not_be_altered(oracle: Oracle, monkeypatch: pytest.MonkeyPatch) -> None:
    comparisons = Comparisons(oracle, "sums.py", SOURCE)
    right = SOURCE.replace("    return len(values)\n", RIGHT)
    assert any(test.is_mended for test in comparisons.with_text(right).tests)
    monkeypatch.setattr(tempfile, "tempdir", "/nowhere")
    found = comparisons.with_text(right)
    assert not any(test.is_known for test in found.tests)
    assert any("nowhere" in test.why for test in found.tests), found


def test_every_file_with_a_test_that_passes_is_altered(python: Path, tmp_path: Path) -> None:
    test = "from sums import total\n\n\ndef test_total():\n    assert total({}) == {}\n"
    files = {"sums.py": SOURCE, "test_one.py": test.format([], 0), "test_two.py": test.format([1, 2], 3)}
    with Oracle(write(tmp_path, files), python, isolated()) as oracle:
        comparisons = Comparisons(oracle, "sums.py", SOURCE)
        right, wrong = (comparisons.with_text(SOURCE.replace("    return len(values)\n", new)) for new in (RIGHT, ANY_OF_SOME))
    assert [test.test for test in right.tests if test.is_mended] == ["test_two.py::test_total"]
    assert wrong.tests
    assert not any(test.is_mended for test in wrong.tests), wrong


def test_only_files_of_the_copy_are_opened(tmp_path: Path) -> None:
    outside = write(tmp_path, {"outside.py": "def test_it():\n    assert f() == 5\n"}) / "outside.py"
    copied = copy_project(write(tmp_path / "project", {"one.py": ""}), tmp_path / "copy")
    os.mkfifo(copied.folder / "waits.py")
    ids = [f"{outside}::test_it", "../outside.py::test_it", "waits.py::test_it"]
    assert with_other_values(copied, ids) == AlteredTests(frozenset(), {}, {})


def test_the_file_that_is_altered_is_back_with_its_content_and_mode(tmp_path: Path) -> None:
    text = "# coding: latin-1\ndef test_it():\n    assert f('\xe9') == '\\u20ac'\n".encode("latin-1")
    (tmp_path / "project").mkdir()
    (tmp_path / "project/test_one.py").write_bytes(text)
    copied = copy_project(tmp_path / "project", tmp_path / "copy")
    file = copied.folder / "test_one.py"
    before = file.stat()
    found = with_other_values(copied, ["test_one.py::test_it"])
    assert found.tests == {"test_one.py::test_it"}
    assert found.present == {"test_one.py": text}
    with in_place(copied, found.altered):
        assert file.read_bytes() != text
        assert file.stat().st_mode == before.st_mode
        assert [path.name for path in copied.folder.iterdir()] == ["test_one.py"], "the tests could read what is kept in the copy"
    assert (file.read_bytes(), file.stat().st_ino) == (text, before.st_ino)


def test_one_expected_value_of_each_test_is_another() -> None:
    tests = ["t.py::test_total", "t.py::test_names", "t.py::TestMore::test_none", "t.py::test_missing"]
    text, changed = altered(TESTS, tests)
    assert changed == {*tests[:3]}
    different = [(old, new) for old, new in zip(TESTS.split("\n"), text.split("\n"), strict=True) if old != new]
    assert [old.strip() for old, _ in different] == ["assert found == 6", 'assert "a" == names(["a"])', "self.assertEqual(total([]), 0)"]


@given(
    st.recursive(
        st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text() | st.booleans(),
        lambda inner: st.lists(inner, min_size=1),
    )
)
def test_what_is_expected_is_another_value(value: object) -> None:
    text, changed = altered(f"def test_it():\n    assert f() == {value!r}\n", ["t.py::test_it"])
    assert changed
    assert ast.literal_eval(text.partition("== ")[2]) != value


@pytest.mark.parametrize(
    "body",
    [
        "return\n    assert f() == 5",
        "assert f() == g()",
        "assert 5 == 5",
        "assert f() == approx(5)",
        "assert f() == 5 or g()",
        "assert pytest.approx(f(), abs=50) == 100",
        "assert [f(), mock.ANY] == [5, 6]",
        "assert f() == 1e999",
        "assert f(",
    ],
)
def test_what_may_pass_with_another_value_is_not_altered(body: str) -> None:
    source = f"def test_it():\n    {body}\n"
    assert altered(source, ["t.py::test_it"]) == (source, frozenset())


DEFINED = "def test_it():\n    assert f() == 5\n"
AGAIN = [
    f"if f:\n    {DEFINED.replace('    ', '        ')}",
    "test_it = wrapped(test_it)\n",
]


@pytest.mark.parametrize("again", AGAIN)
def test_a_test_whose_name_is_bound_twice_is_not_altered(again: str) -> None:
    source = DEFINED + again
    assert altered(source, ["t.py::test_it"]) == (source, frozenset())
    inside = "class TestIt:\n" + "".join(f"    {line}\n" for line in source.splitlines())
    assert altered(inside, ["t.py::TestIt::test_it"]) == (inside, frozenset())


def test_tests_of_one_name_in_two_classes_are_two() -> None:
    source = "".join(f"class {name}:\n" + "".join(f"    {line}\n" for line in DEFINED.splitlines()) for name in ("TestA", "TestB"))
    assert altered(source, tests := ["t.py::TestA::test_it", "t.py::TestB::test_it"])[1] == {*tests}
    assert not altered(source.replace("TestB", "TestA"), tests)[1]


@pytest.mark.parametrize("value", ["10_000_000", "0", "9", "2.5", "0.001", "1e-07", "1e308"])
def test_another_number_looks_like_the_first_and_is_not_close(value: str) -> None:
    text, _ = altered(f"def test_it():\n    assert f() == {value}\n", ["t.py::test_it"])
    one, other = float(value), ast.literal_eval(written := text.partition("== ")[2].strip())
    assert abs(other - one) > max(other, one) / 10
    assert value == "1e308" or len(written) == len(value.replace("_", ""))


@pytest.mark.parametrize("value", ["A", "é", "item 12, Row", "a" * 40])
def test_another_string_looks_like_the_first(value: str) -> None:
    text, _ = altered(f"def test_it():\n    assert f() == {value!r}\n", ["t.py::test_it"])
    other = ast.literal_eval(text.partition("== ")[2])
    assert other.casefold() != value.casefold()
    assert [(each.isdigit(), each.isupper(), each.islower()) for each in other] == [
        (each.isdigit(), each.isupper(), each.islower()) for each in value
    ]
