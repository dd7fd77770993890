"""One server, asked over HTTP: what goes out, what comes back, and which failure is which.

The requests run in a thread of their own, on an event loop; the caller waits for them in steps of `POLL_S` and can give up at each: the
request is then cancelled wherever it is, while connecting, waiting or reading, and its connection closed, by which the server learns.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import ipaddress
import json
import queue
import random
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, TypeVar

from .errors import (
    AccessRefused,
    AnswerCutOff,
    BadAnswer,
    BadServerAddress,
    HttpxMissing,
    ModelError,
    NoSuchEndpoint,
    NotACompletionServer,
    RemoteClosed,
    RequestRefused,
    ServerBusy,
    ServerTimedOut,
    ServerUnreachable,
)
from .model import StopReason
from .remote_events import EventStream

try:
    import httpx
except ImportError as missing:
    raise HttpxMissing(str(missing)) from missing

POLL_S = 0.005
_FIRST_RETRY_S = 0.1
_LONGEST_RETRY_S = 5.0
# No answer that is read at once is larger: the log-probabilities of a whole vocabulary of 300,000 take 40 MB.
_MOST_BYTES = 1 << 28
_SHOWN_OF_A_MESSAGE = 300

T = TypeVar("T")
Watch = Callable[[], StopReason | None]


def unwatched() -> None:
    """A watch that never ends anything."""


class Interrupted(Exception):
    """The caller's watch ended the wait."""

    def __init__(self, reason: StopReason) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Seconds. connect: until there is a connection; silence: until the first byte, and between any two; total: of a whole request.

    retry: how long a server that refuses connections, drops them before it answers, or asks to come back later is asked again; load: the
    same while the model is opened, for a server that still loads it.
    """

    connect: float = 5.0
    silence: float = 60.0
    total: float = 600.0
    retry: float = 2.0
    load: float = 60.0


def server_address(url: str) -> str:
    """The address that paths are put behind: without a query, a final slash or /v1. Raises BadServerAddress."""
    try:
        parsed = httpx.URL(url)
    except (httpx.InvalidURL, TypeError, ValueError) as error:
        raise BadServerAddress("the server's address", f"not a URL ({error})") from None
    if parsed.userinfo:
        where = f"{parsed.scheme}://{parsed.host}"
        raise BadServerAddress(where, "a name and password in the address; a key goes into a file or into ASSAY_API_KEY")
    if parsed.scheme not in ("http", "https") or not parsed.host:
        raise BadServerAddress(url, "neither http:// nor https:// and a host")
    path = parsed.path.rstrip("/").removesuffix("/v1").removesuffix("/completions").removesuffix("/v1").rstrip("/")
    return f"{parsed.scheme}://{parsed.netloc.decode('ascii')}{path}"


def is_loopback(host: str) -> bool:
    """Whether a host is this machine itself, by its name or number; names are not looked up."""
    with contextlib.suppress(ValueError):
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    return host == "localhost" or host.endswith(".localhost")


class Connection:
    """A server, its key and the connections that are kept open to it. The key goes to this host only: no redirect is followed.

    Proxies of the environment are used, but never for the loopback. Raises what `errors` names; no message holds the key.
    """

    def __init__(self, address: str, key: str | None, timeouts: Timeouts) -> None:
        self.where = server_address(address)
        self.timeouts = timeouts
        self._key = key
        host = httpx.URL(self.where).host
        self.warnings: tuple[str, ...] = ()
        if key and self.where.startswith("http:") and not is_loopback(host):
            self.warnings = (f"The key goes to {self.where} unencrypted: everyone on the way can read it. Use https, or a tunnel.",)
        headers = {"User-Agent": "assay", "Accept-Encoding": "identity"} | ({"Authorization": f"Bearer {key}"} if key else {})
        times = httpx.Timeout(timeouts.silence, connect=timeouts.connect, pool=None)
        encrypted = self.where.startswith("https:")  # else no certificates are read, which takes longer than the first answer
        try:
            self._client = httpx.AsyncClient(headers=headers, timeout=times, verify=encrypted, trust_env=not is_loopback(host))
        except (ImportError, ValueError, httpx.InvalidURL, OSError) as error:
            raise ServerUnreachable(self.where, f"a proxy or certificate of the environment can't be used: {error}") from error
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name=f"assay {self.where}", daemon=True)
        self._thread.start()

    def get(self, path: str, watch: Watch = unwatched, *, patience: float | None = None) -> Any:
        """The JSON at a path. patience: seconds for retries, else `Timeouts.retry`."""
        return self._wait(self._start(self._json("GET", path, None, patience)), watch)

    def post(self, path: str, body: dict[str, Any], watch: Watch = unwatched) -> Any:
        """The JSON that a path answers a request with."""
        return self._wait(self._start(self._json("POST", path, body, None)), watch)

    def post_each(self, path: str, bodies: Sequence[dict[str, Any]], watch: Watch = unwatched) -> list[Any]:
        """The answers to many small requests, eight at a time."""

        async def all_of_them() -> list[Any]:
            free = asyncio.Semaphore(8)

            async def one(body: dict[str, Any]) -> Any:
                async with free:
                    return await self._json("POST", path, body, None)

            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(one(body)) for body in bodies]
            return [task.result() for task in tasks]

        try:
            return self._wait(self._start(all_of_them()), watch)
        except BaseExceptionGroup as failures:
            raise failures.exceptions[0] from None

    def stream(self, path: str, bodies: Sequence[dict[str, Any]]) -> Streams:
        """Several requests at once, whose answers come as events."""
        return Streams(self, path, bodies)

    def close(self) -> None:
        """Close all connections; a second time does nothing."""
        if self._loop.is_closed():
            return
        asyncio.run_coroutine_threadsafe(self._client.aclose(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _start(self, coroutine: Coroutine[Any, Any, T]) -> Future[T]:
        if self._loop.is_closed():
            coroutine.close()
            raise RemoteClosed(self.where)
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop)

    def _wait(self, future: Future[T], watch: Watch) -> T:
        try:
            while not concurrent.futures.wait([future], timeout=POLL_S).done:
                if stopped := watch():
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
        except ValueError:
            if _is_html(response, text):
                raise NotACompletionServer(self.where, f"{path} answered with a web page") from None
            raise BadAnswer(self.where, path, f"something that is not JSON ({self._shown(text)})") from None

    async def events(self, path: str, body: dict[str, Any]) -> AsyncIterator[Any]:
        """The decoded data of each event until [DONE] or the end of the stream."""
        async with self._request("POST", path, body, None) as response:
            if not response.headers.get("content-type", "").startswith("text/event-stream"):
                text = (await self._read(response, path)).decode("utf-8", "replace")
                if _is_html(response, text):
                    raise NotACompletionServer(self.where, f"{path} answered with a web page")
                raise BadAnswer(self.where, path, f"no stream of events ({self._shown(text)})")
            stream = EventStream()
            with self._cut_off(path):
                async for chunk in response.aiter_bytes():
                    for data in stream.feed(chunk):
                        if data == "[DONE]":
                            return
                        yield self._event(path, data)

    def _event(self, path: str, data: str) -> Any:
        try:
            event = json.loads(data)
        except ValueError:
            raise BadAnswer(self.where, path, f"an event that is not JSON ({self._shown(data)})") from None
        if not isinstance(event, dict):
            raise BadAnswer(self.where, path, f"an event that is no object ({self._shown(data)})")
        if event.get("error"):
            error = event["error"]
            code = error.get("code") if isinstance(error, dict) else None
            raise RequestRefused(self.where, path, code if isinstance(code, int) else 200, self._shown(data))
        return event

    @contextlib.asynccontextmanager
    async def _request(self, method: str, path: str, body: dict[str, Any] | None, patience: float | None) -> AsyncIterator[httpx.Response]:
        """A response whose status is good and whose body is still to be read."""
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
        """Ask until it answers, or until patience is over; only what failed before a byte of the answer came is asked again."""
        loop = asyncio.get_running_loop()
        began, pause = loop.time(), _FIRST_RETRY_S
        while True:
            request = self._client.build_request(method, self.where + path, json=body)
            wanted: float | None = None
            failure: ModelError
            try:
                response = await self._client.send(request, stream=True)
            except httpx.ConnectTimeout:
                raise ServerTimedOut(self.where, "no connection", self.timeouts.connect) from None
            except httpx.TimeoutException:
                raise ServerTimedOut(self.where, f"{path} gave no answer", self.timeouts.silence) from None
            except (httpx.NetworkError, httpx.RemoteProtocolError) as error:
                failure, patience = ServerUnreachable(self.where, self._shown(str(error) or type(error).__name__)), self.timeouts.retry
            except (httpx.HTTPError, httpx.InvalidURL) as error:
                raise ServerUnreachable(self.where, self._shown(str(error) or type(error).__name__)) from None
            else:
                if response.status_code < 300:
                    return response
                failure = await self._refusal(response, path)
                if not isinstance(failure, ServerBusy):
                    raise failure
                wanted = _retry_after(response)
            wait = pause * random.uniform(0.5, 1.5) if wanted is None else wanted
            if loop.time() + wait - began > patience:
                raise failure from None
            await asyncio.sleep(wait)
            pause = min(2 * pause, _LONGEST_RETRY_S)

    async def _refusal(self, response: httpx.Response, path: str) -> ModelError:
        try:
            text = (await self._read(response, path)).decode("utf-8", "replace")
        finally:
            await response.aclose()
        status, message = response.status_code, self._shown(_message(text))
        if status in (401, 403):
            return AccessRefused(self.where, status, self._key is not None)
        if status in (429, 503):
            return ServerBusy(self.where, status, message)
        if _is_html(response, text):
            return NotACompletionServer(self.where, f"{path} answered HTTP {status} with a web page")
        if status in (404, 405):
            return NoSuchEndpoint(self.where, path, f"HTTP {status}: {message}")
        if status < 400:
            return NotACompletionServer(self.where, f"it sends elsewhere, to {self._shown(response.headers.get('location', 'nowhere'))}")
        return RequestRefused(self.where, path, status, message)

    async def _read(self, response: httpx.Response, path: str) -> bytes:
        data = bytearray()
        with self._cut_off(path):
            async for chunk in response.aiter_bytes():
                data += chunk
                if len(data) > _MOST_BYTES:
                    raise BadAnswer(self.where, path, f"more than {_MOST_BYTES:,} bytes")
        return bytes(data)

    @contextlib.contextmanager
    def _cut_off(self, path: str) -> Iterator[None]:
        try:
            yield
        except httpx.TimeoutException:
            raise ServerTimedOut(self.where, f"{path} fell silent and said nothing", self.timeouts.silence) from None
        except httpx.HTTPError as error:
            raise AnswerCutOff(self.where, path, self._shown(str(error) or type(error).__name__)) from None

    def _shown(self, text: str) -> str:
        """The beginning of what a server said, in one line; a key that it repeats is left out."""
        if self._key:
            text = text.replace(self._key, "…")
        line = " ".join("".join(c if c.isprintable() else " " for c in text[: 2 * _SHOWN_OF_A_MESSAGE]).split())
        return line if len(line) <= _SHOWN_OF_A_MESSAGE else f"{line[:_SHOWN_OF_A_MESSAGE]}…"


class Streams:
    """Requests in progress, numbered from 0 in the order they were given. A context: whatever still runs at its end is cancelled."""

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
        """Cancel one request: its connection is closed, nothing of it comes any more."""
        self._running.discard(number)
        self._futures[number].cancel()

    def events(self, watch: Watch) -> Iterator[tuple[int, Any]]:
        """Each event with its request's number, None for the end of one; stops when none runs. Raises Interrupted, ModelError."""
        while self._running:
            try:
                number, event = self._arrived.get(timeout=POLL_S)
            except queue.Empty:
                event = number = None
            if stopped := watch():
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
            async for event in self._connection.events(self._path, body):
                self._arrived.put((number, event))
        except Exception as error:
            self._arrived.put((number, error))
        else:
            self._arrived.put((number, None))


def _is_html(response: httpx.Response, text: str) -> bool:
    return "html" in response.headers.get("content-type", "") or text.lstrip()[:9].lower().startswith(("<!doctype", "<html"))


def _retry_after(response: httpx.Response) -> float | None:
    """Seconds of the header of that name; a date is not understood (RFC 9110, section 10.2.3)."""
    try:
        return max(0.0, float(response.headers["retry-after"]))
    except (KeyError, ValueError):
        return None


def _message(text: str) -> str:
    """What an error's body says, in the shapes of OpenAI, vLLM, llama-server, TGI and FastAPI, else the body itself."""
    try:
        found = json.loads(text)
    except ValueError:
        return text or "no message"
    for name in ("error", "message", "detail"):
        if isinstance(found, dict) and found.get(name):
            found = found[name]
    return found if isinstance(found, str) else json.dumps(found)
