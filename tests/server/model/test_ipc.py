"""Messages between the server and the model's process."""

from __future__ import annotations

import io
import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from assay.inference.completion.prompt import Surroundings
from assay.inference.completion.settings import Settings
from assay.server.model.ipc import HEADER_BYTES, arguments_of, frame, model_part, parse, read_frame

from ..wanted import wanted

# Half a character, too, which no UTF-8 can say.
TEXTS = st.text(st.characters(codec=None, categories=None), max_size=30)


@example("\ud800", "", "\udc80", 1)
@given(TEXTS, TEXTS, TEXTS, st.integers(-(10**30), 10**30))
def test_whatever_a_text_holds_it_arrives_as_it_was(prefix: str, suffix: str, path: str, number: int) -> None:
    request = wanted(prefix, suffix, surroundings=Surroundings("head", path, ((path, prefix),)), settings=Settings(line_tokens=9), count=3)
    message = {"id": 1, "asked": model_part(request), "options": {"n_ctx": number}}
    found = read_frame(io.BytesIO(frame(message)))
    assert found is not None
    assert found["options"] == {"n_ctx": number}
    assert arguments_of(found["asked"]) == {
        "prefix": prefix,
        "suffix": suffix,
        "kind": "line",
        "language": "plaintext",
        "settings": request.settings,
        "surroundings": request.surroundings,
        "max_ms": None,
        "count": 3,
    }


def test_a_log_probability_that_is_not_known_stays_so() -> None:
    for text in ("a", "\ud800"):
        found = parse(frame({"text": text, "logprob": math.nan})[HEADER_BYTES:])
        assert math.isnan(found["logprob"])


@pytest.mark.parametrize("body", [b"", b"{", b"\xc1", b"[]", b"\x90", b"\x01"])
def test_what_is_no_message_is_an_error(body: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse(body)


def test_a_stream_that_ends_inside_a_message_has_no_more() -> None:
    whole = frame({"id": 1})
    assert read_frame(io.BytesIO(whole)) == {"id": 1}
    assert all(read_frame(io.BytesIO(whole[:end])) is None for end in range(len(whole)))
