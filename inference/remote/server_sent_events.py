"""Events out of a stream of bytes: server-sent ones, and lines of JSON."""

from __future__ import annotations


class EventStream:
    """The `data` of each event, however the stream was cut into chunks.

    Source: https://html.spec.whatwg.org/multipage/server-sent-events.html, section 9.2.6. Lines end with LF, CR or CRLF; comments and
    the fields that name, number and delay events are passed over.
    """

    def __init__(self) -> None:
        self._rest = bytearray()
        self._data: list[bytes] = []
        self._begun = False
        self._after_cr = False

    def feed(self, chunk: bytes) -> list[str]:
        """The events that are complete with this chunk, in order; bytes that can't be UTF-8 become U+FFFD."""
        events: list[str] = []
        for line in self._lines(chunk):
            if line:
                self._field(line)
            elif self._data:
                events.append(b"\n".join(self._data).decode("utf-8", "replace"))
                self._data = []
        return events

    def _lines(self, chunk: bytes) -> list[bytes]:
        """Whole lines without their ends. A CR ends a line at once: the LF that may follow it in the next chunk is dropped there."""
        if not chunk:
            return []
        if self._after_cr and chunk[:1] == b"\n":
            chunk = chunk[1:]
        self._after_cr = chunk[-1:] == b"\r"
        self._rest += chunk
        if b"\n" not in chunk and b"\r" not in chunk:
            return []
        *lines, rest = bytes(self._rest).replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        self._rest = bytearray(rest)
        if lines and not self._begun:
            self._begun = True
            lines[0] = lines[0].removeprefix(b"\xef\xbb\xbf")
        return lines

    def _field(self, line: bytes) -> None:
        name, _, value = line.partition(b":")
        if name == b"data":
            self._data.append(value.removeprefix(b" "))

    def end(self) -> list[str]:
        """What is left at the end of the stream: nothing, for an event without the blank line behind it is not whole."""
        return []


class LineStream:
    """The lines of a stream that has an event on each (https://github.com/ndjson/ndjson-spec), however it was cut into chunks."""

    def __init__(self) -> None:
        self._rest = bytearray()

    def feed(self, chunk: bytes) -> list[str]:
        """The lines that are complete with this chunk, in order; bytes that can't be UTF-8 become U+FFFD."""
        self._rest += chunk
        if b"\n" not in chunk:
            return []
        *lines, rest = bytes(self._rest).split(b"\n")
        self._rest = bytearray(rest)
        return [line.decode("utf-8", "replace") for line in lines if line.strip()]

    def end(self) -> list[str]:
        """What is left at the end of the stream: the last line need not have an end."""
        return self.feed(b"\n")
