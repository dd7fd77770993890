from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tokenizers import Regex, pre_tokenizers

from assay.inference.healing.pre_tokens import MAX_HELD, Pieces, cost, last_pre_token, pieces_of, without_last_space

QWEN2 = Pieces(punctuation=True, digits=False)
GPT2 = Pieces(punctuation=False, digits=True)
# Without the contractions ('s, 't …), whose borders are others in code as well: they part `'select`.
PATTERNS = {
    QWEN2: r"[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}|[ ]?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    GPT2: r" ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
}
texts = st.text(st.sampled_from("ab_.(= 1\t\n\r\"'é漢𝄞"), max_size=24)


def borders(pieces: Pieces, text: str) -> set[int]:
    """Where the real pre-tokenizer cuts."""
    split = pre_tokenizers.Split(Regex(PATTERNS[pieces]), "isolated")
    return {start for _, (start, _) in split.pre_tokenize_str(text)} | {len(text)}


@pytest.mark.parametrize("pieces", [QWEN2, GPT2])
@given(prefix=texts, following=texts)
@example(prefix="x:\n\t", following="")
@example(prefix="x:\n    ", following="  ")
@example(prefix="=𝄞𝄞𝄞𝄞", following="")
@example(prefix="\r\t", following="\r")
def test_the_last_pre_token_of_a_prefix_begins_at_a_border_of_any_text_that_goes_on(pieces: Pieces, prefix: str, following: str) -> None:
    start = last_pre_token(prefix, pieces)
    too_long = start > 0 and sum(map(cost, prefix[start - 1 :].encode())) > MAX_HELD
    # One pre-token reaches over all blank lines, but a cursor behind an indentation expects a word.
    stays_blank = prefix[start:].isspace() and prefix[:start].endswith(("\r", "\n")) and following.lstrip(" \t").startswith(("\r", "\n"))
    assert too_long or stays_blank or start in borders(pieces, prefix + following)
    assert start < len(prefix) or not prefix


@pytest.mark.parametrize(
    ("prefix", "held"),
    [
        ("", ""),
        ("handler = logging.FileHandler(filena", "(filena"),
        ("return json.l", ".l"),
        ("x = ", " "),
        ("def f():\n", "():\n"),
        ("def f():\n    retu", " retu"),
        ("\tif x:\r\n\t", "\t"),
        ("名前 = 漢字", " 漢字"),
        ("-" * 100, "-" * MAX_HELD),
        ("# " + "😀" * 64, "😀" * 4),
    ],
)
def test_what_is_held_back_at_a_cursor(prefix: str, held: str) -> None:
    assert prefix[last_pre_token(prefix, QWEN2) :] == held


def test_what_a_tokenizer_joins_is_read_off_its_vocabulary() -> None:
    assert pieces_of([b"a", b".get", b"1"]) == QWEN2
    assert pieces_of([b".", b"get", b" 12"]) == GPT2
    assert pieces_of([b"_", b"\xe6\xbc"]) == Pieces(punctuation=False, digits=False)


@given(texts)
def test_a_model_that_cannot_be_held_to_anything_holds_back_one_space(prefix: str) -> None:
    kept, held = without_last_space(prefix)
    assert kept + held == prefix
    assert held == (prefix[-1:] if prefix.endswith((" ", "\t")) else "")
