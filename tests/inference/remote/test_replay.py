"""A given text as a generation of a server's model."""

from __future__ import annotations

from pathlib import Path

import pytest
from llama_server import EXACT, HOW_TO_BUILD, is_built, running

from assay.inference.errors import ContextTooLong, NotReplayable, Unavailable
from assay.inference.llamacpp.model import LlamaModel
from assay.inference.model import StopReason
from assay.inference.opening import EMBEDDED
from assay.inference.remote.model import RemoteModel
from assay.inference.stopping.stop import LINE, NONE

from ..completion_server import MID, Speech, encode, logprobs, serving


def test_what_a_servers_model_wrote_is_replayed_with_its_tokens() -> None:
    with serving(Speech()) as address, RemoteModel(address) as model:
        for prefix in ("x", "x\n", "y = "):
            prompt = model.fim(prefix, "")
            own = model.generate(prompt, stop=LINE, max_tokens=30)
            again = model.replay(prompt, own.text, stop=LINE)
            assert (again.text, again.stopped_by, again.tokens) == (own.text, own.stopped_by, own.tokens)


def test_any_text_is_replayed_though_few_tokens_are_told_of() -> None:
    with serving(Speech()) as address, RemoteModel(address) as model:
        prompt = model.fim("", "")
        replayed = model.replay(prompt, "xyz", stop=LINE)
        before = [MID, *encode("xyz")]
        assert [token.text for token in replayed.tokens] == [b"x", b"y", b"z", b"\n"]
        assert [token.logprob for token in replayed.tokens] == pytest.approx(
            [logprobs(last)[token] for last, token in zip(before, [*encode("xyz"), ord("\n")], strict=True)]
        )
        assert replayed.tokens[0].best_other_logprob == pytest.approx(max(logprobs(MID)))
        assert sum(model.score(prompt, encode("xyz\n"))) == pytest.approx(sum(token.logprob for token in replayed.tokens))


def test_a_text_that_does_not_fit_is_refused() -> None:
    with serving(Speech()) as address, RemoteModel(address, context_length=20) as model:
        with pytest.raises(ContextTooLong, match="a given text"):
            model.replay(model.fim("x", ""), "a" * 30, stop=NONE)
        with pytest.raises(NotReplayable):
            model.replay(model.fim("x", ""), "a\nb", stop=LINE)


@pytest.mark.parametrize("speech", [Speech(kind="tgi"), Speech(kind="openai"), Speech(scoring=False), Speech(guides=None)])
def test_a_server_that_can_not_says_so(speech: Speech) -> None:
    with serving(speech) as address, RemoteModel(address) as model:
        assert not model.capabilities.replay
        with pytest.raises(Unavailable, match="a given text"):
            model.replay(model.fim("x", ""), "a", stop=LINE)


@pytest.mark.slow
@pytest.mark.skipif(not is_built(), reason=HOW_TO_BUILD)
def test_llama_server_says_of_a_text_what_the_model_here_says(tmp_path: Path) -> None:
    code, behind = "def multiply(first, second):\n    ret", "\n\n\nprint(multiply(2, 3))\n"
    with running(EMBEDDED, *EXACT) as address, RemoteModel(address) as remote, LlamaModel(EMBEDDED, threads=1, kv_type="f32") as local:
        prompt = local.fim(code, behind)
        for text in ("urn first * second", "urn second - 'é'", "zzz", local.generate(prompt, stop=LINE, max_tokens=30).text):
            theirs, ours = (model.replay(prompt, text, stop=LINE) for model in (remote, local))
            assert (theirs.text, theirs.stopped_by in (StopReason.LINE, StopReason.END)) == (text, True)
            assert [token.text for token in theirs.tokens] == [token.text for token in ours.tokens]
            assert [token.logprob for token in theirs.tokens] == pytest.approx([token.logprob for token in ours.tokens], abs=0.1)
