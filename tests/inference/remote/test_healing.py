"""Token healing with servers that speak as vLLM does: found by asking, exact, and only where it is."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assay.inference.errors import BadAnswer, Unavailable
from assay.inference.model import Generation, Prompt, StopReason
from assay.inference.remote.formats import held_fields, held_grammar
from assay.inference.remote.model import RemoteModel
from assay.inference.stopping.stop import LINE, NONE

from ..completion_server import AB, Speech, logprobs, masked, serving, text_of

ASCII = st.text(st.sampled_from("ab_.(= 1\t\n\"'{\\|*?"), max_size=20)


@pytest.fixture(scope="module")
def speech() -> Speech:
    return Speech()


@pytest.fixture(scope="module")
def served(speech: Speech) -> Iterator[RemoteModel]:
    with serving(speech) as address, RemoteModel(address, layout="left_to_right") as model:
        yield model


def bytes_of(generation: Generation) -> bytes:
    return b"".join(token.text for token in generation.tokens)


def bodies(speech: Speech) -> list[dict[str, object]]:
    return [body for _, path, body in speech.asked if path == "/v1/completions"]


@pytest.mark.slow
@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(prefix=ASCII, suffix=ASCII)
def test_what_the_prompt_leaves_out_is_written_again_and_not_shown(served: RemoteModel, speech: Speech, prefix: str, suffix: str) -> None:
    prompt = served.fim(prefix, suffix)
    assert bytes(prompt.tokens).decode().removeprefix("\0") + prompt.held == prefix
    speech.asked.clear()
    generation = served.generate(prompt, stop=NONE, max_tokens=4)
    *steps, stream = bodies(speech)
    written = "".join(map(text_of, stream["prompt"][len(prompt.tokens) :]))  # type: ignore[index]
    assert written.startswith(prompt.held)
    assert len(written) >= len(steps)
    assert bytes_of(generation).decode().startswith(written.removeprefix(prompt.held))
    assert generation.text == bytes_of(generation).decode()


def test_a_probability_is_among_the_tokens_that_agree_and_of_all_that_write_it(served: RemoteModel) -> None:
    """Behind "=" the model writes "ab" as one token, which reaches beyond the "a" that stands there."""
    prompt = served.fim("x =a", "")
    assert prompt.held == "a"
    generation = served.generate(prompt, stop=LINE, max_tokens=9)
    assert generation.text == "bc"
    first = generation.tokens[0]
    row = masked(logprobs(ord("=")), "a")
    assert (first.id, first.text) == (AB, b"b")
    assert (first.logprob, first.best_other_logprob) == pytest.approx((row[AB], row[ord("a")]))
    assert generation.tokens[1].logprob == pytest.approx(logprobs(AB)[ord("c")])
    generation = served.generate(served.fim("!xa", ""), stop=LINE, max_tokens=9)
    assert generation.text == "bc"
    expected = [masked(logprobs(ord("!")), "xa")[ord("x")], masked(logprobs(ord("x")), "a")[ord("a")], logprobs(ord("a"))[ord("b")]]
    assert generation.tokens[0].logprob == pytest.approx(math.fsum(expected))


def test_greedy_alternatives_differ_in_the_first_token_that_reaches_beyond(served: RemoteModel) -> None:
    beyond, within = served.alternatives(served.fim("x =a", ""), 4, stop=LINE, max_tokens=9)
    assert (beyond.text, within.text) == ("bc", "bc")
    assert (beyond.tokens[0].id, within.tokens[0].id) == (AB, ord("b"))
    row = masked(logprobs(ord("=")), "a")
    assert within.tokens[0].logprob == pytest.approx(row[ord("a")] + logprobs(ord("a"))[ord("b")])
    free = served.alternatives(served.fim("?b", ""), 3, stop=LINE, max_tokens=9)
    assert [one.text for one in free] == ["c", "dabc", "eabc"]
    drawn = served.alternatives(served.fim("x =a", ""), 3, stop=LINE, max_tokens=9, temperature=1.0, seed=5)
    assert [one.text for one in drawn] == ["bc"] * 3


def test_a_version_with_the_old_field_is_asked_by_that() -> None:
    with serving(Speech(guides="guided_regex", bundle=3)) as address, RemoteModel(address) as model:
        assert model.served.holding == "guided_regex"
        assert model.generate(model.fim("x = a", ""), stop=LINE, max_tokens=9).text == "bc"


@pytest.mark.parametrize(
    "speech",
    [Speech(guides=None), Speech(masks_first=False), Speech(token_names=False), Speech(kind="openai")],
    ids=["no field", "log-probabilities of all tokens", "no ids", "OpenAI"],
)
def test_without_an_exact_way_at_most_a_space_is_held_back(speech: Speech) -> None:
    with serving(speech) as address, RemoteModel(address) as model:
        assert not model.capabilities.heals
        assert [model.fim(prefix, "").held for prefix in ("x = abc", "x = ", "x =\t", "x = a\n")] == ["", " ", "\t", ""]
        assert model.generate(model.fim("x = a", ""), stop=LINE, max_tokens=9).text == "bc"


def test_cancel_and_time_end_what_is_being_written_again(served: RemoteModel, speech: Speech) -> None:
    prompt = served.fim("x" * 30, "")
    over = time.perf_counter() + 0.02
    cancelled = served.generate(prompt, stop=LINE, max_tokens=5, cancel=lambda: time.perf_counter() > over)
    assert (cancelled.stopped_by, cancelled.tokens) == (StopReason.CANCELLED, ())
    several = served.alternatives(prompt, 2, stop=LINE, max_tokens=5, max_ms=0.0)
    assert [one.stopped_by for one in several] == [StopReason.TIME] * 2
    assert served.generate(prompt, stop=LINE, max_tokens=5).text == "abc"


def test_a_character_that_tokens_write_in_parts_is_not_held_back(served: RemoteModel) -> None:
    """The server takes a character outside of ASCII for another, so it has no token for it."""
    assert [served.fim(prefix, "").held for prefix in ("größ", "größe", "größen = nä", "é", "漢字")] == ["", "e", "", "", ""]


def test_a_server_that_stops_holding_is_said_so_and_a_part_of_a_character_is_not_made_up() -> None:
    def in_part(answer: Any) -> Any:
        answer["choices"][0]["text"] = "\ufffd"
        return answer

    speech = Speech()
    with serving(speech) as address, RemoteModel(address) as model:
        speech.garble = in_part
        with pytest.raises(Unavailable, match="parts of a character"):
            model.generate(Prompt((97,), "left_to_right", held="x"), stop=LINE, max_tokens=2)
        speech.garble = speech.guides = None
        with pytest.raises(BadAnswer, match="does not agree"):
            model.generate(model.fim("x", ""), stop=LINE, max_tokens=2)


@given(held=st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",)), min_size=1, max_size=12), tail=st.text(max_size=6))
def test_the_patterns_are_the_text_and_then_anything(held: str, tail: str) -> None:
    for fields in (held_fields("structured_outputs", held)["structured_outputs"], held_fields("guided_regex", held)):
        pattern = fields.get("regex") or fields["guided_regex"]
        assert re.fullmatch(pattern, held + tail)
        assert not re.fullmatch(pattern, held[:-1])
        assert not re.fullmatch(pattern, chr(ord(held[0]) + 1) + held[1:] + tail)
    literal = held_grammar(held).removeprefix('root ::= "').removesuffix('" [^\\x00]*')
    assert literal.encode().decode("unicode_escape") == held
