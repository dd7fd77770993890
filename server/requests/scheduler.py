"""Which request a model works on: the latest wins, and what already runs goes on where it still fits.

One job runs at a time. A new request joins the running job if its text is that job's, or goes on from it as the job's own text does. Else
it waits, supersedes what it makes pointless, and the running job is cancelled: there is one cursor, so an older request is for a text that
is gone. A job that nobody waits for any more goes on for a moment, because editors cancel a request just before they send the next one.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from enum import IntEnum

from ...inference.completion.prompt import Surroundings
from ...inference.completion.task import Kind
from ...inference.model import Generation

# Between an editor's cancel and its next request, which may still fit: one message at least, and what the editor waits by itself.
ORPHAN_S = 0.1
# How much may be typed while one generation is made, or along a suggestion: the longest have about so many characters.
LONGEST_TYPED = 1_000
# Of the text before the cursor, so much finds a place again in a window that has moved.
_TAIL = 256
# Of the text behind the cursor, so much says that it is the same.
_HEAD = 300
# What an editor puts behind the cursor by itself, and how much of it at most.
_CLOSERS = ")]}>\"'`"
_MOST_CLOSERS = 4


class Superseded(Exception):
    """A later request made this one pointless before it had an answer."""


class Priority(IntEnum):
    """What goes first."""

    SPECULATIVE = 0
    AUTOMATIC = 1
    INVOKED = 2


@dataclass(frozen=True, slots=True)
class Want:
    """A request to the model: what stands around the cursor, what kind of text is wanted there, and how many different ones.

    delay_s: seconds in which a later request may still make this one pointless, before it starts. surroundings, max_ms: for the model,
    no matter to the scheduler.
    """

    uri: str
    prefix: str
    suffix: str
    kind: Kind
    priority: Priority = Priority.AUTOMATIC
    count: int = 1
    delay_s: float = 0.0
    surroundings: Surroundings = field(default_factory=Surroundings)
    max_ms: float | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What a job of this kind made, at least one generation.

    typed: what has been typed since at its place, in which a generation agrees with it; joined: whether the job ran already when it was
    asked; waited_ms: from the request to the start of the job.
    """

    generations: tuple[Generation, ...]
    kind: Kind
    typed: str
    joined: bool
    waited_ms: float


# Makes the generations of a want, and tells the first one's text as it grows. Cancelled when nobody wants them any more.
Work = Callable[[Want, Callable[[str], None]], Awaitable[tuple[Generation, ...]]]


@dataclass(eq=False, slots=True)
class _Request:
    want: Want
    future: asyncio.Future[Answer]
    asked: float


@dataclass(eq=False, slots=True)
class _Job:
    """A want, and who waits for it. text: what the model has written so far."""

    want: Want
    not_before: float
    requests: list[_Request] = field(default_factory=list)
    text: str = ""
    started: float = 0.0
    task: asyncio.Task[None] | None = None

    @property
    def priority(self) -> Priority:
        """That of the most urgent request that waits for it; its own where none does."""
        return max((request.want.priority for request in self.requests), default=self.want.priority)


def typed_since(old: Want, new: Want) -> str | None:
    """What was typed between two requests if that is all that happened: "" where the text is the same, None where something else did.

    A closing bracket or quote that the editor put behind the cursor by itself is no difference.
    """
    if old.uri != new.uri or not _same_behind(old.suffix, new.suffix):
        return None
    if new.prefix.startswith(old.prefix):
        typed = new.prefix[len(old.prefix) :]
    else:
        tail = old.prefix[-_TAIL:]
        at = new.prefix.rfind(tail, max(0, len(new.prefix) - _TAIL - LONGEST_TYPED))
        if len(tail) < _TAIL or at < 0 or not old.prefix.endswith(new.prefix[: at + _TAIL]):
            return None
        typed = new.prefix[at + _TAIL :]
    return typed if len(typed) <= LONGEST_TYPED else None


def agrees(typed: str, text: str) -> bool:
    """Whether one of what was typed and what is written so far begins with the other."""
    typed = typed.replace("\r\n", "\n").replace("\r", "\n")
    return text.startswith(typed) or typed.startswith(text)


def fits(job: Want, text: str, want: Want) -> bool:
    """Whether a job that has written `text` so far may still answer this request."""
    typed = typed_since(job, want)
    if typed is None or want.count > job.count or not agrees(typed, text):
        return False
    return want.kind == job.kind or (typed != "" and job.kind != "line")


