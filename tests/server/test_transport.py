from __future__ import annotations

import asyncio
import json
import re
import sys
from pathlib import Path

import pytest

from assay.server.transport import FramingError, body_length

SERVE_TCP = "import sys; from assay.server.language_server import serve; sys.exit(serve(sys.argv[1], tcp_port=0))"


def test_the_length_is_found_whatever_the_case_and_the_other_headers() -> None:
    assert body_length(b"Content-Type: x; charset=utf-8\r\ncontent-length:  17 \r\n\r\n") == 17


@pytest.mark.parametrize(
    "header", [b"\r\n", b"Content-Length: x\r\n\r\n", b"Content-Length: -1\r\n\r\n", b"Content-Length: 99999999999\r\n\r\n"]
)
def test_a_header_without_a_length_is_refused(header: bytes) -> None:
    with pytest.raises(FramingError):
        body_length(header)


async def test_one_client_is_served_over_tcp(tiny_gguf: Path) -> None:
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", SERVE_TCP, str(tiny_gguf), stderr=pipe)
    assert process.stderr is not None
    port = re.search(rb"127.0.0.1:(\d+)", await asyncio.wait_for(process.stderr.readline(), 30))
    assert port is not None
    reader, writer = await asyncio.open_connection("127.0.0.1", int(port[1]))
    second, _ = await asyncio.open_connection("127.0.0.1", int(port[1]))
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
