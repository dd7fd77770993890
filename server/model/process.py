"""The server's side of the model's process: asyncio, cancellable, and started again when the process dies."""

from __future__ import annotations

import asyncio
import math
import signal
import sys
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal

import msgspec

from ...inference.completion.settings import Settings
from ...inference.model import Fingerprint, Generation, Layout
from ...inference.opening import ModelChoice
from ...inference.prompt_size import PromptSize, SizeChoice, settings_of
from ...suggestion.complete import OnText
from .ipc import HEADER_BYTES, frame, model_part, parse
from .read_projects import ReadProjects
from .request import GenerationRequest, RepairRequest

State = Literal["loading", "ready", "failed", "closed"]

_COMMAND = ("-P", "-m", "assay.server.model.worker")  # -P: a workspace's json.py must not be imported in place of Python's own
_RESTARTS = 3
_RESTART_WINDOW_S = 60.0
_BACKOFF_S = (0.0, 0.5, 2.0)
_TO_START_AGAIN = "To start it again, change the model or its options in the settings, or restart the language server."
_CLOSE_S = 2.0
# A server that comes back is found soon, and one that is away costs a process now and then.
_TRY_AGAIN_S = 5.0
# How long a process that owes an answer may be silent. Longer than anything takes between two looks of the model at its clock, at which
# it says that it lives: a chunk of a prompt that a slow processor reads, or the first one on a GPU, for which kernels are compiled. Too
# long costs a minute without suggestions, too short every suggestion of a slow model, which is loaded again and again.
_HUNG_S = 60.0


class ModelUnavailable(Exception):
    """There is no model to ask, and why: it could not be loaded, its process died too often, or it was closed."""


class ModelProcessDied(Exception):
    """The model's process ended while this request was waiting; it is started again, so asking again may work."""


class ModelRequestFailed(Exception):
    """The model answered a request with an error; the process goes on."""


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """What was loaded.

    heals, files: as in `Capabilities`. size: of its prompt, if the user chooses none. memory: the fingerprint of its memory, empty where it
    has none. load_ms: milliseconds that opening it took, the start of the process not included.
    """

    fingerprint: Fingerprint
    layout: Layout
    context_length: int
    heals: bool
    files: bool
    size: PromptSize
    memory: str
    load_ms: float

    def settings(self, size: SizeChoice = "auto") -> Settings:
        """What it is shown and may write. size: as the user chose it.

        Pieces of other files come only with a size of the user's own: no calibrator is fitted with them.
        """
        return settings_of(self.size if size == "auto" else size, files=self.files and size != "auto")