class Scheduler:
    """The requests to one model."""

    def __init__(
        self, work: Work, on_done: Callable[[Want, tuple[Generation, ...]], None], on_busy: Callable[[bool], None] = lambda _: None
    ) -> None:
        """work: as `Work`; on_done: told of each job that was finished, whether anybody still waited for it or not; on_busy: told when
        work begins and when none is left."""
        self._work = work
        self._on_done = on_done
        self._on_busy = on_busy
        self._told_busy = False
        self._running: _Job | None = None
        self._waiting: list[_Job] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._latest: _Request | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._closed = False

    @property
    def busy(self) -> bool:
        """Whether a job runs or waits."""
        return self._running is not None or bool(self._waiting)

    async def ask(self, want: Want) -> Answer:
        """The answer to a request. Raises Superseded, and what `work` raises. Cancelling the awaiting task ends this request alone."""
        request = _Request(want, asyncio.get_running_loop().create_future(), time.monotonic())
        self._latest = request
        self._submit(request)
        try:
            return await request.future
        finally:
            self._leave(request)

    def prepare(self, want: Want) -> None:
        """Let the model work on what may be asked next, if it has nothing else to do."""
        if not self.busy and not self._closed:
            self._waiting.append(_Job(want, time.monotonic() + want.delay_s))
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

    def _submit(self, request: _Request) -> None:
        want = request.want
        if self._closed:
            request.future.set_exception(Superseded())
            return
        same = self._job_for(want)
        for job in [job for job in self._waiting if job is not same and _outdates(want, job.want, job.priority)]:
            self._drop(job)
        if same is not None:
            same.requests.append(request)
            same.not_before = min(same.not_before, request.asked + want.delay_s)
        else:
            if self._running is not None and _outdates(want, self._running.want, self._running.priority):
                self._drop(self._running)
            self._waiting.append(_Job(want, request.asked + want.delay_s, [request]))
        self._pump()

    def _job_for(self, want: Want) -> _Job | None:
        if self._running is not None and fits(self._running.want, self._running.text, want):
            return self._running
        return next((job for job in self._waiting if typed_since(job.want, want) == "" and fits(job.want, "", want)), None)

    def _leave(self, request: _Request) -> None:
        """This request has its answer, or does not want it any more."""
        for job in (*self._waiting, *([self._running] if self._running else ())):
            if request in job.requests:
                job.requests.remove(request)
                if not job.requests:
                    asyncio.get_running_loop().call_later(ORPHAN_S if job is self._running else 0, self._drop_orphan, job)

    def _drop_orphan(self, job: _Job) -> None:
        if not job.requests:
            self._drop(job)

    def _drop(self, job: _Job) -> None:
        requests, job.requests = job.requests, []
        for request in requests:
            if not request.future.done():
                request.future.set_exception(Superseded())
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
        job = max(ready, key=lambda job: job.priority)
        self._waiting.remove(job)
        self._running, job.started = job, now
        job.task = asyncio.create_task(self._run(job, tuple(self._tasks)))
        self._tasks.add(job.task)
        job.task.add_done_callback(self._tasks.discard)

    async def _run(self, job: _Job, before: tuple[asyncio.Task[None], ...]) -> None:
        try:
            if before:
                await asyncio.wait(before)  # those that were cancelled have still to hear of it
            generations = await self._work(job.want, lambda text: self._heard(job, text))
        except asyncio.CancelledError:
            return
        except Exception as error:
            if job is self._running:
                self._running = None
            for request in job.requests:
                if not request.future.done():
                    request.future.set_exception(error)
            self._pump()
            return
        self._on_done(job.want, generations)
        if job is self._running:
            self._running = None
        requests, job.requests = job.requests, []
        for request in requests:
            typed = typed_since(job.want, request.want)
            if request.future.done():
                continue
            if typed is None or (typed and not any(_goes_on(typed, generation) for generation in generations)):
                self._submit_again(request)
                continue
            waited = max(0.0, job.started - request.asked) * 1e3
            request.future.set_result(Answer(generations, job.want.kind, typed, job.started < request.asked, waited))
        self._pump()

    def _heard(self, job: _Job, text: str) -> None:
        """The model has written so much: requests that no longer agree with it are asked anew."""
        job.text = text
        gone = [request for request in job.requests if not fits(job.want, text, request.want)]
        if not gone or job is not self._running:
            return
        job.requests = [request for request in job.requests if request not in gone]
        if not job.requests:
            self._drop(job)
        for request in gone:
            self._submit_again(request)

    def _submit_again(self, request: _Request) -> None:
        """Ask anew for a request that its job did not answer, unless a later one has made it pointless."""
        assert self._latest is not None
        if request is self._latest or not _outdates(self._latest.want, request.want, request.want.priority):
            self._submit(request)
        elif not request.future.done():
            request.future.set_exception(Superseded())


def _outdates(new: Want, old: Want, urgency: Priority) -> bool:
    """Whether the new request makes the old one, so urgent, pointless: it may not be more urgent, unless its text is gone."""
    return new.priority >= urgency or typed_since(old, new) != ""


def _goes_on(typed: str, generation: Generation) -> bool:
    text = generation.text
    typed = typed.replace("\r\n", "\n").replace("\r", "\n")
    return len(text) > len(typed) and text.startswith(typed)


def _same_behind(old: str, new: str) -> bool:
    return any(new[added : added + _HEAD] == old[:_HEAD] and all(c in _CLOSERS for c in new[:added]) for added in range(_MOST_CLOSERS + 1))
