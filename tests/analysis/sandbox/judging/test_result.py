from __future__ import annotations

from assay.analysis.sandbox.judging.result import Ending, Result


def test_the_label_of_a_failed_sandbox_is_unknown() -> None:
    labels = {ending: Result(ending).label for ending in Ending}
    assert labels.pop(Ending.PASSED) is True
    assert labels.pop(Ending.INFRASTRUCTURE) is None
    assert set(labels.values()) == {False}
