from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from training.data import ANSWER_WEIGHT, CONTROL, ITEM_SHARES, Rows, cut
from training.tasks import Item
from training.tokenizer import SPECIAL, token_start, train

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
    assert {len(r.tokens) for r in rows} == {129}
    assert {w for r in rows for w in r.weights} == {1.0}
    assert rows == [again.row() for _ in range(50)]
    assert rows != [other.row() for _ in range(50)]


def test_every_cut_piece_is_whole_and_spells_a_run_of_its_file(tokenizer: Tokenizer) -> None:
    rows = Rows(TEXTS, tokenizer, 256, seed=0)
    layouts = set()
    for _ in range(100):
        row = rows.row().tokens
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


ITEMS = [
    Item("fix", "comparison", "p", "def f(a, b):\n   ", " return a + b * 3", "\n", " return a + b"),
    Item("judge", "wrong", "p", "def f(a, b):\n   ", " return b", "\n\n", "False"),
    Item("judge", "right", "p", "def f(a, b):\n   ", " return a", "\n\n", "True"),
    Item("describe", "", "p", "def f(a, b):\n    return a + b", "", "\n", "Add two numbers."),
    Item("implement", "", "p", "def f(a, b):\n    '''Add.'''\n   ", "", "\n", " return a + b"),
]


def test_an_item_is_a_prompt_the_shown_line_the_tasks_token_and_an_answer_that_alone_counts_more(tokenizer: Tokenizer) -> None:
    rows = Rows(TEXTS, tokenizer, 256, seed=0)
    for item in ITEMS:
        row = rows.item(item)
        tokens, weights = row.tokens, row.weights
        assert len(tokens) == len(weights)
        at = tokens.index(tokenizer.token_to_id(CONTROL[item.task]))
        middle = tokens.index(rows.middle)
        assert tokens[:2] == [rows.prefix, rows.suffix]
        assert tokenizer.decode(tokens[2:middle]) == item.after
        assert tokenizer.decode(tokens[middle + 1 : at]) == item.before + item.shown
        assert tokenizer.decode(tokens[at + 1 : -1]) == item.answer
        assert tokens[-1] == rows.end
        assert set(weights[at + 1 : -1]) == {ANSWER_WEIGHT[item.task]}
        silent = len(rows.encode(item.shown)) + 1  # the shown line is not to be said, nor the control token
        assert weights[at + 1 - silent : at + 1] == [0.0] * silent
        assert set(weights[: at + 1 - silent]) == {1.0}


def test_items_take_their_share_of_the_tokens_and_each_kind_its_share_of_the_items(tokenizer: Tokenizer) -> None:
    rows = Rows(TEXTS, tokenizer, 256, seed=0, items=ITEMS, item_share=0.28)
    drawn = [rows.row().tokens for _ in range(300)]
    assert {len(r) for r in drawn} == {257}
    assert rows.item_tokens / rows.tokens == pytest.approx(0.28, abs=0.01)
    count = {task: sum(r.count(tokenizer.token_to_id(name)) for r in drawn) for task, name in CONTROL.items()}
    expected = {task: sum(share for group, share in ITEM_SHARES.items() if group in rows.items and group[0] == task) for task in CONTROL}
    for task in CONTROL:
        assert count[task] / sum(count.values()) == pytest.approx(expected[task] / sum(expected.values()), abs=0.06)
    assert sum(ITEM_SHARES.values()) == pytest.approx(1)


@given(st.text(alphabet=" \tab\n"), st.integers(0, 50))
def test_what_is_shown_before_a_place_lacks_the_space_of_the_next_word(text: str, place: int) -> None:
    place = min(place, len(text))
    start = token_start(text, place)
    assert text[start:place] == (text[:place][-1:] if text[:place].endswith((" ", "\t")) else "")
