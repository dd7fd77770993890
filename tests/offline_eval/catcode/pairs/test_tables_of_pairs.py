from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.calibration.report.cells import Cell, CellTable
from assay.offline_eval.catcode.pairs.pages import false_equivalents, kinds_made, refusals_table, rules_made, size_table
from assay.offline_eval.catcode.pairs.pair import CodePair, Kind, Order
from assay.offline_eval.catcode.pairs.tables import (
    PROBABILITY,
    VOTE,
    Judgement,
    average_table,
    classes_table,
    judgements_of,
    kinds_table,
    order_table,
    worst_table,
)


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


@given(st.lists(st.tuples(st.booleans(), st.sampled_from([None, 0.0, 0.5, 1.0])), min_size=1, max_size=40))
def test_balanced_accuracy_is_the_mean_of_both_recalls(answers: list[tuple[bool, float | None]]) -> None:
    found = [said(pair(n, "1-eq" if eq else "1-neq"), accepted) for n, (eq, accepted) in enumerate(answers)]
    table = cells(classes_table(found))
    eq, neq, balanced, youden = (table[f"C/vote/local/{name}"].value for name in ("eq", "neq", "balanced", "youden"))
    right = [0.0 if accepted is None else accepted if is_eq else 1 - accepted for is_eq, accepted in answers]
    for value, wanted in ((eq, True), (neq, False)):
        of_it = [credit for credit, (is_eq, _) in zip(right, answers, strict=True) if is_eq == wanted]
        assert value == (pytest.approx(sum(of_it) / len(of_it)) if of_it else None)
    if eq is not None and neq is not None:
        assert balanced == pytest.approx((eq + neq) / 2)
        assert youden == pytest.approx(eq + neq - 1)
    else:
        assert balanced is youden is None


def test_the_papers_numbers_stand_beside_ours_with_what_is_known_against_them() -> None:
    table = cells(kinds_table([said(pair(n), 1.0) for n in range(6)]))
    davinci, chatgpt = table["K/vote/1-eq"].paper
    assert (davinci.of, davinci.value, chatgpt.value) == ("Davinci", 0.96, 0.905)
    assert table["K/vote/2-eq-chain"].paper == ()
    assert any("never run" in mark.note for mark in table["K/vote/1-neq"].paper[0].marks)
    average = cells(average_table([said(pair(0), 1.0)]))["A/vote"]
    assert average.value is None
    assert {mark.kind for mark in average.paper[0].marks} >= {"inconsistent"}


def test_the_papers_worst_rules_are_compared_in_either_order_and_in_java_alone() -> None:
    both = ("reorder_condition", "unused_statement")
    python = CodePair("x", "mbxp", "python", "P/9", "1-eq", ("boolean_exchange",), "a", "b", ("", ""))
    found = [said(pair(1, "2-eq", both), 0.0), said(pair(2, "2-eq", both[::-1]), 1.0), said(pair(3), 1.0), said(python, 0.0)]
    table = cells(worst_table(found))
    assert table["T3/vote/mbxp/reorder_condition+unused_statement"].value == 0.5
    assert table["T3/vote/mbxp/boolean_exchange"].value == 1.0
    assert table["T3/vote/mathqa/modify_condition"].value is None
    assert [value.value for value in table["T3/vote/mbxp/boolean_exchange"].paper] == [pytest.approx(0.3333)]


def test_orders_are_paired_by_pair() -> None:
    found = [said(pair(n), 1.0) for n in range(6)] + [said(pair(n), float(n < 3), "ba") for n in range(6)] + [said(pair(9), 0.0)]
    table = cells(order_table(found))
    assert (table["O/vote/1-eq/difference"].value, table["O/vote/1-eq/same"].value) == (0.5, 0.5)
    assert table["O/vote/1-eq/same"].n == 6


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
    assert rules_made(pairs).rows == (("boolean_exchange", "equivalent", "2", "1"), ("remove_else", "not equivalent", "1", "0"))
    assert refusals_table(records).rows[0] == ("the program", "why", "1")
    assert false_equivalents(records) == ["mbxp-java/1: loop_exchange: the tests see a difference: failed"]
