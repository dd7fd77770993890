"""The process that holds the model: `python -P -m assay.server.model.worker`.

A failed assertion in ggml aborts its process, and a decode cannot be interrupted: so the model lives here, away from the editor's server.
One request runs at a time, in order. A thread reads, so a cancel takes effect at the next token. The end of stdin (the server is
gone) ends this process, in the middle of a decode too.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, BinaryIO

from .followed_project import FollowedProjects
from .ipc import arguments_of, fingerprint_to_json, frame, generation_to_json, read_frame, take_stdio

if TYPE_CHECKING:
    from ...inference.project_memory.memory import Memory

_GRACE_S = 1.0
# More often than a person types, and seldom enough that telling costs the model nothing.
_TELL_EVERY_S = 0.004
# Often enough beside what the server takes for hung, and seldom enough to cost nothing.
_ALIVE_EVERY_S = 1.0
# The longest that the thread which reads a project's files may hold up the model.
_SWITCH_S = 0.0005


class _Requests:
    """The requests that still wait, and the ids of those that nobody wants any more."""

    def __init__(self, stream: BinaryIO, at_once: dict[str, Callable[[dict[str, Any]], None]]) -> None:
        """at_once: what is done with requests that wait for no other, by their op."""
        self._stream = stream
        self._at_once = at_once
        self._waiting: SimpleQueue[dict[str, Any] | None] = SimpleQueue()
        self._cancelled: set[int] = set()
        self._last_done = -1
        self._ended = False
        threading.Thread(target=self._read, daemon=True, name="requests").start()

    def next(self) -> dict[str, Any] | None:
        """The next request; None when no more will come."""
        return self._waiting.get()

    def cancelled(self, number: int) -> bool:
        """Whether nobody waits for this request any more."""
        return self._ended or number in self._cancelled

    def done(self, number: int) -> None:
        """This request is answered; a cancel of it that comes later is not kept. Ids only grow."""
        self._last_done = number
        self._cancelled.discard(number)

    def _read(self) -> None:
        try:
            while (message := read_frame(self._stream)) is not None:
                if (concern := self._at_once.get(message["op"])) is not None:
                    concern(message)
                elif message["op"] != "cancel":
                    self._waiting.put(message)
                elif message["id"] > self._last_done:
                    self._cancelled.add(message["id"])
        finally:  # whatever ended it: without this thread nobody would see that the server is gone
            self._ended = True
            self._waiting.put(None)
            time.sleep(_GRACE_S)
            os._exit(0)


class _Host:
    """The model, once it is loaded, and what each request does with it."""

    def __init__(self, requests: _Requests, send: Callable[[dict[str, Any]], None], projects: FollowedProjects) -> None:
        from ...inference.model import Model
        from ...suggestion.memory.memories import Memories

        self._requests = requests
        self._projects = projects
        self._memories: Memories | None = None
        self._send = send
        self._model: Model | None = None
        self._load_ms = 0.0
        self._alive = 0.0

    def result_of(self, request: dict[str, Any]) -> Any:
        self._alive = time.monotonic()
        match request["op"]:
            case "load":
                return self._load(request)
            case "complete":
                return self._complete(request)
            case "context":
                return self._context(request)
            case "info":
                return self._info()
            case other:
                raise ValueError(f"unknown request {other!r}")

    def close(self) -> None:
        if self._model is not None:
            self._model.close()

    def _load(self, request: dict[str, Any]) -> dict[str, Any]:
        from ...inference.opening import open_model
        from ...suggestion.memory.memories import Memories

        began = time.perf_counter()
        self._model = open_model(request["where"], **request["options"])
        self._memories = Memories(self._model)
        self._load_ms = (time.perf_counter() - began) * 1e3
        return self._info()

    def _info(self) -> dict[str, Any]:
        from ...suggestion.memory.memories import memory_fingerprint
        from ...suggestion.memory.scope import DEFAULT_SCOPE

        model = self._loaded()
        return {
            "fingerprint": fingerprint_to_json(model.fingerprint),
            "layout": model.layout,
            "heals": model.capabilities.heals,
            "context_length": model.context_length,
            "memory": memory_fingerprint(model, DEFAULT_SCOPE),
            "load_ms": self._load_ms,
        }

    def _complete(self, request: dict[str, Any]) -> list[dict[str, Any]]:
        from ...suggestion.complete import complete_several

        number = request["id"]
        told = 0.0

        def unwanted() -> bool:
            self._say_alive()
            return self._requests.cancelled(number)

        def tell(text: str) -> None:
            nonlocal told
            if (now := time.perf_counter()) - told >= _TELL_EVERY_S:
                told = now
                self._send({"id": number, "text": text})

        arguments = arguments_of(request["asked"])
        self._projects.idle.clear()
        try:
            generations = complete_several(
                self._loaded(),
                memory=self._memory_of(request["asked"]),
                cancel=unwanted,
                on_text=tell if request["tell"] else None,
                **arguments,
            )
        finally:
            self._projects.idle.set()
        return [generation_to_json(generation) for generation in generations]

    def _memory_of(self, asked: dict[str, Any]) -> Memory | None:
        """The memory at a request's place."""
        assert self._memories is not None
        read = asked["memory"]
        before, after = read["before"] + asked["prefix"], asked["suffix"] + read["after"]
        return self._memories.at(before, after, read["path"], read["scope"], self._projects.of(read["root"]))

    def _context(self, request: dict[str, Any]) -> dict[str, Any]:
        from ...inference.completion.prompt import context_at, count_tokens, prompt_of, prompt_text
        from ...suggestion.context_report import context_json

        arguments = arguments_of(request["asked"])
        del arguments["count"], arguments["max_ms"]
        model = self._loaded()
        context = context_at(model, **arguments)
        prompt = prompt_of(model, context)

        def count(text: str) -> int:
            self._say_alive()
            return count_tokens(model, text)

        return context_json(context, count, prompt, prompt_text(model, prompt))

    def _say_alive(self) -> None:
        """Called wherever the model looks up from its work: the server hears of it, now and then, that this process does not hang."""
        if (now := time.monotonic()) - self._alive >= _ALIVE_EVERY_S:
            self._alive = now
            self._send({"alive": True})

    def _loaded(self) -> Any:
        if self._model is None:
            raise ValueError("no model is loaded")
        return self._model


def main() -> None:
    """Answer requests from stdin on stdout until a close or the end of stdin."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C in a terminal reaches both processes; the server decides
    stdin, stdout = take_stdio()
    sys.setswitchinterval(_SWITCH_S)
    sending = threading.Lock()

    def send(message: dict[str, Any]) -> None:
        with sending:
            stdout.write(frame(message))
            stdout.flush()

    projects = FollowedProjects(lambda state: send({"project": state.as_json()}))
    requests = _Requests(
        stdin,
        {
            "follow": lambda message: projects.follow(message["roots"]),
            "buffer": lambda message: projects.use_buffer(message["root"], message["path"], message["text"]),
        },
    )
    host = _Host(requests, send, projects)
    while (request := requests.next()) is not None and request["op"] != "close":
        number = request["id"]
        try:
            answer = {"id": number, "ok": host.result_of(request)}
        except Exception as error:
            answer = {"id": number, "error": {"type": type(error).__name__, "message": str(error)}}
        requests.done(number)
        try:
            send(answer)
        except BrokenPipeError:
            break
    host.close()


if __name__ == "__main__":
    main()
