from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from synthetic_samples import MODEL, PROMPT, world
from tiny_gguf import END, scripted, write_tiny_gguf

from assay.calibration.bands import BAND_OF_WORD, percents
from assay.calibration.calibrator import Calibrator
from assay.calibration.fitting.fit import fit
from assay.calibration.measures.agreement import SINGLE_DRAW, Drawn
from assay.calibration.registry import Entry, Purpose, Registry
from assay.inference.completion.prompt import prompt_at
from assay.inference.completion.settings import Settings
from assay.inference.completion.task import Kind
from assay.inference.llamacpp.model import LlamaModel
from assay.inference.model import Generation, StopReason, Timings, Token
from assay.inference.opening import open_model
from assay.server.documents.documents import Document
from assay.suggestion.cursor import window
from assay.suggestion.positions import Position, Range, position_at
from assay.suggestion.suggest import suggest_at, suggestion_of
from assay.suggestion.suggestion import Place, Suggestion

from ..server.client import client_of

HERE = Range(Position(3, 1), Position(3, 1))
NOTHING = Registry((), ())


@pytest.fixture(scope="module")
def calibrator() -> Calibrator:
    return fit(world(900)[0], "exact_match", resamples=20).calibrator


def generation(text: str = "x = 1", *logprobs: float) -> Generation:
    tokens = tuple(Token(n, b"t", logprob, -3.0, 0.5) for n, logprob in enumerate(logprobs or (-1.0, -0.5)))
    return Generation(text, tokens, StopReason.LINE, Timings(3.0, 4.0, 10, 0))


def suggested(made: Generation, registry: Registry = NOTHING, *, language: str = "python", drawn: Drawn = SINGLE_DRAW) -> Suggestion | None:
    purpose = Purpose(MODEL, PROMPT, "exact_match", "line", language)
    return suggestion_of(made, Place("", "", HERE), purpose=purpose, registry=registry, drawn=drawn)


def test_without_a_calibrator_there_is_no_number_and_the_band_says_so() -> None:
    assert suggested(generation(" \t\n")) is None, "a blank text is no suggestion"
    made = suggested(generation())
    assert made.as_json() == {
        "id": made.id,
        "text": "x = 1",
        "range": {"start": {"line": 3, "character": 1}, "end": {"line": 3, "character": 1}},
        "kind": "line",
        "confidence": {
            "status": "uncalibrated",
            "event": "exact_match",
            "probability": None,
            "low": None,
            "high": None,
            "band": "no evidence",
            "calibrator": None,
            "reason": "there is no calibrator",
            "text": "○ no evidence",
            "short": "○ no evidence",
            "shape": "○",
        },
        "measures": made.measures,
        "timings_ms": {"prompt": 3.0, "generate": 4.0},
    }
    assert made.measures["total_logprob"] == -1.5
    assert len(made.id) == 12


def test_the_calibrator_that_fits_gives_the_number_and_another_language_none(calibrator: Calibrator) -> None:
    registry = Registry((Entry("user", Path("c.json"), calibrator),), ())
    made, other = suggested(generation(), registry), suggested(generation(), registry, language="java")
    told = made.confidence
    assert (told.status, told.calibrator, told.reason) == ("informative", calibrator.id, "")
    assert (told.low or 1) < (told.probability or 0) < (told.high or 0)
    said = made.as_json()["confidence"]
    assert said["text"] == f"{said['shape']} {said['band']} {percents(said['low'], said['high'])} exact match"
    assert said["shape"] == BAND_OF_WORD[said["band"]].shape
    assert other.confidence.status == "uncalibrated"
    assert other.confidence.reason == "the calibrator for this model is for Python, not for Java"


