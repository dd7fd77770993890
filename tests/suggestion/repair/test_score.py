from __future__ import annotations

import pytest

from assay.suggestion.given_text import generation_of
from assay.suggestion.repair.asking import Asking
from assay.suggestion.repair.candidate import Change
from assay.suggestion.repair.gathering import Scores
from assay.suggestion.repair.surprise import total_logprob

CODE = ("def names(records):", "    found = []", "    for record in records:", "        found.append(records)", "    return found", "")
LINE = 3
BEFORE, AFTER = "\n".join(CODE[:LINE]) + "\n        ", "\n    return found\n"


def test_new_and_old_line_are_scored_as_a_completion_at_their_place_would_be(asking: Asking) -> None:
    score = Scores(asking, CODE).of(Change(LINE, LINE + 1, ("        found.append(record)",)))
    old, new = (generation_of(asking.model, BEFORE, AFTER, text) for text in ("found.append(records)", "found.append(record)"))
    assert score.old_logprob == pytest.approx(total_logprob(old), abs=0.05)
    assert total_logprob(score.new) == pytest.approx(total_logprob(new), abs=0.05)
    assert score.gain == pytest.approx(total_logprob(new) - total_logprob(old), abs=0.1)
    assert score.new.text == "found.append(record)"
    # A line that moves is scored from the indentation that both have.
    score = Scores(asking, CODE).of(Change(LINE, LINE + 1, ("    found.append(records)",)))
    assert score.new.text == "found.append(records)"
    old = generation_of(asking.model, BEFORE[:-4], AFTER, "    found.append(records)")
    assert score.old_logprob == pytest.approx(total_logprob(old), abs=0.05)
    assert Scores(asking, CODE).of(Change(LINE, LINE + 1, ("x" * 2_000,))) is None, "what can't be scored has no score"
