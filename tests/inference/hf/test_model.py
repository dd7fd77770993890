from __future__ import annotations

import copy
import math
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tiny_hf import CONFIGS, write_tiny_hf
from transformers import AutoModelForCausalLM

from assay.inference.errors import ComputationFailed
from assay.inference.hf.model import HFModel
from assay.inference.model import Generation, Prompt, StopReason
from assay.inference.stopping.stop import NONE

Open = Callable[..., HFModel]
CODE = "def area(width, height):\n    return width * height\n\n\nclass Point:\n    pass\n\n\nresult = "
EXACT = 1e-5
# A batch, or a prompt read in other pieces, is another order of the same float32 sums.
REORDERED = 1e-4


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def open_hf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Open]:
    """Writes a tiny folder, opens it on the CPU and keeps it for the module: the same arguments give the same model."""
    with ExitStack() as opened:
        models: dict[str, HFModel] = {}

        def open_one(architecture: str = "llama", **options: Any) -> HFModel:
            key = f"{architecture} {options}"
            if key not in models:
                path = write_tiny_hf(tmp_path_factory.mktemp("hf") / "model", architecture, **options)
                models[key] = opened.enter_context(HFModel(path, device="cpu"))
            return models[key]

        yield open_one


def left_to_right(model: HFModel, text: str = CODE) -> Prompt:
    return Prompt(tuple(model.tokenize(text)), "left_to_right")


def reference(model: HFModel, tokens: list[int]) -> NDArray[np.float64]:
    """log p of every next token at every position, by transformers in one pass without a cache; shape: positions, vocabulary."""
    network = AutoModelForCausalLM.from_pretrained(model.path, dtype=torch.float32).eval()
    with torch.no_grad():
        rows: NDArray[np.float64] = torch.log_softmax(network(torch.tensor([tokens]), use_cache=False).logits[0].double(), -1).numpy()
    return rows


def ids(generation: Generation) -> list[int]:
    return [token.id for token in generation.tokens]


@pytest.mark.parametrize(
    "architecture", [each if each in ("llama", "gemma2", "mamba") else pytest.param(each, marks=pytest.mark.slow) for each in CONFIGS]
)
def test_a_generation_through_the_cache_has_the_numbers_of_one_pass(open_hf: Open, architecture: str) -> None:
    model = open_hf(architecture)
    prompt = left_to_right(model)
    model.forget()
    generation = model.generate(prompt, stop=NONE, max_tokens=20, temperature=0.9, seed=3)
    rows = reference(model, [*prompt.tokens, *ids(generation)])[len(prompt.tokens) - 1 : -1]
    assert len(generation.tokens) > 5
    for token, row in zip(generation.tokens, rows, strict=True):
        assert token.logprob == pytest.approx(row[token.id], abs=EXACT)
        assert token.best_other_logprob == pytest.approx(np.delete(row, token.id).max(), abs=EXACT)
        assert token.entropy == pytest.approx(-(np.exp(row) * row).sum(), abs=EXACT)
    assert model.score(prompt, ids(generation)) == pytest.approx([token.logprob for token in generation.tokens], abs=EXACT)


@pytest.mark.slow
@pytest.mark.parametrize("architecture", ["llama", "gemma2", "gpt_bigcode", "bloom", "mamba"])
@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_whatever_was_asked_before_the_numbers_are_those_of_a_fresh_cache(open_hf: Open, architecture: str, data: st.DataObject) -> None:
    """Prompts that share beginnings, cancelled readings, forks and questions in any order."""
    model = open_hf(architecture)
    base = model.tokenize(CODE)
    for _ in range(data.draw(st.integers(2, 6))):
        kept = data.draw(st.integers(1, len(base)))
        tail = data.draw(st.lists(st.integers(0, 299), max_size=6))
        prompt = Prompt((*base[:kept], *tail), "left_to_right")
        match data.draw(st.sampled_from(["generate", "cancel", "alternatives", "score", "question"])):
            case "generate":
                generation = model.generate(prompt, stop=NONE, max_tokens=data.draw(st.integers(1, 8)), temperature=1.0)
                fresh = fresh_scores(model, prompt, ids(generation))
                assert [token.logprob for token in generation.tokens] == pytest.approx(fresh, abs=REORDERED)
            case "cancel":
                calls = iter(range(data.draw(st.integers(0, 3))))
                assert model.generate(prompt, stop=NONE, max_tokens=9, cancel=lambda left=calls: next(left, None) is None)
            case "alternatives":
                for one in model.alternatives(prompt, 3, stop=NONE, max_tokens=4):
                    assert [t.logprob for t in one.tokens] == pytest.approx(fresh_scores(model, prompt, ids(one)), abs=REORDERED)
            case "score":
                wanted = data.draw(st.lists(st.integers(0, 299), max_size=5))
                assert model.score(prompt, wanted) == pytest.approx(fresh_scores(model, prompt, wanted), abs=REORDERED)
            case _:
                (asked,) = model.next_token_logprobs(prompt, [" x"])
                assert [asked] == pytest.approx(fresh_scores(model, prompt, model.tokenize(" x")[:1]), abs=REORDERED)


