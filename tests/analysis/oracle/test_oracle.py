"""Verdicts on a small project by its own tests, in the jail."""

from __future__ import annotations

import resource
from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from shop_project import SHOP, TESTS, changed, isolated, name_of, write

from assay.analysis.oracle import copying
from assay.analysis.oracle.oracle import NotJudged, Oracle
from assay.analysis.oracle.suite import Suite
from assay.analysis.sandbox.isolation.jail import Jail
from assay.analysis.sandbox.isolation.levels import Isolation


@pytest.mark.slow
def test_a_file_that_is_too_large_to_be_copied_is_never_changed(
    shop: Path, python: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copying, "MAX_COPIED_BYTES", 2_000)
    big = write(tmp_path / "project", {"big.py": "x = 1\n" * 1_000, "shop.py": SHOP, "tests/test_shop.py": TESTS}) / "big.py"
    before = big.stat()
    with Oracle(big.parent, python, isolated()) as oracle:
        for ask in (oracle.source, oracle.covered):
            with pytest.raises(NotJudged, match="too large"):
                ask("big.py")
        with pytest.raises(NotJudged, match="too large"):
            oracle.verdict("big.py", "x = 2\n")
    assert (big.stat().st_ino, big.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


RIGHT = ("amount += price", "amount = amount + price")
WRONG = ("amount += price", "amount -= price")
FORKS = "amount += price; import os, time; os.fork() or (os.setsid(), time.sleep(0.4))"
NOTE = """import os
        amount += price + (not amount and (os.path.exists("/dev/shm/note") or os.path.exists("/tmp/note")))
        for folder in ("/dev/shm", "/tmp"):
            try: open(folder + "/note", "w").close()
            except OSError: pass"""


@pytest.mark.slow
@pytest.mark.parametrize("first", [FORKS, NOTE], ids=["forks", "note"])
def test_no_completion_changes_what_becomes_of_the_next(oracle: Oracle, first: str) -> None:
    for _ in range(2):
        made = oracle.verdict("shop.py", changed("amount += price", first))
        assert made.label or first != NOTE, "it finds no note of its own from before"
        assert [oracle.verdict("shop.py", changed(*change)).label for change in (RIGHT, WRONG, RIGHT)] == [True, False, True]


def test_what_an_older_python_of_the_project_can_not_compile_is_said_in_words(oracle: Oracle, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(oracle, "suite", replace(oracle.suite, interpreter=replace(oracle.suite.interpreter, python=(3, 10, 4))))
    newer, wrong = changed("amount += price", "pass  # as from 3.11 on"), changed("amount += price", "amount += (")
    refused = {newer, wrong}
    monkeypatch.setattr(Suite, "uncompilable", lambda _, text: "SyntaxError: invalid syntax" if text in refused else "")
    words = "the project's tests run on Python 3.10, which can't compile it (SyntaxError: invalid syntax)"
    assert oracle.unparsable(newer) == words
    assert oracle.unparsable(wrong) == "'(' was never closed (text, line 19)"
    assert oracle.unparsable(SHOP) == ""
    verdict = oracle.verdict("shop.py", newer)
    assert (verdict.label, verdict.reason, verdict.way) == (False, f"does not parse: {words}", "none")
    # what this Python refuses, another may take
    refused.clear()
    assert oracle.unparsable(wrong) == ""
    # the file as it is can't be compiled there either: its tests do not import it
    refused |= {newer, SHOP}
    assert oracle.verdict("shop.py", newer).label is None


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


def test_with_a_bug_a_test_runs_only_the_lines_before_its_failure(oracle: Oracle) -> None:
    wrong = SHOP.replace("amount += price", "amount += prices[9]")
    (test,) = (name for name in oracle.baseline().outcomes if name_of(name) == "test_total")

    def lines(by_line: Mapping[int, Collection[str]]) -> set[str]:
        return {SHOP.split("\n")[number - 1].strip() for number, running in by_line.items() if test in running}

    with_bug = lines(oracle.coverage_with(test, "shop.py", wrong).tests["shop.py"])
    assert lines(oracle.covered("shop.py")) - with_bug == {"return amount"}
    assert "amount += price" in with_bug
    assert oracle.source("shop.py") == SHOP


def test_of_a_test_that_ends_its_process_no_lines_are_known(oracle: Oracle) -> None:
    (test,) = (name for name in oracle.baseline().outcomes if name_of(name) == "test_total")
    wrong = SHOP.replace("amount += price", "__import__('os')._exit(3)")
    assert oracle.coverage_with(test, "shop.py", wrong).tests == {}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new", "error", "way", "reason"),
    [
        ("amount += price", "amount = amount + price", "passed", "process", "each test has its outcome"),
        ("amount += price", "amount -= price", "wrong", "process", "test_total: failed, was passed"),
        ("unit = 5", "unit = 6", "wrong", "process", "test_price[1]: failed, was passed"),
        ("return function(*args) * (1 + RATE)", "return function(*args)", "wrong", "process", "test_price[1]: failed"),
        ("        1,\n", "        2,\n", "wrong", "process", "test_long: failed"),
        ('code = "ok"', 'code = "not ok"', "wrong", "process", "test_in_a_process_of_its_own: failed"),
        ("amount += price", "amount += (", "unparsed", "none", "does not parse"),
        ("amount += price", 'amount += "\ud800"', "unparsed", "none", "does not parse"),
        ('"""A shop."""', '# coding: latin-1\n"""A schöp."""', "passed", "whole", "each test has its outcome"),
        ("RATE = 0.2", "RATE = 0.3", "wrong", "whole", "test_price[1]: failed"),
        ("RATE = 0.2", "RATE = 1 / 0", "crash", "whole", "ZeroDivisionError"),
        ("return x\n\n\ndef also", "return 2\n\n\ndef also", "wrong", "process", "test_fails_steadily: passed, was failed"),
        ("def unused(x):\n    return x", "def unused(x):\n    return 0", None, "none", "no stable test touches"),
    ],
)
def test_a_change_is_judged_by_the_tests_that_touch_it(
    oracle: Oracle, old: str, new: str, error: str | None, way: str, reason: str
) -> None:
    verdict, profile = oracle.verdict("shop.py", changed(old, new)), oracle.profile("shop.py", changed(old, new))
    assert (verdict.label, verdict.way) == (None if error is None else error == "passed", way)
    assert reason in verdict.reason
    assert (profile.error, profile.left_out, profile.infrastructure) == (error, 0, False)
    assert (profile.tests_pass, profile.way) == (verdict.label, way)
    assert not profile.tests or verdict.label is all(test.change == "as_before" for test in profile.tests)


@pytest.mark.slow
def test_tests_of_the_whole_function_are_asked_where_a_name_in_it_becomes_local(oracle: Oracle) -> None:
    unbound = changed('        return "none"', '        import functools; return "none"')
    verdict = oracle.verdict("shop.py", unbound)
    assert verdict.label is oracle.verdict("shop.py", unbound, ways=("whole",)).label is False
    assert (verdict.way, verdict.reason) == ("process", "tests/test_shop.py::test_names: failed, was passed")
    assert oracle.verdict("shop.py", changed('        return "none"', '        said = "none"; return said')).tests == 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("while True: pass", "test_total: took too much CPU time"),
        ("import os; os._exit(0)", "test_total: the process ended in the middle of it"),
        ("import ctypes; ctypes.string_at(0)", "test_total: crashed"),
        ("import pytest; pytest.exit('all fine', 0)", "test_total"),
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


@pytest.mark.parametrize(
    ("file", "reason"),
    [
        ("tests/test_shop.py", "can't be what its own suite judges"),
        ("missing.py", "no such file"),
        ("../shop.py", "inside the project"),
    ],
)
def test_what_is_no_source_file_of_the_project_is_refused(oracle: Oracle, file: str, reason: str) -> None:
    for ask in (oracle.verdict, oracle.profile):
        with pytest.raises(NotJudged, match=reason):
            ask(file, "")


def test_a_change_beside_the_named_lines_is_refused(oracle: Oracle) -> None:
    with pytest.raises(NotJudged, match="outside of lines 1 to 2"):
        oracle.verdict("shop.py", changed("unit = 5", "unit = 6"), range(1, 3))


def test_the_project_itself_is_never_written_to(oracle: Oracle, shop: Path) -> None:
    oracle.verdict("shop.py", changed("unit = 5", "unit = 6"))
    assert (shop / "shop.py").read_text() == SHOP
    assert sorted(path.name for path in shop.rglob("*")) == ["shop.py", "test_shop.py", "tests"]
    assert oracle.source("shop.py") == SHOP


@pytest.mark.slow
def test_what_was_learned_of_the_same_content_is_not_measured_again(
    oracle: Oracle, shop: Path, python: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    oracle.coverage()
    cache = oracle.cache
    monkeypatch.setattr("assay.analysis.oracle.suite.Suite.run", None)
    with Oracle(shop, python, isolated(), cache=cache) as again:
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
        assert made.verdict("shop.py", changed("amount += price", "amount = price + amount")).label is True
        assert made.verdict("shop.py", changed("amount += price", "amount -= price")).label is False


def test_a_disk_that_takes_nothing_more_is_the_machines_failure_and_leaves_the_copy_whole(oracle: Oracle) -> None:
    oracle.coverage()
    right = changed("amount += price", "amount = amount + price + 0")
    bounds = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, bounds[1]))
    try:
        verdict, profile = oracle.verdict("shop.py", right), oracle.profile("shop.py", right)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, bounds)
    assert (verdict.label, verdict.infrastructure) == (None, True)
    assert (profile.tests_pass, profile.error, profile.share_kept, profile.infrastructure) == (None, None, None, True)
    assert all("the machine failed" in each.reason for each in (verdict, profile))
    assert oracle.source("shop.py") == SHOP
    assert oracle.verdict("shop.py", right).label is True
