from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.inference.llamacpp.generation import distribution

LOGITS = st.lists(st.floats(-80, 80, width=32), min_size=2, max_size=40)


@given(LOGITS, st.data())
def test_it_is_the_softmax(values: list[float], data: st.DataObject) -> None:
    token = data.draw(st.integers(0, len(values) - 1))
    row = distribution(np.array(values, dtype=np.float32))
    assert row is not None
    total = math.fsum(math.exp(value) for value in values)
    logprobs = [value - math.log(total) for value in values]
    assert row.logprob(token) == pytest.approx(logprobs[token], abs=1e-6)
    assert row.best_other_logprob(token) == pytest.approx(max(p for i, p in enumerate(logprobs) if i != token), abs=1e-6)
    assert row.entropy() == pytest.approx(-math.fsum(math.exp(p) * p for p in logprobs), abs=2e-6)
    assert row.top == int(np.argmax(values))


@given(st.integers(0, 2**32), st.sampled_from([1000, 32_000, 150_000]), st.floats(0, 12), st.floats(0, 40), st.integers(1, 3))
def test_a_large_vocabulary_costs_no_precision(seed: int, size: int, spread: float, lead: float, leaders: int) -> None:
    logits = (np.random.default_rng(seed).standard_normal(size) * spread).astype(np.float32)
    logits[:leaders] += np.float32(lead)
    row = distribution(logits)
    assert row is not None
    shifted = logits.astype(np.float64) - float(logits.max())
    log_total = math.log(math.fsum(np.exp(shifted)))
    probabilities = np.exp(shifted - log_total)
    assert row.logprob(0) == pytest.approx(shifted[0] - log_total, abs=1e-6)
    assert row.entropy() == pytest.approx(log_total - math.fsum(probabilities * shifted), abs=2e-6)


@given(LOGITS, st.integers(1, 50))
def test_the_most_probable_tokens_come_in_order(values: list[float], count: int) -> None:
    row = distribution(np.array([*values, -np.inf], dtype=np.float32))
    assert row is not None
    expected = sorted(range(len(values)), key=lambda token: (-np.float32(values[token]), token))
    assert row.most_probable(count) == expected[:count]


@pytest.mark.parametrize("values", [[1.0, math.nan], [math.inf, 1.0], [-math.inf, -math.inf]])
def test_logits_that_are_no_numbers_give_no_distribution(values: list[float]) -> None:
    assert distribution(np.array(values, dtype=np.float32)) is None


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.0])
def test_samples_follow_the_tempered_distribution(temperature: float) -> None:
    logits = np.array([0.0, 1.0, 2.0, -1.0], dtype=np.float32)
    row = distribution(logits)
    assert row is not None
    random = np.random.default_rng(7)
    n = 20_000
    counts = np.bincount([row.sample(temperature, 1.0, random) for _ in range(n)], minlength=4)
    expected = np.exp(logits / temperature) / np.exp(logits / temperature).sum()
    assert counts / n == pytest.approx(expected, abs=4 * math.sqrt(0.25 / n))


def test_top_p_takes_the_smallest_set_that_reaches_it() -> None:
    row = distribution(np.log(np.array([0.1, 0.5, 0.3, 0.1], dtype=np.float32)))
    assert row is not None
    random = np.random.default_rng(7)
    assert {row.sample(1.0, 0.4, random) for _ in range(200)} == {1}
    assert {row.sample(1.0, 0.7, random) for _ in range(200)} == {1, 2}


@given(LOGITS, st.floats(0.01, 5), st.floats(0.01, 1), st.integers(0, 2**32))
def test_a_sample_is_always_a_token_that_can_come(values: list[float], temperature: float, top_p: float, seed: int) -> None:
    row = distribution(np.array([*values, -np.inf], dtype=np.float32))
    assert row is not None
    assert 0 <= row.sample(temperature, top_p, np.random.default_rng(seed)) < len(values)
