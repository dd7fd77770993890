from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from offsets import offset_at

from assay.calibration.measures.registry import measures_of
from assay.inference.model import Generation, StopReason, Timings, Token
from assay.suggestion.positions import Encoding, Position, column_at, content, index_at, position_at, split_lines
from assay.suggestion.remainder import remainder


def generation(text: str, *pieces: bytes, stopped_by: StopReason = StopReason.LINE) -> Generation:
    """Its tokens' numbers tell them apart: the first has -0.5, the second -1.5 …"""
    tokens = tuple(Token(number, piece, -number - 0.5, -number - 2.5, number + 0.25) for number, piece in enumerate(pieces))
    return Generation(text, tokens, stopped_by, Timings(3.0, 4.0, 10, 0))


@st.composite
def generations(draw: st.DrawFn) -> Generation:
    """What `complete` may give: tokens cut anywhere, with shares or without, an end cut off, tokens without text."""
    written = draw(st.text(st.sampled_from("ab(= \té漢𝄞\n"), min_size=1, max_size=12))
    spelled = written.encode()
    cuts = sorted(draw(st.lists(st.integers(0, len(spelled)), max_size=8)))
    pieces = [spelled[start:end] for start, end in zip([0, *cuts], [*cuts, len(spelled)], strict=True)]
    text = written[: draw(st.integers(0, len(written)))]
    assume(text.strip())
    made = generation(text, *pieces, b"")
    if draw(st.booleans()):
        return made
    # Each token is held back up to a cursor behind its end, no later one less far.
    tokens, at, reach = [], 0, 0
    for token in made.tokens:
        end = at + len(token.text)
        reach = max(reach, end + draw(st.integers(0, 3)))
        falls = sorted(draw(st.lists(st.floats(0, 1), min_size=reach - at, max_size=reach - at)))
        tokens.append(replace(token, shares=tuple(token.logprob * fallen for fallen in falls) if token.text else ()))
        at = end
    return replace(made, tokens=tuple(tokens))


def bytes_of(made: Generation) -> bytes:
    return b"".join(token.text for token in made.tokens)


def numbers(tokens: Sequence[Token]) -> list[tuple[int, float, float | None, float | None]]:
    return [(token.id, token.logprob, token.best_other_logprob, token.entropy) for token in tokens]


@given(generations(), st.data())
def test_the_text_is_the_rest_and_the_tokens_are_those_that_end_in_it(made: Generation, data: st.DataObject) -> None:
    typed = made.text[: data.draw(st.integers(1, len(made.text)))]
    left = remainder(made, typed)
    if not made.text[len(typed) :].strip():
        assert left is None
        return
    assert left.text == made.text[len(typed) :]
    assert (left.stopped_by, left.timings) == (made.stopped_by, made.timings)
    gone = len(typed.encode())
    ends = [sum(len(token.text) for token in made.tokens[: number + 1]) for number in range(len(made.tokens))]
    assert bytes_of(left) == bytes_of(made)[gone:]
    whole = [token for token, end in zip(made.tokens, ends, strict=True) if end - len(token.text) >= gone and token.text]
    with_text = [token for token in left.tokens if token.text]
    assert len(with_text) - len(whole) in (0, 1)
    # The first may have the log-probability of earlier ones added.
    assert numbers(with_text[len(with_text) - len(whole) :])[1:] == numbers(whole)[1:]
    assert left.tokens[-1] == made.tokens[-1]  # the end of the text


@given(generations(), st.data())
def test_typing_at_once_leaves_what_typing_bit_by_bit_leaves(made: Generation, data: st.DataObject) -> None:
    middle, end = sorted(data.draw(st.tuples(*[st.integers(0, len(made.text))] * 2)))
    once = remainder(made, made.text[:end])
    first = remainder(made, made.text[:middle])
    twice = first and remainder(first, made.text[middle:end])
    if made.text[end:].strip():
        assert (once.text, bytes_of(once)) == (twice.text, bytes_of(twice))
        for one, other in zip(once.tokens, twice.tokens, strict=True):
            # Of what other tokens would have had, only a bound is known, which depends on how often it was taken.
            assert one.id == other.id
            assert (one.logprob, *one.shares) == pytest.approx((other.logprob, *other.shares), rel=1e-6, abs=1e-9)
    else:
        assert once is twice is None


@given(generations())
def test_the_more_is_typed_the_surer_is_the_rest(made: Generation) -> None:
    lefts = [remainder(made, made.text[:size]) for size in range(len(made.text))]
    measures = [measures_of(left) for left in lefts if left]
    totals = [each["total_logprob"] for each in measures]
    assert totals == sorted(totals)
    assert [each["length"] for each in measures] == [len(made.text) - size for size in range(len(measures))]


@given(generations(), st.text(st.sampled_from("ab(= \té\n"), max_size=6), st.sampled_from(["\r\n", "\r"]))
def test_other_text_leaves_nothing_however_its_lines_end(made: Generation, typed: str, newline: str) -> None:
    assert remainder(made, typed.replace("\n", newline)) == remainder(made, typed)
    assert (remainder(made, typed) is None) == (typed != "" and not (made.text.startswith(typed) and made.text[len(typed) :].strip()))


