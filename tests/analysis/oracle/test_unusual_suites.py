"""Suites that are not as one would wish: they depend on order, trace themselves, or break."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest
from shop_project import SHOP, changed, isolated, name_of, write

from assay.analysis.oracle import baseline_runs
from assay.analysis.oracle.comparison import Comparisons
from assay.analysis.oracle.oracle import NotJudged, Oracle
from assay.analysis.oracle.suite import SUITE_LIMITS
from assay.suggestion.repair.project_tests import ProjectTests

pytestmark = pytest.mark.slow

ORDER = """
done = []


def test_a():
    done.append("a")


def test_b():
    assert done == ["a"]
    done.append("b")


def test_c():
    assert done == ["a", "b"]


""" + "\n".join(f"def test_{i}():\n    pass\n" for i in range(40))


def test_tests_that_depend_on_their_order_are_left_out(tmp_path: Path, python: Path) -> None:
    write(tmp_path, {"test_order.py": ORDER})
    with Oracle(tmp_path, python, isolated()) as made:
        baseline = made.baseline()
    assert not baseline.trouble
    assert baseline.flaky
    assert {name_of(test) for test in baseline.flaky} <= {"test_a", "test_b", "test_c"}
    assert len(baseline.outcomes) + len(baseline.flaky) == 43


LATE = {
    "late.py": "import shop\nTOTAL = shop.total([1, 2])\n",
    "test_shop.py": "def test_total():\n    import late\n    assert late.TOTAL == 3\n\n\n"
    "def test_price():\n    import shop\n    assert shop.price_of(1) == 6\n",
    "shop.py": SHOP,
}


def test_what_runs_at_a_late_import_is_judged_by_the_whole_suite(tmp_path: Path, python: Path) -> None:
    with Oracle(write(tmp_path, LATE), python, isolated(), runs=2) as made:
        verdict = made.verdict("shop.py", changed("amount += price", "amount -= price"))
        assert (verdict.label, verdict.way) == (False, "whole")


ELSEWHERE = """
import pathlib
import sys

import shop


def test_total():
    assert shop.total([1, 2]) == 3


def test_depends_on_what_is_installed():
    assert (pathlib.Path(sys.prefix) / "flag-of-the-oracle").exists()
"""


def test_the_whole_suite_is_not_believed_either_where_the_unchanged_program_fails_in_it(tmp_path: Path, python: Path) -> None:
    flag = python.parent.parent / "flag-of-the-oracle"
    flag.touch()
    with Oracle(write(tmp_path, {"shop.py": SHOP, "test_shop.py": ELSEWHERE}), python, isolated(), runs=2) as made:
        assert set(made.baseline().outcomes.values()) == {"passed"}
        assert made.verdict("shop.py", changed("RATE = 0.2", "RATE = 1 / 5")).label is True
        flag.unlink()
        verdict = made.verdict("shop.py", changed("RATE = 0.2", "RATE = 1 / 5"))
    assert (verdict.label, verdict.way) == (None, "whole")
    assert "without the change, too" in verdict.reason


WATCHERS = """
import cProfile
import sys
import threading

import shop


def test_total():
    assert shop.total([1, 2]) == 3


def test_in_a_thread():
    thread = threading.Thread(target=shop.main)
    thread.start()
    thread.join()


def test_ends_the_watch():
    before = sys.gettrace()
    sys.settrace(None)
    try:
        assert shop.price_of(1) == 6
    finally:
        sys.settrace(before)


def test_profiles():
    assert cProfile.Profile().runcall(shop.price_of, 2) == 12


def test_is_not_watched():
    assert sys.gettrace() is None
"""


def test_tests_that_watch_what_runs_themselves_belong_to_every_line(tmp_path: Path, python: Path) -> None:
    with Oracle(write(tmp_path, {"shop.py": SHOP, "test_shop.py": WATCHERS}), python, isolated(), runs=2) as made:
        assert set(made.baseline().outcomes.values()) == {"passed"}
        watched_by_tracing = {"test_is_not_watched"} if made.suite.interpreter.python < (3, 12) else set()
        assert {name_of(test) for test in made.coverage().fresh} == {"test_ends_the_watch", "test_profiles"} | watched_by_tracing
        verdict = made.verdict("shop.py", changed("unit = 5", "unit = 5 if count > 1 else 7"))
    assert (verdict.label, verdict.reason) == (False, "test_shop.py::test_ends_the_watch: failed, was passed")


SHARED = """
import subprocess
import sys

