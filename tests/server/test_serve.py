from __future__ import annotations

import asyncio
import io
import json
import os
import re
import socket
import subprocess
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import cast

import pytest

from assay.server.serve import FramingError, StreamTransport, ThreadTransport, body_length, stdio_transport

SERVE = [sys.executable, "-m", "assay", "serve"]
SERVE_TCP = """import sys
from assay.inference.opening import ModelChoice
from assay.server.serve import serve
sys.exit(serve(ModelChoice(sys.argv[1]), tcp_port=0))"""


def test_the_length_is_found_whatever_the_case_and_the_other_headers() -> None:
    assert body_length(b"Content-Type: x; charset=utf-8\r\ncontent-length:  17 \r\n\r\n") == 17


@pytest.mark.parametrize(
    "header",
    [
        b"\r\n",
        b"Content-Length: x\r\n\r\n",
        b"Content-Length: -1\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\n",
        b"Content-Length: 2\r\nHost: 127.0.0.1\r\n\r\n",
        b"Content-Length: 99999999999\r\n\r\n",
        b"Content-Length: " + b"9" * 5_000 + b"\r\n\r\n",
    ],
)
def test_a_header_without_a_length_or_with_a_line_that_the_protocol_does_not_have_is_refused(header: bytes) -> None:
    with pytest.raises(FramingError):
        body_length(header)


@pytest.mark.slow
async def test_a_message_that_a_web_page_sends_over_http_ends_the_server_before_it_is_read(tmp_path: Path) -> None:
    async with served_over_tcp(Path("none.gguf")) as (process, port):
        with socket.create_server(("127.0.0.1", 0)) as elsewhere:
            model = f"http://127.0.0.1:{elsewhere.getsockname()[1]}"
            options = {"model": model, "modelOptions": {"keyFile": __file__}, "log": {"path": str(tmp_path / "log.sqlite3")}}
            params = {"processId": None, "rootUri": None, "capabilities": {}, "initializationOptions": options}
            body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}).encode()
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"POST / HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Length: %d\r\n" % (port, len(body)))
            writer.write(b"Content-Type: text/plain;charset=UTF-8\r\nOrigin: https://a.example\r\n\r\n" + body)
            with suppress(ConnectionError):
                assert await asyncio.wait_for(reader.read(), 30) == b""
            assert await asyncio.wait_for(process.wait(), 30) == 1
            assert b"this one has b'POST / HTTP/1.1'" in await process.stderr.read()
            elsewhere.settimeout(0.5)
            with pytest.raises(TimeoutError):  # no process of a model has come
                elsewhere.accept()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sent", "said"),
    [
        (b"", ""),
        (b"hello\r\n\r\n", "a header has only Content-Length and Content-Type, and this one has b'hello'"),
    ],
)
def test_input_that_is_no_message_ends_the_server_with_one_line(sent: bytes, said: str) -> None:
    done = subprocess.run([*SERVE, "--model", "none.gguf"], input=sent, capture_output=True, timeout=60, check=False)
    assert done.returncode == 1
    assert done.stdout == b""
    assert done.stderr.count(b"\n") == (1 if said else 0)
    assert said in done.stderr.decode()


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="closes a stream by the shell")
def test_without_stdin_or_stdout_the_server_says_so() -> None:
    command = ["/bin/sh", "-c", '"$@" >&-', "sh", *SERVE]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False)
    assert done.returncode == 1
    assert done.stderr == b"assay: can't listen: stdin or stdout is closed, and messages go over them\n"


def test_a_message_that_comes_after_the_end_is_dropped_quietly(monkeypatch: pytest.MonkeyPatch) -> None:
    faults: list[object] = []
    monkeypatch.setattr(threading, "excepthook", faults.append)
    message = b"Content-Length: 2\r\n\r\n{}"
    reading, writing = os.pipe()

    async def first() -> bytes:
        transport = ThreadTransport(os.fdopen(reading, "rb"), io.BytesIO())
        os.write(writing, message)
        body = await anext(transport.messages())
        transport.close()
        return body

    assert asyncio.run(first()) == b"{}"
    os.write(writing, message)
    os.close(writing)
    for thread in threading.enumerate():
        if thread.name == "stdin":
            thread.join(10)
    assert faults == []


@pytest.mark.parametrize("sent", [b"hello", b"Content-Length: 2\r\n\r\n", b"Content-Length: 2\r\n\r\n{"])
async def test_a_connection_that_ends_inside_a_message_is_told_from_one_that_ends(sent: bytes) -> None:
    whole = b"Content-Length: 2\r\n\r\n{}"
    reader = asyncio.StreamReader()
    reader.feed_data(whole + sent)
    reader.feed_eof()
    messages = StreamTransport(reader, cast(asyncio.StreamWriter, None)).messages()
    assert await anext(messages) == b"{}"
    with pytest.raises(FramingError, match="the input ends"):
        await anext(messages)


@asynccontextmanager
async def served_over_tcp(model: Path) -> AsyncIterator[tuple[asyncio.subprocess.Process, int]]:
    """A server that waits for its client, and its port."""
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", SERVE_TCP, str(model), stderr=pipe)
    try:
        port = re.search(rb"127.0.0.1:(\d+)", await asyncio.wait_for(process.stderr.readline(), 30))
        yield process, int(port[1])
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


@pytest.mark.slow
async def test_one_client_is_served_over_tcp(tiny_gguf: Path) -> None:
    async with served_over_tcp(tiny_gguf) as (process, port):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        second, _ = await asyncio.open_connection("127.0.0.1", port)
        assert await second.read() == b""
        for message in (
            {"id": 1, "method": "initialize", "params": {"capabilities": {}, "processId": None, "rootUri": None}},
            {"id": 2, "method": "shutdown"},
            {"method": "exit"},
        ):
            body = json.dumps({"jsonrpc": "2.0", **message}).encode()
            writer.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        answers = await asyncio.wait_for(reader.read(), 30)
        assert b'"inlineCompletionProvider"' in answers
        assert b'"result": null' in answers
        assert await asyncio.wait_for(process.wait(), 30) == 0


@pytest.mark.skipif(os.name != "posix", reason="Windows has no such sockets")
async def test_one_socket_for_both_ways_is_served_by_threads() -> None:
    message = b"Content-Length: 2\r\n\r\n{}"
    ours, theirs = socket.socketpair()
    with theirs:
        other = os.dup(ours.fileno())
        transport = await stdio_transport(os.fdopen(ours.detach(), "rb"), os.fdopen(other, "wb"))
        assert isinstance(transport, ThreadTransport)
        theirs.sendall(message)
        assert await anext(transport.messages()) == b"{}"
        transport.write(message)
        transport.close()
        await transport.closed()
        assert theirs.recv(100) == message
