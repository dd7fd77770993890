"""Which request a model works on: the latest wins, and what already runs goes on where it still fits.

One job runs at a time. A new request joins the running job if its text is that job's, or goes on from it as the job's own text does. Else
it waits, supersedes what it makes pointless, and the running job is cancelled: there is one cursor, so an older request is for a text that
is gone. A job that nobody waits for any more goes on for a moment, because editors cancel a request just before they send the next one.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace

from ...inference.model import Generation
from ...suggestion.remainder import MAX_BEHIND, gained, rest_of
from .request import GenerationRequest, GenerationResult

# Between an editor's cancel and its next request, which may still fit: one message at least, and what the editor waits by itself.
ORPHAN_S = 0.1
# How much may be typed while one generation is made, or along a suggestion: the longest have about so many characters.
MAX_TYPED = 1_000
# Of the text before the cursor, so much finds a place again in a window that has moved.
_TAIL = 256
# Of the text behind the cursor, so much says that it is the same.
_HEAD = 300
# What an editor puts behind the cursor by itself, and how much of it at most.
_CLOSERS = ")]}>\"'`"
_MAX_CLOSERS = 4


class Superseded(Exception):
    """A later request made this one pointless before it had an answer."""


# Generates for a request, and tells the first text as it grows. Cancelled when nobody wants the result any more.
Work = Callable[[GenerationRequest, Callable[[str], None]], Awaitable[GenerationResult]]


@dataclass(eq=False, slots=True)
class _Waiter:
    """Who waits for the result of a request, and since when."""

    request: GenerationRequest
    future: asyncio.Future[GenerationResult]
    since: float


@dataclass(eq=False, slots=True)
class _Job:
    """A request that the model works on, or will, and who waits for it. text: what the model has written so far."""

    request: GenerationRequest
    not_before: float
    waiters: list[_Waiter] = field(default_factory=list)
    text: str = ""
    started: float = 0.0
    task: asyncio.Task[None] | None = None

    @property
    def urgency(self) -> int:
        """That of the most urgent request that waits for it; its own where none does."""
        return max((waiter.request.urgency for waiter in self.waiters), default=self.request.urgency)


def typed_since(old: GenerationRequest, new: GenerationRequest) -> str | None:
    """What was typed between two requests if that is all that happened: "" where the text is the same, None where something else did.

    A closing bracket or quote that the editor put behind the cursor by itself is no difference.
    """
    if old.uri != new.uri or not _same_behind(old.place.suffix, new.place.suffix):
        return None
    before, now = old.place.prefix, new.place.prefix
    if now.startswith(before):
        typed = now[len(before) :]
    else:
        tail = before[-_TAIL:]
        at = now.rfind(tail, max(0, len(now) - _TAIL - MAX_TYPED))
        if len(tail) < _TAIL or at < 0 or not before.endswith(now[: at + _TAIL]):
            return None
        typed = now[at + _TAIL :]
    return typed if len(typed) <= MAX_TYPED else None


def agrees(typed: str, text: str) -> bool:
    """Whether one of what was typed and what is written so far begins with the other."""
    typed = typed.replace("\r\n", "\n").replace("\r", "\n")
    return text.startswith(typed) or typed.startswith(text)


def fits(job: GenerationRequest, text: str, request: GenerationRequest) -> bool:
    """Whether a job that has written `text` so far may still answer this request."""
    typed = typed_since(job, request)
    if typed is None or request.count > job.count or not agrees(typed, text):
        return False
    return request.place.kind == job.place.kind or (typed != "" and job.place.kind != "line")


class Scheduler:
    """The requests to one model."""

    def __init__(self, work: Work, on_busy: Callable[[bool], None] = lambda _: None) -> None:
        """work: as `Work`; on_busy: told when work begins and when none is left."""
        self._work = work
        self._on_busy = on_busy
        self._told_busy = False
        self._running: _Job | None = None
        self._waiting: list[_Job] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._latest: _Waiter | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._closed = False

    @property
    def busy(self) -> bool:
        """Whether a job runs or waits."""
        return self._running is not None or bool(self._waiting)

    async def ask(self, request: GenerationRequest) -> GenerationResult:
        """The result of a request: `rest_of` the generations at its place.

        Raises Superseded, and what `work` raises. Cancelling the awaiting task ends this request alone.
        """
        waiter = _Waiter(request, asyncio.get_running_loop().create_future(), time.monotonic())
        self._latest = waiter
        self._submit(waiter)
        try:
            return await waiter.future
        finally:
            self._leave(waiter)

    def prepare(self, request: GenerationRequest) -> None:
        """Let the model work on what may be asked next, if nobody waits for anything. It takes the place of what was prepared before."""
        jobs = [*self._waiting, *([self._running] if self._running else ())]
        if self._closed or any(job.waiters or not job.request.speculative for job in jobs):
            return
        if any(fits(job.request, job.text, request) for job in jobs):
            return
        for job in jobs:
            self._drop(job)
        self._waiting.append(_Job(request, time.monotonic() + request.delay_s))
        self._pump()

    def clear(self) -> None:
        """Supersede all requests and stop the model's work."""
        for job in (*self._waiting, *([self._running] if self._running else ())):
            self._drop(job)

    async def close(self) -> None:
        """End: every request that waits is superseded, and none is taken any more."""
        self._closed = True
        self.clear()
        if self._tasks:
            await asyncio.wait(self._tasks)

    def _submit(self, waiter: _Waiter) -> None:
        request = waiter.request
        if self._closed:
            waiter.future.set_exception(Superseded())
            return
        same = self._job_for(request)
        for job in [job for job in self._waiting if job is not same and _outdates(request, job.request, job.urgency)]:
            self._drop(job)
        if same is not None:
            same.waiters.append(waiter)
            same.not_before = min(same.not_before, waiter.since + request.delay_s)
        else:
            if self._running is not None and _outdates(request, self._running.request, self._running.urgency):
                self._drop(self._running)
            self._waiting.append(_Job(request, waiter.since + request.delay_s, [waiter]))
        self._pump()

    def _job_for(self, request: GenerationRequest) -> _Job | None:
        if self._running is not None and fits(self._running.request, self._running.text, request):
            return self._running
        return next((job for job in self._waiting if typed_since(job.request, request) == "" and fits(job.request, "", request)), None)

    def _leave(self, waiter: _Waiter) -> None:
        """This one has its result, or does not want it any more."""
        for job in (*self._waiting, *([self._running] if self._running else ())):
            if waiter in job.waiters:
                job.waiters.remove(waiter)
                if not job.waiters:
                    asyncio.get_running_loop().call_later(ORPHAN_S if job is self._running else 0, self._drop_orphan, job)

    def _drop_orphan(self, job: _Job) -> None:
        if not job.waiters:
            self._drop(job)

    def _drop(self, job: _Job) -> None:
        waiters, job.waiters = job.waiters, []
        for waiter in waiters:
            if not waiter.future.done():
                waiter.future.set_exception(Superseded())
        if job in self._waiting:
            self._waiting.remove(job)
        if job is self._running:
            self._running = None
            assert job.task is not None
            job.task.cancel()
        self._pump()

    def _pump(self) -> None:
        """Start the next job if none runs."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self.busy != self._told_busy:
            self._told_busy = self.busy
            self._on_busy(self.busy)
        if self._running is not None or not self._waiting:
            return
        now = time.monotonic()
        ready = [job for job in self._waiting if job.not_before <= now]
        if not ready:
            wait = min(job.not_before for job in self._waiting) - now
            self._timer = asyncio.get_running_loop().call_later(wait, self._pump)
            return
        job = max(ready, key=lambda job: job.urgency)
        self._waiting.remove(job)
        self._running, job.started = job, now
        job.task = asyncio.create_task(self._run(job, tuple(self._tasks)))
        self._tasks.add(job.task)
        job.task.add_done_callback(self._tasks.discard)

    async def _run(self, job: _Job, before: tuple[asyncio.Task[None], ...]) -> None:
        try:
            if before:
                await asyncio.wait(before)  # those that were cancelled have still to hear of it
            result = await self._work(job.request, lambda text: self._heard(job, text))
        except asyncio.CancelledError:
            return
        except Exception as error:
            if job is self._running:
                self._running = None
            for waiter in job.waiters:
                if not waiter.future.done():
                    waiter.future.set_exception(error)
            self._pump()
            return
        if job is self._running:
            self._running = None
        waiters, job.waiters = job.waiters, []
        for waiter in waiters:
            if waiter.future.done():
                continue
            own = _result_for(waiter, job, result)
            if own is None:
                self._submit_again(waiter)
            else:
                waiter.future.set_result(own)
        self._pump()

    def _heard(self, job: _Job, text: str) -> None:
        """The model has written so much: requests that no longer agree with it are asked anew."""
        job.text = text
        gone = [waiter for waiter in job.waiters if not fits(job.request, text, waiter.request)]
        if not gone or job is not self._running:
            return
        job.waiters = [waiter for waiter in job.waiters if waiter not in gone]
        if not job.waiters:
            self._drop(job)
        for waiter in gone:
            self._submit_again(waiter)

    def _submit_again(self, waiter: _Waiter) -> None:
        """Ask anew for a request that its job did not answer, unless a later one has made it pointless."""
        assert self._latest is not None
        if waiter is self._latest or not _outdates(self._latest.request, waiter.request, waiter.request.urgency):
            self._submit(waiter)
        elif not waiter.future.done():
            waiter.future.set_exception(Superseded())


def _result_for(waiter: _Waiter, job: _Job, result: GenerationResult) -> GenerationResult | None:
    """What of a job's result is left where this one waits for it; None where the text went on otherwise."""
    typed = typed_since(job.request, waiter.request)
    if typed is None or (typed and not any(_goes_on(typed, generation) for generation in result.generations)):
        return None
    waited_ms = max(0.0, job.started - waiter.since) * 1e3
    result = replace(result, typed=typed, source="running" if job.started < waiter.since else "model", waited_ms=waited_ms)
    if not typed and result.was_cut_off:
        return result  # also where it has no text: its timings tell how long the model takes
    closed = gained(job.request.place.suffix[:MAX_BEHIND], waiter.request.place.suffix)
    left = None if closed is None else rest_of(result.generations, typed, closed)
    if left is None:
        left = () if typed else result.generations
    return replace(result, generations=left)


def _outdates(new: GenerationRequest, old: GenerationRequest, urgency: int) -> bool:
    """Whether the new request makes the old one, so urgent, pointless: it may not be more urgent, unless its text is gone."""
    return new.urgency >= urgency or typed_since(old, new) != ""


def _goes_on(typed: str, generation: Generation) -> bool:
    text = generation.text
    typed = typed.replace("\r\n", "\n").replace("\r", "\n")
    return len(text) > len(typed) and text.startswith(typed)


def _same_behind(old: str, new: str) -> bool:
    return any(new[added : added + _HEAD] == old[:_HEAD] and all(c in _CLOSERS for c in new[:added]) for added in range(_MAX_CLOSERS + 1))
