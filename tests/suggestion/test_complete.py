from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tiny_gguf import FIM_MIDDLE, FIM_PREFIX, FIM_SUFFIX, TinyModel, scripted
from tiny_models import OpenTiny

from assay.calibration.measures.registry import measures_of
from assay.inference.completion.prompt import prompt_at
from assay.inference.completion.settings import Settings
from assay.inference.completion.task import Kind
from assay.inference.errors import NotReplayable
from assay.inference.llamacpp.model import LlamaModel
from assay.inference.model import StopReason
from assay.inference.opening import EMBEDDED, open_model
from assay.inference.project_memory.memory import ProjectMemory
from assay.inference.project_memory.weights import shipped_weights
from assay.suggestion.complete import complete
from assay.suggestion.given_text import generation_of

# Behind an open quote it writes a brace, or nearly as likely the quote that closes it.
EITHER = scripted(b"{", b"\n", b"?", b'"', b"\n")
PREFIX = 'x = "?'


def test_a_line_is_completed_to_its_end_and_in_its_middle_the_rest_is_not_repeated(open_tiny: OpenTiny) -> None:
    line = complete(open_tiny(scripted(b"1", b"2", b"\n", b"z")), "first = 0\nx = ?", "\nnext")
    assert (line.text, line.stopped_by) == ("12", StopReason.LINE)
    model = open_tiny(scripted(b"a", b")", b"\n"))
    generation = complete(model, "print(?", ")\n")
    assert generation.text == "a"
    assert b"".join(token.text for token in generation.tokens) == b"a)"
    assert complete(model, "print(?", "\n").text == "a)"


def test_in_place_of_a_line_that_breaks_the_file_comes_the_next_best_that_does_not(open_tiny: OpenTiny) -> None:
    model = open_tiny(EITHER)
    first, found = complete(model, PREFIX, "\n"), complete(model, PREFIX, "\n", language="python")
    assert (first.text, found.text) == ("{", '"')
    assert found.parses
    assert found.tokens[0].logprob == pytest.approx(first.tokens[0].best_other_logprob, abs=1e-4)
    assert complete(model, PREFIX, "\n", language="python", max_ms=1e-6).text == "", "without time none is looked for"
    # One that breaks the file is marked where all others do.
    marked = complete(open_tiny(scripted(b"(", b"(", b"\n")), PREFIX, "\n", language="python", settings=Settings(line_tokens=8))
    assert (marked.text, marked.parses) == ("(", False)


def test_a_model_that_is_asked_suffix_first_writes_on_behind_the_prefix(open_tiny: OpenTiny) -> None:
    model = open_tiny(replace(scripted(b" one", b"\n", fim=True), metadata={"assay.fim.layout": "spm"}))
    generation = complete(model, "x =? ", "\ny = 2\n")
    assert model.layout == "spm"
    assert (generation.text, generation.stopped_by) == ("one", StopReason.LINE)
    typed = complete(model, "x =? x =?", "\ny = 2\n")
    assert typed.timings.reused_tokens >= generation.timings.prompt_tokens


def test_a_line_that_a_budget_ends_or_that_runs_into_a_loop_is_not_shown(open_tiny: OpenTiny) -> None:
    loop = complete(open_tiny(scripted(b"x", b".parent", b".parent")), "x = ?", "\n")
    assert (loop.text, loop.stopped_by, len(loop.tokens) < Settings().line_tokens) == ("", StopReason.REPETITION, True)
    model = open_tiny(scripted(b"1", b"2", b"\n"))
    generation = complete(model, "x = ?", "\n", settings=Settings(line_tokens=2))
    assert (generation.text, generation.stopped_by) == ("", StopReason.TOKENS)
    assert b"".join(token.text for token in generation.tokens) == b"12"


def test_a_block_that_a_budget_or_a_loop_ends_is_cut_back_with_its_tokens(open_tiny: OpenTiny) -> None:
    loop = complete(
        open_tiny(scripted(b"a", b"\n    first(x)", b"\n    second(y)", b"\n    first(x)")), "def f():\n    ?", "\n", kind="block"
    )
    assert (loop.text, loop.stopped_by) == ("a\n    first(x)\n    second(y)", StopReason.REPETITION)
    assert b"".join(token.text for token in loop.tokens) == b"a\n    first(x)\n    second(y)"
    first = open_tiny(scripted(b"a", b"(", b"\n    b", b","))
    assert complete(first, "def f():\n    ?", "\n", kind="block", settings=Settings(block_tokens=4)).text == "", (
        "within its first statement"
    )
    model = open_tiny(scripted(b"a", b"\n    b", b"\n    c", b"("))
    generation = complete(model, "def f():\n    ?", "\n", kind="block", settings=Settings(block_tokens=4))
    assert (generation.text, generation.stopped_by) == ("a\n    b", StopReason.TOKENS)
    assert b"".join(token.text for token in generation.tokens) == b"a\n    b"


