"""What the model says of a given text has the measures that it would have had as a suggestion."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tiny_gguf import scripted
from tiny_models import OpenTiny

from assay.calibration.measures.registry import measures_of
from assay.inference.completion.settings import Settings
from assay.inference.completion.task import Kind
from assay.inference.errors import NotReplayable
from assay.inference.llamacpp.model import LlamaModel
from assay.inference.model import StopReason
from assay.inference.project_memory.memory import ProjectMemory
from assay.inference.project_memory.weights import shipped_weights
from assay.suggestion.complete import complete
from assay.suggestion.given_text import generation_of

CODE = '''import json


def load(path, default=None):
    """Read a file."""
    try:
        with open(path) as file:
            return json.load(file)
    except OSError:
        return default


def names(records):
    found = []
    for record in records:
        found.append(record["name"])
    return sorted(found, key=len)
'''


@pytest.mark.slow
@given(st.integers(1, len(CODE) - 1), st.sampled_from(["line", "line", "block"]), st.booleans())
def test_a_suggestion_has_the_same_measures_as_a_given_text(embedded: LlamaModel, cut: int, kind: Kind, remember: bool) -> None:
    prefix, suffix = CODE[:cut], CODE[cut + 5 :]
    memory = ProjectMemory(embedded, shipped_weights().for_model(embedded.fingerprint.id)).at(prefix, suffix) if remember else None
    embedded.forget()
    suggested = complete(embedded, prefix, suffix, kind=kind, memory=memory, settings=Settings(block_tokens=40))
    assume(suggested.text and "\ufffd" not in suggested.text)
    cut_off = suggested.stopped_by in (StopReason.TOKENS, StopReason.REPETITION)
    embedded.forget()
    replayed = generation_of(embedded, prefix, suffix, suggested.text, kind=kind, memory=memory, cut_off=cut_off)
    assert measures_of(replayed) == measures_of(suggested)
    assert (replayed.text, replayed.memory, replayed.sources) == (suggested.text, suggested.memory, suggested.sources)


def test_every_measure_of_a_text_that_the_model_did_not_write_is_there(embedded: LlamaModel) -> None:
    at = CODE.index("record[")
    prefix, suffix = CODE[:at], CODE[at + len('record["name"]') :]
    written, foreign = (generation_of(embedded, prefix, suffix, text) for text in ('record["name"]', "zebra.stripes // 17"))
    assert measures_of(foreign).keys() == measures_of(complete(embedded, prefix, suffix)).keys()
    assert measures_of(foreign)["mean_logprob"] < measures_of(written)["mean_logprob"]


def test_newlines_are_read_as_the_model_is_shown_them(embedded: LlamaModel) -> None:
    given_text = generation_of(embedded, "def f(a):\r\n    ", "\r\n", "b = a\r\n    return b", kind="block")
    assert given_text.text == "b = a\n    return b"


def test_a_text_of_several_lines_is_no_line(embedded: LlamaModel) -> None:
    with pytest.raises(NotReplayable, match=r"would end after 1 characters"):
        generation_of(embedded, "x = ", "", "1\n2")


def test_a_suggestion_that_repeated_the_rest_of_the_line_has_its_own_tokens(open_tiny: OpenTiny) -> None:
    model = open_tiny(scripted(b"a", b", b", b" ==", b"\n"))
    suggested, replayed = complete(model, "f(?", ", b == 1)\n"), generation_of(model, "f(?", ", b == 1)\n", "a")
    assert suggested.text == "a"
    assert [token.text for token in suggested.tokens] == [b"a", b", b", b" ==", b"\n"]
    assert measures_of(replayed) == measures_of(suggested)


def test_a_block_that_the_lines_behind_it_end_has_no_tokens_for_its_end(open_tiny: OpenTiny) -> None:
    model = open_tiny(scripted(b"a", b"\n    total = 0", b"\n    c"))
    place = ("def f():\n    ?", "\n\n    total = 0\n")
    suggested, replayed = complete(model, *place, kind="block"), generation_of(model, *place, "a", kind="block")
    assert (replayed.stopped_by, [token.text for token in replayed.tokens]) == (StopReason.SUFFIX, [b"a"])
    assert measures_of(replayed) == measures_of(suggested)
