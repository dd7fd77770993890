from __future__ import annotations

from assay.analysis.sandbox.judging.result import ProgramOutcome, Result


def test_the_label_of_a_failed_sandbox_is_unknown() -> None:
    labels = {ending: Result(ending).label for ending in ProgramOutcome}
    assert labels.pop(ProgramOutcome.PASSED) is True
    assert labels.pop(ProgramOutcome.INFRASTRUCTURE) is None
    assert set(labels.values()) == {False}
