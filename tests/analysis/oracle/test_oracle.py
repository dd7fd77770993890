"""Verdicts on a small project by its own tests, in the jail."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from assay.analysis.oracle.oracle import NotJudged, Oracle
from assay.analysis.sandbox.isolation.best_level import NoIsolation, best_level
from assay.analysis.sandbox.isolation.jail import Jail
from assay.analysis.sandbox.isolation.levels import Isolation

SHOP = '''"""A shop."""

import functools
import time

RATE = 0.2


def at_import(x):
    return x + 1


START = at_import(1)


def total(prices):
    amount = 0
    for price in prices:
        amount += price
    return amount


def taxed(function):
    @functools.wraps(function)
    def with_tax(*args):
        return function(*args) * (1 + RATE)

    return with_tax


@taxed
def price_of(count):
    unit = 5
    return unit * count


def wrong(x):
    return x


def also_wrong(x):
    return x + 1


def names(values):
    if values is None:
        return "none"
    return ", ".join(functools.reduce(lambda a, b: [*a, b], values, []))


def main():
    code = "ok"
    print(code)


def unused(x):
    return x


def long(x):
    return call(
        x,
        1,
    )


def call(a, b):
    unused_value = 0
    return a + b
'''
TESTS = """
import subprocess
import sys
import time
import unittest

import pytest

import shop


def test_total():
    assert shop.total([1, 2]) == 3


@pytest.mark.parametrize("count", [1, 2])
def test_price(count):
    assert shop.price_of(count) == 6 * count


def test_fails_steadily():
    assert shop.wrong(1) == 2


def test_would_fail_with_the_same_change():
    assert shop.also_wrong(1) == 2


def test_in_a_process_of_its_own():
    said = subprocess.run([sys.executable, "-c", "import shop; shop.main()"], capture_output=True, text=True)
    assert said.stdout == "ok\\n"


def test_main(capsys):
    shop.main()


def test_no_names():
    assert shop.names(None) == "none"


def test_names():
    assert shop.names(["a", "b"]) == "a, b"


def test_long():
    assert shop.long(1) == 2


@pytest.mark.skip(reason="no")
def test_skipped():
    pass


@pytest.mark.xfail
def test_expected_to_fail():
    assert False


class TestMore(unittest.TestCase):
    def test_start(self):
        self.assertEqual(shop.START, 2)

    def test_writes_into_the_project(self):
        with open(shop.__file__, "a") as file:
            file.write("# changed")
