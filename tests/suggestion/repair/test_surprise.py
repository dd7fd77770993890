from __future__ import annotations

import pytest

from assay.suggestion.repair.asking import MAX_CHARACTERS, Asking
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


def test_the_tokens_of_a_line_are_its_text_and_its_end(asking: Asking) -> None:
    found = surprise_at(asking, CODE, RETURN)
    assert found is not None
    assert "".join(token.text for token in found.tokens) == CODE[RETURN].lstrip()
    assert [CODE[RETURN][token.start : token.end] for token in found.tokens] == [token.text for token in found.tokens]
    assert found.tokens[0].start == 12
    assert found.tokens[-1].end == len(CODE[RETURN])
    assert found.logprob == pytest.approx(sum(token.logprob for token in found.tokens))


def test_a_token_is_the_models_own_choice_where_its_surprise_is_below_0(asking: Asking) -> None:
    found = surprise_at(asking, CODE, RETURN)
    assert found is not None
    told = with_alternatives(asking, CODE, found)
    for before, token in zip(found.tokens, told.tokens, strict=True):
        assert token.surprise > 0 or not token.alternative
        assert (before.text, before.surprise, before.alternative) == (token.text, token.surprise, "")
        if token.surprise > 0:
            assert token.alternative not in ("", token.text)


def test_a_line_that_the_model_would_write_itself_does_not_surprise_it(asking: Asking) -> None:
    lines = ("def names(records):", "    found = []", "    for record in records:", "        found.append(x)", "    return found", "")
    found = surprise_at(asking, lines, 3)
    assert found is not None
    own = with_alternatives(asking, lines, found).alternative
    again = surprise_at(asking, (*lines[:3], own, *lines[4:]), 3)
    assert again is not None
    assert again.surprise == pytest.approx(0, abs=0.2)
    assert found.logprob < again.logprob
    assert found.surprise > 1


def test_characters_of_several_bytes_keep_their_columns(asking: Asking) -> None:
    lines = ("names = {}", "names['日本'] = 'é𝒳'", "")
    found = surprise_at(asking, lines, 1)
    assert found is not None
    assert all(lines[1][token.start : token.end] == token.text for token in found.tokens)


@pytest.mark.parametrize("line", ["", "   ", "x" * (MAX_CHARACTERS + 1)])
def test_a_blank_line_and_one_that_no_one_writes_have_no_surprise(asking: Asking, line: str) -> None:
    assert surprise_at(asking, ("a = 1", line, "b = 2"), 1) is None


def test_a_line_with_a_loop_in_it_has_no_surprise_as_a_completion_would_have_ended_it(asking: Asking) -> None:
    assert surprise_at(asking, ("a = (", "value" + ".parent.parent" * 6, ")"), 1) is None


def test_alternatives_begin_with_different_tokens_and_end_the_line(asking: Asking) -> None:
    found = alternatives_at(asking, CODE, RETURN, CODE[RETURN].index("path"), 3)
    assert len(found) == 3
    assert len({other.token for other in found}) == 3
    assert {other.token for other in found} >= {"file", "path"}
    assert all(other.rest is None or (other.rest.startswith(other.token) and "\n" not in other.rest) for other in found)
    assert None in [other.rest for other in found]


def test_what_is_no_longer_wanted_is_not_asked(asking: Asking) -> None:
    over = Asking(asking.model, is_over=lambda: True)
    assert alternatives_at(over, CODE, RETURN, 12, 3) == []
