from __future__ import annotations

import hashlib
import math
import time
from dataclasses import replace
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tiny_gguf import (
    END,
    FIM_MIDDLE,
    FIM_PAD,
    FIM_PREFIX,
    FIM_SUFFIX,
    HEADS,
    INNER,
    KV_HEADS,
    LAYERS,
    WIDTH,
    TinyModel,
    scripted,
    write_tiny_gguf,
)
from tiny_models import OpenTiny
from transformers import LlamaConfig, LlamaForCausalLM

from assay.inference.distribution import distribution
from assay.inference.errors import UnknownLayout
from assay.inference.llamacpp.model import LlamaModel
from assay.inference.model import Fingerprint, KVType, Prompt, StopReason
from assay.inference.stopping.stop import NONE

TOLERANCE = 2e-3
CODE = "def area(width, height):\n    return width * "


def free(prompt: Prompt) -> Prompt:
    """The prompt without what it holds back: all tokens may come next."""
    return replace(prompt, held="")


def reference_logprobs(model: TinyModel, tokens: list[int]) -> NDArray[np.float64]:
    """log p of every next token at every position by transformers in float32; shape: positions, vocabulary."""
    config = LlamaConfig(
        vocab_size=len(model.tokens),
        hidden_size=WIDTH,
        intermediate_size=INNER,
        num_hidden_layers=LAYERS,
        num_attention_heads=HEADS,
        num_key_value_heads=KV_HEADS,
        rms_norm_eps=1e-5,
        max_position_embeddings=model.context_length,
        rope_parameters={"rope_type": "default", "rope_theta": 10000.0},
        tie_word_embeddings=False,
    )
    network = LlamaForCausalLM(config)
    network.train(False)
    network.load_state_dict({name: torch.from_numpy(array) for name, array in model.weights().items()})
    with torch.no_grad():
        rows: NDArray[np.float64] = torch.log_softmax(network(torch.tensor([tokens])).logits[0].double(), -1).numpy()
    return rows


def test_every_number_of_a_generation_and_of_a_long_text_equals_transformers(tiny: LlamaModel) -> None:
    prompt = free(tiny.fim(CODE, "\n\nprint(area(2, 3))\n"))
    compared = 0
    for temperature in (0.0, 0.8, 1.0, 1.2):
        generation = tiny.generate(prompt, stop=NONE, max_tokens=60, temperature=temperature, seed=11)
        ids = [token.id for token in generation.tokens]
        rows = reference_logprobs(TinyModel(), [*prompt.tokens, *ids])[len(prompt.tokens) - 1 : -1]
        for token, row in zip(generation.tokens, rows, strict=True):
            assert token.logprob == pytest.approx(row[token.id], abs=TOLERANCE)
            assert token.best_other_logprob == pytest.approx(np.delete(row, token.id).max(), abs=TOLERANCE)
            assert token.entropy == pytest.approx(-(np.exp(row) * row).sum(), abs=TOLERANCE)
            compared += 1
    assert compared > 50
    random = np.random.default_rng(3)
    tokens = random.integers(0, 260, 400).tolist()
    scores = tiny.score(Prompt(tuple(tokens[:100]), "left_to_right"), tokens[100:])
    rows = reference_logprobs(TinyModel(), tokens)
    expected = [rows[position - 1, tokens[position]] for position in range(100, 400)]
    assert scores == pytest.approx(expected, abs=TOLERANCE)
    prompt, candidates = tiny.fim(CODE, ""), ["return x", "y", "é"]
    firsts = [tiny.score(prompt, tiny.tokenize(candidate)[:1])[0] for candidate in candidates]
    assert tiny.next_token_logprobs(prompt, candidates) == pytest.approx(firsts, abs=TOLERANCE)


def test_a_fill_in_the_middle_token_ends_the_text(open_tiny: OpenTiny) -> None:
    model = open_tiny(scripted(b"a", FIM_PAD.encode(), prompt=FIM_MIDDLE.encode(), fim=True))
    generation = model.generate(free(model.fim("?", "!")), stop=NONE, max_tokens=10)
    assert (generation.text, generation.stopped_by) == ("a", StopReason.END)