def test_a_function_goes_on_to_the_end_of_its_body(open_tiny: OpenTiny) -> None:
    model = open_tiny(scripted(b"a", b"\n    b", b"\nc"))
    place = "def f():\n    if x:\n        ?"
    assert complete(model, place, "\n", kind="block").text == "a"
    generation = complete(model, place, "\n", kind="function")
    assert (generation.text, generation.stopped_by) == ("a\n    b", StopReason.BLOCK)
    model = open_tiny(scripted(b"    a", b"\n    b", b"\n   c", b"d", prompt=b"\n"))
    assert complete(model, "if x:\n    ", "\n", kind="block").text == "a\n    b", "the space that a block begins behind is its indentation"


@pytest.mark.parametrize(("suffix", "kind"), [(")\r\n", "line"), ("\nrest", "block")])
def test_typing_a_word_does_not_change_the_prompt(tiny: LlamaModel, suffix: str, kind: Kind) -> None:
    prompts = {prompt_at(tiny, f"x = 1\nvalue ={typed}", suffix, kind=kind).tokens for typed in (" ", " r", " result")}
    assert len(prompts) == 1


@pytest.mark.parametrize(
    ("prefix", "written", "text"),
    [
        ("x =?", b" =? one", " one"),
        ("x =? ", b" one", "one"),
        ("x =? o", b" one", "ne"),
        ("x =? one", b" one", ""),
    ],
)
def test_what_stands_before_the_cursor_is_not_written_again(open_tiny: OpenTiny, prefix: str, written: bytes, text: str) -> None:
    model = open_tiny(scripted(written, b"\n", prompt=prefix[: -len(prompt_at(open_tiny(TinyModel()), prefix, "\n").held)][-1:].encode()))
    generation = complete(model, prefix, "\n")
    assert generation.text == text
    assert b"".join(token.text for token in generation.tokens) == f"{text}\n".encode()


def test_the_model_sees_the_same_of_either_kind_of_newline_and_the_callers_budgets(tiny: LlamaModel) -> None:
    prefix, suffix = "def f():\n    x = 1\n    ", "\n\nf()\n"
    unix = complete(tiny, prefix, suffix)
    windows = complete(tiny, prefix.replace("\n", "\r\n"), suffix.replace("\n", "\r\n"))
    assert [token.id for token in unix.tokens] == [token.id for token in windows.tokens]
    assert windows.timings.reused_tokens == windows.timings.prompt_tokens
    assert complete(tiny, "x = ", "", cancel=lambda: True).stopped_by is StopReason.CANCELLED
    assert complete(tiny, "y = ", "", max_ms=0).stopped_by is StopReason.TIME
    assert len(complete(tiny, "y = ", "", settings=Settings(line_tokens=1)).tokens) == 1


@pytest.mark.parametrize("written", [TinyModel(), TinyModel(fim=False), TinyModel(context_length=64), TinyModel(context_length=8)])
def test_a_document_of_any_size_fits_every_model(open_tiny: OpenTiny, written: TinyModel) -> None:
    model = open_tiny(written)
    text = f"value = compute(value, '{FIM_PREFIX}{FIM_SUFFIX}{FIM_MIDDLE}')\n" * 400
    for kind in ("line", "block"):
        generation = complete(model, text + "value = ", text, kind=kind)
        assert generation.tokens
        assert generation.timings.prompt_tokens + len(generation.tokens) <= model.context_length


@pytest.mark.skipif(not EMBEDDED.is_file(), reason="the embedded model is not in this checkout")
def test_the_embedded_model_completes_a_line_of_python() -> None:
    with open_model(threads=1) as model:
        generation = complete(model, "import os\nimport sys\n\n\ndef main():\n    for name in os.listdir(path):\n        print(", ")\n")
        scores = model.score(model.fim("x = ", "\n"), model.tokenize("None"))
    assert generation.text.strip()
    assert generation.stopped_by is StopReason.BRACKET
    assert all(score <= 0 for score in scores)


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
    windows = generation_of(embedded, "def f(a):\r\n    ", "\r\n", "b = a\r\n    return b", kind="block")
    assert windows.text == "b = a\n    return b", "newlines are read as the model is shown them"
    with pytest.raises(NotReplayable, match=r"would end after 1 characters"):
        generation_of(embedded, "x = ", "", "1\n2")


def test_a_given_text_has_the_tokens_of_a_suggestion_that_repeated_what_stands_behind_it(open_tiny: OpenTiny) -> None:
    model = open_tiny(scripted(b"a", b", b", b" ==", b"\n"))
    suggested, replayed = complete(model, "f(?", ", b == 1)\n"), generation_of(model, "f(?", ", b == 1)\n", "a")
    assert suggested.text == "a"
    assert [token.text for token in suggested.tokens] == [b"a", b", b", b" ==", b"\n"]
    assert measures_of(replayed) == measures_of(suggested)
    model = open_tiny(scripted(b"a", b"\n    total = 0", b"\n    c"))
    place = ("def f():\n    ?", "\n\n    total = 0\n")
    suggested, replayed = complete(model, *place, kind="block"), generation_of(model, *place, "a", kind="block")
    assert (suggested.text, suggested.stopped_by, [token.text for token in suggested.tokens]) == ("a", StopReason.SUFFIX, [b"a"])
    assert (replayed.stopped_by, [token.text for token in replayed.tokens]) == (StopReason.SUFFIX, [b"a"])
    assert measures_of(replayed) == measures_of(suggested)
