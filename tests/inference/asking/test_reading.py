"""Blocks between tags, and the tokens of a part of an answer."""

import math
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from assay.inference.asking.asker import Alternative, Said, SaidToken, alternatives_behind, closed, last_block, tokens_of, whole_characters
from assay.inference.model import StopReason


def test_the_last_complete_block_counts() -> None:
    assert last_block("[ANSWER]Correct[/ANSWER] or [ANSWER]\n Incorrect\n[/ANSWER]", "ANSWER") == "Incorrect"
    assert last_block("[ANSWER]Correct[/ANSWER] and then [ANSWER]Inco", "ANSWER") == "Correct"
    assert last_block("[ANSWER] I mean [ANSWER]Correct[/ANSWER]", "ANSWER") == "Correct"
    assert last_block("[ANSWER]a[/ANSWER] b[/ANSWER]", "ANSWER") == "a"
    assert last_block("[/ANSWER]a[ANSWER]", "ANSWER") is None
    assert last_block("[ANSWER]a[/THOUGHT]", "ANSWER") is None
    assert last_block("[A.B]x[/A.B] [AxB]y[/AxB]", "A.B") == "x"


@given(st.text("ab[/] \nAN", max_size=20), st.text("ab \n", max_size=10), st.text("xy[/ \n", max_size=10))
def test_a_block_is_found_again_wherever_it_stands(before: str, inside: str, behind: str) -> None:
    assert last_block(f"{before}[AN]{inside}[/AN]{behind}", "AN") == inside.strip()


def test_a_closing_tag_that_was_cut_off_is_put_back_where_its_block_is_open() -> None:
    stop = ("\n\n", "[/ANSWER]")
    assert closed("[ANSWER]Correct", stop) == "[ANSWER]Correct[/ANSWER]"
    assert closed("[ANSWER]Correct[/ANSWER] [ANSWER]No", stop) == "[ANSWER]Correct[/ANSWER] [ANSWER]No[/ANSWER]"
    for whole in ("[ANSWER]Correct[/ANSWER]", "Correct", "[THOUGHT]Correct"):
        assert closed(whole, stop) == whole


def token(text: str, logprob: float = -1.0) -> SaidToken:
    return SaidToken(text, logprob, (Alternative(text, logprob),))


def told(text: str, tokens: Sequence[SaidToken], *, thought: bool = False) -> tuple[list[str], bool]:
    found, complete = tokens_of(text, tokens, thought=thought)
    return [one.text for one in found], complete


def test_the_tokens_of_a_text_are_those_that_write_it() -> None:
    tokens = [token(text) for text in (" ", "Yes", "", "é", "[/A", "]", "<end>")]
    assert told("Yesé", tokens) == (["Yes", "", "é"], True)
    assert told("esé[", tokens[1:], thought=True) == (["Yes", "", "é", "[/A"], True)
    assert told("No", tokens) == told("é", tokens) == ([], True)
    assert told("Yes", [token("Yes", math.nan)]) == ([], True)


def test_tokens_that_a_server_leaves_out_at_the_end_are_missed() -> None:
    tokens = [token(text) for text in ("\n", "Yes", "!")]
    assert told("Yes!?", tokens) == (["Yes", "!"], False)
    assert told("\nYes!?", tokens) == (["\n", "Yes", "!"], False)
    assert told("?", []) == ([], False)
    assert Said("Yes!?", StopReason.END, tuple(tokens[1:]), complete=False).logprobs is None


def test_a_thought_is_no_part_of_the_answer_even_where_it_says_the_same() -> None:
    tokens = [token("Yes", -3.0), token("</think>"), token("Yes", -1.0)]
    assert [one.logprob for one in tokens_of("Yes", tokens, thought=True)[0]] == [-1.0]


def test_a_character_of_several_tokens_is_the_last_ones() -> None:
    assert whole_characters(["é".encode()[:1], "é".encode()[1:], b"a", b"\xff"]) == ["", "é", "a", "\ufffd"]


def test_the_alternatives_behind_a_tag_are_those_of_the_word_there() -> None:
    tokens = tuple(token(text) for text in ("[ANSWER", "]", "\n", "Cor", "rect"))
    said = Said("[ANSWER]\nCorrect", StopReason.END, tokens)
    assert alternatives_behind(said, "[ANSWER]") == (Alternative("Cor", -1.0),)
    given_first = Said("[ANSWER]Correct", StopReason.END, (token("Cor"), token("rect")), given=len("[ANSWER]"))
    assert alternatives_behind(given_first, "[ANSWER]") == (Alternative("Cor", -1.0),)
    assert alternatives_behind(said, "[THOUGHT]") == alternatives_behind(Said("[ANSWER]x", StopReason.END), "[ANSWER]") == ()
    assert alternatives_behind(Said("[ANSWER]Yes, no", StopReason.END, (token("no"),), given=13), "[ANSWER]") == ()
