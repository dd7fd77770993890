"""Repairs that make tests pass without being right are not taken for right."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from shop_project import isolated, write

from assay.analysis.oracle.altered_tests import altered
from assay.analysis.oracle.comparison import Comparisons
from assay.analysis.oracle.oracle import Oracle

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


@pytest.fixture(scope="module")
def oracle(python: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Oracle]:
    project = write(tmp_path_factory.mktemp("sums"), {"sums.py": SOURCE, "tests/test_sums.py": TESTS})
    with Oracle(project, python, isolated(), some_pass=False) as made:
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


def test_the_copy_is_as_it_was(oracle: Oracle) -> None:
    assert (oracle.suite.copied.folder / "tests/test_sums.py").read_text(encoding="utf-8") == TESTS


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
        "if windows:\n        assert f() == 5",
        "return\n    assert f() == 5",
        "assert f() == g()",
        "assert 5 == 5",
        "assert f() >= 5",
        "assert f() == approx(5)",
        "assert f() == 5 or g()",
        "assert f() == None",
        "assert f(",
    ],
)
def test_what_may_pass_with_another_value_is_not_altered(body: str) -> None:
    source = f"def test_it():\n    {body}\n"
    assert altered(source, ["t.py::test_it"]) == (source, frozenset())
