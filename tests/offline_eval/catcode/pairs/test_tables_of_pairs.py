from __future__ import annotations

import math
import random
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from study_runs import isolation_here

from assay.analysis.morphisms.registry import MORPHISMS
from assay.analysis.sandbox.judging.java import find_jdk
from assay.analysis.sandbox.judging.python import PythonSandbox
from assay.analysis.sandbox.judging.result import ProgramOutcome, Result
from assay.analysis.sandbox.judging.runtime import MissingRuntime
from assay.calibration.report.cells import Cell, CellTable
from assay.offline_eval.catcode.command import PAIR_KINDS
from assay.offline_eval.catcode.pairs.building import built
from assay.offline_eval.catcode.pairs.pages import claims, false_equivalents, kinds_made, refusals_table, size_table
from assay.offline_eval.catcode.pairs.pair import KINDS, CodePair, DrawnPrograms, Kind, Order, is_pairs_file, read_pairs, write_pairs
from assay.offline_eval.catcode.pairs.tables import PROBABILITY, VOTE, Judgement, answer_in, counts_in_paper, judgements_of, p_true, table
from assay.offline_eval.catcode.paper import of_rules, paper
from assay.offline_eval.sets.judging import InSandbox, OpenSandbox
from assay.offline_eval.sets.problem import SetError
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
def build() -> Iterator[OpenSandbox]:
    made = InSandbox(isolation_here(), partial(built, 0), several=True)()
    yield made
    made.close()


def program(source: str = CLAMPED, test: str = TEST, name: str = "clamped") -> Program:
    return Program(name, "mine", "p", "python", source, test, "clamped")


def kinds(record: dict[str, Any]) -> list[str]:
    return [pair["kind"] for pair in record["pairs"]]


def test_every_kind_of_pair_is_made_and_confirmed(build: OpenSandbox) -> None:
    record = build(program())
    assert (record["outcome"], record["set"], record["language"]) == ("passed", "mine", "python")
    assert sorted(kinds(record)) == ["1-eq", "1-eq", "1-neq", "1-neq", "2-eq", "2-eq-chain", "3-eq-chain", "identity"]
    for pair in record["pairs"]:
        outcomes = [build.sandbox.check("python", pair[side], TEST, "clamped").label for side in ("first", "second")]
        assert outcomes == [True, not pair["kind"].endswith("neq")]
        assert (pair["first"] == pair["second"]) == (pair["kind"] == "identity")
    eq = {pair["rules"][0]: pair["second"] for pair in record["pairs"] if pair["kind"] == "1-eq"}
    (two,) = (pair for pair in record["pairs"] if pair["kind"] == "2-eq")
    assert {two["first"], two["second"]} == set(eq.values())
    assert len({pair["id"] for pair in record["pairs"]}) == len(record["pairs"])
    assert build(program())["pairs"] == record["pairs"], "the seed alone decides"


def test_a_change_that_no_test_sees_makes_no_pair_and_says_so(build: OpenSandbox) -> None:
    record = build(program(test="assert clamped([], 2) == 0\n"))
    assert "1-neq" not in kinds(record)
    assert {"rule": "modify_condition", "reason": "no test differs"} in record["refusals"]
    failing = build(program(test="assert clamped([1], 2) == 3\n"))
    assert (failing["pairs"], failing["refusals"]) == ([], [{"rule": "", "reason": "the program's own test: failed"}])


def test_programs_that_were_drawn_make_pairs_of_right_ones_and_of_right_and_wrong_ones(build: OpenSandbox) -> None:
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


