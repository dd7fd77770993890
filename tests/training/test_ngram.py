from __future__ import annotations

import math
from collections import defaultdict
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from training.ngram import NGrams

VOCABULARY = 6
tokens = st.lists(st.integers(0, VOCABULARY - 1), min_size=12, max_size=200)


@given(tokens, st.lists(st.integers(0, VOCABULARY - 1), max_size=8), st.integers(1, 5))
def test_what_may_follow_any_context_is_a_distribution(text: list[int], context: list[int], order: int) -> None:
    model = NGrams(text, VOCABULARY, order)
    p = model.distribution(context)
    assert p.sum() == pytest.approx(1)
    assert (p > 0).all()
    assert [model.probability(context, w) for w in range(VOCABULARY)] == pytest.approx(p.tolist())


@given(tokens)
def test_a_bigram_model_is_kneser_and_neys_formula(text: list[int]) -> None:
    model = NGrams(text, VOCABULARY, 2)
    pairs: dict[tuple[int, int], int] = defaultdict(int)
    for pair in pairwise(text):
        pairs[pair] += 1
    before: dict[int, int] = defaultdict(int)  # how many different tokens stand before each
    for _, b in pairs:
        before[b] += 1

    def discount(counts: list[int]) -> float:
        return counts.count(1) / (counts.count(1) + 2 * counts.count(2)) if 1 in counts else 0.5

    low, high = discount(list(before.values())), discount(list(pairs.values()))

    def unigram(b: int) -> float:
        total = sum(before.values())
        return max(before.get(b, 0) - low, 0) / total + low * len(before) / total / VOCABULARY

    for a in {a for a, _ in pairs}:
        counts = {b: n for (first, b), n in pairs.items() if first == a}
        total = sum(counts.values())
        for b in range(VOCABULARY):
            expected = max(counts.get(b, 0) - high, 0) / total + high * len(counts) / total * unigram(b)
            assert model.probability([a], b) == pytest.approx(expected)


def test_a_text_that_repeats_is_learned_and_a_line_of_it_written() -> None:
    text = [1, 2, 3, 4, 0] * 50
    model = NGrams(text, VOCABULARY)
    assert math.exp(np.mean(model.score(text[:40]))) > 0.6
    pieces = {0: b"\n", 1: b"a", 2: b"b", 3: b"c", 4: b"d", 5: b""}
    assert model.line([3, 4, 0, 1], pieces.__getitem__, 20) == "bcd"
    assert len(model.line([0, 1], lambda _: b"x", 7)) == 7
