"""What is concluded from several runs of a suite, and from a watched one; and that it is kept on disk."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from assay.analysis.oracle import cache
from assay.analysis.oracle.baseline import Baseline, Coverage, baseline_of, coverage_of, no_baseline
from assay.analysis.oracle.report import FixtureLines, ObservedTest, ProcessEnd, Report, TestOutcome, difference, parse_record, read_report

FINE = ProcessEnd(True)


def run(outcomes: dict[str, TestOutcome], **errors: str) -> Report:
    tests = {test: ObservedTest(test, outcome, 0.5, 1.0) for test, outcome in outcomes.items()}
    return Report(tests, ["failed", "failed"], tuple(outcomes), errors, ended=True, cpu_s=3.0)


def test_outcomes_that_repeat_are_the_baseline_and_others_are_named_and_left_out() -> None:
    steady: dict[str, TestOutcome] = {f"t{i}": "passed" for i in range(20)} | {"bad": "failed"}
    baseline = baseline_of([run(steady | {"f": "passed"}), run(steady | {"f": "failed"}), run(steady)], [9.0, 9.0, 9.0])
    assert baseline.outcomes == steady
    assert baseline.flaky == {"f": "passed, failed, missing"}
    assert not baseline.trouble
    assert baseline.cpu_s["t1"] == 0.5


def test_too_many_flaky_tests_make_the_baseline_unknown() -> None:
    steady: dict[str, TestOutcome] = {f"t{i}": "passed" for i in range(8)}
    baseline = baseline_of([run(steady | {"f": "passed"}), run(steady | {"f": "failed"})], [1.0, 1.0])
    assert "1 of 9 tests" in baseline.trouble
    assert baseline.outcomes == {}


def test_files_that_never_can_be_collected_are_named_and_those_that_sometimes_can_are_trouble() -> None:
    passed: dict[str, TestOutcome] = {"t": "passed"}
    assert baseline_of([run(passed, a="no module x"), run(passed, a="no module x")], [1.0, 1.0]).broken == {"a": "no module x"}
    assert "now and then: a" in baseline_of([run(passed, a="no module x"), run(passed)], [1.0, 1.0]).trouble


def test_without_a_test_that_passes_there_is_nothing_to_rely_on() -> None:
    assert "no tests" in baseline_of([run({}), run({})], [1.0, 1.0]).trouble
    assert "a: no module x" in baseline_of([run({}, a="no module x")] * 2, [1.0, 1.0]).trouble
    assert "none of 1 tests passes" in baseline_of([run({"t": "failed"})] * 2, [1.0, 1.0]).trouble


def test_each_test_is_compared_and_never_their_number() -> None:
    expected = {"a": "passed", "b": "failed"}
    assert difference(run({"a": "passed", "b": "failed"}), FINE, expected, ["a", "b"]) is None
    assert difference(run({"a": "failed", "b": "passed"}), FINE, expected, ["a", "b"]) == "a: failed, was passed"
    assert difference(run({"a": "passed"}), FINE, expected, ["a", "b"]) == "b: not run (no longer collected)"


def test_tests_that_must_fail_and_pass_or_are_not_run_show_that_a_run_was_tampered_with() -> None:
    report = run({"a": "passed"})
    report.canaries = ["failed", "passed"]
    assert "tampered" in str(difference(report, FINE, {"a": "passed"}, ["a"]))
    report.canaries = ["failed"]
    assert "tampered" in str(difference(report, FINE, {"a": "passed"}, ["a"]))


def test_records_without_the_nonce_are_not_read() -> None:
    forged = b'x{"kind":"test","id":"a","outcome":"passed","cpu_s":0,"wall_s":0}\n'
    assert read_report(forged, b"nonce", watched=True).tests == {}
    assert read_report(forged.replace(b"x{", b"x{", 1), b"x", watched=True, asked=["a"]).tests["a"].outcome == "passed"
    assert read_report(b"nonce{broken\nnonce[1]\n", b"nonce", watched=True).tests == {}


def test_lines_that_were_not_asked_for_are_dropped_and_a_repeated_one_is_kept_once() -> None:
    told = b'x{"kind":"test","id":"a","outcome":"passed","cpu_s":0,"wall_s":0,"lines":{"a.py":[9,9,9,8]}}\n'
    assert read_report(told, b"x", watched=False, asked=["a"]).tests["a"].lines == {}
    assert sorted(read_report(told, b"x", watched=True, asked=["a"]).tests["a"].lines["a.py"]) == [8, 9]


# One of each kind, as short as the plugin's may be.
RECORDS = [
    b'{"kind":"collected","ids":["a"],"modules":[],"errors":{}}',
    b'{"kind":"begun","id":"a"}',
    b'{"kind":"test","id":"a","outcome":"missing","cpu_s":0,"wall_s":0}',
    b'{"kind":"canary","outcome":"failed"}',
    b'{"kind":"touched","scope":"","lines":{"m.py":[1]},"fresh":false}',
    b'{"kind":"imported","lines":{"m.py":[1]}}',
    b'{"kind":"ended","cpu_s":0}',
    b'{"kind":"broke","reason":"r"}',
]


@pytest.mark.parametrize("watched", [True, False])
def test_no_record_stops_what_is_made_of_a_run_wherever_it_stands(watched: bool) -> None:
    runs = [RECORDS, RECORDS[::-1], *([record, *RECORDS] for record in RECORDS), *([*RECORDS, record] for record in RECORDS)]
    runs += [[record for record in RECORDS if record is not without] for without in RECORDS]
    reports = [read_report(b"".join(b"x" + record + b"\n" for record in told), b"x", watched=watched) for told in runs]
    for report in reports:
        assert watched or not (report.imported or any(fixture.lines for fixture in report.touched))
        for other in reports:
            baseline_of([report, other], [1.0, 1.0], some_pass=False)
        coverage_of(report, {"a": "passed"}, lambda _: 9)
        difference(report, FINE, {"a": "passed"}, ["a"])


def test_what_is_no_record_costs_little_to_pass_over_and_records_beyond_a_number_are_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    flood = b"\n" * (64 << 20)
    begun = time.process_time()
    assert read_report(b"x" + RECORDS[0] + flood + b"x" + RECORDS[1] + b"\nyx" + RECORDS[2], b"x", watched=True).running == "a"
    assert time.process_time() - begun < 5
    names = b'{"kind":"imported","lines":{%s}}' % b",".join(b'"%d":[]' % i for i in range(300_000))
    assert parse_record(b"x" + names, b"x") is None
    monkeypatch.setattr("assay.analysis.oracle.report._MAX_RECORDS", 100)
    report = read_report((b"x" + RECORDS[6] + b"\n") * 101, b"x", watched=True)
    assert ("more than 100 records" in report.flood, report.ended) == (True, False)
    monkeypatch.setattr("assay.analysis.oracle.report._MAX_ALL_QUOTES", 400)
    assert "more than 200 names" in read_report((b"x" + RECORDS[0] + b"\n") * 50, b"x", watched=True).flood
    assert not read_report((b"x" + RECORDS[0] + b"\n") * 20, b"x", watched=True).flood


def test_what_is_not_run_is_named_with_the_reason_up_to_a_number() -> None:
    broken, flaky = ({f"{kind}{n}": "why" for n in range(7)} for kind in ("file", "test"))
    said = list(no_baseline("", broken=broken, flaky=flaky).not_run())
    assert said[0] == "file0 can't be collected, so its tests are not run: why"
    assert said[5:7] == ["2 more files can't be collected", "test0 is left out, since it has no steady outcome (why)"]
    assert (len(said), said[-1]) == (12, "2 more tests are left out")


def test_what_a_wide_fixture_touches_all_tests_in_its_scope_touch() -> None:
    report = run({"a.py::one": "passed", "a.py::C::two": "passed", "b.py::three": "passed"})
    report.tests["a.py::one"] = ObservedTest("a.py::one", "passed", 0, 0, {"m.py": {1}}, fresh=True)
    report.touched = [
        FixtureLines("a.py", {"m.py": {2}}, False),
        FixtureLines("a.py::C", {"m.py": {3}}, True),
        FixtureLines("", {"m.py": {4}}, False),
    ]
    report.imported = {"m.py": {9}}
    found = coverage_of(report, report.outcomes, lambda _: 9)
    assert found.tests["m.py"] == {
        1: {"a.py::one"},
        2: {"a.py::one", "a.py::C::two"},
        3: {"a.py::C::two"},
        4: {"a.py::one", "a.py::C::two", "b.py::three"},
    }
    assert found.imported == {"m.py": {9}}
    assert found.fresh == {"a.py::one", "a.py::C::two"}


def test_a_test_that_ends_otherwise_when_watched_or_not_at_all_belongs_to_every_line() -> None:
    report = run({"same": "passed", "other": "failed", "fails": "failed"})
    assert coverage_of(report, {"same": "passed", "other": "passed", "fails": "failed", "gone": "passed"}, lambda _: 9).fresh == {
        "other",
        "gone",
    }


def test_what_is_kept_comes_back_as_it_was_and_what_is_damaged_not_at_all(tmp_path: Path) -> None:
    coverage = Coverage({"m.py": {3: frozenset({"a", "b"}), 4: frozenset({"a", "b"})}}, {"m.py": frozenset({1})}, frozenset({"c"}))
    baseline = Baseline({"a": "passed"}, {"a": 0.1}, {"a": 0.2}, {"f": "x"}, {"g": "y"}, "", ("note",), 1.0, 2.0, 3, True)
    cache.store(tmp_path, "key", coverage)
    cache.store(tmp_path, "key", baseline)
    assert cache.load(tmp_path, "key", Coverage) == coverage
    assert cache.load(tmp_path, "key", Baseline) == baseline
    assert cache.load(tmp_path, "other", Baseline) is None
    file = tmp_path / "key.baseline.json.gz"
    whole = file.read_bytes()
    for at in range(len(whole)):
        file.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        assert cache.load(tmp_path, "key", Baseline) in (None, baseline)  # some bytes of the head say nothing
    file.write_bytes(whole[:-9])
    assert cache.load(tmp_path, "key", Baseline) is None


@pytest.mark.parametrize(
    "record",
    [
        b'{"kind": "test", "id": "a", "outcome": "fine", "cpu_s": 0, "wall_s": 0}',
        b'{"kind": "test", "id": "a", "outcome": "passed", "cpu_s": 1e300, "wall_s": 0}',
        b'{"kind": "test", "id": "a", "outcome": "passed", "cpu_s": 0, "wall_s": 0, "lines": {"f": ["1"]}}',
        b'{"kind": "collected", "ids": [[]], "modules": [], "errors": {}}',
        b'{"kind": "other"}',
        b"[" * 100_000,
        b'{"kind": "refused", "reason": "\xff"}',
    ],
)
def test_a_record_that_the_plugin_does_not_write_is_left_out(record: bytes) -> None:
    report = read_report(b"nonce" + record + b"\n", b"nonce", watched=True)
    assert (report.tests, report.collected, report.ended, report.broke) == ({}, None, False, None)
