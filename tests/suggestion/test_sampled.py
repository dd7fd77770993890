"""Completions that are drawn: reproducible, held to what stands before the cursor, from one reading of the prompt."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from assay.inference.completion.settings import GREEDY, Sampling
from assay.inference.llamacpp.model import LlamaModel
from assay.inference.model import Generation
from assay.suggestion.complete import complete, complete_several

PREFIX, SUFFIX = "def average(values):\n    total = sum(values)\n    retu", "\n\n\nprint(average([1, 2]))\n"


def written(generation: Generation) -> bytes:
    return b"".join(token.text for token in generation.tokens)


def test_a_draw_is_the_one_that_is_drawn_alone_with_its_seed_and_other_seeds_draw_others(embedded: LlamaModel) -> None:
    together = complete_several(embedded, PREFIX, SUFFIX, count=3, sampling=Sampling(0.8, 0.9, seed=10))
    alone = [complete_several(embedded, PREFIX, SUFFIX, sampling=Sampling(0.8, 0.9, seed=10 + number))[0] for number in range(3)]
    assert [written(each) for each in together] == [written(each) for each in alone]
    others = complete_several(embedded, PREFIX, SUFFIX, count=3, sampling=Sampling(0.8, 0.9, seed=90))
    assert [written(each) for each in others] != [written(each) for each in together]


@settings(max_examples=10)
@given(st.integers(0, 10_000), st.floats(0.05, 1.5))
def test_every_draw_goes_on_with_the_word_at_the_cursor(embedded: LlamaModel, seed: int, temperature: float) -> None:
    drawn = complete_several(embedded, PREFIX, SUFFIX, sampling=Sampling(temperature, 0.95, seed))[0]
    first = drawn.tokens[0]
    piece = embedded.token_bytes(first.id)
    assert piece.endswith(first.text)
    assert PREFIX.encode().endswith(piece.removesuffix(first.text))
    assert all(token.logprob <= 0 for token in drawn.tokens)


def test_a_cold_draw_from_a_narrow_nucleus_is_the_greedy_text(embedded: LlamaModel) -> None:
    drawn = complete_several(embedded, PREFIX, SUFFIX, count=2, sampling=Sampling(0.5, 1e-6, seed=3))
    greedy = complete(embedded, PREFIX, SUFFIX)
    assert {each.text for each in drawn} == {greedy.text}
    assert complete_several(embedded, PREFIX, SUFFIX, sampling=GREEDY)[0].text == greedy.text
