from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.inference.remote.server_sent_events import EventStream, LineStream

LINES = st.text(st.characters(exclude_characters="\r\n", exclude_categories=("Cs",)))
EVENTS = st.lists(st.lists(LINES, min_size=1, max_size=3).map("\n".join), max_size=5)
ENDS = st.sampled_from(["\n", "\r", "\r\n"])


def written(events: list[str], end: str, noise: str) -> bytes:
    """A stream of these events, with comments and other fields between."""
    text = ""
    for event in events:
        text += f": {noise}{end}event: x{end}id: 7{end}"
        text += "".join(f"data: {line}{end}" for line in event.split("\n")) + end
    return text.encode()


@given(EVENTS, ENDS, LINES, st.lists(st.integers(0, 400)))
def test_events_are_the_same_wherever_the_stream_is_cut(events: list[str], end: str, noise: str, cuts: list[int]) -> None:
    data = written(events, end, noise)
    places = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
    stream = EventStream()
    found = [event for start, stop in pairwise(places) for event in stream.feed(data[start:stop])]
    assert found == events


@pytest.mark.parametrize(
    ("data", "events"),
    [
        (b"data:no space\n\n", ["no space"]),
        (b"data: two\ndata:  lines\n\n", ["two\n lines"]),
        (b"data\n\n", [""]),
        (b"\n\n\n", []),
        (b"\xef\xbb\xbfdata: x\n\n", ["x"]),
        (b"data: \xff\n\n", ["\ufffd"]),
        (b"data: not ended", []),
        (b"data: not ended\n", []),
    ],
)
def test_single_streams(data: bytes, events: list[str]) -> None:
    assert EventStream().feed(data) == events


@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
def test_the_last_line_of_a_stream_needs_no_end(end: str) -> None:
    stream = LineStream()
    lines = [*stream.feed(b'{"a":'), *stream.feed(b" 1}\n{}" + end.encode()), *stream.end()]
    assert [line.strip() for line in lines] == ['{"a": 1}', "{}"]


def test_an_event_without_a_blank_line_behind_it_is_none() -> None:
    stream = EventStream()
    assert [*stream.feed(b"data: a\n\ndata: b\n"), *stream.end()] == ["a"]
