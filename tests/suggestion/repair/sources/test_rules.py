from __future__ import annotations

import sys

import pytest

from assay.inference.llamacpp.model import LlamaModel
from assay.suggestion.repair.asking import Asking
from assay.suggestion.repair.request import Request
from assay.suggestion.repair.sources import rules

LINES = ("def clamp(value, low, high):", "    if value > low:", "        return low", "    return min(value, high)", "")


def test_the_rules_edits_are_changes_of_whole_lines_of_files_of_python_that_parse(tiny: LlamaModel) -> None:
    found = list(rules.candidates(Request(Asking(tiny), LINES, 1, 2, "python")))
    assert ("    if value < low:",) in [each.change.new for each in found]
    assert all(each.source == "rules" and each.rule and not each.is_drawn for each in found)
    assert all(each.change.first in (0, 1, 2) for each in found)
    assert list(rules.candidates(Request(Asking(tiny), ("def f(:", "    return 1"), 1, 2, "python"))) == []
    assert "cobol" in rules.why_not(Request(Asking(tiny), LINES, 1, 2, "cobol"))
    assert rules.why_not(Request(Asking(tiny), LINES, 1, 2, "python")) == ""


def test_what_the_rules_need_is_named_with_the_command_that_installs_it(tiny: LlamaModel, monkeypatch: pytest.MonkeyPatch) -> None:
    def without(_: str) -> None:
        raise ModuleNotFoundError("No module named 'libcst'", name="libcst")

    monkeypatch.setattr("assay.analysis.repairs.candidates.rules", without)
    why = rules.why_not(Request(Asking(tiny), LINES, 1, 2, "python"))
    assert why == f"the rules need libcst, which is not installed: {sys.executable} -m pip install 'libcst>=1.8'"
