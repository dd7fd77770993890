from __future__ import annotations

import math

import pytest

from assay.offline_eval.catcode.pairs.tables import answer_in, counts_in_paper, p_true


@pytest.mark.parametrize(
    ("text", "answer", "counts"),
    [
        ("[ANSWER]True[/ANSWER]", 1.0, True),
        ("[ANSWER] false [/ANSWER]", 0.0, True),
        ("[ANSWER]False.[/ANSWER]", 0.0, False),
        ("[ANSWER]**True**[/ANSWER]", 1.0, False),
        ("\n\nFalse", 0.0, True),
        ("False. The second one skips the last element.", 0.0, False),
        ("True\nBoth add up.", 1.0, False),
        ("I think [ANSWER]True[/ANSWER], no: [ANSWER]False[/ANSWER]", 0.0, True),
        ("True that they differ", None, False),
        ("Ture.", None, False),
        ("[ANSWER]True", None, False),
        ("[ANSWER]maybe[/ANSWER] True", None, False),
        ("", None, False),
    ],
)
def test_an_answer_is_read_as_people_would_and_told_whether_the_paper_counts_it(text: str, answer: float | None, counts: bool) -> None:
    assert answer_in(text) == answer
    assert counts_in_paper(text) is counts


def test_p_true_is_of_both_words_alone_whole_or_begun() -> None:
    top = [("True", math.log(0.3)), (" true", math.log(0.1)), ("F", math.log(0.1)), ("no", math.log(0.5))]
    assert p_true(top) == pytest.approx(0.8)
    assert p_true([("no", -0.1)]) is None
