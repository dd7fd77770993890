"""What people are told at the end of a run on own code."""

from __future__ import annotations

from assay.offline_eval.own_code.numbers import Made
from assay.offline_eval.own_code.report import sentence

MADE = [Made(task, None, "") for task in ("line", "line_rest", "line_middle")]
BOTH = frozenset({"javascript", "python"})


def test_each_task_is_told_with_the_languages_that_have_its_number() -> None:
    numbers = {"line": frozenset({"python"}), "line_rest": BOTH, "line_middle": BOTH}
    assert sentence(MADE, "m", numbers, ["python", "javascript", "ruby"]) == (
        "suggestions of m have a number for line in Python; for line_rest, line_middle in JavaScript and Python; none in Ruby"
    )
    assert sentence(MADE, "m", {"line": BOTH}, ["python"]) == (
        "suggestions of m have a number for line in JavaScript and Python; none for line_rest, line_middle"
    )


def test_where_nothing_was_asked_that_is_said() -> None:
    assert sentence(MADE, "m", {"line": BOTH}, []).startswith(
        "nothing was asked, so nothing changed: suggestions of m have a number for line"
    )
    assert sentence(MADE, "m", {}, []) == "nothing was asked, so nothing changed: suggestions of m have no number"
    assert sentence(MADE, "m", {}, ["go"]) == "suggestions of m have no number: too little was asked to tell; the same command goes on"