def fresh_scores(model: HFModel, prompt: Prompt, tokens: list[int]) -> list[float]:
    """What `score` gives with an empty cache; the model's own cache is left as it was."""
    other = copy.copy(model)
    other._reader = type(model._reader)(model._open())
    return other.score(prompt, tokens)


def test_the_prompt_is_read_once_and_a_question_behind_a_generation_leaves_what_was_held(open_hf: Open) -> None:
    model = open_hf()
    model.forget()
    prompt = left_to_right(model)
    fresh = model.generate(prompt, stop=NONE, max_tokens=2).timings
    again = model.generate(prompt, stop=NONE, max_tokens=2).timings
    changed = model.generate(Prompt((*prompt.tokens[:-4], 5, 6), "left_to_right"), stop=NONE, max_tokens=2).timings
    assert (fresh.prompt_tokens, fresh.reused_tokens) == (len(prompt.tokens), 0)
    assert (again.reused_tokens, changed.reused_tokens) == (len(prompt.tokens) - 1, len(prompt.tokens) - 4)
    assert fresh.prompt_ms > 0
    assert fresh.generate_ms > 0
    model = open_hf()
    model.forget()
    prompt = left_to_right(model)
    generation = model.generate(prompt, stop=NONE, max_tokens=12)
    # Asked behind a part of the generation only, so that some of what is held is not in the question.
    behind = Prompt((*prompt.tokens, *ids(generation)[:5], *model.tokenize("\n# True?")), "left_to_right")
    model.score(behind, [1, 2, 3])
    model.next_token_logprobs(behind, ["True", "False"])
    longer = Prompt((*prompt.tokens, *ids(generation), 7), "left_to_right")
    assert model.generate(longer, stop=NONE, max_tokens=1).timings.reused_tokens == len(prompt.tokens) + len(generation.tokens) - 1


@pytest.mark.parametrize("architecture", ["gemma2", pytest.param("mamba", marks=pytest.mark.slow)])
def test_sampled_alternatives_are_generations_of_the_seeds_that_follow(open_hf: Open, architecture: str) -> None:
    model = open_hf(architecture)
    prompt = left_to_right(model)
    together = model.alternatives(prompt, 4, stop=NONE, max_tokens=10, temperature=1.0, seed=5)
    for i, one in enumerate(together):
        alone = model.generate(prompt, stop=NONE, max_tokens=10, temperature=1.0, seed=5 + i)
        assert ids(one) == ids(alone)
        assert one.text == alone.text
        assert [t.entropy for t in one.tokens] == pytest.approx([t.entropy for t in alone.tokens], abs=REORDERED)
    assert len({tuple(ids(one)) for one in together}) == 4


def test_alternatives_read_the_prompt_once_and_leave_it_held_with_the_first_of_them(open_hf: Open) -> None:
    model, first_ends_after = open_hf(), 3
    prompt = left_to_right(model)
    model.forget()
    told: list[int] = []

    def end_the_first(number: int, _token: object, _text: str) -> bool:
        told.append(number)
        return number == 0 and told.count(0) == first_ends_after

    first, *others = model.alternatives(prompt, 3, stop=NONE, max_tokens=9, temperature=1.0, seed=2, on_token=end_the_first)
    assert {one.timings.reused_tokens for one in (first, *others)} == {0}
    assert len(first.tokens) == first_ends_after
    behind = Prompt((*prompt.tokens, *ids(first), 7), "left_to_right")
    (asked,) = model.next_token_logprobs(behind, [" x"])
    assert [asked] == pytest.approx(fresh_scores(model, behind, model.tokenize(" x")[:1]), abs=REORDERED)
    assert model.generate(behind, stop=NONE, max_tokens=1).timings.reused_tokens == len(prompt.tokens) + len(first.tokens) - 1
    assert model.generate(prompt, stop=NONE, max_tokens=1).timings.reused_tokens == len(prompt.tokens) - 1


