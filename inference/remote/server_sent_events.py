"""Events out of a stream of bytes: lines of JSON, and server-sent ones."""

from __future__ import annotations


class LineStream:
    """The lines of a stream that has an event on each (https://github.com/ndjson/ndjson-spec), however it was cut into chunks."""

    def __init__(self) -> None:
        self._rest = bytearray()
        self._begun = False
        self._after_cr = False

    def feed(self, chunk: bytes) -> list[str]:
        """The events that are complete with this chunk, in order; bytes that can't be UTF-8 become U+FFFD."""
        return [line.decode("utf-8", "replace") for line in self._lines(chunk) if line.strip()]

    def end(self) -> list[str]:
        """What is left at the end of the stream: the last line need not have an end."""
        return self.feed(b"\n")

    def _lines(self, chunk: bytes) -> list[bytes]:
        """Whole lines without their ends: LF, CR or CRLF. A CR ends a line at once: the LF that may follow in the next chunk is dropped."""
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


class EventStream(LineStream):
    """The `data` of each event.

    Source: https://html.spec.whatwg.org/multipage/server-sent-events.html, section 9.2.6. Comments and the fields that name, number and
    delay events are passed over. What stands at the end of the stream without a blank line behind it is no whole event.
    """

    def __init__(self) -> None:
        super().__init__()
        self._data: list[bytes] = []

    def feed(self, chunk: bytes) -> list[str]:
        """As `LineStream.feed`."""
        events: list[str] = []
        for line in self._lines(chunk):
            name, _, value = line.partition(b":")
            if name == b"data":
                self._data.append(value.removeprefix(b" "))
            elif not line and self._data:
                events.append(b"\n".join(self._data).decode("utf-8", "replace"))
                self._data = []
        return events

    def end(self) -> list[str]:
        """Nothing."""
        return []