def test_what_the_clock_ended_decides_nothing(build: OpenSandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    for cpu_s in (0.1, 5.0):
        result = Result(ProgramOutcome.TIMED_OUT, "took more than 60 s", cpu_s=cpu_s)
        monkeypatch.setattr(PythonSandbox, "check", lambda *_, result=result: result)
        if cpu_s < 1:
            with pytest.raises(Unjudged, match=r"took more than 60 s, of which it ran 0\.1 s"):
                build(program())
        else:
            assert build(program())["refusals"] == [{"rule": "", "reason": "the program's own test: timed_out"}]


@pytest.mark.slow
def test_pairs_of_java_are_confirmed_too(build: OpenSandbox) -> None:
    try:
        find_jdk()
    except MissingRuntime as reason:
        pytest.skip(str(reason))
    record = build(Program("Clamped", "mine", "p", "java", JAVA, JAVA_TEST))
    assert record["outcome"] == "passed"
    assert {"1-eq", "2-eq", "1-neq", "identity"} <= set(kinds(record))
    broken = build(Program("Clamped", "mine", "p", "java", JAVA.replace("static int", "static String"), JAVA_TEST))
    assert broken["refusals"] == [{"rule": "", "reason": "the program does not compile"}]


PAIR = CodePair("a:1-eq:x", "mine", "python", "p", "1-eq", ("x",), "first\n", "second\n", ("passed", "passed"))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda lines: ["{}", *lines[1:]], "pairs.jsonl:1: not the header"),
        (lambda lines: [lines[0], lines[1].replace("1-eq", "9-eq")], "pairs.jsonl:2: not a pair"),
        (lambda lines: [*lines, lines[1]], "pairs.jsonl:3: the pair a:1-eq:x is there already"),
        (lambda lines: lines[:1], "there is no pair in it"),
    ],
)
def test_a_file_that_is_damaged_is_refused_with_its_line(tmp_path: Path, change: object, reason: str) -> None:
    path = tmp_path / "pairs.jsonl"
    write_pairs(path, "some", 0, [PAIR])
    assert is_pairs_file(path)
    assert read_pairs(path) == [PAIR]
    path.write_text("".join(f"{line}\n" for line in change(path.read_text().splitlines())))  # type: ignore[operator]
    with pytest.raises(SetError, match=reason):
        read_pairs(path)


@pytest.mark.parametrize(
    ("text", "answer", "counts"),
    [
        ("[ANSWER]True[/ANSWER]", 1.0, True),
        ("[ANSWER]False.[/ANSWER]", 0.0, False),
        ("\n\nFalse", 0.0, True),
        ("False. The second one skips the last element.", 0.0, False),
        ("I think [ANSWER]True[/ANSWER], no: [ANSWER]False[/ANSWER]", 0.0, True),
        ("True that they differ", None, False),
        ("[ANSWER]True", None, False),
    ],
)
def test_an_answer_is_read_as_people_would_and_told_whether_the_paper_counts_it(text: str, answer: float | None, counts: bool) -> None:
    assert answer_in(text) == answer
    assert counts_in_paper(text) is counts


def test_pairs_are_asked_about_in_both_orders_but_identities_and_p_true_is_of_both_words_whole_or_begun() -> None:
    assert (PAIR.programs("ab"), PAIR.programs("ba")) == (("first\n", "second\n"), ("second\n", "first\n"))
    assert CodePair("i", "", "python", "", "identity", (), "a", "a", ("", "")).orders == ("ab",)
    top = [("True", math.log(0.3)), (" true", math.log(0.1)), ("F", math.log(0.1)), ("no", math.log(0.5))]
    assert (p_true(top), p_true([("no", -0.1)])) == (pytest.approx(0.8), None)


def test_every_rule_of_the_paper_is_one_of_ours_and_told_without_n() -> None:
    ours = {entry.name for entry in MORPHISMS if "java" in entry.languages}
    assert set(paper()["rules"].values()) == ours
    assert {name for _, rules in of_rules() for name in rules} <= ours
    assert all(any("no n" in mark.note for mark in printed[0].marks) for printed in of_rules().values())
    assert PAIR_KINDS == KINDS, "those on the command line"


def pair(number: int, kind: Kind = "1-eq", rules: tuple[str, ...] = ("boolean_exchange",), data: str = "mbxp") -> CodePair:
    return CodePair(f"{number}:{kind}:{rules}", data, "java", f"P/{number}", kind, rules, f"a{number}", f"b{number}", ("passed", "passed"))


def said(of: CodePair, accepted: float | None, order: Order = "ab", way: str = VOTE, unreadable: int = 0) -> Judgement:
    return Judgement(of, order, way, accepted, 10, unreadable, unreadable)


def cells(table: CellTable) -> dict[str, Cell]:
    return {cell.id: cell for cell in table.cells()}


def test_votes_and_p_true_are_read_from_the_records() -> None:
    of = pair(0)
    given = [
        {"text": text, "stopped_by": "end", "logprob": None} for text in ("[ANSWER]True[/ANSWER]", "[ANSWER]False.[/ANSWER]", "?", "True")
    ]
    top = [("False", -0.2), ("True", -1.8)]
    vote, probability = judgements_of([of], [{"id": f"{of.id}:ba", "given": given, "top": top}, {"id": "other:ab", "given": []}])
    assert (vote.way, vote.order, vote.accepted, vote.answers, vote.unreadable, vote.uncounted) == (VOTE, "ba", 1.0, 4, 1, 2)
    assert (probability.way, probability.accepted) == (PROBABILITY, 0.0)


