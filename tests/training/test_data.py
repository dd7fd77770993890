from __future__ import annotations

import ast
import random
import sysconfig
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer
from tokenizers.models import BPE

from assay.analysis.bugs import KINDS
from training.data import ANSWER_WEIGHT, FIX_SHARE, PLAIN_SHARE, Rows, cut, span
from training.fixes import Fix, drawn
from training.tokenizer import FIX, SPECIAL, bare, pre_token_start, token_start, train

TEXTS = [f"def function_{i}(a, b):\n    '''Add {i}, ünïcödé 𝕏.'''\n    return a + b * {i}\n\n\n" * 8 for i in range(30)]


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return train(iter(TEXTS), 512)


WRITTEN = st.text(min_size=1).filter(lambda t: t.strip() and t.splitlines())
CODE = st.text(alphabet="ab1 \t\n\r.,:([{'\"#é日𝕏", min_size=1).filter(lambda t: t.strip() and t.splitlines())


def pre_tokens(text: str) -> list[str]:
    return [text[slice(*place)] for _, place in bare(BPE()).pre_tokenizer.pre_tokenize_str(text)]


@given(WRITTEN | CODE, st.integers())
def test_the_parts_of_a_cut_put_together_are_the_text_and_the_middle_begins_with_a_pre_token(text: str, seed: int) -> None:
    cursor, end = span(text, random.Random(seed))
    parts = cut(text, random.Random(seed))
    assert parts.before + parts.middle + parts.after == text
    assert parts.after == text[end:]
    # What stands before the cursor, but for its last pre-token, is the prompt: nobody knows there what comes behind the cursor.
    assert parts.before == "".join(pre_tokens(text[:cursor])[:-1])


@pytest.mark.parametrize(
    ("prefix", "before"),
    [
        ("x = [1,\n    ", "x = [1,\n"),
        ("if x:\n", "if x"),
        ("json.lo", "json"),
        ("a =  ", "a ="),
        ("x = 12", "x = 1"),
    ],
)
def test_a_prompt_ends_before_the_last_pre_token_of_what_stands_before_the_cursor(prefix: str, before: str) -> None:
    assert prefix[: pre_token_start(prefix)] == before


def test_every_cut_piece_is_whole_and_spells_a_run_of_its_file(tokenizer: Tokenizer) -> None:
    rows = Rows(TEXTS, tokenizer, 256, seed=0)
    layouts = set()
    for _ in range(100):
        row = rows.row().tokens
        while rows.prefix in row:
            row = row[row.index(rows.prefix) :]
            piece = row[: row.index(rows.end)]
            row = row[len(piece) :]
            if rows.fix_token in piece:
                continue
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


ITEM = Fix("comparison", "def f(a, b):\n   ", " return a < b * 3", "\n", " return a <= b", "f")


def test_a_line_to_mend_is_a_prompt_the_line_the_tasks_token_and_an_answer_that_alone_counts_more(tokenizer: Tokenizer) -> None:
    rows = Rows(TEXTS, tokenizer, 256, seed=0)
    row = rows.fix(ITEM)
    tokens, weights = row.tokens, row.weights
    assert len(tokens) == len(weights)
    at, middle = tokens.index(tokenizer.token_to_id(FIX)), tokens.index(rows.middle)
    assert tokens[:2] == [rows.prefix, rows.suffix]
    assert tokenizer.decode(tokens[2:middle]) == ITEM.after
    assert tokenizer.decode(tokens[middle + 1 : at]) == ITEM.before + ITEM.shown
    assert tokenizer.decode(tokens[at + 1 : -1]) == ITEM.answer
    assert tokens[-1] == rows.end
    assert set(weights[at + 1 : -1]) == {ANSWER_WEIGHT}
    silent = len(rows.encode(ITEM.shown)) + 1  # the shown line is not to be said, nor the control token
    assert weights[at + 1 - silent : at + 1] == [0.0] * silent
    assert set(weights[: at + 1 - silent]) == {1.0}


def test_plain_text_and_lines_to_mend_have_their_shares_of_the_tokens(tokenizer: Tokenizer) -> None:
    rows = Rows(TEXTS, tokenizer, 512, seed=0)
    drawn = [rows.row().tokens for _ in range(150)]
    assert {len(r) for r in drawn} == {513}
    again, other = (Rows(TEXTS, tokenizer, 512, seed).row().tokens for seed in (0, 1))
    assert again == drawn[0] != other
    tokens = sum(rows.tokens.values())
    assert tokens == 150 * 513
    assert rows.tokens["fix"] / tokens == pytest.approx(FIX_SHARE, abs=0.01)
    assert rows.tokens["plain"] / tokens == pytest.approx(PLAIN_SHARE, abs=0.02)
    assert sum(r.count(tokenizer.token_to_id(FIX)) for r in drawn) > 10


@given(st.text(alphabet=" \tab\n"), st.integers(0, 50))
def test_what_is_shown_before_a_place_lacks_the_space_of_the_next_word(text: str, place: int) -> None:
    place = min(place, len(text))
    start = token_start(text, place)
    assert text[start:place] == (text[:place][-1:] if text[:place].endswith((" ", "\t")) else "")


STDLIB = [p.read_text(encoding="utf-8") for p in sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))]
SMALL = [text for text in STDLIB if len(text) < 30_000][:40]


def items(count: int) -> list[tuple[str, Fix]]:
    rng = random.Random(0)
    made = [(text, drawn(text, rng)) for text in (rng.choice(SMALL) for _ in range(count))]
    return [(text, item) for text, item in made if item is not None]


@pytest.mark.slow
def test_what_an_item_shows_and_answers_is_the_file_itself() -> None:
    kinds = set()
    for text, item in items(200):
        kinds.add(item.kind)
        assert item.before + item.answer + item.after in text
        assert (item.kind == "none") == (item.shown == item.answer)
        assert "\n" not in item.shown + item.answer
        # The cursor stands where code begins, and the space there is held back.
        assert item.answer.strip()
        assert item.answer[:1].isspace() or item.before.endswith("\n")
        assert not item.answer[1:2].isspace()
        if item.kind != "none":
            wrong = item.before + item.shown + item.after
            assert ast.dump(ast.parse(text)) != ast.dump(ast.parse(text.replace(item.before + item.answer + item.after, wrong)))
    # Of a removed guard several lines go.
    assert kinds == {*KINDS, "none"} - {"removed_guard"}


@given(st.text(), st.integers())
def test_any_text_gives_an_item_or_none_but_no_error(text: str, seed: int) -> None:
    drawn(text, random.Random(seed))
    drawn("def f(a, b):\n    return a < b\n" + text, random.Random(seed))
