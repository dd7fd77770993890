"""Serves one client over stdin and stdout or over TCP, without blocking the event loop."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import re
import stat
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import suppress
from queue import SimpleQueue
from typing import BinaryIO, Protocol

from pygls.exceptions import JsonRpcException

from ..inference.opening import ModelChoice
from .language_server import AssayServer
from .model.ipc import take_stdio

logger = logging.getLogger(__name__)


_MAX_BODY = 1 << 30
# As many digits as the longest body's length has. Python raises an error of its own for thousands.
_LENGTH = re.compile(rb"[0-9]{1,10}").fullmatch


class FramingError(Exception):
    """A header can't be read, so the start of the next message is not known."""


class Transport(Protocol):
    """Bodies of messages in, framed messages out."""

    def messages(self) -> AsyncIterator[bytes]:
        """The body of each message until the other side closes. Raises FramingError."""
        ...

    def write(self, data: bytes) -> None:
        """Send; never waits."""
        ...

    def close(self) -> None:
        """Send what is still waiting, then close; does not wait."""
        ...

    async def closed(self) -> None:
        """Wait for the end of `close`."""
        ...


def body_length(header: bytes) -> int:
    """The length of the body. header: its lines up to the empty one. Raises FramingError.

    A line that the protocol does not have is refused: a web page can have a browser send a message as the body of an HTTP request.
    """
    length: int | None = None
    for line in header.rstrip(b"\r\n").split(b"\r\n"):
        name, _, value = line.partition(b":")
        field, digits = name.strip().lower(), value.strip()
        if field not in (b"content-length", b"content-type"):
            raise FramingError(f"a header has only Content-Length and Content-Type, and this one has {line[:80]!r}")
        if field == b"content-length":
            if not _LENGTH(digits) or int(digits) > _MAX_BODY:
                raise FramingError(f"Content-Length: {digits[:40]!r} is not a length")
            length = int(digits)
    if length is None:
        raise FramingError(f"a header without Content-Length: {header[:80]!r}")
    return length


class ThreadTransport:
    """Two files, each with a thread of its own, so that neither a slow nor a silent client blocks the event loop."""

    def __init__(self, stdin: BinaryIO, stdout: BinaryIO) -> None:
        self._stdin = stdin
        self._stdout = stdout
        self._outgoing: SimpleQueue[bytes | None] = SimpleQueue()
        self._writer = threading.Thread(target=self._write, daemon=True, name="stdout")
        self._writer.start()

    async def messages(self) -> AsyncIterator[bytes]:
        """See Transport."""
        loop = asyncio.get_running_loop()
        incoming: asyncio.Queue[bytes | FramingError | None] = asyncio.Queue()

        def give(item: bytes | FramingError | None) -> None:
            with suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(incoming.put_nowait, item)

        def read() -> None:
            end: FramingError | None = None
            try:
                while (body := _read_message(self._stdin)) is not None:
                    give(body)
            except FramingError as error:
                end = error
            except OSError:
                end = None
            give(end)

        threading.Thread(target=read, daemon=True, name="stdin").start()
        while (item := await incoming.get()) is not None:
            if isinstance(item, FramingError):
                raise item
            yield item

    def write(self, data: bytes) -> None:
        """See Transport."""
        self._outgoing.put(data)

    def close(self) -> None:
        """See Transport."""
        self._outgoing.put(None)

    async def closed(self) -> None:
        """See Transport. Waits at most 2 s for a client that no longer reads."""
        await asyncio.to_thread(self._writer.join, 2.0)

    def _write(self) -> None:
        try:
            while (data := self._outgoing.get()) is not None:
                self._stdout.write(data)
                self._stdout.flush()
            self._stdout.close()
        except OSError:
            return  # the client closed the pipe; the end of stdin says so too


class StreamTransport:
    """Two streams of the event loop: of one connection, or of two pipes."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def messages(self) -> AsyncIterator[bytes]:
        """See Transport."""
        while True:
            try:
                header = await self._reader.readuntil(b"\r\n\r\n")
                body = await self._reader.readexactly(body_length(header))
            except asyncio.IncompleteReadError as error:
                if error.partial or error.expected is not None:
                    raise _cut_off(error.partial, error.expected) from error
                return
            except ConnectionError:
                return
            except asyncio.LimitOverrunError as error:
                raise FramingError("a header of more than 64 KiB") from error
            yield body

    def write(self, data: bytes) -> None:
        """See Transport."""
        self._writer.write(data)

    def close(self) -> None:
        """See Transport."""
        self._writer.close()

    async def closed(self) -> None:
        """See Transport. Waits at most 2 s for a client that no longer reads."""
        with suppress(ConnectionError, TimeoutError):
            await asyncio.wait_for(self._writer.wait_closed(), 2.0)


async def stdio_transport(stdin: BinaryIO, stdout: BinaryIO) -> Transport:
    """Messages over these two: by the event loop itself where it can wait for them, which spares each message two changes of threads.

    It can for pipes and sockets on POSIX. A terminal is left alone, because it would stay non-blocking for whoever uses it next; and of one
    socket for both ways asyncio takes what can be read for the end of the writer.
    """
    found = [os.fstat(file.fileno()) for file in (stdin, stdout)]
    waitable = all(stat.S_ISFIFO(each.st_mode) or stat.S_ISSOCK(each.st_mode) for each in found)
    if sys.platform == "win32" or not waitable or (found[0].st_dev, found[0].st_ino) == (found[1].st_dev, found[1].st_ino):
        return ThreadTransport(stdin, stdout)
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), stdin)
    writing, protocol = await loop.connect_write_pipe(lambda: asyncio.StreamReaderProtocol(asyncio.StreamReader()), stdout)
    return StreamTransport(reader, asyncio.StreamWriter(writing, protocol, None, loop))


def _read_message(stream: BinaryIO) -> bytes | None:
    header = b""
    while not header.endswith(b"\r\n\r\n"):
        line = stream.readline(1 << 16)
        if not line and not header:
            return None
        if not line:
            raise _cut_off(header, None)
        header += line
        if len(header) > 1 << 16:
            raise FramingError("a header of more than 64 KiB")
    size = body_length(header)
    body = stream.read(size)
    if len(body) < size:
        raise _cut_off(body, size)
    return body


def _cut_off(found: bytes, size: int | None) -> FramingError:
    """The input ended inside a body of this many bytes. None: inside a header."""
    if size is None:
        return FramingError(f"the input ends inside a header: {found[:80]!r}")
    return FramingError(f"the input ends after {len(found):,} of a message's {size:,} bytes")


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