def test_balanced_accuracy_is_the_mean_of_both_recalls_and_no_answer_is_wrong() -> None:
    found = [said(pair(0), 1.0), said(pair(1), None), said(pair(2, "1-neq"), 0.5), said(pair(3, "1-neq"), 0.0)]
    of = cells(table("C", found))
    assert [of[f"C/vote/local/{name}"].value for name in ("eq", "neq", "balanced", "youden")] == [0.5, 0.75, 0.625, 0.25]
    assert cells(table("C", found[:2]))["C/vote/local/balanced"].value is None


def test_the_papers_numbers_stand_beside_ours_with_what_is_known_against_them() -> None:
    of = cells(table("K", [said(pair(n), 1.0) for n in range(6)]))
    davinci, chatgpt = of["K/vote/1-eq"].paper
    assert (davinci.of, davinci.value, chatgpt.value) == ("Davinci", 0.96, 0.905)
    assert of["K/vote/2-eq-chain"].paper == ()
    assert any("never run" in mark.note for mark in of["K/vote/1-neq"].paper[0].marks)
    average = cells(table("A", [said(pair(0), 1.0)]))["A/vote"]
    assert average.value is None
    assert {mark.kind for mark in average.paper[0].marks} >= {"inconsistent"}


def test_the_papers_worst_rules_are_compared_in_either_order_and_in_java_alone() -> None:
    both = ("reorder_condition", "unused_statement")
    python = CodePair("x", "mbxp", "python", "P/9", "1-eq", ("boolean_exchange",), "a", "b", ("", ""))
    found = [said(pair(1, "2-eq", both), 0.0), said(pair(2, "2-eq", both[::-1]), 1.0), said(pair(3), 1.0), said(python, 0.0)]
    of = cells(table("T3", found))
    assert of["T3/vote/mbxp/reorder_condition+unused_statement"].value == 0.5
    assert of["T3/vote/mbxp/boolean_exchange"].value == 1.0
    assert of["T3/vote/mathqa/modify_condition"].value is None
    assert [value.value for value in of["T3/vote/mbxp/boolean_exchange"].paper] == [pytest.approx(0.3333)]


def test_orders_are_paired_by_pair() -> None:
    found = [said(pair(n), 1.0) for n in range(6)] + [said(pair(n), float(n < 3), "ba") for n in range(6)] + [said(pair(9), 0.0)]
    of = cells(table("O", found))
    assert (of["O/vote/1-eq/difference"].value, of["O/vote/1-eq/same"].value) == (0.5, 0.5)
    assert of["O/vote/1-eq/same"].n == 6


def test_what_was_made_is_counted_by_kind_rule_and_data_set() -> None:
    pairs = [pair(1), pair(2), pair(2, "1-neq", ("remove_else",)), pair(3, data="mathqa"), pair(1, "2-eq", ("a", "b"))]
    record = {"set": "mbxp", "language": "java", "outcome": "passed", "id": "mbxp-java/1"}
    refusals = [
        {"rule": "remove_else", "reason": "finds no place here"},
        {"rule": "loop_exchange", "reason": "the tests see a difference: failed"},
    ]
    records = [record | {"refusals": refusals}, record | {"outcome": "failed", "refusals": [{"rule": "", "reason": "why"}]}]
    sizes, notes = size_table(pairs, records)
    assert sizes.rows[0] == ("mbxp java", "1 of 2", "953 of 974", "3", "2,849", "1", "1,010 *", "4")  # type: ignore[union-attr]
    assert "MathQA has no condition" in notes.items[2]  # type: ignore[union-attr]
    assert kinds_made(pairs).rows[0] == ("1-eq", "2", "1")
    assert refusals_table(records).rows[0] == ("the program", "why", "1")
    assert false_equivalents(records) == ["mbxp-java/1: loop_exchange: the tests see a difference: failed"]


@pytest.mark.parametrize("judge", ["says True", "coin", "not readable"])
def test_a_constant_judge_a_coin_and_answers_that_can_not_be_read_confirm_nothing(judge: str) -> None:
    rng = random.Random(0)
    answers = {"says True": 1.0, "not readable": None}
    kinds: tuple[Kind, ...] = ("1-eq", "1-neq", "2-eq", "global-eq", "global-neq")
    found = [
        said(pair(n, kind), answers.get(judge, float(rng.random() < 0.5)), way=way, unreadable=10 * (judge == "not readable"))
        for n in range(200)
        for kind in kinds
        for way in (VOTE, PROBABILITY)
    ]
    of = claims({id: cell for name in "CLU" for id, cell in cells(table(name, found)).items()})
    assert {claim.id for claim in of if claim.verdict == "confirmed"} == set()