import pytest


@pytest.fixture(scope="module")
def total():
    return subprocess.run([sys.executable, "-c", "import shop; print(shop.total([1, 2]))"], capture_output=True, text=True).stdout


def test_first(total):
    assert total


def test_second(total):
    assert total == "3\\n"


def test_alone():
    assert True
"""


def test_all_tests_that_a_started_process_may_serve_belong_to_every_line(tmp_path: Path, python: Path) -> None:
    files = {"shop.py": SHOP, "test_shop.py": SHARED, "test_other.py": "import shop\ndef test_other():\n    assert shop.total([1]) == 1\n"}
    with Oracle(write(tmp_path, files), python, isolated(), runs=2) as made:
        assert {name_of(test) for test in made.coverage().fresh} == {"test_first", "test_second", "test_alone"}
        verdict = made.verdict("shop.py", changed("amount = 0", "amount = 0 if len(prices) < 2 else 7"))
    assert (verdict.label, verdict.reason) == (False, "test_shop.py::test_second: failed, was passed")


def test_a_file_that_tests_were_collected_from_is_no_code_of_the_project_whatever_its_name(tmp_path: Path, python: Path) -> None:
    checks = "import shop\n\n\ndef helper(prices):\n    return shop.total(prices)\n\n\ndef test_total():\n    assert helper([1]) == 1\n"
    files = {"shop.py": SHOP, "checks.py": checks, "pytest.ini": "[pytest]\npython_files = checks.py\n"}
    with Oracle(write(tmp_path, files), python, isolated(), runs=2) as made:
        assert made.files() == ["shop.py"]
        with pytest.raises(NotJudged, match="a test can't be what its own suite judges"):
            made.verdict("checks.py", checks.replace("prices)", "prices, x=1)"))


def test_options_that_this_python_does_not_have_are_left_out_and_told(tmp_path: Path, python: Path) -> None:
    write(tmp_path, {"test_a.py": "def test_a():\n    pass\n", "pytest.ini": "[pytest]\naddopts = --no-such-option\n"})
    with Oracle(tmp_path, python, isolated(), runs=2) as made:
        baseline = made.baseline()
    assert not baseline.trouble
    assert baseline.outcomes == {"test_a.py::test_a": "passed"}
    assert "--no-such-option" in baseline.notes[0]


def test_a_suite_that_cannot_be_collected_makes_every_verdict_unknown(tmp_path: Path, python: Path) -> None:
    write(tmp_path, {"shop.py": SHOP, "test_shop.py": "import no_such_module\n"})
    with Oracle(tmp_path, python, isolated(), runs=2) as made:
        verdict = made.verdict("shop.py", changed("unit = 5", "unit = 6"))
    assert (verdict.label, verdict.infrastructure) == (None, False)
    assert "no_such_module" in verdict.reason


def test_a_suite_in_which_nothing_passes_is_told_with_the_error_of_its_first_test(python: Path, tmp_path: Path) -> None:
    tests = "def test_a():\n    assert 1 == 2, 'so it is'\n\n\ndef test_b():\n    raise ValueError('b')\n"
    with Oracle(write(tmp_path, {"shop.py": "x = 1\n", "test_shop.py": tests}), python, isolated(), runs=2) as made:
        trouble = made.baseline().trouble
    assert trouble.startswith("none of 2 tests passes; of test_shop.py::test_a pytest says: ")
    assert "assert 1 == 2" in trouble or "so it is" in trouble


def test_a_collection_that_never_ends_is_given_up_at_its_limit_and_not_repeated(tmp_path: Path, python: Path) -> None:
    write(tmp_path, {"test_endless.py": "import time\ntime.sleep(600)\n"})
    begun = time.monotonic()
    with Oracle(tmp_path, python, isolated(), allowed=replace(SUITE_LIMITS, wall_s=4)) as made:
        assert "collecting the tests does not come to its end" in made.baseline().trouble
    assert time.monotonic() - begun < 60


SLEEPERS = "import time\n\n\ndef test_ok():\n    pass\n" + "".join(f"\n\ndef test_{n}():\n    time.sleep(600)\n" for n in range(3))


def test_tests_that_hang_are_told_and_left_out_each_in_less_time_than_the_first(
    tmp_path: Path, python: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(baseline_runs, "_MIN_HALVED_S", 6.0)
    told: list[str] = []
    begun = time.monotonic()
    allowed = replace(SUITE_LIMITS, wall_s=12)
    with Oracle(write(tmp_path, {"test_a.py": SLEEPERS}), python, isolated(), runs=2, allowed=allowed, tell=told.append) as made:
        baseline = made.baseline()
    assert time.monotonic() - begun < (2 + 2) * 12
    assert (list(baseline.outcomes), baseline.trouble) == (["test_a.py::test_ok"], "")
    assert [line.partition(" is left out")[0] for line in told] == [f"test_a.py::test_{n}" for n in range(3)]
    assert [line.rpartition("after ")[2] for line in told] == [f"{seconds} s on the clock)" for seconds in (12, 6, 6)]


def test_a_whole_run_is_kept_where_a_later_one_ends_in_a_test(tmp_path: Path, python: Path) -> None:
    # the order at random, of the third run, makes it end
    test = "import os\n\nran = []\n\n\n" + "\n\n\n".join(
        f"def test_{n}():\n    ran.append({n})\n    if ran != sorted(ran):\n        os._exit(3)" for n in range(4)
    )
    with Oracle(write(tmp_path, {"test_a.py": test + "\n\n\ndef test_z():\n    pass\n"}), python, isolated(), runs=3) as made:
        baseline, trouble = made.baseline(), made.coverage().trouble
    assert (baseline.runs, trouble) == (3, "")
    assert "test_a.py::test_z" in baseline.outcomes
    assert set(baseline.flaky.values()) == {"it ends the process with status 3"}


@pytest.mark.parametrize(
    "settings",
    [
        "addopts = --junitxml=reports/out.xml --basetemp=temporary --log-file=pytest.log",
        "addopts = --written report.html",
    ],
)
def test_what_pytest_and_its_plugins_write_goes_where_it_can_be_written(tmp_path: Path, python: Path, settings: str) -> None:
    test = "import shop\n\n\ndef test_total(tmp_path):\n    assert shop.total([1, 2]) == 3\n"
    plugin = (
        "def pytest_addoption(parser):\n    parser.addoption('--written')\n\n\ndef pytest_configure(config):\n"
        "    if config.option.written:\n        open(config.option.written, 'w').close()\n"
    )
    write(tmp_path, {"shop.py": SHOP, "test_shop.py": test, "conftest.py": plugin, "pytest.ini": f"[pytest]\n{settings}\n"})
    with Oracle(tmp_path, python, isolated(), runs=2) as made:
        baseline = made.baseline()
        assert (baseline.trouble, baseline.notes, baseline.outcomes) == ("", (), {"test_shop.py::test_total": "passed"})


@pytest.mark.parametrize(
    ("conftest", "said"),
    [
        ("import numpyy\n", "ImportError while loading conftest 'conftest.py': ModuleNotFoundError: No module named 'numpyy'"),
        ("import pytest\n\n\ndef pytest_sessionstart():\n    pytest.exit('no database')\n", "no database (conftest.py:5)"),
    ],
)
def test_where_pytest_itself_ends_its_own_error_is_said_with_its_place(tmp_path: Path, python: Path, conftest: str, said: str) -> None:
    warns = "import warnings\n\nwarnings.warn('the last words')\n\n\ndef test_it():\n    pass\n"
    with Oracle(write(tmp_path, {"test_it.py": warns, "conftest.py": conftest}), python, isolated(), runs=2) as made:
        assert said in made.baseline().trouble


def test_files_that_cannot_be_collected_are_told_with_the_error_and_its_place(tmp_path: Path, python: Path) -> None:
    files = {
        "shop.py": SHOP,
        "broken.py": "x = 1\nimport numpyy\n",
        "test_import.py": "import broken\n",
        "test_syntax.py": "x = 1\ndef test_it(:\n",
        "test_it.py": "def test_it():\n    pass\n",
    }
    with Oracle(write(tmp_path, files), python, isolated(), runs=2) as made:
        baseline = made.baseline()
        assert baseline.broken == {
            "test_import.py": "broken.py:2: ModuleNotFoundError: No module named 'numpyy'",
            "test_syntax.py": "test_syntax.py:2: SyntaxError: invalid syntax",
        }
        assert baseline.uncollected == f"test_import.py can't be collected (nor 1 more): {baseline.broken['test_import.py']}"
        said = Comparisons(made, "shop.py", SHOP).with_text(SHOP.replace("unit = 5", "unit = 6"))
        assert baseline.uncollected in said.why


CLAMP = "def clamp(value, high):\n    if value > high:\n        return high\n    return value\n\n\ndef other(value):\n    return value\n"
STARTS = """import subprocess
import sys

