"""One server, asked over HTTP: requests, answers, and which failure is which error.

The requests run on an event loop in a thread of their own. The caller waits in steps of `POLL_S` and can give up at each. The request is
then cancelled while connecting, waiting or reading, and its connection is closed, so that the server stops too.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import json
import queue
import random
import re
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, TypeVar

from ..errors import (
    AccessRefused,
    AnswerCutOff,
    BadAnswer,
    ModelClosed,
    ModelError,
    NoSuchEndpoint,
    NotACompletionServer,
    PackageMissing,
    RequestRefused,
    ServerBusy,
    ServerFailed,
    ServerTimedOut,
    ServerUnreachable,
)
from ..model import StopReason
from ..stopping.cancel_or_timeout import StopCheck, never_stop
from .address import is_loopback, server_address
from .formats import MALFORMED

try:
    import httpx
except ImportError as missing:
    raise PackageMissing("the package of assay[remote]", missing, "httpx>=0.27") from missing

POLL_S = 0.005
# Of a wait that nothing but its answer ends.
_SLOW_POLL_S = 1.0
_FIRST_RETRY_PAUSE_S = 0.1
_MAX_RETRY_PAUSE_S = 5.0
# Larger than any real answer: the log-probabilities of a vocabulary of 300,000 tokens take 40 MB.
_MAX_ANSWER_BYTES = 1 << 28
_MAX_QUOTED_CHARACTERS = 300

# By the type of a stream of events, what stands in front of each on its line (the servers asked here write one on one line).
_STREAMS = {"text/event-stream": b"data:", "application/x-ndjson": b""}
_LINE_END = re.compile(rb"\r\n?|\n")
# How a server, or a proxy in front of it, says that it lacks a path that only some servers have.
ABSENT = (NoSuchEndpoint, RequestRefused, BadAnswer, NotACompletionServer, AccessRefused)

T = TypeVar("T")


class Interrupted(Exception):
    """The caller's stop check ended the wait."""

    def __init__(self, reason: StopReason) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Times in seconds after which a wait ends.

    connect: for a connection
    silence: for the first byte, and between any two
    total: for a whole request
    retry: how long a request is retried where the server refuses connections, drops them before it answers, or asks to come back later
    load: the same while the model is opened, because the server may still be loading it
    """

    connect: float = 5.0
    silence: float = 60.0
    total: float = 600.0
    retry: float = 2.0
    load: float = 60.0


class Connection:
    """A server, its key and the connections that are kept open to it.

    The key goes to this host only: redirects are not followed, and no message holds it. Proxies of the environment are used, except for
    the loopback. Every failure is a ModelError.

    Attributes
        in_every_body: fields that each request with a body has, such as the model's name for a server that has several.
    """

    def __init__(self, address: str, key: str | None, timeouts: Timeouts, max_answer_bytes: int = _MAX_ANSWER_BYTES) -> None:
        self.where = server_address(address)
        self.timeouts, self._max_answer_bytes = timeouts, max_answer_bytes
        # The key is in no attribute, so that nothing that prints attributes can print it.
        self._without_key: Callable[[str], str] = (lambda text: text.replace(key, "…")) if key else str
        self._has_key = key is not None
        host = httpx.URL(self.where).host
        self.in_every_body: dict[str, Any] = {}
        self.warnings: tuple[str, ...] = ()
        if key and self.where.startswith("http:") and not is_loopback(host):
            self.warnings = (f"The key goes to {self.where} unencrypted: anyone on the way can read it. Use https or a tunnel.",)
        headers = {"User-Agent": "assay", "Accept-Encoding": "identity"} | ({"Authorization": f"Bearer {key}"} if key else {})
        times = httpx.Timeout(timeouts.silence, connect=timeouts.connect, pool=None)
        encrypted = self.where.startswith("https:")  # reading the certificates takes longer than a first answer over http
        try:
            self._client = httpx.AsyncClient(headers=headers, timeout=times, verify=encrypted, trust_env=not is_loopback(host))
        except (ImportError, ValueError, httpx.InvalidURL, OSError) as error:
            raise ServerUnreachable(self.where, f"a proxy or certificate of the environment can't be used: {error}") from error
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name=f"assay {self.where}", daemon=True)
        self._thread.start()

    def get(self, path: str, stop_check: StopCheck = never_stop, *, patience: float | None = None) -> Any:
        """GET a path's JSON. patience: seconds for retries, instead of `Timeouts.retry`."""
        return self._wait(self._start(self._json("GET", path, None, patience)), stop_check)

    def post(self, path: str, body: dict[str, Any], stop_check: StopCheck = never_stop) -> Any:
        """POST a body. Returns the answer's JSON."""
        return self._wait(self._start(self._json("POST", path, body, None)), stop_check)

    def ask(self, path: str, body: dict[str, Any], read: Callable[[Any], T], stop_check: StopCheck = never_stop) -> T:
        """POST a body. Returns what `read` makes of the answer: a missing field or another shape becomes BadAnswer."""
        answer = self.post(path, body, stop_check)
        with self.expecting(path):
            return read(answer)

    def optional(self, path: str, body: dict[str, Any] | None = None) -> Any:
        """The JSON of a path that only some servers have; None where this one has not."""
        try:
            return self.get(path) if body is None else self.post(path, body)
        except ABSENT:
            return None

    def post_each(self, path: str, bodies: Sequence[dict[str, Any]]) -> list[Any]:
        """POST many small bodies, eight at a time. Returns their answers in order."""

        async def all_of_them() -> list[Any]:
            free = asyncio.Semaphore(8)

            async def one(body: dict[str, Any]) -> Any:
                async with free:
                    return await self._json("POST", path, body, None)

            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(one(body)) for body in bodies]
            return [task.result() for task in tasks]

        try:
            return self._wait(self._start(all_of_them()), never_stop)
        except BaseExceptionGroup as failures:
            raise failures.exceptions[0] from None

    def stream(self, path: str, bodies: Sequence[dict[str, Any]]) -> Streams:
        """POST several bodies at once whose answers are streams of events."""
        return Streams(self, path, bodies)

    def close(self) -> None:
        """Close all connections. A second call does nothing."""
        if self._loop.is_closed():
            return
        asyncio.run_coroutine_threadsafe(self._finish(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _finish(self) -> None:
        """Let cancelled requests close their connections before the loop ends."""
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            task.cancel()
        # An abandoned generator closes in a task of its own, and only then does the one inside it, some rounds of the loop later.
        quiet_rounds = 0
        while quiet_rounds < 4:
            running = asyncio.all_tasks() - {asyncio.current_task()}
            quiet_rounds = 0 if running else quiet_rounds + 1
            await asyncio.gather(*running, asyncio.sleep(0), return_exceptions=True)
        await self._client.aclose()

    def _start(self, coroutine: Coroutine[Any, Any, T]) -> Future[T]:
        if self._loop.is_closed():
            coroutine.close()
            raise ModelClosed(self.where)
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop)

    def _wait(self, future: Future[T], stop_check: StopCheck) -> T:
        pause = _SLOW_POLL_S if stop_check is never_stop else POLL_S
        try:
            while not concurrent.futures.wait([future], timeout=pause).done:
                if stopped := stop_check():
                    raise Interrupted(stopped)
            return future.result()
        finally:
            future.cancel()

    async def _json(self, method: str, path: str, body: dict[str, Any] | None, patience: float | None) -> Any:
        async with self._request(method, path, body, patience) as response:
            data = await self._read(response, path)
        text = data.decode("utf-8", "replace")
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            raise self._other(response, path, "something that is not JSON", text) from None

    async def events(self, path: str, body: dict[str, Any]) -> AsyncGenerator[Any]:
        """The decoded data of each event, until [DONE] or the end of the stream."""
        async with self._request("POST", path, body, None) as response:
            kind = response.headers.get("content-type", "").partition(";")[0].strip()
            mark = _STREAMS.get(kind)
            if mark is None:
                text = (await self._read(response, path)).decode("utf-8", "replace")
                raise self._other(response, path, "no stream of events", text)
            rest, size = bytearray(), 0
            with self._cut_off(path):
                async for chunk in response.aiter_bytes():
                    size = self._bounded(path, size + len(chunk))
                    for line in whole_lines(rest, chunk):
                        if line.startswith(mark) and (data := line.removeprefix(mark).strip()):
                            if data == b"[DONE]":
                                return
                            yield self._event(path, data)
                if rest and not mark:  # the last line needs no end
                    yield self._event(path, bytes(rest))

    def _event(self, path: str, line: bytes) -> Any:
        data = line.decode("utf-8", "replace")
        try:
            event = json.loads(data)
        except (ValueError, RecursionError):
            raise BadAnswer(self.where, path, f"an event that is not JSON ({self.quoted(data)})") from None
        if not isinstance(event, dict):
            raise BadAnswer(self.where, path, f"an event that is no object ({self.quoted(data)})")
        if event.get("error"):
            error = event["error"]
            code = error.get("code") if isinstance(error, dict) else None
            raise RequestRefused(self.where, path, code if isinstance(code, int) else 200, self.quoted(data))
        return event

    def _other(self, response: httpx.Response, path: str, what: str, text: str) -> ModelError:
        """What an answer that is of another kind means."""
        if _is_html(response, text):
            return NotACompletionServer(self.where, f"{path} answered with a web page")
        return BadAnswer(self.where, path, f"{what} ({self.quoted(text)})")

    @contextlib.asynccontextmanager
    async def _request(self, method: str, path: str, body: dict[str, Any] | None, patience: float | None) -> AsyncIterator[httpx.Response]:
        """A successful response whose body is not read yet."""
        try:
            async with asyncio.timeout(self.timeouts.total):
                response = await self._send(method, path, body, self.timeouts.retry if patience is None else patience)
                try:
                    yield response
                finally:
                    await response.aclose()
        except TimeoutError:
            raise ServerTimedOut(self.where, f"{path} was not done", self.timeouts.total) from None

    async def _send(self, method: str, path: str, body: dict[str, Any] | None, patience: float) -> httpx.Response:
        """Send a request, and retry for `patience` seconds what failed before a byte of the answer came."""
        loop = asyncio.get_running_loop()
        began, pause = loop.time(), _FIRST_RETRY_PAUSE_S
        while True:
            sent = body and {**body, **self.in_every_body}
            request = self._client.build_request(method, self.where + path, json=sent)
            wanted, allowed = 0.0, patience
            failure: ModelError
            try:
                response = await self._client.send(request, stream=True)
            except httpx.ConnectTimeout:
                raise ServerTimedOut(self.where, "no connection", self.timeouts.connect) from None
            except httpx.TimeoutException:
                raise ServerTimedOut(self.where, f"{path} gave no answer", self.timeouts.silence) from None
            except (httpx.NetworkError, httpx.RemoteProtocolError) as error:
                failure, allowed = ServerUnreachable(self.where, self.quoted(str(error) or type(error).__name__)), self.timeouts.retry
            except (httpx.HTTPError, httpx.InvalidURL) as error:
                raise ServerUnreachable(self.where, self.quoted(str(error) or type(error).__name__)) from None
            else:
                if response.status_code < 300:
                    return response
                failure = await self._refusal(response, path)
                if not isinstance(failure, ServerBusy):
                    raise failure
                wanted = failure.after
            wait = max(pause * random.uniform(0.5, 1.5), wanted)
            if loop.time() + wait - began > allowed:
                raise failure from None
            await asyncio.sleep(wait)
            pause = min(2 * pause, _MAX_RETRY_PAUSE_S)

    async def _refusal(self, response: httpx.Response, path: str) -> ModelError:
        try:
            text = (await self._read(response, path)).decode("utf-8", "replace")
        finally:
            await response.aclose()
        # A web page is long, and its status says the same.
        status, message = response.status_code, self.quoted(response.reason_phrase if _is_html(response, text) else _message(text))
        if status in (401, 403):
            return AccessRefused(self.where, status, self._has_key)
        if status in (429, 502, 503, 504):  # 502 and 504 come from a proxy that can't reach its server
            return ServerBusy(self.where, status, message, _retry_after(response))
        if _is_html(response, text):
            return NotACompletionServer(self.where, f"{path} answered HTTP {status} with a web page")
        if status in (404, 405):
            return NoSuchEndpoint(self.where, path, f"HTTP {status}: {message}")
        if status < 400:
            return NotACompletionServer(self.where, f"it redirects to {self.quoted(response.headers.get('location', 'nowhere'))}")
        return (ServerFailed if status >= 500 else RequestRefused)(self.where, path, status, message)

    async def _read(self, response: httpx.Response, path: str) -> bytes:
        data = bytearray()
        with self._cut_off(path):
            async for chunk in response.aiter_bytes():
                self._bounded(path, len(data) + len(chunk))
                data += chunk
        return bytes(data)

    def _bounded(self, path: str, size: int) -> int:
        if size > self._max_answer_bytes:
            raise BadAnswer(self.where, path, f"more than {self._max_answer_bytes:,} bytes")
        return size

    @contextlib.contextmanager
    def expecting(self, path: str) -> Iterator[None]:
        """Read an answer's JSON in this context: a missing field or another shape becomes BadAnswer."""
        try:
            yield
        except MALFORMED as error:
            raise BadAnswer(self.where, path, f"something other than it promises ({self.quoted(repr(error))})") from None

    @contextlib.contextmanager
    def _cut_off(self, path: str) -> Iterator[None]:
        try:
            yield
        except httpx.TimeoutException:
            raise ServerTimedOut(self.where, f"{path} fell silent and said nothing", self.timeouts.silence) from None
        except httpx.HTTPError as error:
            raise AnswerCutOff(self.where, path, self.quoted(str(error) or type(error).__name__)) from None

    def quoted(self, text: str) -> str:
        """The beginning of a server's message, in one line and without the key."""
        text = self._without_key(text)
        line = " ".join("".join(c if c.isprintable() else " " for c in text[: 2 * _MAX_QUOTED_CHARACTERS]).split())
        return line if len(line) <= _MAX_QUOTED_CHARACTERS else f"{line[:_MAX_QUOTED_CHARACTERS]}…"


class Streams:
    """Requests in progress, numbered from 0 in the order of the bodies. As a context manager it cancels what still runs at the end."""

    def __init__(self, connection: Connection, path: str, bodies: Sequence[dict[str, Any]]) -> None:
        self._connection, self._path = connection, path
        self._arrived: queue.SimpleQueue[tuple[int, Any]] = queue.SimpleQueue()
        self._futures = [connection._start(self._follow(number, body)) for number, body in enumerate(bodies)]
        self._running = set(range(len(bodies)))

    def __enter__(self) -> Streams:
        return self

    def __exit__(self, *_: object) -> None:
        for number in list(self._running):
            self.end(number)

    def end(self, number: int) -> None:
        """Cancel one request and close its connection."""
        self._running.discard(number)
        self._futures[number].cancel()

    def events(self, stop_check: StopCheck) -> Iterator[tuple[int, Any]]:
        """Each event with its request's number, None for the end of a stream, until all have ended. Raises Interrupted, ModelError."""
        while self._running:
            try:
                number, event = self._arrived.get(timeout=POLL_S)
            except queue.Empty:
                event = number = None
            if stopped := stop_check():
                raise Interrupted(stopped)
            if number not in self._running:
                continue
            if isinstance(event, Exception):
                raise event
            if event is None:
                self._running.discard(number)
            yield number, event

    async def _follow(self, number: int, body: dict[str, Any]) -> None:
        try:
            # A cancelled stream closes its connection here, not when it is collected.
            async with contextlib.aclosing(self._connection.events(self._path, body)) as events:
                async for event in events:
                    self._arrived.put((number, event))
        except Exception as error:
            self._arrived.put((number, error))
        else:
            self._arrived.put((number, None))


def whole_lines(rest: bytearray, chunk: bytes) -> list[bytes]:
    """The lines that are whole with this chunk of a stream, without their ends; what stands behind them is left in `rest`."""
    rest += chunk
    if _LINE_END.search(chunk) is None:
        return []
    *lines, last = _LINE_END.split(bytes(rest))
    rest[:] = last
    return lines


def _is_html(response: httpx.Response, text: str) -> bool:
    return "html" in response.headers.get("content-type", "") or text.lstrip()[:9].lower().startswith(("<!doctype", "<html"))


def _retry_after(response: httpx.Response) -> float:
    """Seconds of the header of that name, 0 where there is none; a date is not understood (RFC 9110, section 10.2.3)."""
    seconds: str = response.headers.get("retry-after", "")
    return float(seconds) if seconds.isascii() and seconds.isdigit() else 0.0


def _message(text: str) -> str:
    """What an error's body says, in the shapes of OpenAI, vLLM, llama-server and FastAPI, else the body itself."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return text or "no message"
    for name in ("error", "message", "detail"):
        if isinstance(found, dict) and found.get(name):
            found = found[name]
    return found if isinstance(found, str) else json.dumps(found)
