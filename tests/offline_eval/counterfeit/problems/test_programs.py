from __future__ import annotations

from collections import Counter

from assay.offline_eval.counterfeit.problems.programs import Drawn, PassShares, balanced, pass_at_1

RIGHT, WRONG, POOR, UNKNOWN = PassShares(1.0, 1.0), PassShares(1.0, 0.5), PassShares(0.0, 0.0), None


def drawn(problem: str, *kinds: tuple[PassShares | None, int]) -> list[Drawn]:
    return [Drawn(problem, 10 * n, f"{problem} {n}", draws, tested) for n, (tested, draws) in enumerate(kinds)]


def test_each_problem_has_as_many_right_programs_as_counterfeits_or_is_left_out() -> None:
    enough = drawn("a", *[(RIGHT, 1)] * 7, *[(WRONG, 1)] * 6, (POOR, 1))
    few = drawn("b", *[(RIGHT, 1)] * 7, *[(WRONG, 1)] * 4)
    programs = balanced("humaneval", [*enough, *few], seed=1)
    assert Counter((program.problem, program.kind) for program in programs) == {("a", "right"): 5, ("a", "counterfeit"): 5}
    assert len({program.text for program in programs}) == 10
    assert balanced("humaneval", [*enough, *few], seed=1) == programs != balanced("humaneval", [*enough, *few], seed=2)


def test_a_text_that_was_drawn_twice_is_one_program() -> None:
    same = [Drawn("a", n, "the same", 1, RIGHT) for n in range(9)]
    assert balanced("humaneval", [*same, *drawn("a", *[(WRONG, 1)] * 5)], seed=0) == ()


def test_the_rate_of_a_problem_counts_each_draw_and_no_unknown_label() -> None:
    assert pass_at_1(drawn("a", (RIGHT, 3), (WRONG, 1), (UNKNOWN, 5))) == {"a": 0.75}
    assert pass_at_1(drawn("a", (UNKNOWN, 5))) == {}