def test_one_of_several_has_its_agreement_and_a_number_only_from_a_calibrator_that_was_fitted_on_as_many(calibrator: Calibrator) -> None:
    several = replace(calibrator, features=("agreement",), ranges=((-9.0, 0.0),), fitted_on=replace(calibrator.fitted_on, alternatives=4))
    first, both = Entry("user", Path("first.json"), calibrator), Entry("user", Path("all.json"), several)
    second = Drawn(2, 4, -2.0)
    made = suggested(generation(), Registry((first, both), ()), drawn=second)
    assert made.measures["agreement"] == -2.0
    assert (made.confidence.status, made.confidence.calibrator) == ("informative", several.id)
    for drawn, used in ((second, None), (Drawn(1, 4, -0.2), calibrator.id)):
        made = suggested(generation(), Registry((first,), ()), drawn=drawn)
        assert made.confidence.calibrator == used
        assert (made.confidence.probability is None) == (used is None)
        assert ("was fitted on first choices, and this is number 2" in made.confidence.reason) == (used is None)


@given(
    st.text(),
    st.lists(st.builds(Token, st.integers(0), st.binary(), *[st.floats(max_value=0, allow_nan=False)] * 2, st.floats(0, 50)), max_size=5),
    st.sampled_from(StopReason),
)
def test_a_generation_survives_the_way_between_the_processes(text: str, tokens: list[Token], reason: StopReason) -> None:
    made = Generation(text, tuple(tokens), reason, Timings(0.1, math.pi, 3, 2))
    assert msgspec.convert(msgspec.to_builtins(made), Generation) == made


@pytest.mark.parametrize(
    ("text", "newline"),
    [
        ("a = 1\r\nb?", "\r\n"),
        ("a = 1\rb?", "\r"),
        ("a\r\nb\nc?\r\n", "\n"),
        ("a?", "\n"),
    ],
)
def test_the_lines_of_a_block_end_as_those_of_the_document(block_gguf: Path, text: str, newline: str) -> None:
    with open_model(block_gguf, threads=1) as model:
        made = suggest_at(model, NOTHING, text, text.index("?") + 1, kind="block")
    assert made.text == f":{newline}    pass"
    assert made.measures["length"] == len(":\n    pass")
    end = position_at(text, text.index("?") + 1, "utf-32")
    assert made.range == Range(end, end)


@pytest.mark.slow
async def test_a_block_in_a_windows_document_reaches_the_editor_with_its_line_ends(block_gguf: Path) -> None:
    async with client_of(block_gguf) as client:
        await client.initialize(options={"kind": "block"})
        client.open("file:///a.py", "a = 1\r\nb?\r\n")
        (item,) = await client.complete("file:///a.py", 1, 2)
        assert item["insertText"] == item["command"]["arguments"][0]["text"] == ":\r\n    pass"


@pytest.fixture(scope="module")
def block_gguf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that continues "?" with a block of two lines and its own end."""
    model = scripted(b":", b"\n", b"    pass", END.encode())
    return write_tiny_gguf(tmp_path_factory.mktemp("block") / "block.gguf", model)


@pytest.fixture(scope="module")
def small(tiny_gguf: Path) -> Iterator[LlamaModel]:
    with open_model(tiny_gguf, threads=1) as model:
        yield model


@settings(max_examples=15, deadline=None)
@given(
    st.integers(18_000, 30_000),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.sampled_from([Settings(), Settings(prefix_tokens=100, suffix_tokens=40), Settings(prefix_tokens=7, suffix_tokens=0)]),
    st.sampled_from(["line", "block"]),
)
def test_a_window_gives_the_prompt_of_the_whole_document(small: LlamaModel, offset: int, newline: str, shown: Settings, kind: Kind) -> None:
    text = newline.join(f"    name_{n} = value_{n} " + "(" * (n % 23) for n in range(900))
    offset = min(offset, len(text))
    if text[offset - 1 : offset + 1] == "\r\n":
        offset -= 1
    document, seen = Document("file:///a.py", "python", 1, text, "utf-16"), window(shown)
    windowed = document.around(position_at(text, offset, "utf-16"), seen)
    assert windowed == (text[seen.start(offset) : offset], text[offset : offset + seen.after]), "as the command line cuts it"
    whole = prompt_at(small, text[:offset], text[offset:], kind=kind, settings=shown)
    assert prompt_at(small, *windowed, kind=kind, settings=shown) == whole
