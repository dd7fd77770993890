"""The figures of the study on problems, against numbers that are worked out by hand."""

from __future__ import annotations

import pytest

from assay.calibration.report.cells import Cell, CellTable
from assay.offline_eval.counterfeit.problems.judgements import (
    PROBABILITY,
    THOUGHT,
    VOTE,
    Judgement,
    confusion,
    gain_of_reasoning,
    judging_table,
    more_of_judging,
)
from assay.offline_eval.counterfeit.problems.programs import Drawn, PassShares, Program
from assay.offline_eval.counterfeit.problems.tables import Executed, Repaired, class_table, execution_table, more_of_execution, repair_table


def cells(table: CellTable) -> dict[str, Cell]:
    return {cell.id: cell for cell in table.cells()}


def program(problem: int, index: int, kind: str, base: float = 0.9, plus: float = 0.5) -> Program:
    shares = (1.0, 1.0) if kind == "right" else (base, plus)
    return Program(f"P/{problem}", index, f"{problem} {index}", kind, *shares, pass_at_1=problem / 10)  # type: ignore[arg-type]


def judged(problem: int, index: int, kind: str, accepted: float | None, way: str = VOTE, **shares: float) -> Judgement:
    return Judgement(program(problem, index, kind, **shares), way, accepted, 10, 10 if accepted is None else 0, accepted)


def test_rates_by_class_ties_and_unreadable_answers() -> None:
    found = [judged(n, 0, "right", accepted) for n, accepted in enumerate([1.0, 1.0, 0.5, None])]
    found += [judged(n, 1, "counterfeit", accepted) for n, accepted in enumerate([0.0, 1.0, 0.5, None])]
    of = cells(judging_table("humaneval", "some-7b", found))
    values = [of[f"J/vote/strict/{kind}"].value for kind in ("sensitivity", "specificity", "balanced_accuracy", "youden")]
    assert values == pytest.approx([2.5 / 4, 1.5 / 4, 0.5, 0.0])
    assert confusion(found).rows == ((f"{VOTE}: right", "2", "0", "1", "1"), (f"{VOTE}: counterfeit", "1", "1", "1", "1"))
    assert cells(more_of_judging(found))["JM/vote/unreadable"].value == 20 / 80
    for kind in ("sensitivity", "youden"):
        cell = of[f"J/vote/strict/{kind}"]
        assert cell.low is not None
        assert cell.high is not None
        assert -1 <= cell.low <= (cell.value or 0.0) <= cell.high <= 1


def test_labels_of_which_the_paper_says_otherwise_are_scored_again() -> None:
    found = [judged(n, 0, "right", 1.0) for n in range(4)]
    found += [judged(n, 1, "counterfeit", 1.0, base=1.0, plus=0.96) for n in range(2)] + [
        judged(n, 2, "counterfeit", 0.0) for n in range(4)
    ]
    of = cells(judging_table("humaneval", "some-7b", found))
    assert of["J/vote/strict/specificity"].value == pytest.approx(4 / 6)
    assert (of["J/vote/95/specificity"].value, of["J/vote/95/sensitivity"].n) == (1.0, 6)
    assert of["J/vote/counterfeits/specificity"].n == 4


def test_reasoning_is_compared_on_the_same_programs() -> None:
    found = [judged(n, 0, "right", float(n > 1)) for n in range(4)] + [judged(n, 0, "right", 1.0, THOUGHT) for n in range(5)]
    assert cells(gain_of_reasoning(found))["JG/all"].value == 0.5


def test_probabilities_rank_programs_within_a_problem() -> None:
    found = [
        Judgement(program(n, k, kind), PROBABILITY, 1.0, 1, 0, p)
        for n in range(6)
        for k, (kind, p) in enumerate((("right", n / 10 + 0.3), ("counterfeit", n / 10), ("counterfeit", n / 10 + 0.3)))
    ]
    assert cells(more_of_judging(found))["JM/probability/auc"].value == pytest.approx(0.75)


def test_the_four_shares_of_execution() -> None:
    found = [Executed(f"P/{n}", "right", 0.5, 0.0, 10, 1, n / 10) for n in range(6)]
    found += [Executed(f"P/{n}", "passing", 0.7, 0.0, 10, 0, n / 10) for n in range(6)]
    found += [Executed(f"P/{n}", "failing", 0.2, 0.6, 10, 0, n / 10) for n in range(6)]
    of = cells(execution_table("humaneval", "CodeLlama-34B", found))
    assert [of[f"E/{name}"].value for name in ("right", "passing", "failing", "confused")] == pytest.approx([0.5, 0.7, 0.2, 0.6])
    printed = {each.of: each.value for each in of["E/failing"].paper}
    assert (printed["CL-34B"], printed["GPT-4"]) == (0.30, 0.69)
    assert cells(more_of_execution(found))["EM/unreadable"].value == pytest.approx(6 / 180)


def test_repair_wins_where_it_is_above_drawing_again() -> None:
    found = [Repaired(f"P/{n}", right, 10, 0, again) for n, (right, again) in enumerate([(0.2, 0.5), (0.6, 0.5), (0.5, 0.5), (0.1, 0.9)])]
    table = repair_table("humaneval", "CodeLlama-34B", [*found, Repaired("P/0", 0.4, 10, 5, 0.5)])
    of = cells(table)
    assert of["R/repairs"].value == pytest.approx((0.3 + 0.6 + 0.5 + 0.1) / 4)
    assert of["R/difference"].value == pytest.approx((-0.2 + 0.1 + 0.0 - 0.8) / 4)
    assert (of["R/wins"].value, table.notes[0]) == (0.25, "Repair wins at 1 of 4 problems.")


def test_classes_of_draws_and_of_distinct_texts() -> None:
    drawn = [
        Drawn("P/0", 0, "a", 6, PassShares(1.0, 1.0)),
        Drawn("P/0", 1, "b", 2, PassShares(1.0, 0.96)),
        Drawn("P/1", 0, "c", 1, PassShares(0.0, 0.0)),
        Drawn("P/1", 1, "d", 9, None),
    ]
    of = cells(class_table("humaneval", drawn))
    shares = {
        (rule, what): [of[f"F2/{rule}/{what}/{kind}"].value for kind in ("right", "counterfeit", "other")]
        for rule in ("strict", "benchmark")
        for what in ("draws", "distinct_texts")
    }
    assert shares["strict", "draws"] == pytest.approx([6 / 9, 2 / 9, 1 / 9])
    assert shares["benchmark", "draws"] == pytest.approx([8 / 9, 0.0, 1 / 9])
    assert shares["strict", "distinct_texts"] == pytest.approx([1 / 3, 1 / 3, 1 / 3])
