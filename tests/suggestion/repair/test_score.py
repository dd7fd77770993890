from __future__ import annotations

import pytest

from assay.suggestion.given_text import generation_of
from assay.suggestion.repair.asking import Asking
from assay.suggestion.repair.candidate import Change
from assay.suggestion.repair.gathering import Scores, edited_logprobs
from assay.suggestion.repair.surprise import TokenSurprise, total_logprob

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


def tokens(line: str, *logprobs: float) -> tuple[TokenSurprise, ...]:
    """One for each word with the blank before it, and one for the line's end."""
    ends = [place for place, character in enumerate(line) if character == " "] + [len(line), len(line)]
    starts = [0, *ends[:-1]]
    return tuple(TokenSurprise(a, b, line[a:b], logprob, 0.0) for a, b, logprob in zip(starts, ends, logprobs, strict=True))


def test_of_the_tokens_of_new_lines_those_count_that_the_change_writes() -> None:
    line = tokens("return a + b", -1, -2, -3, -4, -5)
    assert edited_logprobs(("return a - b",), ("return a + b",), (line,)) == (-3,)
    assert edited_logprobs(("return a + b + c",), ("return a + b",), (line,)) == (-5,), "that the line ends here"
    assert edited_logprobs(("not a + b",), ("return a + b",), (line,)) == (-1,)
    both = (tokens("x = 1", -1, -2, -3, -4), tokens("y = 2", -5, -6, -7, -8))
    assert edited_logprobs(("x = 1", "y = 3"), ("x = 1", "y = 2"), both) == (-7,)
    assert edited_logprobs(("x = 0", "y = 3"), ("x = 1", "y = 2"), both) == (-3, -4, -5, -6, -7)
    assert edited_logprobs(("  a",), ("a",), (tokens("a", -1, -2),)) == (-1,)
