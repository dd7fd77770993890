"""Serves one client over stdin and stdout or over TCP."""

from __future__ import annotations

import asyncio
import gc
import logging
import sys
from typing import BinaryIO

from pygls.exceptions import JsonRpcException

from ..inference.opening import ModelChoice
from .language_server import AssayServer
from .model.ipc import take_stdio
from .protocol.transport import FramingError, StreamTransport, Transport, stdio_transport

logger = logging.getLogger(__name__)


def serve(model: ModelChoice | None = None, *, tcp_port: int | None = None) -> int:
    """Run the language server on stdin and stdout, or for the first client that connects to 127.0.0.1:tcp_port (0: any free one).

    model: None for the embedded one; the editor's options may name another. Returns the exit code. Raises OSError
    for a port that can't be had, or where stdin or stdout is closed.
    """
    model = model or ModelChoice()
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr, format="assay: %(levelname)s: %(message)s")
    logging.getLogger("pygls").setLevel(logging.ERROR)  # it warns of each cancellation that comes after the answer
    logging.getLogger("pygls.protocol.json_rpc").addFilter(_is_ours)
    sys.setswitchinterval(0.001)  # the longest that a busy thread may hold up the event loop
    gc.freeze()  # walking the protocol's thousands of types would hold up the event loop for too long
    try:
        return asyncio.run(_serve_stdio(model, *take_stdio()) if tcp_port is None else _serve_tcp(model, tcp_port))
    except KeyboardInterrupt:
        return 130


async def converse(server: AssayServer, transport: Transport) -> int:
    """Serve one client until it sends `exit` or goes away. Returns the exit code: 0 after shutdown and exit, else 1."""
    server.protocol.set_writer(transport)
    try:
        async for body in transport.messages():
            server.protocol.receive(body)
            if server.protocol.exit_code is not None:
                break
            await asyncio.sleep(0)  # lets an async handler look at the document before the next message changes it
    except FramingError as error:
        logger.error("The client sent something that is no message: %s. The server ends.", error)
    finally:
        await server.close()
        await server.protocol.settle()
        transport.close()
        await transport.closed()
    return server.protocol.exit_code if server.protocol.exit_code is not None else 1


def _is_ours(record: logging.LogRecord) -> bool:
    """Whether a logged error is a fault of the server. A fault of the client is reported in the answer."""
    return not (record.exc_info and isinstance(record.exc_info[1], JsonRpcException))


async def _serve_stdio(model: ModelChoice, stdin: BinaryIO, stdout: BinaryIO) -> int:
    return await converse(AssayServer(model), await stdio_transport(stdin, stdout))


async def _serve_tcp(model: ModelChoice, port: int) -> int:
    client: asyncio.Future[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = asyncio.get_running_loop().create_future()

    def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if client.done():  # one client only: a second one would share its documents
            writer.close()
        else:
            client.set_result((reader, writer))

    listener = await asyncio.start_server(connected, "127.0.0.1", port)
    print(f"assay: listening on 127.0.0.1:{listener.sockets[0].getsockname()[1]}", file=sys.stderr, flush=True)
    async with listener:
        return await converse(AssayServer(model), StreamTransport(*await client))
