"""What people are told at the end of a run on own code."""

from __future__ import annotations

import pytest
from synthetic_samples import world

from assay.offline_eval.own_code.numbers import Made
from assay.offline_eval.own_code.report import Ending, sentence, why_ended
from assay.offline_eval.study import Results

MADE = [Made(task, None, "") for task in ("line", "line_rest", "line_middle")]
BOTH = frozenset({"javascript", "python"})


def test_each_task_is_told_with_the_languages_that_have_its_number() -> None:
    numbers = {"line": frozenset({"python"}), "line_rest": BOTH, "line_middle": BOTH}
    assert sentence(MADE, "m", numbers, ["python", "javascript", "ruby"], 9) == (
        "suggestions of m have a number for line in Python; for line_rest, line_middle in JavaScript and Python; none in Ruby"
    )
    assert sentence(MADE, "m", {"line": BOTH}, ["python"], 9) == (
        "suggestions of m have a number for line in JavaScript and Python; none for line_rest, line_middle"
    )


def test_where_nothing_was_asked_that_is_said() -> None:
    assert sentence(MADE, "m", {"line": BOTH}, [], 0).startswith(
        "nothing was asked, so nothing changed: suggestions of m have a number for line"
    )
    assert sentence(MADE, "m", {}, [], 0) == "nothing was asked, so nothing changed: suggestions of m have no number"
    assert sentence(MADE, "m", {}, [], 9) == "suggestions of m have no number: too little was asked to tell; the same command goes on"


@pytest.mark.parametrize(("n", "minutes"), [(10, "8 minutes"), (20, "2 minutes")])
def test_after_the_time_it_is_said_how_much_longer_it_takes_where_too_little_was_asked(n: int, minutes: str) -> None:
    samples = world(n, slope=0.0)[0]
    results = Results([{}] * n, {"line": samples}, [])
    (said,) = why_ended(Ending(None, "time", 5.0, n), [Made("line", None, "")], results)
    assert said.endswith(f"goes on from there: about {minutes} more should tell, at {n / 5:g} places a minute")


def test_where_there_is_a_number_nobody_is_sent_on() -> None:
    assert list(why_ended(Ending(None, "time", 5.0, 100), [], Results([{}] * 100, {}, []))) == [
        "asking ended after 5 minutes; the same command goes on from there"
    ]
