"""Token healing by real models: what is generated begins with what stands before the cursor, and its probability is given that."""

from __future__ import annotations

import ast
import math
import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tiny_gguf import TinyModel

from assay.inference.completion.fim_families import prefix_parts
from assay.inference.completion.prompt import context_at, prompt_at
from assay.inference.healing.healing import Healing
from assay.inference.llamacpp.model import LlamaModel
from assay.inference.model import Prompt, Token
from assay.inference.stopping.continuation import Continuation
from assay.inference.stopping.stop import LINE, NONE
from assay.suggestion.complete import complete
from assay.suggestion.remainder import remainder

texts = st.text(st.sampled_from("ab_.(= 1\t\n\r\"'{é漢𝄞"), max_size=24)


@pytest.mark.parametrize("backend", ["tiny", "tiny_hf"])
@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(prefix=texts, suffix=texts, seed=st.integers(0, 9))
def test_what_the_prompt_leaves_out_is_what_stands_before_the_cursor(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, backend: str, prefix: str, suffix: str, seed: int
) -> None:
    model = request.getfixturevalue(backend)
    prompt = prompt_at(model, prefix, suffix)
    read = prefix.replace("\r\n", "\n").replace("\r", "\n")
    assert read.endswith(prompt.held)
    whole, without = model.fim(read, "").tokens, model.fim(read.removesuffix(prompt.held), "").tokens
    assert len(without) <= len(whole)
    begun = context_at(model, prefix, suffix).document.begun
    above, line, held = prefix_parts(read, model.layout, begun, lambda text: (text.removesuffix(prompt.held), prompt.held))
    assert all(part in model.prompt_text(prompt) for part in (above, line))
    assert above + line + held == read
    # All that was written begins with what stands there, and the text is what is behind that.
    sampled: list[Token] = []
    add = Continuation.add
    with monkeypatch.context() as patched:
        patched.setattr(Continuation, "add", lambda self, token, ends: (sampled.append(token), add(self, token, ends))[1])
        generation = model.generate(prompt, stop=NONE, max_tokens=3, temperature=1.0, seed=seed)
    assert generation.tokens
    pieces = b"".join(token.text for token in sampled)
    assert pieces == prompt.held_bytes + b"".join(token.text for token in generation.tokens)


def test_the_first_probability_is_given_what_stands_there(tiny: LlamaModel) -> None:
    prompt = tiny.fim("value = compute(a", ")\n")
    assert prompt.held == "a"
    free = replace(prompt, held="")
    pieces = {token: tiny.token_bytes(token) for token in range(len(TinyModel().tokens))}
    agreeing = [token for token, piece in pieces.items() if piece.startswith(b"a")]
    logprobs = {token: tiny.score(free, [token])[0] for token in agreeing}
    total = math.log(sum(map(math.exp, logprobs.values())))
    generation = tiny.generate(prompt, stop=NONE, max_tokens=1, temperature=1.0, seed=3)
    token = generation.tokens[0]
    spelled_alone = next(each for each in agreeing if pieces[each] == b"a")
    best = max(logprobs, key=logprobs.__getitem__)
    assert best == spelled_alone or token.id == best
    if token.id in logprobs and token.text != pieces[token.id]:
        assert token.logprob == pytest.approx(logprobs[token.id] - total, abs=2e-3)
    else:
        behind = tiny.score(Prompt((*free.tokens, spelled_alone), free.layout), [token.id])[0]
        assert token.logprob == pytest.approx(logprobs[spelled_alone] - total + behind, abs=2e-3)


def places(count: int) -> list[tuple[str, str]]:
    """Cursors in real code, in the middle of lines."""
    text = Path(str(ast.__file__)).read_text()
    chosen = random.Random(7)
    found = [chosen.randrange(2000, len(text)) for _ in range(count)]
    return [(text[:at], text[text.index("\n", at) :]) for at in found]


@pytest.mark.slow
def test_typing_along_leaves_what_a_new_request_gives(embedded: LlamaModel) -> None:
    compared = 0
    for prefix, suffix in places(4):
        made = complete(embedded, prefix, suffix)
        for size in range(1, min(len(made.text), 16)):
            typed = made.text[:size]
            left, anew = remainder(made, typed), complete(embedded, prefix + typed, suffix)
            if left is None or anew.text != left.text:
                continue  # behind its own tokens for it the model may go on otherwise than behind the tokenizer's
            if [token.id for token in left.tokens] != [token.id for token in anew.tokens]:
                continue
            assert [token.text for token in left.tokens] == [token.text for token in anew.tokens]
            assert [token.logprob for token in left.tokens] == pytest.approx([token.logprob for token in anew.tokens], abs=0.1)
            compared += 1
    assert compared > 25


def test_alternatives_share_the_tokens_for_what_stands_there_and_differ_behind(embedded: LlamaModel) -> None:
    prompt = prompt_at(embedded, "import json\n\n\ndef load(path):\n    with path.open() as file:\n        return json.l", "\n")
    one, *others = embedded.alternatives(prompt, 3, stop=LINE, max_tokens=20)
    assert one.text.startswith("oad"), "the word is finished"
    alone = embedded.generate(prompt, stop=LINE, max_tokens=20)
    assert one.text == alone.text
    assert [token.logprob for token in one.tokens] == pytest.approx([token.logprob for token in alone.tokens], abs=0.1), (
        "llama.cpp rounds by batch size"
    )
    assert len({one.text, *(other.text for other in others)}) == 3


def test_a_token_that_is_next_to_impossible_has_its_share_beside_a_likely_one() -> None:
    pieces = [b" ab", b" ad", b"x"]
    weights = np.array([1.0, 1e-20, 0.5])
    along = Healing(pieces).typed_along()
    along.step(weights.__getitem__, float(weights.sum()), b" ad")
    (shares,) = along.shares([b" ad"])
    assert shares[:2] == pytest.approx([math.log(2 / 3)] * 2)
    assert shares[2] == pytest.approx(math.log(1e-20 / 1.5))
