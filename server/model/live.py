"""One model at work for an editor: its process, which request it works on, and what it wrote lately."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path
from statistics import median_low
from typing import Any, Literal, get_args

from ...inference.completion.settings import Settings
from ...inference.completion.task import Kind, Task, kind_of
from ...inference.model import StopReason
from ...inference.opening import ModelChoice
from ...suggestion.cursor import Window, window
from .cache import GenerationCache
from .process import LoadedModel, ModelProcess, ModelRequestFailed, ModelUnavailable, State
from .read_projects import ReadProjects
from .request import GenerationRequest, GenerationResult
from .scheduler import Scheduler

LOOK_S = 1.0

# What changes whenever a file does; empty where nothing is there.
Version = tuple[tuple[str, int, int, int], ...]


def version_of(where: Path) -> Version:
    """The version of a file, or of all files of a folder."""
    try:
        files = sorted(where.iterdir()) if where.is_dir() else [where]
        found = [(file.name, file.stat()) for file in files]
    except (OSError, ValueError):  # a name with a NUL byte is no file's
        return ()
    return tuple((name, seen.st_size, seen.st_mtime_ns, seen.st_ino) for name, seen in found)


async def changes(where: Path) -> AsyncIterator[Literal["gone", "changed"]]:
    """ "gone" when nothing is there any more; "changed" when another version is there and has not changed for a look: so it is whole.

    It is looked at once a second and not by file events: none come from a network drive, a model is replaced once in months, and a look
    costs a few system calls.
    """
    known = before = await asyncio.to_thread(version_of, where)
    while True:
        await asyncio.sleep(LOOK_S)
        now = await asyncio.to_thread(version_of, where)
        if now == before and now != known:
            known = now
            yield "changed" if now else "gone"
        before = now


logger = logging.getLogger(__name__)

# What goes wrong at one look at a file may do so at each, and each time is logged.
_FOLLOW_AGAIN_S = 10.0
# How many results tell how long the model usually takes until its first token: a place that is new is read for longer.
_LATEST = 5
_KINDS: tuple[Kind, ...] = get_args(Kind)
_TASKS: tuple[Task, ...] = get_args(Task)


class LiveModel:
    """A model in a process of its own, asked through a scheduler and a memory."""

    def __init__(
        self,
        choice: ModelChoice,
        settings: Settings,
        *,
        on_state: Callable[[State], None],
        on_note: Callable[[str], None] = lambda _: None,
        on_busy: Callable[[bool], None] = lambda _: None,
        projects: ReadProjects | None = None,
        remember: bool = True,
    ) -> None:
        """choice, settings, remember: as `open`; on_state: as `ModelProcess`; on_note: told what people should know of its file;
        on_busy: as `Scheduler`; projects: whose files are read."""
        self.cache = GenerationCache()
        self._on_state, self._on_note, self._on_busy = on_state, on_note, on_busy
        self._projects = projects
        self.open(choice, settings, remember=remember)

    def open(self, choice: ModelChoice, settings: Settings, *, remember: bool) -> None:
        """Go on with a model, which is not started yet, in the place of one that is closed.

        settings: what it is shown. remember: whether answers come from what was written before.
        """
        self.choice, self.settings, self._remember = choice, settings, remember
        self.process = ModelProcess(choice, on_state=self._note_state, projects=self._projects)
        self.scheduler = Scheduler(self._generate, self._on_busy)
        self.cache.forget()
        self._model_id = ""
        self._first_ms: deque[float] = deque(maxlen=_LATEST)
        self._following: asyncio.Task[None] | None = None
        self._when_loaded: GenerationRequest | None = None
        # The errors that people were told of.
        self._failures: set[str] = set()

    @property
    def first_ms(self) -> float | None:
        """How long the model usually takes until its first token; None before it has written anything."""
        return median_low(self._first_ms) if self._first_ms else None

    @property
    def window(self) -> Window:
        """How much text around the cursor to ask with."""
        return window(self.settings)

    async def start(self) -> None:
        """Begin to load the model; does not wait for it."""
        await self.process.start()
        if self.choice.is_local:
            self._following = asyncio.create_task(self._follow())

    def use(self, settings: Settings, *, remember: bool) -> None:
        """Go on with other settings; what was written with the old ones is forgotten."""
        self._remember = remember
        if settings != self.settings:
            self.settings = settings
            self.forget()

    async def loaded(self) -> LoadedModel:
        """Wait for the model. Raises ModelUnavailable."""
        return await self.process.loaded()

    def prompts(self, *, with_memory: bool) -> dict[Task, str]:
        """By task, the id of the prompt and the decoder that suggestions are made with; empty until the model is loaded."""
        loaded = self.process.model
        if loaded is None:
            return {}
        memory = loaded.memory if with_memory else ""
        return {
            task: self.settings.fingerprint(loaded.layout, loaded.context_length, kind_of(task), heals=loaded.heals, memory=memory)
            for task in _TASKS
        }

    def remembered(self, request: GenerationRequest) -> GenerationResult | None:
        """What the model wrote before and still fits, of the wanted kind or, where something was typed along it, of any."""
        if not self._remember:
            return None
        place = request.place
        for kind in (place.kind, *(kind for kind in _KINDS if kind != place.kind)):
            found = self.cache.find(request.uri, place.prefix, place.suffix, kind)
            if found is not None and (kind == place.kind or (found.typed and found.generations)):
                return found
        return None

    async def generate(self, request: GenerationRequest) -> GenerationResult:
        """What the model writes. Raises Superseded, ModelUnavailable, ModelProcessDied, ModelRequestFailed."""
        self._when_loaded = None
        result = await self.scheduler.ask(request)
        if result.source == "model" and result.generations:
            self._first_ms.append(result.generations[0].timings.prompt_ms)
        return result

    def prepare(self, request: GenerationRequest, *, again: bool = False) -> None:
        """Let the model write what may be asked for next, if it has nothing else to do; again: also where something is remembered."""
        is_idle = self.process.model is not None and not self.process.repairing
        if self._remember and is_idle and (again or self.remembered(request) is None):
            self.scheduler.prepare(replace(request, speculative=True))

    def read_ahead(self, request: GenerationRequest) -> None:
        """As `prepare`, once the model is loaded. A server is not asked just because a cursor rests."""
        if not self.choice.is_local:
            return
        if self.process.model is None:
            self._when_loaded = request
        else:
            self.prepare(request)

    async def context(self, request: GenerationRequest) -> dict[str, Any]:
        """What the model is shown there: `context_json`. Raises what `generate` raises, but Superseded; ModelUnavailable also when it takes
        longer than the request may."""
        try:
            async with asyncio.timeout(None if request.max_ms is None else request.max_ms / 1e3):
                return await self.process.context(await self._sized(request))
        except TimeoutError:
            loading = self.process.state == "loading"
            raise ModelUnavailable("the model is still loading" if loading else "the model had no time for this") from None

    async def close(self) -> None:
        """End the model's process. Calling it again does nothing."""
        if self._following is not None:
            self._following.cancel()
        closing = asyncio.create_task(self.process.close())
        await self.scheduler.close()
        await closing

    async def _generate(self, request: GenerationRequest, tell: Callable[[str], None]) -> GenerationResult:
        """Ask the process, and remember its answer, but for what a time limit cut off: that is written anew, and further, another time."""
        place = request.place
        try:
            generations = await self.process.complete(await self._sized(request), on_text=tell)
        except ModelRequestFailed as error:
            if str(error) not in self._failures:
                self._failures.add(str(error))
                self._on_note(f"The model answers with an error, so there are no suggestions: {error}")
            raise
        has_text = any(generation.text.strip() for generation in generations)
        timed_out = not has_text and any(generation.stopped_by is StopReason.TIME for generation in generations)
        tokens = sum(len(generation.tokens) for generation in generations)
        result = GenerationResult(generations, place.kind, tokens=tokens, timed_out=timed_out, drawn=len(generations))
        if result.was_cut_off:
            return result
        return replace(result, generations=self.cache.keep(request.uri, place.prefix, place.suffix, place.kind, generations))

    async def _sized(self, request: GenerationRequest) -> GenerationRequest:
        """The request with what the loaded model is shown, which was not known when it was made before that. Raises ModelUnavailable."""
        self.process.try_again_if_due()
        await self.process.loaded()
        return replace(request, settings=self.settings)

    def _note_state(self, state: State) -> None:
        """A process that is started again may load another model: its file was replaced, or its server serves another one."""
        if (loaded := self.process.model) is not None and loaded.fingerprint.id != self._model_id:
            self._model_id = loaded.fingerprint.id
            self.cache.forget()  # and not the requests: those that wait for the model are asked of this one
        self._on_state(state)
        if loaded is not None and self._when_loaded is not None:
            request, self._when_loaded = self._when_loaded, None
            self.prepare(request)

    def forget(self) -> None:
        """Forget what was written, and what is being written."""
        self.scheduler.clear()
        self.cache.forget()

    async def _follow(self) -> None:
        file = Path(await asyncio.to_thread(lambda: self.choice.located))  # a name may have to be looked up in many folders
        while True:
            try:
                async for change in changes(file):
                    await self._take_change(file, change)
            except Exception:
                logger.exception("The model %s can't be watched for changes; it is tried again in %g s.", file, _FOLLOW_AGAIN_S)
            await asyncio.sleep(_FOLLOW_AGAIN_S)

    async def _take_change(self, file: Path, change: Literal["gone", "changed"]) -> None:
        try:
            if change == "changed":
                self.forget()
                await self.process.reload(f"{file} has changed and is loaded again")
            else:
                self._on_note(f"The model {file} is gone. What is loaded of it goes on working; it is loaded again when it is back.")
        except Exception:  # not for the watch: begun anew, it would miss what changes meanwhile
            logger.exception("A change of the model %s could not be taken in.", file)
