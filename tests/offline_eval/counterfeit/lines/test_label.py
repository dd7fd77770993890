"""What the tests of a real project say of a text, where more of them touch it than are run."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from study_runs import isolation_here
from sums_project import FILES, SOURCE, write_project

from assay.analysis.oracle.oracle import Oracle
from assay.offline_eval.counterfeit.classes import class_of
from assay.offline_eval.counterfeit.lines.label import Label, label_of, outcomes_of
from assay.offline_eval.sets.suites import Judged, Suite

pytestmark = pytest.mark.slow
LINE = "        result = result + number"
_EASY = """

def test_a_sum_is_a_number():
    assert isinstance(total([1]), int)


def test_a_sum_of_nothing():
    assert total([]) == 0
"""


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Suite, Oracle]]:
    level = isolation_here()
    folder = tmp_path_factory.mktemp("label")
    shop = write_project(folder / "shop")
    (shop / "tests" / "test_sums.py").write_text(FILES["tests/test_sums.py"] + _EASY)
    suite = Suite("shop", shop, Path(sys.executable), level, folder / "cache")
    with suite.oracle() as oracle:
        yield suite, oracle


def label(judged: tuple[Suite, Oracle], line: str, most: int = 40) -> Label:
    suite, oracle = judged
    number = SOURCE.split("\n").index(LINE) + 1
    return label_of(oracle, Judged("a", suite, "shop/sums.py", SOURCE.replace(LINE, line), (number, number)), 0, most)


@pytest.mark.parametrize(
    ("line", "passes", "error", "kept", "kind"),
    [
        ("        result = number + result", True, "passed", 2, "right"),
        ("        result = result - number", False, "wrong", 1, "counterfeit"),
        ("        result = undefined", False, "crash", 0, "other"),
        ("        result = = 1", False, "unparsed", 0, "other"),
    ],
)
def test_each_test_that_touches_the_line_is_counted(
    judged: tuple[Suite, Oracle], line: str, passes: bool, error: str, kept: int, kind: str
) -> None:
    found = label(judged, line)
    assert (found["tests_pass"], found["error"], found["kept"], found["known"]) == (passes, error, kept, 0 if error == "unparsed" else 2)
    assert class_of(outcomes_of(found)) == kind
    assert [test["error"] for test in found["changed"]] == [error] * (found["known"] - kept)
    if error != "unparsed":
        few = label(judged, line, most=1)
        assert (few["tests_pass"], few["known"], few["left_out"]) == (passes, 1, 1), "the verdict of all decides"


def test_where_an_object_is_in_memory_is_not_told(judged: tuple[Suite, Oracle]) -> None:
    reasons = [test["why"] for test in label(judged, "        result = lambda: 0")["changed"]]
    assert any("<lambda> at 0x…>" in why for why in reasons)
