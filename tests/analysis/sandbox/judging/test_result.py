from __future__ import annotations

from assay.analysis.sandbox.judging.result import ProgramOutcome, Result


def test_the_label_is_unknown_where_the_sandbox_failed_or_the_test_cannot_decide() -> None:
    labels = {ending: Result(ending).label for ending in ProgramOutcome}
    assert labels.pop(ProgramOutcome.PASSED) is True
    assert labels.pop(ProgramOutcome.INFRASTRUCTURE) is None
    assert labels.pop(ProgramOutcome.NOT_JUDGEABLE) is None
    assert set(labels.values()) == {False}
