"""A hub on the loopback for tests: what huggingface_hub asks for a file, with the redirect to another host that has the bytes."""

from __future__ import annotations

import hashlib
import re
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

COMMIT = "0123456789abcdef0123456789abcdef01234567"
_RESOLVE = re.compile(r"/(?P<repository>[^/]+/[^/]+)/resolve/(?P<revision>[^/]+)/(?P<file>.+)")
_BYTES = "/bytes/"


@dataclass
class Hub:
    """What is served, and what was asked.

    Attributes
        content: the bytes of every file. sent: those that are sent in their place; None for the content.
        size: what is said of their number; None for the truth.
        refused: the status and headers of each answer about a file; None for the file.
        busy: the same of the bytes.
        takes_ranges: whether a request for a part is answered with that.
        cuts: after how many bytes each connection is cut, in turn; a connection beyond them is whole.
        held_at: after so many bytes a connection waits until `go_on` is set. `reached` says that one does.
        asked: method, path and headers of each request.
    """

    content: bytes
    sent: bytes | None = None
    size: int | None = None
    refused: tuple[int, Mapping[str, str]] | None = None
    busy: tuple[int, Mapping[str, str]] | None = None
    cuts: list[int] = field(default_factory=list)
    held_at: int | None = None
    endpoint: str = ""
    takes_ranges: bool = True
    asked: list[tuple[str, str, Mapping[str, str]]] = field(default_factory=list)
    go_on: threading.Event = field(default_factory=threading.Event)
    reached: threading.Event = field(default_factory=threading.Event)

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.content).hexdigest()

    @property
    def ranges(self) -> list[str | None]:
        """Which part each request for the bytes asked for."""
        return [headers.get("range") for _, path, headers in self.asked if path.startswith(_BYTES)]


@contextmanager
def hub_of(content: bytes) -> Iterator[Hub]:
    """A hub that has the content under every name."""
    hub = Hub(content)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_HEAD(self) -> None:
            _answer(hub, self)

        do_GET = do_HEAD  # noqa: N815

        def log_message(self, *_: object) -> None:
            """Nothing is written."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.handle_error = lambda *_: None  # clients that go away are what is tested
    hub.endpoint = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield hub
    finally:
        hub.go_on.set()
        server.shutdown()
        server.server_close()


def _answer(hub: Hub, request: BaseHTTPRequestHandler) -> None:
    hub.asked.append((request.command, request.path, {name.lower(): value for name, value in request.headers.items()}))
    if request.path.startswith(_BYTES):
        _send(hub, request)
    elif hub.refused is not None:
        _close(request, *hub.refused)
    elif found := _RESOLVE.fullmatch(request.path):
        port = hub.endpoint.rpartition(":")[2]
        _close(
            request,
            302,
            {
                # Another host by its name, which is not sent the token.
                "Location": f"http://localhost:{port}{_BYTES}{found['file']}?signed=1",
                "X-Repo-Commit": COMMIT if found["revision"] == "main" else found["revision"],
                "X-Linked-Etag": f'"{hub.sha256}"',
                "X-Linked-Size": str(hub.size or len(hub.content)),
                "ETag": '"of the redirect"',
            },
        )
    else:
        _close(request, 404, {})


def _send(hub: Hub, request: BaseHTTPRequestHandler) -> None:
    if hub.busy is not None:
        _close(request, *hub.busy)
        return
    content = hub.content if hub.sent is None else hub.sent
    asked = re.fullmatch(r"bytes=(\d+)-", request.headers.get("Range", "")) if hub.takes_ranges else None
    start = int(asked[1]) if asked else 0
    request.send_response(206 if asked else 200)
    request.send_header("Content-Length", str(len(content) - start))
    if asked:
        request.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
    request.end_headers()
    cut = hub.cuts.pop(0) if hub.cuts else None
    if cut is not None:
        request.wfile.write(content[start : start + cut])
        request.connection.shutdown(socket.SHUT_RDWR)
        request.close_connection = True
        return
    if hub.held_at is not None and start < hub.held_at:
        request.wfile.write(content[start : hub.held_at])
        hub.reached.set()
        hub.go_on.wait()
        start = hub.held_at
    request.wfile.write(content[start:])


def _close(request: BaseHTTPRequestHandler, status: int, headers: Mapping[str, str]) -> None:
    request.send_response(status)
    for name, value in headers.items():
        request.send_header(name, value)
    request.send_header("Content-Length", "0")
    request.end_headers()
