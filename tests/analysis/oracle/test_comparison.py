"""What tests say of two texts of a file, of which the first may not be saved."""

from __future__ import annotations

from pathlib import Path

import pytest
from shop_project import SHOP, TESTS, changed, isolated, name_of, write

from assay.analysis.oracle.comparison import Comparison, Comparisons
from assay.analysis.oracle.oracle import NotJudged, Oracle


def told(comparison: Comparison) -> dict[str, tuple[str | None, str | None]]:
    return {name_of(test.test): (test.before, test.after) for test in comparison.tests}


WRONG = "def wrong(x):\n    return x\n"


@pytest.mark.slow
def test_a_test_that_fails_before_is_run_and_told_as_mended(oracle: Oracle) -> None:
    found = Comparisons(oracle, "shop.py", SHOP).with_text(changed(WRONG, "def wrong(x):\n    return x + 1\n"))
    assert told(found) == {"test_fails_steadily": ("failed", "passed"), "test_in_a_process_of_its_own": ("passed", "passed")}
    assert [test.is_mended for test in found.tests] == [True, False]
    still = Comparisons(oracle, "shop.py", SHOP).with_text(changed(WRONG, "def wrong(x):\n    return x - 1\n"))
    assert told(still)["test_fails_steadily"] == ("failed", "failed")
    assert not any(test.is_mended or test.is_broken for test in still.tests)


def test_a_test_that_passes_before_and_fails_is_broken_with_its_error(oracle: Oracle) -> None:
    found = Comparisons(oracle, "shop.py", SHOP).with_text(changed("unit = 5", "unit = 6"))
    assert [name_of(test.test) for test in found.tests if test.is_broken] == ["test_price[1]", "test_price[2]"]
    assert found.tests[0].why.startswith("failed, was passed (")


@pytest.mark.slow
def test_what_is_not_saved_is_what_a_text_is_compared_with(oracle: Oracle) -> None:
    unsaved = "# a new line above\n" + changed("amount += price", "amount -= price")
    right = "# a new line above\n" + SHOP
    found = Comparisons(oracle, "shop.py", unsaved).with_text(right)
    assert told(found)["test_total"] == ("failed", "passed")
    assert "test_names" not in told(found)


@pytest.mark.slow
def test_of_a_text_that_does_not_parse_every_test_failed(oracle: Oracle) -> None:
    comparisons = Comparisons(oracle, "shop.py", changed("amount += price", "amount += price)"))
    assert told(comparisons.with_text(SHOP))["test_total"] == ("missing", "passed")
    assert told(comparisons.with_text(changed("amount += price", "amount -= price")))["test_total"] == ("missing", "failed")
    assert comparisons.with_text(changed("amount += price", "amount += (")).unparsed


def test_what_can_not_be_told_has_a_reason(oracle: Oracle) -> None:
    comparisons = Comparisons(oracle, "shop.py", SHOP)
    assert comparisons.with_text(SHOP).why == "nothing is changed"
    unused = changed("def unused(x):\n    return x", "def unused(x):\n    return 0")
    assert (found := comparisons.with_text(unused)).why.startswith("no test is known to touch these lines")
    assert not found.tests
    with pytest.raises(NotJudged, match="no such file"):
        Comparisons(oracle, "new.py", "x = 1").with_text("x = 2")
    with pytest.raises(NotJudged, match="can't be what its own suite judges"):
        Comparisons(oracle, "tests/test_shop.py", TESTS).with_text("")


def test_the_tests_that_touch_lines_are_run_with_what_is_not_saved(oracle: Oracle) -> None:
    line = SHOP.split("\n").index("    unit = 5") + 1
    same = Comparisons(oracle, "shop.py", SHOP).of_lines(range(line, line + 1))
    starts_a_process = {"test_in_a_process_of_its_own": ("passed", "passed")}
    assert told(same) == {"test_price[1]": ("passed", "passed"), "test_price[2]": ("passed", "passed")} | starts_a_process
    unsaved = "# a new line above\n" + changed("unit = 5", "unit = 6")
    assert told(Comparisons(oracle, "shop.py", unsaved).of_lines(range(line + 1, line + 2))) == {
        "test_price[1]": ("passed", "failed"),
        "test_price[2]": ("passed", "failed"),
        **starts_a_process,
    }
    # the header of a function runs at import; what is asked about is its body
    assert told(Comparisons(oracle, "shop.py", SHOP).of_lines(range(line - 1, line + 2))).keys() == told(same).keys()


@pytest.mark.slow
def test_no_more_tests_are_run_than_there_is_time_for_and_those_that_fail_come_first(oracle: Oracle) -> None:
    comparisons = Comparisons(oracle, "shop.py", SHOP, max_s=0)
    found = comparisons.with_text(changed(WRONG, "def wrong(x):\n    return x + 1\n"))
    assert (list(told(found)), found.left_out) == (["test_fails_steadily"], 1)


def test_a_text_in_which_the_process_ends_breaks_that_test_and_no_more_are_run(oracle: Oracle) -> None:
    text = changed("unit = 5", "unit = 5 if count > 1 else __import__('os')._exit(0)")
    found = Comparisons(oracle, "shop.py", SHOP).with_text(text)
    assert told(found)["test_price[1]"] == ("passed", "missing")
    assert told(found)["test_price[2]"] == ("passed", None)


@pytest.mark.slow
def test_a_project_whose_only_test_fails_can_be_mended(python: Path, tmp_path: Path) -> None:
    bug = "def double(x):\n    return x * 3\n"
    project = write(tmp_path / "one", {"one.py": bug, "test_one.py": "import one\n\n\ndef test_double():\n    assert one.double(2) == 4\n"})
    with Oracle(project, python, isolated(), some_pass=False, runs=2) as oracle:
        found = Comparisons(oracle, "one.py", bug).with_text(bug.replace("3", "2"))
    assert told(found) == {"test_double": ("failed", "passed")}


MAY_TOUCH = """import subprocess
import sys

import pytest

LOOP = [sys.executable, "-c", "pass"]


def test_runs():
    assert not subprocess.run(LOOP, env={}).returncode


@pytest.mark.xfail
def test_expected_to_fail():
    assert subprocess.run(LOOP, env={}).returncode


def test_skips():
    subprocess.run(LOOP, env={})
    pytest.skip()
"""
FAILS = """

def test_fails():
    assert subprocess.run(LOOP, env={}).returncode
"""


@pytest.mark.slow
@pytest.mark.parametrize("others", ["", FAILS])
def test_tests_that_only_may_touch_a_line_and_end_as_before_say_nothing_of_it(python: Path, tmp_path: Path, others: str) -> None:
    text = "LIMIT = 1\n\n\ndef unused(x):\n    return x\n"
    project = write(tmp_path, {"one.py": text, "test_one.py": MAY_TOUCH + others})
    with Oracle(project, python, isolated(), runs=2) as oracle:
        comparisons = Comparisons(oracle, "one.py", text)
        for other in (text.replace("return x", "return 2"), text.replace("LIMIT = 1", "LIMIT = 2")):
            found = comparisons.with_text(other)
            assert (found.tests, found.why.partition(";")[0]) == ((), "no test is known to touch these lines"), found
