from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from training.data import Rows, cut
from training.tokenizer import SPECIAL, train

TEXTS = [f"def function_{i}(a, b):\n    '''Add {i}, ünïcödé 𝕏.'''\n    return a + b * {i}\n\n\n" * 8 for i in range(30)]


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return train(iter(TEXTS), 512)


@given(st.text(min_size=1).filter(lambda t: t.strip() and t.splitlines()), st.integers())
def test_the_parts_of_a_cut_put_together_are_the_text(text: str, seed: int) -> None:
    parts = cut(text, random.Random(seed))
    assert parts.before + parts.middle + parts.after == text


def test_rows_have_one_length_and_the_same_seed_gives_the_same_rows(tokenizer: Tokenizer) -> None:
    first, again, other = (Rows(TEXTS, tokenizer, 128, seed) for seed in (1, 1, 2))
    rows = [first.row() for _ in range(50)]
    assert {len(r) for r in rows} == {129}
    assert rows == [again.row() for _ in range(50)]
    assert rows != [other.row() for _ in range(50)]


def test_every_cut_piece_is_whole_and_spells_a_run_of_its_file(tokenizer: Tokenizer) -> None:
    rows = Rows(TEXTS, tokenizer, 256, seed=0)
    layouts = set()
    for _ in range(100):
        row = rows.row()
        while rows.prefix in row:
            row = row[row.index(rows.prefix) :]
            piece = row[: row.index(rows.end)]
            row = row[len(piece) :]
            middle, suffix = piece.index(rows.middle), piece.index(rows.suffix)
            if suffix == 1:  # SPM: after, then before and middle joined
                layouts.add("spm")
                text = tokenizer.decode(piece[middle + 1 :]) + tokenizer.decode(piece[2:middle])
            else:
                layouts.add("psm")
                text = (
                    tokenizer.decode(piece[1:suffix]) + tokenizer.decode(piece[middle + 1 :]) + tokenizer.decode(piece[suffix + 1 : middle])
                )
            # A cut inside a character of several tokens does not exist: spans are cut by characters.
            assert any(text in t for t in TEXTS)
    assert layouts == {"spm", "psm"}


def test_a_file_that_spells_a_control_token_is_text(tokenizer: Tokenizer) -> None:
    rows = Rows(["x = '<|fim_prefix|><|endoftext|>'\n" * 50], tokenizer, 64, seed=0)
    ids = rows.encode("x = '<|fim_prefix|>'\n")
    assert not set(ids) & {tokenizer.token_to_id(t) for t in SPECIAL}
    assert tokenizer.decode(ids) == "x = '<|fim_prefix|>'\n"