"""


def isolated() -> Jail:
    try:
        return Jail(best_level())
    except NoIsolation as reason:
        pytest.skip(f"nothing isolates here: {reason}")


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("shop"), {"shop.py": SHOP, "tests/test_shop.py": TESTS})


@pytest.fixture(scope="module")
def oracle(project: Path, python: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Oracle]:
    with Oracle(project, python, isolated(), cache=tmp_path_factory.mktemp("cache")) as made:
        yield made


def changed(old: str, new: str) -> str:
    assert SHOP.count(old) == 1, old
    return SHOP.replace(old, new)


def name_of(test: str) -> str:
    return test.rpartition("::")[2]


def test_the_baseline_has_each_tests_outcome(oracle: Oracle) -> None:
    baseline = oracle.baseline()
    assert not baseline.trouble
    assert not baseline.flaky
    assert {name_of(test): outcome for test, outcome in baseline.outcomes.items()} == {
        "test_total": "passed",
        "test_price[1]": "passed",
        "test_price[2]": "passed",
        "test_fails_steadily": "failed",
        "test_would_fail_with_the_same_change": "passed",
        "test_in_a_process_of_its_own": "passed",
        "test_main": "passed",
        "test_no_names": "passed",
        "test_names": "passed",
        "test_long": "passed",
        "test_skipped": "skipped",
        "test_expected_to_fail": "xfailed",
        "test_start": "passed",
        "test_writes_into_the_project": "failed",
    }


def test_each_line_knows_the_tests_that_touch_it(oracle: Oracle) -> None:
    lines = SHOP.split("\n")
    covered = oracle.covered("shop.py")
    assert {name_of(t) for t in covered[lines.index("    unit = 5") + 1]} == {"test_price[1]", "test_price[2]"}
    assert {name_of(t) for t in covered[lines.index("        amount += price") + 1]} == {"test_total"}
    assert lines.index("def unused(x):") + 2 not in covered
    assert oracle.files() == ["shop.py"]


@pytest.mark.parametrize(
    ("old", "new", "label", "way", "reason"),
    [
        ("amount += price", "amount = amount + price", True, "warm", "each test has its outcome"),
        ("amount += price", "amount -= price", False, "warm", "test_total: failed, was passed"),
        ("unit = 5", "unit = 6", False, "warm", "test_price[1]: failed, was passed"),
        ("return function(*args) * (1 + RATE)", "return function(*args)", False, "warm", "test_price[1]: failed"),
        ("return unit * count", "yield unit * count", False, "process", "test_price[1]: failed"),
        ("return unit * count", "yield unit", False, "process", "test_price[1]: failed"),
        ("        1,\n", "        2,\n", False, "warm", "test_long: failed"),
        ('code = "ok"', 'code = "not ok"', False, "warm", "test_in_a_process_of_its_own: failed"),
        ("amount += price", "amount += (", False, "none", "does not parse"),
        ("amount += price", "continue; nonlocal amount", False, "none", "does not parse"),
        ("amount += price", 'amount += "\ud800"', False, "none", "does not parse"),
        ('"""A shop."""', '# coding: ascii\n"""A schöp."""', False, "none", "does not parse"),
        ('"""A shop."""', '# coding: latin-1\n"""A schöp."""', True, "whole", "each test has its outcome"),
        ("RATE = 0.2", "RATE = 0.3", False, "whole", "test_price[1]: failed"),
        ("RATE = 0.2", "RATE = 1 / 5", True, "whole", "each test has its outcome"),
        ("def at_import(x):\n    return x + 1", "def at_import(x):\n    return x", False, "whole", "test_start: failed"),
        ("return x\n\n\ndef also", "return 2\n\n\ndef also", False, "warm", "test_fails_steadily: passed, was failed"),
        ("def unused(x):\n    return x", "def unused(x):\n    return 0", None, "none", "no stable test touches"),
    ],
)
def test_a_change_is_judged_by_the_tests_that_touch_it(
    oracle: Oracle, old: str, new: str, label: bool | None, way: str, reason: str
) -> None:
    verdict = oracle.verdict("shop.py", changed(old, new))
    assert (verdict.label, verdict.way) == (label, way)
    assert reason in verdict.reason


def test_tests_of_the_whole_function_are_asked_where_a_name_in_it_becomes_local(oracle: Oracle) -> None:
    unbound = changed('        return "none"', '        import functools; return "none"')
    verdict = oracle.verdict("shop.py", unbound)
    assert verdict.label is oracle.verdict("shop.py", unbound, ways=("whole",)).label is False
    assert (verdict.way, verdict.reason) == ("warm", "tests/test_shop.py::test_names: failed, was passed")
    assert oracle.verdict("shop.py", changed('        return "none"', '        said = "none"; return said')).tests == 2


def test_one_test_more_that_passes_does_not_make_up_for_one_that_fails(oracle: Oracle) -> None:
    swapped = SHOP.replace("return x\n\n\ndef also_wrong(x):\n    return x + 1", "return x + 1\n\n\ndef also_wrong(x):\n    return x")
    assert swapped != SHOP
    assert oracle.verdict("shop.py", swapped).label is False


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("while True: pass", "test_total: took too much CPU time"),
        ("import os; os._exit(0)", "test_total: the process ended in the middle of it"),
        ("import os; os.kill(os.getpid(), 9)", "test_total: killed"),
        ("import ctypes; ctypes.string_at(0)", "test_total: crashed"),
        ("raise SystemExit(0)", "test_total: failed"),
        ("import pytest; pytest.exit('all fine', 0)", "test_total"),
        ("import pytest; pytest.skip('not today')", "test_total: skipped, was passed"),
    ],
)
def test_a_program_that_hangs_or_ends_is_wrong_and_the_next_one_is_judged_all_the_same(oracle: Oracle, body: str, reason: str) -> None:
    verdict = oracle.verdict("shop.py", changed("amount += price", body))
    assert verdict.label is False
    assert reason in verdict.reason
    assert oracle.verdict("shop.py", changed("amount += price", "amount = price + amount")).label is True


PATCHES_REPORTS = """import _pytest.runner
            made = _pytest.runner.CallInfo.from_call
            def from_call(func, when, reraise=None):
                call = made(lambda: None, when, reraise); return call
            _pytest.runner.CallInfo.from_call = staticmethod(from_call)
            amount = 99"""


def test_a_program_that_makes_every_test_pass_is_found_out_by_those_that_must_fail(oracle: Oracle) -> None:
    text = changed("    for price in prices:\n        amount += price", f"    if True:\n            {PATCHES_REPORTS}")
    verdict = oracle.verdict("shop.py", text)
    assert verdict.label is False
    assert "failed" in verdict.reason or "tampered" in verdict.reason


def test_a_region_that_no_test_misses_is_filtered(oracle: Oracle) -> None:
    assert oracle.filtered_by_deletion("shop.py", changed("    unused_value = 0\n", "")) is True
    assert oracle.filtered_by_deletion("shop.py", changed("        amount += price", "        pass")) is False
    assert oracle.filtered_by_deletion("shop.py", changed("def unused(x):\n    return x", "def unused(x):\n    pass")) is None


@pytest.mark.parametrize(
    ("file", "reason"),
    [
        ("tests/test_shop.py", "can't be what its own suite judges"),
        ("missing.py", "no such file"),
        ("../shop.py", "inside the project"),
        ("README.md", "inside the project"),
    ],
)
def test_what_is_no_source_file_of_the_project_is_refused(oracle: Oracle, file: str, reason: str) -> None:
    with pytest.raises(NotJudged, match=reason):
        oracle.verdict(file, "")


def test_a_change_beside_the_named_lines_is_refused(oracle: Oracle) -> None:
    with pytest.raises(NotJudged, match="outside of lines 1 to 2"):
        oracle.verdict("shop.py", changed("unit = 5", "unit = 6"), range(1, 3))


def test_the_project_itself_is_never_written_to(oracle: Oracle, project: Path) -> None:
    oracle.verdict("shop.py", changed("unit = 5", "unit = 6"))
    assert (project / "shop.py").read_text() == SHOP
    assert sorted(path.name for path in project.rglob("*")) == ["shop.py", "test_shop.py", "tests"]
    assert oracle.source("shop.py") == SHOP


def test_a_copy_that_a_killed_process_left_is_removed_and_nothing_stays_behind(
    project: Path, python: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tmp_path.chmod(0o755)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    write(tmp_path / "assay-copy-left", {"project/shop.py": SHOP})
    with Oracle(project, python, isolated()) as made:
        assert [path for path in tmp_path.iterdir() if path.name.startswith("assay-copy-")] == [made.suite.place]
    assert not [path for path in tmp_path.iterdir() if path.name.startswith("assay-copy-")]


def test_what_was_learned_of_the_same_content_is_not_measured_again(
    oracle: Oracle, project: Path, python: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    oracle.coverage()
    cache = oracle.cache
    monkeypatch.setattr("assay.analysis.oracle.suite.Suite.run", None)
    with Oracle(project, python, isolated(), cache=cache) as again:
        assert again.baseline() == oracle.baseline()
        assert again.coverage() == oracle.coverage()
    write(tmp_path, {"shop.py": SHOP + "\n", "tests/test_shop.py": TESTS})
    with Oracle(tmp_path, python, isolated(), cache=cache) as other, pytest.raises(TypeError):
        other.baseline()


@pytest.mark.slow
@pytest.mark.parametrize("level", [Isolation.LANDLOCK, Isolation.NONE])
def test_every_level_of_isolation_gives_the_same_verdicts(level: Isolation, python: Path, tmp_path: Path) -> None:
    jail = Jail(level)
    if defect := jail.defect():
        pytest.skip(f"{level} does not work here: {defect}")
    write(tmp_path, {"shop.py": SHOP, "test_shop.py": "import shop\n\n\ndef test_total():\n    assert shop.total([1, 2]) == 3\n"})
    with Oracle(tmp_path, python, jail, runs=2) as made:
        for way in ("warm", "process"):
            assert made.verdict("shop.py", changed("amount += price", "amount = price + amount"), ways=(way,)).label is True
            verdict = made.verdict("shop.py", changed("amount += price", "amount -= price"), ways=(way,))
            assert (verdict.label, verdict.way) == (False, way)


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


UNFORKABLE = {
    "conftest.py": "import shop, threading, time\nthreading.Thread(target=time.sleep, args=(600,), daemon=True).start()\n",
    "late.py": "import shop\nTOTAL = shop.total([1, 2])\n",
    "test_shop.py": "def test_total():\n    import late\n    assert late.TOTAL == 3\n\n\n"
    "def test_price():\n    import shop\n    assert shop.price_of(1) == 6\n",
    "shop.py": SHOP,
}


@pytest.mark.slow
def test_what_cannot_be_forked_is_judged_by_fresh_processes_and_what_runs_at_a_late_import_by_the_whole_suite(
    tmp_path: Path, python: Path
) -> None:
    with Oracle(write(tmp_path, UNFORKABLE), python, isolated(), runs=2) as made:
        verdict = made.verdict("shop.py", changed("unit = 5", "unit = 6"))
        assert (verdict.label, verdict.way) == (False, "process")
        refused = made.verdict("shop.py", changed("unit = 5", "unit = 6"), ways=("warm",))
        assert (refused.label, refused.way, refused.infrastructure) == (None, "none", False)
        assert "starts a thread" in refused.reason
        verdict = made.verdict("shop.py", changed("amount += price", "amount -= price"))
        assert (verdict.label, verdict.way) == (False, "whole")
        verdict = made.verdict("shop.py", changed("def at_import(x):\n    return x + 1", "def at_import(x):\n    return [][0]"))
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


SLOW_TOTAL = """import os
import time

