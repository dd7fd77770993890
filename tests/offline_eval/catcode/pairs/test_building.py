"""Pairs are made and confirmed in the real sandbox."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from assay.analysis.sandbox.isolation.best_level import NoIsolation, best_level
from assay.analysis.sandbox.judging.java import MissingJava, find_jdk
from assay.analysis.sandbox.judging.python import PythonSandbox
from assay.analysis.sandbox.judging.result import ProgramOutcome, Result
from assay.offline_eval.catcode.pairs.building import Builder, builder
from assay.offline_eval.catcode.pairs.pair import DrawnPrograms
from assay.offline_eval.sets.programs import Program
from assay.offline_eval.sets.suites import Unjudged

CLAMPED = """\
def clamped(values, low):
    total = 0
    for value in values:
        if value < low:
            total += low
        else:
            total += value
    return total
"""
TEST = "assert clamped([1, 5, 3], 2) == 10\nassert clamped([], 2) == 0\nassert clamped([2], 2) == 2\n"
JAVA = """\
class Clamped {
    static int clamped(int value, int low) {
        if (value < low) {
            return low;
        } else {
            value += 0;
        }
        return value;
    }
}
"""
JAVA_TEST = """\
class Main {
    public static void main(String[] arguments) {
        if (Clamped.clamped(1, 2) != 2 || Clamped.clamped(3, 2) != 3) throw new AssertionError();
    }
}
"""


@pytest.fixture(scope="module")
def build() -> Iterator[Builder]:
    try:
        made = builder(0, best_level())
    except NoIsolation as error:
        pytest.skip(str(error))
    yield made
    made.close()


def program(source: str = CLAMPED, test: str = TEST, name: str = "clamped") -> Program:
    return Program(name, "mine", "p", "python", source, test, "clamped")


def kinds(record: dict[str, Any]) -> list[str]:
    return [pair["kind"] for pair in record["pairs"]]


def test_every_kind_of_pair_is_made_and_confirmed(build: Builder) -> None:
    record = build(program())
    assert (record["outcome"], record["set"], record["language"]) == ("passed", "mine", "python")
    assert sorted(kinds(record)) == ["1-eq", "1-eq", "1-neq", "1-neq", "2-eq", "2-eq-chain", "3-eq-chain", "identity"]
    for pair in record["pairs"]:
        outcomes = [build.judges.check("python", pair[side], TEST, "clamped").label for side in ("first", "second")]
        assert outcomes == [True, not pair["kind"].endswith("neq")]
        assert (pair["first"] == pair["second"]) == (pair["kind"] == "identity")
    eq = {pair["rules"][0]: pair["second"] for pair in record["pairs"] if pair["kind"] == "1-eq"}
    (two,) = (pair for pair in record["pairs"] if pair["kind"] == "2-eq")
    assert {two["first"], two["second"]} == set(eq.values())
    assert len({pair["id"] for pair in record["pairs"]}) == len(record["pairs"])


def test_the_seed_alone_decides_what_is_drawn(build: Builder) -> None:
    def pairs(seed: int) -> Any:
        return Builder(seed, build.judges)(program())["pairs"]

    assert pairs(1) == pairs(1)
    assert any(pairs(seed) != pairs(1) for seed in (2, 3))


def test_a_change_that_no_test_sees_makes_no_pair_and_says_so(build: Builder) -> None:
    record = build(program(test="assert clamped([], 2) == 0\n"))
    assert "1-neq" not in kinds(record)
    assert {"rule": "modify_condition", "reason": "no test differs"} in record["refusals"]


def test_a_program_that_fails_its_own_test_gives_no_pair(build: Builder) -> None:
    record = build(program(test="assert clamped([1], 2) == 3\n"))
    assert (record["pairs"], record["refusals"]) == ([], [{"rule": "", "reason": "the program's own test: failed"}])


def test_programs_that_were_drawn_make_pairs_of_right_ones_and_of_right_and_wrong_ones(build: Builder) -> None:
    other = "def clamped(values, low):\n    # shorter\n    return sum(max(value, low) for value in values)\n"
    wrong = "def clamped(values, low):\n    return sum(values)\n"
    drawn = DrawnPrograms(
        "p@draws", "mine", "python", "p", TEST, "clamped", ((CLAMPED, None), (other, True), (wrong, None), (CLAMPED, None), ("def (", None))
    )
    record = build(drawn)
    found = {pair["kind"]: pair for pair in record["pairs"]}
    assert sorted(found) == ["global-eq", "global-neq"]
    assert {found["global-eq"]["first"], found["global-eq"]["second"]} == {CLAMPED, other.replace("    # shorter\n", "")}
    assert found["global-neq"]["second"] == wrong
    assert "as published" in found["global-eq"]["outcomes"]
    assert record["checks"] == 2


def test_what_the_clock_ended_decides_nothing(build: Builder, monkeypatch: pytest.MonkeyPatch) -> None:
    for cpu_s in (0.1, 5.0):
        result = Result(ProgramOutcome.TIMED_OUT, "took more than 60 s", cpu_s=cpu_s)
        monkeypatch.setattr(PythonSandbox, "check", lambda *_, result=result: result)
        if cpu_s < 1:
            with pytest.raises(Unjudged, match=r"took more than 60 s, of which it ran 0\.1 s"):
                build(program())
        else:
            assert build(program())["refusals"] == [{"rule": "", "reason": "the program's own test: timed_out"}]


@pytest.mark.slow
def test_pairs_of_java_are_confirmed_too(build: Builder) -> None:
    try:
        find_jdk()
    except MissingJava as reason:
        pytest.skip(str(reason))
    record = build(Program("Clamped", "mine", "p", "java", JAVA, JAVA_TEST))
    assert record["outcome"] == "passed"
    assert {"1-eq", "2-eq", "1-neq", "identity"} <= set(kinds(record))
    broken = build(Program("Clamped", "mine", "p", "java", JAVA.replace("static int", "static String"), JAVA_TEST))
    assert broken["refusals"] == [{"rule": "", "reason": "the program does not compile"}]