def test_a_long_text_is_scored_in_steps_that_fit_into_memory(open_hf: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    model = open_hf()
    prompt, continuation = left_to_right(model), model.tokenize(CODE)
    whole = model.score(prompt, continuation)
    monkeypatch.setattr("assay.inference.hf.model._LOGITS_AT_ONCE", model._open().vocabulary * 7)
    assert model.score(prompt, continuation) == pytest.approx(whole, abs=EXACT)


def test_a_cancelled_reading_stops_between_chunks_and_what_was_read_is_kept(open_hf: Open) -> None:
    model = open_hf()
    model._open().chunk, before = 8, model._open().chunk
    try:
        model.forget()
        prompt = left_to_right(model)
        answers = iter([False, False, True])
        cancelled = model.generate(prompt, stop=NONE, max_tokens=5, cancel=lambda: next(answers))
        assert (cancelled.tokens, cancelled.stopped_by) == ((), StopReason.CANCELLED)
        assert model.generate(prompt, stop=NONE, max_tokens=5).timings.reused_tokens == 16
        assert [g.stopped_by for g in model.alternatives(prompt, 2, stop=NONE, max_tokens=5, cancel=lambda: True)] == ["cancelled"] * 2
    finally:
        model._open().chunk = before


def test_an_error_within_a_step_leaves_an_empty_cache(open_hf: Open) -> None:
    model = open_hf()
    prompt = left_to_right(model)
    expected = model.generate(prompt, stop=NONE, max_tokens=5)
    layer = model._open()._model.model.layers[1]

    def fail(*_: object) -> None:
        raise KeyboardInterrupt

    hook = layer.register_forward_pre_hook(fail)
    with pytest.raises(KeyboardInterrupt):
        model.generate(Prompt((*prompt.tokens, 5), "left_to_right"), stop=NONE, max_tokens=5)
    hook.remove()
    assert ids(model.generate(prompt, stop=NONE, max_tokens=5)) == ids(expected)
    assert model.score(prompt, ids(expected)) == pytest.approx([t.logprob for t in expected.tokens], abs=EXACT)


def test_numbers_that_are_none_are_an_error(tmp_path: Path) -> None:
    with HFModel(write_tiny_hf(tmp_path / "m"), device="cpu") as model:
        with torch.no_grad():
            model._open()._model.model.norm.weight.fill_(math.nan)
        prompt = left_to_right(model)
        for ask in (
            lambda: model.generate(prompt, stop=NONE, max_tokens=3),
            lambda: model.score(prompt, [1]),
            lambda: model.next_token_logprobs(prompt, ["x"]),
        ):
            with pytest.raises(ComputationFailed, match="not a number"):
                ask()


@pytest.mark.slow
def test_nothing_is_written_to_standard_error_and_nothing_of_torch_is_imported_before(tmp_path: Path) -> None:
    path = write_tiny_hf(tmp_path / "m", "mamba")
    script = (
        "import sys\nimport assay.inference.opening, assay.inference.hf.folder, assay.inference.completion.fim_families\n"
        "assert not {'torch', 'transformers', 'tokenizers'} & set(sys.modules)\n"
        "from assay.inference.hf.model import HFModel\nfrom assay.inference.stopping.stop import NONE\n"
        "with HFModel(sys.argv[1]) as m: m.alternatives(m.fim('x', ''), 2, stop=NONE, max_tokens=3); m.score(m.fim('x', ''), [1])\n"
    )
    done = subprocess.run([sys.executable, "-c", script, path], capture_output=True, text=True, check=False, timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.skipif(not (torch.cuda.is_available() or torch.backends.mps.is_available()), reason="no GPU here")
@pytest.mark.parametrize("dtype", ["float32", "auto"])
def test_a_gpu_gives_the_numbers_of_the_cpu(open_hf: Open, dtype: str) -> None:
    model = open_hf()
    prompt = left_to_right(model)
    generation = model.generate(prompt, stop=NONE, max_tokens=20)
    device = "cuda" if torch.cuda.is_available() else "mps"
    with HFModel(model.path, device=device, dtype=dtype) as there:
        assert there.device.startswith(device)
        tolerance = 1e-3 if dtype == "float32" else 0.2
        assert there.score(prompt, ids(generation)) == pytest.approx([t.logprob for t in generation.tokens], abs=tolerance)
        together = there.alternatives(prompt, 3, stop=NONE, max_tokens=5, temperature=1.0)
        for one in together:
            assert there.score(prompt, ids(one)) == pytest.approx([t.logprob for t in one.tokens], abs=tolerance)