STARTED = os.getpid()


def total(prices):
    time.sleep(0.6)
    return sum(prices)
"""
# In a fork only: is killed, as by a machine out of memory, and the process that was forked is a moment later, in the middle of a control.
KILLED_WHERE_FORKED = """    if os.getpid() != STARTED:
        if os.fork() == 0:
            os.setsid()
            time.sleep(0.4)
            os.kill(STARTED, 9)
            os._exit(0)
        time.sleep(0.1)
        os.kill(os.getpid(), 9)
    return sum(prices)
"""


@pytest.mark.slow
def test_where_the_warm_process_dies_in_a_control_the_next_way_is_taken(tmp_path: Path, python: Path) -> None:
    test = "import shop\n\n\ndef test_total():\n    assert shop.total([1, 2]) == 3\n"
    with Oracle(write(tmp_path, {"shop.py": SLOW_TOTAL, "test_shop.py": test}), python, isolated(), runs=2) as made:
        verdict = made.verdict("shop.py", SLOW_TOTAL.replace("    return sum(prices)\n", KILLED_WHERE_FORKED))
        # a process that is started anew imports the present text, not the one that is judged
        right = made.verdict("shop.py", SLOW_TOTAL.replace("sum(prices)", "sum(prices, 0)"), ways=("warm",))
        killed = made.verdict("shop.py", SLOW_TOTAL.replace("    return sum(prices)\n", KILLED_WHERE_FORKED), ways=("warm",))
    assert (verdict.label, verdict.way) == (True, "process")
    assert (right.label, right.way) == (True, "warm")
    assert (killed.label, killed.infrastructure) == (None, True)


def test_a_disk_that_takes_nothing_more_is_the_machines_failure_and_leaves_the_copy_whole(oracle: Oracle) -> None:
    oracle.coverage()
    right = changed("amount += price", "amount = amount + price + 0")
    bounds = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, bounds[1]))
    try:
        verdict = oracle.verdict("shop.py", right)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, bounds)
    assert (verdict.label, verdict.infrastructure) == (None, True)
    assert "the machine failed" in verdict.reason
    assert oracle.source("shop.py") == SHOP
    assert oracle.verdict("shop.py", right).label is True


def test_a_sandbox_that_fails_while_the_baseline_is_made_is_asked_again(tmp_path: Path, python: Path) -> None:
    write(tmp_path, {"shop.py": SHOP, "test_shop.py": "import shop\n\n\ndef test_total():\n    assert shop.total([1, 2]) == 3\n"})
    right = changed("amount += price", "amount = amount + price")
    with Oracle(tmp_path, python, isolated(), runs=2) as made:
        suite = made.suite
        made.suite = replace(suite, place=tmp_path / "missing")
        verdict = made.verdict("shop.py", right)
        assert (verdict.label, verdict.infrastructure) == (None, True)
        made.suite = suite
        assert made.verdict("shop.py", right).label is True


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
