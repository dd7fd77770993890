from __future__ import annotations

from assay.inference.llamacpp.model import LlamaModel
from assay.suggestion.repair.asking import Asking
from assay.suggestion.repair.request import Request
from assay.suggestion.repair.sources import rules

LINES = ("def clamp(value, low, high):", "    if value > low:", "        return low", "    return min(value, high)", "")


def test_the_rules_edits_are_changes_of_the_whole_line(tiny: LlamaModel) -> None:
    found = list(rules.candidates(Request(Asking(tiny), LINES, 1, 2, "python")))
    assert ("    if value < low:",) in [each.change.new for each in found]
    assert all(each.source == "rules" and each.rule and not each.is_drawn for each in found)
    assert all(each.change.first in (0, 1, 2) for each in found)


def test_a_file_that_does_not_parse_and_other_languages_have_no_rules(tiny: LlamaModel) -> None:
    assert list(rules.candidates(Request(Asking(tiny), ("def f(:", "    return 1"), 1, 2, "python"))) == []
    assert "cobol" in rules.why_not(Request(Asking(tiny), LINES, 1, 2, "cobol"))
    assert rules.why_not(Request(Asking(tiny), LINES, 1, 2, "python")) == ""
