from __future__ import annotations

import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from assay.inference.completion.settings import GREEDY, Sampling, Settings

TEMPERATURES = st.floats(0, 4, exclude_min=True)
TOP_PS = st.floats(0, 1, exclude_min=True)


def fingerprint(sampling: Sampling, *, heals: bool = True) -> str:
    return Settings().fingerprint("spm", 964, sampling=sampling, heals=heals)


def test_greedy_decoding_has_one_fingerprint_whatever_its_top_p_and_seed() -> None:
    assert fingerprint(GREEDY) == fingerprint(Sampling(0, 0.5, 7)) == Settings().fingerprint("spm", 964)
    assert fingerprint(GREEDY, heals=False) == Settings().fingerprint("spm", 964, heals=False) != fingerprint(GREEDY)


@given(TEMPERATURES, TOP_PS, st.integers(0, 99), st.booleans())
def test_sampled_text_never_has_the_fingerprint_of_greedy_text(temperature: float, top_p: float, seed: int, heals: bool) -> None:
    sampled = Sampling(temperature, top_p, seed)
    assert fingerprint(sampled, heals=heals) not in (fingerprint(GREEDY), fingerprint(GREEDY, heals=False))
    assert fingerprint(sampled) == fingerprint(Sampling(temperature, top_p, seed + 1))
    assert fingerprint(sampled) != fingerprint(sampled, heals=False)


@given(TEMPERATURES, TOP_PS, TEMPERATURES, TOP_PS)
def test_each_temperature_and_top_p_has_a_fingerprint_of_its_own(one: float, its: float, other: float, others: float) -> None:
    assume((one, its) != (other, others))
    assert fingerprint(Sampling(one, its)) != fingerprint(Sampling(other, others))


@pytest.mark.parametrize(("temperature", "top_p"), [(-0.1, 1.0), (math.inf, 1.0), (math.nan, 1.0), (0.5, 0.0), (0.5, 1.1), (0.5, math.nan)])
def test_what_no_token_can_be_drawn_by_is_refused(temperature: float, top_p: float) -> None:
    with pytest.raises(ValueError, match="temperature"):
        Sampling(temperature, top_p)
