"""The process that holds the model: `python -P -m assay.server.model.worker`.

A failed assertion in ggml aborts its process, and a decode cannot be interrupted: so the model lives here, away from the editor's server.
One request runs at a time, in order. A thread reads, so a cancel takes effect at the next token. The end of stdin (the server is
gone) ends this process, in the middle of a decode too. A repair asks the model many times; what is asked meanwhile goes first.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, BinaryIO

import msgspec

from .followed_project import FollowedProjects
from .ipc import arguments_of, frame, read_frame, take_stdio

if TYPE_CHECKING:
    from ...inference.project_memory.memory import Memory
    from ...suggestion.repair.asking import Asking
    from .worker_repairs import Others

_GRACE_S = 1.0
# More often than a person types, and seldom enough that telling costs the model nothing.
_TELL_EVERY_S = 0.004
# Often enough beside what the server takes for hung, and seldom enough to cost nothing.
_ALIVE_EVERY_S = 1.0
# The longest that the thread which reads a project's files may hold up the model.
_SWITCH_S = 0.0005
# What a repair lets go first.
_URGENT = ("complete", "context")


class _Requests:
    """The requests that still wait, and the ids of those that nobody wants any more."""

    def __init__(self, stream: BinaryIO, at_once: dict[str, Callable[[dict[str, Any]], None]]) -> None:
        """at_once: what is done with requests that wait for no other, by their op."""
        self._stream = stream
        self._at_once = at_once
        self._news = threading.Condition()
        self._waiting: deque[dict[str, Any]] = deque()
        # Of those that wait or are worked on: a cancel of another one comes too late.
        self._open: set[int] = set()
        self._cancelled: set[int] = set()
        self._ended = False
        threading.Thread(target=self._read, daemon=True, name="requests").start()

    def next(self) -> dict[str, Any] | None:
        """The next request, in their order; None when no more will come."""
        with self._news:
            self._news.wait_for(lambda: self._waiting or self._ended)
            return self._waiting.popleft() if self._waiting else None

    def urgent(self) -> dict[str, Any] | None:
        """The next of those that a repair lets go first; None where none waits."""
        with self._news:
            found = next((request for request in self._waiting if request["op"] in _URGENT), None)
            if found is not None:
                self._waiting.remove(found)
            return found

    def has_urgent(self) -> bool:
        """Whether there is one."""
        return any(request["op"] in _URGENT for request in self._waiting.copy())

    def cancelled(self, number: int) -> bool:
        """Whether nobody waits for this request any more."""
        return self._ended or number in self._cancelled

    def done(self, number: int) -> None:
        """This request is answered; a cancel of it that comes later is not kept."""
        self._open.discard(number)
        self._cancelled.discard(number)

    def _read(self) -> None:
        try:
            while (message := read_frame(self._stream)) is not None:
                if (concern := self._at_once.get(message["op"])) is not None:
                    concern(message)
                elif message["op"] != "cancel":
                    with self._news:
                        self._open.add(message.get("id", -1))
                        self._waiting.append(message)
                        self._news.notify()
                elif message["id"] in self._open:
                    self._cancelled.add(message["id"])
        finally:  # whatever ended it: without this thread nobody would see that the server is gone
            with self._news:
                self._ended = True
                self._news.notify()
            time.sleep(_GRACE_S)
            os._exit(0)


class _Host:
    """The model, once it is loaded, and what each request does with it."""

    def __init__(self, requests: _Requests, send: Callable[[dict[str, Any]], None], projects: FollowedProjects) -> None:
        from ...inference.model import Model
        from ...suggestion.memory.memories import Memories
        from .worker_repairs import Instructed

        self._requests = requests
        self._projects = projects
        self._memories: Memories | None = None
        self._send = send
        self._model: Model | None = None
        self._instructed = Instructed()
        self._load_ms = 0.0
        self._alive = 0.0

    def answer(self, request: dict[str, Any]) -> None:
        """Send the result of a request, or why there is none. Raises BrokenPipeError where the server is gone."""
        number = request["id"]
        try:
            answer = {"id": number, "ok": self.result_of(request)}
        except Exception as error:
            answer = {"id": number, "error": {"type": type(error).__name__, "message": str(error)}}
        self._requests.done(number)
        self._send(answer)

    def result_of(self, request: dict[str, Any]) -> Any:
        self._alive = time.monotonic()
        match request["op"]:
            case "load":
                return self._load(request)
            case "complete":
                return self._complete(request)
            case "context":
                return self._context(request)
            case "repair":
                return self._repair(request)
            case "surprise":
                return self._surprise(request)
            case other:
                raise ValueError(f"unknown request {other!r}")

    def close(self) -> None:
        self._instructed.close()
        if self._model is not None:
            self._model.close()

    def _load(self, request: dict[str, Any]) -> dict[str, Any]:
        from ...inference.opening import ModelChoice
        from ...suggestion.memory.memories import Memories

        began = time.perf_counter()
        choice = ModelChoice(request["where"], request["options"])
        self._instructed.model = choice
        self._model = choice.itself.open()
        self._memories = Memories(self._model)
        self._load_ms = (time.perf_counter() - began) * 1e3
        return self._info()

    def _info(self) -> dict[str, Any]:
        from ...inference.prompt_size import size_for
        from ...suggestion.memory.memories import memory_fingerprint
        from ...suggestion.memory.scope import DEFAULT_SCOPE

        model = self._loaded()
        return {
            "fingerprint": msgspec.to_builtins(model.fingerprint),
            "layout": model.layout,
            "heals": model.capabilities.heals,
            "files": model.capabilities.files,
            "size": size_for(model),
            "context_length": model.context_length,
            "memory": memory_fingerprint(model, DEFAULT_SCOPE),
            "load_ms": self._load_ms,
        }

    def _complete(self, request: dict[str, Any]) -> list[dict[str, Any]]:
        from ...suggestion.complete import complete_several

        asked, told = request["asked"], 0.0

        def tell(text: str) -> None:
            nonlocal told
            if (now := time.perf_counter()) - told >= _TELL_EVERY_S:
                told = now
                self._tell(request, text)

        arguments, read = arguments_of(asked), asked["memory"]
        self._projects.idle.clear()
        try:
            generations = complete_several(
                self._loaded(),
                memory=self._remembered(read["before"] + asked["prefix"], asked["suffix"] + read["after"], read),
                cancel=partial(self._is_unwanted, request),
                on_text=tell if request["tell"] else None,
                **arguments,
            )
        finally:
            self._projects.idle.set()
        answer: list[dict[str, Any]] = msgspec.to_builtins(list(generations))
        return answer

    def _repair(self, request: dict[str, Any]) -> dict[str, Any]:
        from .worker_repairs import repairs_of

        self._projects.idle.clear()
        try:
            return repairs_of(request["asked"], self._asking(request), self._others(), self._instructed, partial(self._tell, request))
        finally:
            self._projects.idle.set()

    def _surprise(self, request: dict[str, Any]) -> dict[str, Any]:
        from .worker_repairs import surprises_of

        return surprises_of(request["asked"], self._asking(request), self._others())

    def _others(self) -> Others:
        """What is asked meanwhile, and goes first."""
        from .worker_repairs import Others

        return Others(self._requests.has_urgent, self._answer_urgent)

    def _asking(self, request: dict[str, Any]) -> Asking:
        """The model, as completions have it."""
        from ...inference.completion.prompt import Surroundings
        from ...inference.completion.settings import Settings
        from ...suggestion.repair.asking import Asking

        asked = request["asked"]
        return Asking(
            self._loaded(),
            msgspec.convert(asked["settings"], Settings),
            msgspec.convert(asked["surroundings"], Surroundings),
            lambda before, after: self._remembered(before, after, asked["memory"]),
            partial(self._is_unwanted, request),
        )

    def _answer_urgent(self) -> None:
        while (request := self._requests.urgent()) is not None:
            self.answer(request)

    def _is_unwanted(self, request: dict[str, Any]) -> bool:
        self._say_alive()
        return self._requests.cancelled(request["id"])

    def _tell(self, request: dict[str, Any], text: Any) -> None:
        self._send({"id": request["id"], "text": text})

    def _remembered(self, before: str, after: str, read: dict[str, Any]) -> Memory | None:
        assert self._memories is not None
        return self._memories.at(before, after, read["path"], read["scope"], self._projects.of(read["root"]))

    def _context(self, request: dict[str, Any]) -> dict[str, Any]:
        from ...inference.completion.prompt import context_at, prompt_of
        from ...suggestion.context_report import context_json

        arguments = arguments_of(request["asked"])
        del arguments["count"], arguments["max_ms"], arguments["language"]
        model = self._loaded()
        context = context_at(model, **arguments)
        prompt = prompt_of(model, context)

        def count(text: str) -> int:
            self._say_alive()
            counted: int = model.count_tokens(text)
            return counted

        return context_json(context, count, prompt, model.prompt_text(prompt), arguments["settings"])

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
        try:
            host.answer(request)
        except BrokenPipeError:
            break
    host.close()


if __name__ == "__main__":
    main()
