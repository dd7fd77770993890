"""A given text as a generation, by the models of this process."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny_gguf import scripted
from tiny_models import OpenTiny

from assay.inference.errors import ContextTooLong, NotReplayable
from assay.inference.hf.model import HFModel
from assay.inference.llamacpp.model import LlamaModel
from assay.inference.model import Prompt, StopReason
from assay.inference.project_memory.memory import ProjectMemory
from assay.inference.project_memory.weights import shipped_weights
from assay.inference.replay.given_text import GivenText
from assay.inference.stopping.rules import text_before_stop
from assay.inference.stopping.stop import LINE, NONE, Stop

CODE = "def area(width, height):\n    return width * height\n\n\nclass Point:\n    def move(self, by):\n        self.x += by\n"
Local = LlamaModel | HFModel


@pytest.fixture(params=["embedded", "tiny", "tiny_hf"])
def model(request: pytest.FixtureRequest) -> Local:
    chosen: Local = request.getfixturevalue(request.param)
    return chosen


def own_tokens_come_back(model: Local, prompt: Prompt, stop: Stop, max_tokens: int) -> None:
    model.forget()
    own = model.generate(prompt, stop=stop, max_tokens=max_tokens)
    written = b"".join(token.text for token in own.tokens).decode("utf-8", "replace")
    if own.stopped_by in (StopReason.TOKENS, StopReason.REPETITION) or "\ufffd" in written:
        return
    model.forget()
    again = model.replay(prompt, own.text, stop=stop)
    assert replace(again, timings=own.timings) == own


def test_what_a_model_wrote_greedily_has_the_very_same_figures(model: Local) -> None:
    for cut in range(3, len(CODE), 40):
        for stop in (LINE, Stop("block", 4)):
            own_tokens_come_back(model, model.fim(CODE[:cut], CODE[cut:]), stop, 12)


@pytest.mark.slow
@given(st.integers(1, len(CODE)), st.integers(0, 8))
def test_wherever_the_cursor_is_what_the_shipped_model_wrote_has_the_very_same_figures(embedded: LlamaModel, cut: int, left: int) -> None:
    own_tokens_come_back(embedded, embedded.fim(CODE[:cut], CODE[cut + left :]), LINE, 24)


@pytest.mark.parametrize("text", ["width * height", "é + 名前", "", "qqzz"])
def test_log_probabilities_are_those_that_score_gives_of_the_same_tokens(model: Local, text: str) -> None:
    prompt = replace(model.fim("def area(width, height):\n    return", ""), held="")
    replayed = model.replay(prompt, text, stop=LINE)
    assert (replayed.text, replayed.stopped_by in (StopReason.LINE, StopReason.END)) == (text, True)
    scores = model.score(prompt, [token.id for token in replayed.tokens])
    assert [token.logprob for token in replayed.tokens] == pytest.approx(scores, abs=0.1)  # of two logits, each within 0.05
    assert sum(token.logprob for token in replayed.tokens) == pytest.approx(sum(scores), abs=0.1)
    cut_off = model.replay(prompt, text, stop=None)
    assert b"".join(token.text for token in cut_off.tokens) == text.encode(), "there is no token for its end"
    assert cut_off.stopped_by is StopReason.TOKENS
    assert cut_off.timings.reused_tokens >= len(prompt.tokens) - 1


def test_a_text_that_the_model_would_not_write_has_the_tokenizers_tokens(embedded: LlamaModel) -> None:
    prompt, text = replace(embedded.fim("def multiply(first, second):\n    return", "\n"), held=""), " second - first"
    replayed = embedded.replay(prompt, text, stop=LINE)
    assert [token.id for token in replayed.tokens[:-1]] == embedded.tokenize(text)
    assert all(token.entropy is not None and token.best_other_logprob is not None for token in replayed.tokens)
    prompt = embedded.fim("def multiply(first, second):\n    ret", "\n")
    replayed = embedded.replay(prompt, "urn first", stop=LINE)
    assert b"".join(token.text for token in replayed.tokens).strip() == b"urn first", "what stands before the cursor is written again"
    assert replayed.tokens[0].shares


def test_the_memory_is_mixed_in(embedded: LlamaModel) -> None:
    before = "def collect(archive):\n    for quux in archive.unusual_members():\n        yield quux\n\n\nfor quux in archive.un"
    memory = ProjectMemory(embedded, shipped_weights().for_model(embedded.fingerprint.id)).at(before, "\n")
    prompt = embedded.fim("for quux in archive.un", "\n")
    remembering = replace(prompt, memory=memory)
    alone, mixed = (embedded.replay(each, "usual_members():", stop=LINE) for each in (prompt, remembering))
    assert sum(token.logprob for token in mixed.tokens) > sum(token.logprob for token in alone.tokens) + 1
    assert [source.path for source in mixed.sources] == [None]
    own_tokens_come_back(embedded, remembering, LINE, 24)


def test_the_rest_of_the_line_may_be_repeated_before_the_end(open_tiny: OpenTiny) -> None:
    model = open_tiny(scripted(b"a", b")", b"\n"))
    prompt = model.fim("print(?", ")\n")
    replayed = model.replay(prompt, "a", stop=LINE, repeated=(")",))
    assert [token.text for token in replayed.tokens] == [b"a", b")", b"\n"]
    assert [token.text for token in model.replay(prompt, "a", stop=LINE).tokens][:-1] == [b"a"]


def test_a_text_that_does_not_fit_into_the_context_or_that_the_stopping_rule_ends_is_refused(tiny: LlamaModel, tiny_hf: HFModel) -> None:
    for model in (tiny, tiny_hf):
        with pytest.raises(ContextTooLong, match="a given text"):
            model.replay(model.fim("x = ", ""), "é" * (model.context_length // 2), stop=NONE)
        with pytest.raises(NotReplayable, match="would end after 1 characters"):
            model.replay(model.fim("x = ", ""), "1\n2", stop=LINE)


IN_A_CALL = Stop("line", before="f(", may_close=0)
BODY = Stop("block", 4, "    ", ("    return total",))


def fitting(text: GivenText, *pieces: bytes) -> list[bytes]:
    return [piece for piece in pieces if text.fits(piece, ends=False)]


def write(text: GivenText, *pieces: bytes) -> GivenText:
    for piece in pieces:
        assert text.fits(piece, ends=False)
        text.take(piece, ends=False)
    return text


def test_beginnings_of_the_text_fit_then_what_stands_behind_the_cursor_and_the_newline() -> None:
    line = GivenText("ab", LINE)
    assert fitting(line, b"", b"a", b"ab", b"ab\n", b"b", b"abc", b"a\n") == [b"a", b"ab", b"ab\n"]
    assert not line.fits(b"", ends=True)
    write(line, b"ab")
    assert not line.is_whole
    assert fitting(line, b"\n", b"\n\n  x", b"\r\n", b" ", b"c", b"") == [b"\n", b"\n\n  x", b"\r\n"]
    assert line.fits(b"", ends=True)
    assert write(line, b"\n").is_whole
    line = write(GivenText("a", LINE, repeated=(", b)",)), b"a")
    assert fitting(line, b",", b", b)", b", b)\n", b",\n", b", c", b"\n") == [b",", b", b)", b", b)\n", b"\n"]
    write(line, b",")
    assert fitting(line, b"\n", b" b") == [b" b"]
    assert not line.fits(b"", ends=True)
    assert write(line, b" b)").fits(b"", ends=True)


def test_a_block_ends_with_its_indentation_or_before_the_lines_behind_it() -> None:
    block = write(GivenText("x = 1\n    y = 2", BODY), b"x = 1\n", b"    y = 2")
    assert fitting(block, b"\n", b"\n\ndef", b"\n    ", b"\n    z", b"\n    return", b" + 1") == [
        b"\n",
        b"\n\ndef",
        b"\n    ",
        b"\n    return",
    ]
    write(block, b"\n    ")
    assert fitting(block, b"re", b"x", b"\n") == [b"re", b"\n"]
    assert not write(block, b"return total").is_whole
    assert write(block, b"\n").is_whole


@given(st.text("ab (\n)", max_size=23), st.sampled_from([LINE, NONE, IN_A_CALL, BODY]), st.data())
def test_a_text_as_a_rule_left_it_can_be_written_in_any_pieces_with_the_end_that_it_had(raw: str, stop: Stop, data: st.DataObject) -> None:
    left = text_before_stop(raw, stop)
    text, written = GivenText(left, stop), raw.encode()
    at = 0
    while not text.is_whole and at < len(written):
        size = data.draw(st.integers(1, 4))
        piece = written[at : at + size]
        assert text.fits(piece, ends=False)
        text.take(piece, ends=False)
        at += size
    assert text.is_whole or text.fits(b"", ends=True)


def test_texts_that_begin_alike_have_the_figures_that_each_has_alone(tiny: LlamaModel) -> None:
    prompt, stop = tiny.fim("result = ", "\n"), LINE
    fresh = {}
    for text in ("alpha(beta, gamma)", "alpha(beta, delta)", "omega"):
        tiny.forget()
        fresh[text] = tiny.replay(prompt, text, stop=stop)
    tiny.forget()
    again = {text: tiny.replay(prompt, text, stop=stop) for text in (*fresh, *fresh)}
    for text, known in fresh.items():
        assert [token.id for token in again[text].tokens] == [token.id for token in known.tokens]
        assert [token.logprob for token in again[text].tokens] == pytest.approx([token.logprob for token in known.tokens], abs=1e-3)
        assert again[text].timings.reused_tokens == len(prompt.tokens)
    other = tiny.fim("other = ", "\n")
    elsewhere = tiny.replay(other, "omega", stop=stop)
    tiny.forget()
    assert elsewhere.tokens[0].logprob == pytest.approx(tiny.replay(other, "omega", stop=stop).tokens[0].logprob, abs=1e-3)
    assert elsewhere.tokens[0].logprob != pytest.approx(fresh["omega"].tokens[0].logprob, abs=1e-3)