def test_a_token_that_typing_ends_inside_has_its_probability_among_those_that_agree() -> None:
    made = generation("return value", b"return", b" val", b"ue", b"\n")
    told = replace(made.tokens[1], shares=(-0.1, -0.7, -1.3, -1.5, -1.5, -1.5))
    made = replace(made, tokens=(made.tokens[0], told, *made.tokens[2:]))
    rests = [left for typed in ("return", "return ", "return v", "return va", "return val") if (left := remainder(made, typed))]
    assert [rest.tokens[0].text for rest in rests] == [b" val", b"val", b"al", b"l", b"ue"]
    firsts = [rest.tokens[0].logprob for rest in rests]
    assert firsts == pytest.approx([-1.5, -1.4, -0.8, -0.2, -2.5 + 0.0])
    assert [rest.tokens[0].shares for rest in rests[:3]] == [
        told.shares,
        pytest.approx((-0.6, -1.2, -1.4, -1.4, -1.4)),
        pytest.approx((-0.6, -0.8, -0.8, -0.8)),
    ]
    # A token of the same word counts until the word is left.
    made = generation("value = 1", b"val", b"ue", b" =", b" 1", b"\n")
    first = replace(made.tokens[0], shares=(-0.1, -0.2, -0.3, -0.4, -0.45))
    made = replace(made, tokens=(first, *made.tokens[1:]))
    counted = {typed: left.tokens[0].logprob for typed in ("val", "valu", "value", "value ") if (left := remainder(made, typed))}
    assert counted == pytest.approx(
        {"val": -1.5 + (-0.5 + 0.3), "valu": -1.5 + (-0.5 + 0.4), "value": -2.5 + (-0.5 + 0.45), "value ": -2.5}
    )


@given(st.floats(-30, -1e-9), st.floats(0, 5), st.integers(1, 3))
def test_the_numbers_of_a_rest_are_a_distribution_s(logprob: float, more: float, typed: int) -> None:
    p = math.exp(logprob)
    least = -(p * logprob + (1 - p) * math.log1p(-p))
    shares = (logprob * 0.2, logprob * 0.5, logprob)
    made = Generation(
        "word", (Token(0, b"word", logprob, logprob - 1, least + more * (1 - p), shares),), StopReason.LINE, Timings(0, 0, 1, 0)
    )
    rest = remainder(made, "word"[:typed])
    token = rest.tokens[0]
    assert logprob <= token.logprob <= 0
    assert token.entropy is not None
    assert token.entropy >= 0


def test_the_parts_of_a_character_go_together() -> None:
    made = generation("éx", b"\xc3", b"\xa9", b"x", b"\n")
    left = remainder(made, "é")
    assert [token.text for token in left.tokens] == [b"x", b"\n"]
    one_token = generation("aéx", b"a\xc3", b"\xa9x", b"\n")
    left = remainder(one_token, "a")
    assert [token.text for token in left.tokens] == [b"\xc3", b"\xa9x", b"\n"]
    # From bytes on that are no character, all tokens stay.
    broken = generation("ab\ufffdcd", b"a", b"b\xff", b"c", b"d", b"\n")
    assert [bytes_of(remainder(broken, typed)) for typed in ("a", "ab\ufffdc")] == [b"b\xffcd\n", b"\xffcd\n"]


def test_numbers_that_a_server_did_not_tell_stay_unknown() -> None:
    tokens = (Token(-1, b"ab", math.nan, None, None), Token(-1, b"cd", math.nan, None, None))
    left = remainder(Generation("abcd", tokens, StopReason.END, Timings(1, 1, 1, 0)), "a")
    assert left is not None
    assert (measures_of(left), left.tokens[0].best_other_logprob, left.tokens[0].entropy) == ({"length": 3.0}, None, None)


ENCODINGS: tuple[Encoding, ...] = ("utf-8", "utf-16", "utf-32")
# every character that some definition of a line end names, and characters of each width
TEXTS = st.text(st.sampled_from("ab \t\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029é€𝕏"), max_size=30)


@given(TEXTS)
def test_lines_joined_are_the_text_and_only_the_last_has_no_end(text: str) -> None:
    lines = split_lines(text)
    assert "".join(lines) == text
    assert all(line.endswith(("\n", "\r")) for line in lines[:-1])
    assert not lines[-1].endswith(("\n", "\r"))
    assert all("\n" not in content(line) and "\r" not in content(line) for line in lines)
    assert split_lines("a\r\nb\rc\n\rd\x0be\u2028") == ["a\r\n", "b\r", "c\n", "\r", "d\x0be\u2028"]


@given(TEXTS, st.sampled_from(ENCODINGS), st.data())
def test_offset_to_position_and_back_is_the_offset(text: str, encoding: Encoding, data: st.DataObject) -> None:
    offset = data.draw(st.integers(0, len(text)))
    if text[offset - 1 : offset + 1] == "\r\n":  # between the two no position exists
        return
    assert offset_at(text, position_at(text, offset, encoding), encoding) == offset


@given(TEXTS, st.sampled_from(ENCODINGS), st.sampled_from([0, 300]))
def test_columns_are_the_lengths_of_the_encoded_text(text: str, encoding: Encoding, far: int) -> None:
    line = content(split_lines("é𝕏b" * far + text)[0])
    unit = {"utf-8": 1, "utf-16": 2, "utf-32": 4}[encoding]
    codec = encoding if encoding == "utf-8" else f"{encoding}-le"
    for index in range(len(line) + 1):
        assert column_at(line, index, encoding) == len(line[:index].encode(codec)) // unit
        assert index_at(line, column_at(line, index, encoding), encoding) == index


def test_a_column_past_the_end_is_the_end_of_the_line_before_its_break() -> None:
    assert index_at("abc\r\n", 99, "utf-16") == 3
    assert index_at("é𝕏\n", 99, "utf-8") == 2
    assert offset_at("abc\ndef", Position(7, 0), "utf-16") == 7
    # One inside a character is its start, and a lone surrogate is one unit.
    assert (index_at("a𝕏b", 2, "utf-16"), index_at("aéb", 2, "utf-8"), index_at("a𝕏b", 3, "utf-16")) == (1, 1, 2)
    assert index_at("é\ud83d!", 2, "utf-16") == 2
