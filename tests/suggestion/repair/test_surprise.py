from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs
from scipy.special import expit
from synthetic_samples import MODEL, PROMPT, sample

from assay.analysis.oracle.spectrum import Suspect
from assay.calibration.fitting.fit import fit
from assay.calibration.registry import Entry, Purpose, registry_of
from assay.suggestion.repair.asking import MAX_CHARACTERS, Asking
from assay.suggestion.repair.candidate import Change, change_of, edit_size
from assay.suggestion.repair.localisation import TASK, located, measures_of_lines
from assay.suggestion.repair.surprise import alternatives_at, surprise_at, with_alternatives

TEXT = '''import json


def load(path, default=None):
    """Read a file."""
    try:
        with open(path) as file:
            return json.load(path)
    except OSError:
        return default
'''
CODE = tuple(TEXT.split("\n"))
RETURN = 7


def test_the_tokens_of_a_line_are_its_text_and_the_models_own_choice_where_their_surprise_is_below_0(asking: Asking) -> None:
    found = surprise_at(asking, CODE, RETURN)
    assert "".join(token.text for token in found.tokens) == CODE[RETURN].lstrip()
    assert [CODE[RETURN][token.start : token.end] for token in found.tokens] == [token.text for token in found.tokens]
    assert found.tokens[0].start == 12
    assert found.tokens[-1].end == len(CODE[RETURN])
    assert found.logprob == pytest.approx(sum(token.logprob for token in found.tokens))
    lines = ("names = {}", "names['日本'] = 'é𝒳'", "")
    assert all(lines[1][token.start : token.end] == token.text for token in surprise_at(asking, lines, 1).tokens)
    # A blank line has none, nor one that no one writes, nor one with a loop in it, as a completion would have ended it.
    for line in ("   ", "x" * (MAX_CHARACTERS + 1), "value" + ".parent.parent" * 6):
        assert surprise_at(asking, ("a = (", line, ")"), 1) is None
    found = surprise_at(asking, CODE, RETURN)
    told = with_alternatives(asking, CODE, found)
    for before, token in zip(found.tokens, told.tokens, strict=True):
        assert token.surprise > 0 or not token.alternative
        assert (before.text, before.surprise, before.alternative) == (token.text, token.surprise, "")
        if token.surprise > 0:
            assert token.alternative not in ("", token.text)


def test_a_line_that_the_model_would_write_itself_does_not_surprise_it(asking: Asking) -> None:
    lines = ("def names(records):", "    found = []", "    for record in records:", "        found.append(x)", "    return found", "")
    found = surprise_at(asking, lines, 3)
    own = with_alternatives(asking, lines, found).alternative
    again = surprise_at(asking, (*lines[:3], own, *lines[4:]), 3)
    assert again.surprise == pytest.approx(0, abs=0.2)
    assert found.logprob < again.logprob
    assert found.surprise > 1


def test_alternatives_begin_with_different_tokens_and_end_the_line(asking: Asking) -> None:
    found = alternatives_at(asking, CODE, RETURN, CODE[RETURN].index("path"), 3)
    assert len(found) == 3
    assert len({other.token for other in found}) == 3
    assert {other.token for other in found} >= {"file", "path"}
    assert all(other.rest is None or (other.rest.startswith(other.token) and "\n" not in other.rest) for other in found)
    assert None in [other.rest for other in found]
    over = Asking(asking.model, is_over=lambda: True)
    assert alternatives_at(over, CODE, RETURN, 12, 3) == [], "what is no longer wanted is not asked"


FOUND = [Suspect("a.py", 2, 1, 0, 1.0), Suspect("a.py", 3, 1, 0, 1.0), Suspect("b.py", 9, 1, 3, 0.5)]


def test_lines_are_measured_by_spectrum_and_surprise_and_those_alike_share_their_ranks() -> None:
    measures = measures_of_lines(FOUND, {("a.py", 3): 4.0, ("b.py", 9): -1.0})
    assert [each["spectrum_rank"] for each in measures] == [1.5, 1.5, 3.0]
    assert [each["line_surprise"] for each in measures] == [0.0, 4.0, 0.0]
    assert [each["surprise_rank"] for each in measures] == [2.5, 1.0, 2.5]
    purpose = Purpose("0" * 16, "1" * 16, "exact_match", TASK, "python")
    found = located(FOUND, {("a.py", 3): 4.0}, purpose, registry_of((), ()))
    assert [(each.suspect.file, each.suspect.line) for each in found] == [("a.py", 3), ("a.py", 2), ("b.py", 9)]
    assert {each.confidence.probability for each in found} == {None}, "there is no calibrator"


def test_a_calibrator_of_faults_gives_each_line_its_probability_and_decides_the_order() -> None:
    rng = np.random.default_rng(0)
    surprise = np.append(0.0, rng.uniform(0, 20, 799))
    wrong = rng.random(800) < expit(0.4 * surprise - 6)
    samples = [
        structs.replace(
            sample(number, project=f"p{number % 10}", line_surprise=float(surprise[number])),
            task=TASK, labels={"exact_match": bool(wrong[number])},
        )
        for number in range(800)
    ]  # fmt: skip
    entry = Entry("user", Path("fault.json"), fit(samples, "exact_match", ["line_surprise"], resamples=20).calibrator)
    purpose = Purpose(MODEL, PROMPT, "exact_match", TASK, "python")
    found = located(FOUND, {("a.py", 2): 1.0, ("b.py", 9): 15.0}, purpose, registry_of([entry], ()))
    assert (found[0].suspect.file, found[0].suspect.line) == ("b.py", 9)
    assert all(each.confidence.probability is not None for each in found)


FILE = ("a", "b", "c", "d")
texts = st.lists(st.sampled_from(["a", "b", "    c", ""]), min_size=1, max_size=6)


@given(texts, texts, st.data())
def test_the_smallest_change_makes_the_same_file_whatever_lines_it_is_told_by(old: list[str], new: list[str], data: st.DataObject) -> None:
    lines = tuple(old)
    first = data.draw(st.integers(0, len(lines) - 1))
    end = data.draw(st.integers(first + 1, len(lines)))
    change = change_of(lines, first, end, new)
    assert change.of(lines) == (*lines[:first], *new, *lines[end:])
    assert change.first < change.end
    assert change.new
    # Told by more lines, it is the same.
    assert change_of(lines, 0, len(lines), change.of(lines)).of(lines) == change.of(lines)


@pytest.mark.parametrize(
    ("first", "end", "new", "change"),
    [
        (1, 2, ["x"], Change(1, 2, ("x",))),
        (0, 4, ["a", "x", "c", "d"], Change(1, 2, ("x",))),
        (1, 2, ["b", "x"], Change(2, 3, ("x", "c"))),
        (1, 2, [], Change(1, 3, ("c",))),
        (0, 4, [], Change(0, 4, ("",))),
        (1, 3, ["b", "c"], Change(3, 4, ("d",))),
    ],
)
def test_lines_put_in_or_taken_out_change_together_with_one_beside_them(first: int, end: int, new: list[str], change: Change) -> None:
    assert change_of(FILE, first, end, new) == change
    assert edit_size(["if a < b:"], ["if a <= b:"]) == 1
    assert edit_size(["return low"], ["return high"]) == 7