def test_the_timings_tell_what_was_in_the_cache(tiny: LlamaModel) -> None:
    tiny.forget()
    prompt = tiny.fim(CODE, "")
    fresh = tiny.generate(prompt, stop=NONE, max_tokens=2).timings
    again = tiny.generate(prompt, stop=NONE, max_tokens=2).timings
    assert (fresh.prompt_tokens, fresh.reused_tokens) == (len(prompt.tokens), 0)
    assert again.reused_tokens == len(prompt.tokens)
    assert fresh.prompt_ms > 0
    assert fresh.generate_ms > 0
    began = time.perf_counter()
    several = tiny.alternatives(prompt, 3, stop=NONE, max_tokens=2)
    spent = (time.perf_counter() - began) * 1e3
    assert all(0 < each.timings.prompt_ms + each.timings.generate_ms <= spent for each in several)


def test_a_prompt_is_laid_out_with_the_models_own_control_tokens_and_a_text_that_spells_them_is_text(tiny: LlamaModel) -> None:
    written = TinyModel()
    prompt = tiny.fim("a\nb c", "d")
    assert tiny.layout == prompt.layout == "anchored"
    assert prompt.held == " c"
    names = (FIM_PREFIX, b"a", b"\n", FIM_SUFFIX, b"d", FIM_MIDDLE, b"b")
    assert prompt.tokens == tuple(written.token(name) for name in names)
    assert tiny.fim("a\n", "b").held == ""
    text = f"a = '{FIM_PREFIX}{FIM_SUFFIX}{FIM_MIDDLE}{END}'\n"
    control = {TinyModel().token(name) for name in TinyModel().control}
    assert control.isdisjoint(tiny.tokenize(text))
    prompt = tiny.fim(text, text)
    assert sum(token in control for token in prompt.tokens) == 3
    assert len(tiny.generate(prompt, stop=NONE, max_tokens=5).tokens) >= 1


def test_a_model_gets_the_layout_that_it_asks_for(open_tiny: OpenTiny) -> None:
    written = TinyModel(metadata={"assay.fim.layout": "psm"})
    prompt = open_tiny(written).fim("a\n", "b")
    assert (prompt.layout, prompt.held) == ("psm", "\n")
    assert prompt.tokens == tuple(written.token(name) for name in (FIM_PREFIX, b"a", FIM_SUFFIX, b"b", FIM_MIDDLE))
    with pytest.raises(UnknownLayout, match=r"assay\.fim\.layout is 'middle_out', Assay knows anchored and psm and spm"):
        open_tiny(TinyModel(metadata={"assay.fim.layout": "middle_out"}))
    written = TinyModel(metadata={"assay.fim.layout": "spm"})
    model = open_tiny(written)
    names = (FIM_PREFIX, FIM_SUFFIX, b"b", FIM_MIDDLE, b"a")
    prompt = model.fim("a\n", "b")
    assert model.layout == prompt.layout == "spm"
    assert prompt.tokens == tuple(written.token(name) for name in names)
    model.generate(prompt, stop=NONE, max_tokens=1)
    assert model.generate(model.fim("a\nc\n", "b"), stop=NONE, max_tokens=1).timings.reused_tokens == 5


def test_a_prompt_begins_with_bos_where_the_metadata_asks_for_it(open_tiny: OpenTiny) -> None:
    for written in (TinyModel(add_bos=True), TinyModel(add_bos=True, fim=False)):
        prompt = open_tiny(written).fim("a", "b")
        assert prompt.tokens[0] == written.token(END)
        assert written.token(END) not in prompt.tokens[1:]


@pytest.mark.parametrize("written", [TinyModel(fim=False), TinyModel(fim=False, add_bos=True), TinyModel(fim=False, ends=False)])
def test_a_left_to_right_prompt_is_the_prefix_and_an_empty_one_has_a_token_to_continue(open_tiny: OpenTiny, written: TinyModel) -> None:
    model = open_tiny(written)
    assert (model.layout, model.fim("a\n", "b").tokens[-1:], model.fim("a\n", "b").held) == ("left_to_right", (written.token(b"a"),), "\n")
    prompt = model.fim("", "")
    assert len(prompt.tokens) == 1
    assert len(model.generate(prompt, stop=NONE, max_tokens=3).tokens) >= 1


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text() | st.text(alphabet=" \t\nabdefr()=é<|>_") | st.sampled_from([FIM_PREFIX, f"x{END}y", "\0", "\ufeff", "  \r\n\t"]))
def test_tokens_are_the_texts_bytes(tiny: LlamaModel, text: str) -> None:
    assert b"".join(map(tiny.token_bytes, tiny.tokenize(text))) == text.encode()
    assert tiny.tokenize(text + "\ud800") == tiny.tokenize(text + "?")