import pytest


@pytest.mark.parametrize("environment", [None, {}])
def test_program(environment):
    said = subprocess.run([sys.executable, "program.py"], env=environment, capture_output=True, text=True)
    assert said.stdout == "9\\n", said.stderr
"""


def test_tests_that_start_the_program_touch_the_lines_that_it_runs_and_otherwise_all(tmp_path: Path, python: Path) -> None:
    wrong = CLAMP.replace("return high", "return value")
    write(tmp_path, {"clamp.py": wrong, "program.py": "from clamp import clamp\n\nprint(clamp(12, 9))\n", "test_program.py": STARTS})
    watched, unwatched = "test_program.py::test_program[None]", "test_program.py::test_program[environment1]"
    with Oracle(tmp_path, python, isolated(), runs=2, some_pass=False) as made:
        assert made.baseline().outcomes == {watched: "failed", unwatched: "failed"}
        assert made.covered("clamp.py") == {2: {watched}, 3: {watched}}
        assert made.covered("program.py").keys() == {1, 3}
        comparisons = Comparisons(made, "clamp.py", wrong)
        assert [test.is_mended for test in comparisons.with_text(CLAMP).tests] == [True, True]
        assert [test.is_mended for test in comparisons.with_text(wrong.replace("> high", ">= high")).tests] == [False, False]
        # neither of them is known to touch the line, and that they fail says nothing of it
        other = comparisons.of_lines(range(8, 9))
        assert (other.tests, other.why[:41]) == ((), "no test is known to touch these lines; of")
    write(tmp_path, {"clamp.py": CLAMP})
    with Oracle(tmp_path, python, isolated(), runs=2) as made:
        said = Comparisons(made, "clamp.py", CLAMP).with_text(CLAMP.replace("return value\n\n", "return value + 0\n\n"))
        assert (said.tests, said.why) == ((), "no test is known to touch these lines; of those that may, 2, none is mended or broken")


@pytest.mark.parametrize(
    ("settings", "files", "test"),
    [
        (
            "python_files = *_spec.py",
            {"shop_spec.py": "import shop\n\n\ndef test_it():\n    assert shop.total([1]) == 1\n"},
            "shop_spec.py::test_it",
        ),
        (
            "addopts = --doctest-modules",
            {"sums.py": 'import shop\n\n\ndef f():\n    """\n    >>> shop.total([1])\n    1\n    """\n'},
            "sums.py::sums.f",
        ),
    ],
)
def test_tests_may_be_named_and_written_as_the_projects_settings_say(
    tmp_path: Path, python: Path, settings: str, files: dict[str, str], test: str
) -> None:
    write(tmp_path, {"shop.py": SHOP, "pytest.ini": f"[pytest]\n{settings}\n", **files})
    with ProjectTests(tmp_path, python=python) as tests:
        assert tests.measure() == 1
        said = tests.judge(tmp_path / "shop.py", SHOP)(SHOP.replace("amount += price", "amount -= price"))
        assert (said.passed, said.breaks) == (False, (test,))