class ModelProcess:
    """A model in a process of its own. One request runs at a time; the others wait here, and one that is cancelled never runs."""

    def __init__(
        self, choice: ModelChoice, *, on_state: Callable[[State], None] | None = None, projects: ReadProjects | None = None
    ) -> None:
        """choice: the model; on_state: called at each change of `state`; projects: whose files it reads."""
        self.state: State = "loading"
        self.reason = ""
        self._choice = choice
        self._on_state = on_state or (lambda _: None)
        self.projects = projects or ReadProjects()
        self.requests_sent = 0
        # How many repairs are being made.
        self.repairing = 0
        # Tokens of prompts that were not in the cache, and tokens that were written, since the start.
        self.prompt_tokens = self.decoded_tokens = 0
        self._pending: dict[int, asyncio.Future[Any]] = {}
        self._told: dict[int, OnText] = {}
        # When to look whether the process has answered, or is at work on, what it was asked: also what nobody waits for any more.
        self._owed: dict[int, asyncio.TimerHandle] = {}
        self._heard = 0.0
        self._hung = ""
        self._reloading = False
        # When a request may begin to load a model that could not be; of a file's only a change of the file does.
        self._again_at = math.inf
        self._turn = asyncio.Lock()
        self._settled = asyncio.Event()
        self._closing = asyncio.Event()
        self._loaded: LoadedModel | None = None
        self._child: asyncio.subprocess.Process | None = None
        self._life: asyncio.Task[None] | None = None
        self._last_words: deque[str] = deque(maxlen=20)

    @property
    def pid(self) -> int | None:
        """The process's id while it runs."""
        return self._child.pid if self._child is not None and self._child.returncode is None else None

    @property
    def model(self) -> LoadedModel | None:
        """What is loaded now, if anything."""
        return self._loaded if self.state == "ready" else None

    async def start(self) -> None:
        """Start the process and begin to load; does not wait for either (see `loaded`)."""
        self._life = asyncio.create_task(self._live())

    async def loaded(self) -> LoadedModel:
        """Wait until the model is loaded. Raises ModelUnavailable when it can't be."""
        while True:
            await self._settled.wait()
            if self.state == "ready" and self._loaded is not None:
                return self._loaded
            if self.state in ("failed", "closed"):
                raise ModelUnavailable(self.reason)

    async def complete(self, request: GenerationRequest, *, on_text: OnText | None = None) -> tuple[Generation, ...]:
        """What the model puts there, as `suggestion.complete.complete_several`; on_text: told the first text as it grows.

        Cancelling the awaiting task returns at once and stops the model at its next token. A process that owes an answer for longer than
        max_ms, and says nothing for a minute, is ended, whether anybody still waits or not. Raises ModelUnavailable, ModelProcessDied,
        ModelRequestFailed.
        """
        message = {"op": "complete", "asked": model_part(request), "tell": on_text is not None}
        return msgspec.convert(await self._ask_in_turn(message, request.max_ms, on_text), tuple[Generation, ...])

    async def context(self, request: GenerationRequest) -> dict[str, Any]:
        """What the model would be shown, as `context_json`. Raises what `complete` raises."""
        found: dict[str, Any] = await self._ask_in_turn({"op": "context", "asked": model_part(request)}, request.max_ms)
        return found

    async def repair(self, request: RepairRequest, *, on_found: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
        """Repairs, as `repairs_of` gives them; on_found: told what was found so far. Takes no turn: the process lets all others go first.

        Cancelling the awaiting task ends it at the model's next token. Raises what `complete` raises.
        """
        found: dict[str, Any] = await self._ask_beside("repair", request, on_found)
        return found

    async def surprise(self, request: RepairRequest) -> dict[str, Any]:
        """The surprising tokens of lines, as `surprises_of` gives them; otherwise as `repair`."""
        found: dict[str, Any] = await self._ask_beside("surprise", request)
        return found

    async def _ask_beside(self, op: str, request: RepairRequest, on_text: Callable[[Any], None] | None = None) -> Any:
        self.try_again_if_due()
        await self.loaded()
        self.repairing += 1
        try:
            return await self._ask({"op": op, "asked": msgspec.to_builtins(request)}, on_text, request.max_ms / 1e3 + _HUNG_S)
        finally:
            self.repairing -= 1

    async def _ask_in_turn(self, message: dict[str, Any], max_ms: float | None, on_text: OnText | None = None) -> Any:
        async with self._turn:
            self.try_again_if_due()
            await self.loaded()
            return await self._ask(message, on_text, None if max_ms is None else max_ms / 1e3 + _HUNG_S)

    def try_again_if_due(self) -> None:
        """Begin to load a server's model that could not be loaded. The state stays "failed", and is told once, until it is loaded."""
        now = time.monotonic()
        if self.state == "failed" and now >= self._again_at and self._life is not None and self._life.done():
            self._again_at = now + _TRY_AGAIN_S
            self._life = asyncio.create_task(self._live())

    async def reload(self, reason: str) -> None:
        """Start a new process for the model, as soon as the request that runs is answered; also after the old one was given up."""
        async with self._turn:
            if self.state == "closed":
                return
            self._enter("loading", reason)
            if self._life is None or self._life.done():
                self._life = asyncio.create_task(self._live())
            elif self.pid is not None:  # else one that will load it is about to be started
                self._reloading = True
                self._hang_up()

    async def close(self) -> None:
        """End the process: kindly, then by force. Waiting requests raise ModelUnavailable."""
        self._enter("closed", "the server is shutting down")
        self._closing.set()
        self._send({"op": "close"})
        self._hang_up()
        if self._life is None or (await asyncio.wait({self._life}, timeout=_CLOSE_S))[0]:
            return
        if self._child is not None and self._child.returncode is None:
            self._child.kill()
        await asyncio.wait({self._life}, timeout=_CLOSE_S)

    async def _live(self) -> None:
        """Run one process after the other until it may not be started again."""
        deaths: deque[float] = deque(maxlen=_RESTARTS)
        while True:
            try:
                end = await self._run_once()
            except Exception as error:  # whatever it is, a request that waits has to be told
                self._enter("failed", f"the model's process could not be started: {error}")
                self._fail_pending("could not be started")
                return
            if self._reloading and self.state != "closed":
                self._reloading = False
                continue
            if self.state in ("failed", "closed"):
                return
            now = time.monotonic()
            if len(deaths) == _RESTARTS and now - deaths[0] < _RESTART_WINDOW_S:
                often = f"the model's process died {_RESTARTS + 1} times within {_RESTART_WINDOW_S:.0f} s, last {end}"
                self._enter("failed", f"{often}. {_TO_START_AGAIN}")
                return
            deaths.append(now)
            self._enter("loading", _again(end))
            recent = sum(now - death < _RESTART_WINDOW_S for death in deaths)
            with suppress(TimeoutError):
                await asyncio.wait_for(self._closing.wait(), _BACKOFF_S[min(recent, len(_BACKOFF_S)) - 1])
                return

    async def _run_once(self) -> str:
        """Start a process, load the model, pass answers on until the process ends. Returns how it ended."""
        pipe = asyncio.subprocess.PIPE
        child = await asyncio.create_subprocess_exec(sys.executable, *_COMMAND, stdin=pipe, stdout=pipe, stderr=pipe)
        self._child = child
        if self.state == "closed":
            child.kill()
        assert child.stdout is not None
        assert child.stderr is not None
        self._last_words.clear()
        self._hung = ""
        words = asyncio.create_task(self._listen(child.stderr))
        load = asyncio.create_task(self._load())
        self.projects.tell(self._send)
        try:
            await self._read_answers(child.stdout)
            code = await self._exit_code(child)
            with suppress(TimeoutError):  # a grandchild may hold stderr open
                await asyncio.wait_for(asyncio.shield(words), 0.5)
        finally:
            for task in (words, load):
                task.cancel()
            if child.returncode is None:
                with suppress(ProcessLookupError):
                    child.kill()
            for owed in self._owed.values():
                owed.cancel()
            self._owed.clear()
        end = self._hung or self._describe_end(code)
        self._fail_pending(end)
        return end

    async def _load(self) -> None:
        try:
            data = await self._ask({"op": "load", "where": self._choice.where, "options": self._choice.options})
        except ModelProcessDied:
            return
        except Exception as error:  # a model that can't be opened, an option that can't be sent
            reason = str(error)
            if not self._choice.is_local:
                self._again_at = time.monotonic() + _TRY_AGAIN_S
                reason += f" It is tried again when a suggestion is asked for, every {_TRY_AGAIN_S:.0f} s at most."
            self._enter("failed", reason)
            self._hang_up()
            return
        self._again_at = math.inf
        self._loaded = msgspec.convert(data, LoadedModel)
        self._enter("ready", "")

    async def _ask(self, message: dict[str, Any], on_text: Callable[[Any], None] | None = None, limit_s: float | None = None) -> Any:
        number = self.requests_sent
        self.requests_sent += 1
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._pending[number] = answer
        if on_text is not None:
            self._told[number] = on_text
        try:
            self._send({"id": number, **message})
            if limit_s is not None:
                self._owed[number] = asyncio.get_running_loop().call_later(limit_s, self._end_if_hung, number, limit_s)
            return await answer
        except asyncio.CancelledError:
            self._send({"op": "cancel", "id": number})
            raise
        finally:
            self._pending.pop(number, None)
            self._told.pop(number, None)

    def _end_if_hung(self, number: int, limit_s: float) -> None:
        """An answer is overdue: end the process, unless it was heard of lately, for then it is merely slow."""
        if (left_s := self._heard + _HUNG_S - time.monotonic()) > 0:
            self._owed[number] = asyncio.get_running_loop().call_later(left_s, self._end_if_hung, number, limit_s)
        elif self._child is not None and self._child.returncode is None:
            self._hung = f"did not answer within {limit_s:.0f} s"
            self._enter("loading", _again(self._hung))
            self._child.kill()

    def _send(self, message: dict[str, Any]) -> None:
        if self._child is not None and self._child.stdin is not None and not self._child.stdin.is_closing():
            self._child.stdin.write(frame(message))

    async def _read_answers(self, stream: asyncio.StreamReader) -> None:
        with suppress(asyncio.IncompleteReadError, ConnectionResetError, ValueError):  # ValueError: a frame that holds no message
            while True:
                size = int.from_bytes(await stream.readexactly(HEADER_BYTES), "big")
                answer = parse(await stream.readexactly(size))
                self._heard = time.monotonic()
                if "alive" in answer:
                    continue
                if "project" in answer:
                    self.projects.note(answer["project"])
                    continue
                if "text" in answer:
                    if (tell := self._told.get(answer["id"])) is not None:
                        tell(answer["text"])
                    continue
                if (owed := self._owed.pop(answer["id"], None)) is not None:
                    owed.cancel()
                self._count(answer.get("ok"))
                future = self._pending.get(answer["id"])
                if future is None or future.done():
                    continue
                if "ok" in answer:
                    future.set_result(answer["ok"])
                else:
                    future.set_exception(ModelRequestFailed(answer["error"]["message"] or answer["error"]["type"]))

    def _count(self, answer: Any) -> None:
        """Add what the model did for an answer, also for one that nobody waits for any more."""
        if isinstance(answer, list):
            timings = answer[0]["timings"]
            self.prompt_tokens += timings["prompt_tokens"] - timings["reused_tokens"]
            self.decoded_tokens += sum(len(generation["tokens"]) for generation in answer)

    async def _listen(self, stream: asyncio.StreamReader) -> None:
        while chunk := await stream.read(4096):
            self._last_words.extend(line for line in chunk.decode(errors="replace").splitlines() if line.strip())

    async def _exit_code(self, child: asyncio.subprocess.Process) -> int:
        try:
            return await asyncio.wait_for(child.wait(), _CLOSE_S)
        except TimeoutError:
            child.kill()
            return await child.wait()

    def _fail_pending(self, end: str) -> None:
        for future in self._pending.values():
            if not future.done():
                future.set_exception(
                    ModelUnavailable(self.reason) if self.state == "closed" else ModelProcessDied(f"the model's process {end}")
                )

    def _describe_end(self, code: int) -> str:
        if code < 0:
            with suppress(ValueError):
                how = f"was ended by {signal.Signals(-code).name}"
                return f"{how} ({self._last_words[-1]})" if self._last_words and -code != signal.SIGKILL else how
        return f"ended with exit code {code}" + (f" ({self._last_words[-1]})" if self._last_words else "")

    def _hang_up(self) -> None:
        if self._child is not None and self._child.stdin is not None:
            self._child.stdin.close()

    def _enter(self, state: State, reason: str) -> None:
        if self.state == "closed" or (self.state, self.reason) == (state, reason):
            return
        self.state, self.reason = state, reason
        if state == "loading":
            self._settled.clear()
        else:
            self._settled.set()
        self._on_state(state)


def _again(end: str) -> str:
    return f"the model's process is started again after it {end}"