def test_the_fingerprint_tells_models_and_caches_that_lose_precision_apart(tmp_path: Path, tiny: LlamaModel, tiny_gguf: Path) -> None:
    fingerprint = tiny.fingerprint
    assert (fingerprint.name, fingerprint.architecture, fingerprint.quantisation) == ("tiny", "llama", "F32")
    assert fingerprint.parameters == tiny.header.parameters
    assert fingerprint.runtime.startswith("llama.cpp via llama-cpp-python 0.")
    copy = tmp_path / "copy.gguf"
    copy.write_bytes(tiny_gguf.read_bytes())
    with LlamaModel(copy, threads=1) as same:
        assert same.fingerprint.id == fingerprint.id
    with LlamaModel(write_tiny_gguf(tmp_path / "f16.gguf", kind="f16"), threads=1) as half:
        assert half.fingerprint.id != fingerprint.id
        assert half.fingerprint.tokenizer == fingerprint.tokenizer
    path = write_tiny_gguf(tmp_path / "wide.gguf", TinyModel(heads=2))
    ids = {}
    for kv_type in get_args(KVType):
        with LlamaModel(path, threads=1, kv_type=kv_type) as model:
            ids[kv_type] = model.fingerprint.id
    assert ids["f16"] == ids["f32"]
    assert len({ids["f16"], ids["q8_0"], ids["q4_0"]}) == 3


def test_the_fingerprint_of_weights_and_tokenizer_alone_is_what_calibrators_were_fitted_to() -> None:
    fingerprint = Fingerprint("any", "llama", 1, "Q8_0", weights="a" * 64, tokenizer="b" * 64, runtime="any")
    assert fingerprint.id == hashlib.sha256(b"a" * 64 + b":" + b"b" * 64).hexdigest()[:16]


def test_offload_says_what_was_done(tiny: LlamaModel, tiny_gguf: Path) -> None:
    assert tiny.offload.total == LAYERS + 1
    with LlamaModel(tiny_gguf, gpu_layers=0, threads=1) as model:
        assert model.offload.layers == 0
    with LlamaModel(tiny_gguf, gpu_layers=99, threads=1) as model:
        assert model.offload.layers == (LAYERS + 1 if model.offload.supported else 0)


LOGITS = st.lists(st.floats(-80, 80, width=32), min_size=2, max_size=40)


@given(LOGITS, st.data())
def test_it_is_the_softmax(values: list[float], data: st.DataObject) -> None:
    token = data.draw(st.integers(0, len(values) - 1))
    row = distribution(np.array(values, dtype=np.float32))
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
    shifted = logits.astype(np.float64) - float(logits.max())
    log_total = math.log(math.fsum(np.exp(shifted)))
    probabilities = np.exp(shifted - log_total)
    assert row.logprob(0) == pytest.approx(shifted[0] - log_total, abs=1e-6)
    assert row.entropy() == pytest.approx(log_total - math.fsum(probabilities * shifted), abs=2e-6)


@given(LOGITS, st.integers(1, 50))
def test_the_most_probable_tokens_come_in_order(values: list[float], count: int) -> None:
    row = distribution(np.array([*values, -np.inf], dtype=np.float32))
    expected = sorted(range(len(values)), key=lambda token: (-np.float32(values[token]), token))
    assert row.most_probable(count) == expected[:count]


@pytest.mark.parametrize("values", [[1.0, math.nan], [math.inf, 1.0], [-math.inf, -math.inf]])
def test_logits_that_are_no_numbers_give_no_distribution(values: list[float]) -> None:
    assert distribution(np.array(values, dtype=np.float32)) is None


def test_samples_follow_the_tempered_distribution_of_the_smallest_set_that_reaches_top_p() -> None:
    temperature = 0.5
    logits = np.array([0.0, 1.0, 2.0, -1.0], dtype=np.float32)
    row = distribution(logits)
    random = np.random.default_rng(7)
    n = 20_000
    counts = np.bincount([row.sample(temperature, 1.0, random) for _ in range(n)], minlength=4)
    expected = np.exp(logits / temperature) / np.exp(logits / temperature).sum()
    assert counts / n == pytest.approx(expected, abs=4 * math.sqrt(0.25 / n))
    row = distribution(np.log(np.array([0.1, 0.5, 0.3, 0.1], dtype=np.float32)))
    random = np.random.default_rng(7)
    assert {row.sample(1.0, 0.4, random) for _ in range(200)} == {1}
    assert {row.sample(1.0, 0.7, random) for _ in range(200)} == {1, 2}
