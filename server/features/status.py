"""What the server has and does: `assay/status`, and `$/assay/didChangeStatus` when that changes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

from ...calibration.effective_status import REFUTED, effective_status
from ..confidence.confidence_report import LABEL
from ..confidence.drift_watch import DriftWatch, in_use
from ..confidence.stops import Stops
from ..model.read_projects import ReadProjects
from ..requests.request_ending import RequestCounts
from ..requests.requests import Requests
from ..session import Session
from ..verification.accepted_tests import AcceptedTests
from .pause import Pause

_PERIOD_S = 0.001
_MAX_BEATS = 100_000


class EventLoopLatency:
    """Measures by a heartbeat of 1 ms: how late each beat is, and the CPU time of the loop's thread since the last one.

    A beat is late for one of two causes. Either our own code held the loop: the CPU time is an upper bound of that. Or the machine's
    processors were busy elsewhere.
    """

    def __init__(self) -> None:
        self._late_ms: list[float] = []
        self._worst_work_ms = 0.0
        self._task: asyncio.Task[None] | None = None

    def measure(self, *, wanted: bool) -> None:
        """Begin to measure, or end it."""
        if wanted and self._task is None:
            self._task = asyncio.create_task(self._beat())
        elif self._task is not None and not wanted:
            self._task.cancel()
            self._task = None

    def take(self) -> dict[str, float | int] | None:
        """Give what was measured since the last call: {beats, p99_ms, worst_ms, worst_work_ms}; None where nothing is measured.

        p99_ms, worst_ms: of the lateness; worst_work_ms: the most CPU time between two beats.
        """
        if self._task is None:
            return None
        late, self._late_ms = sorted(self._late_ms), []
        worst_work, self._worst_work_ms = self._worst_work_ms, 0.0
        if not late:
            return {"beats": 0, "p99_ms": 0.0, "worst_ms": 0.0, "worst_work_ms": 0.0}
        return {"beats": len(late), "p99_ms": late[int(0.99 * (len(late) - 1))], "worst_ms": late[-1], "worst_work_ms": worst_work}

    async def _beat(self) -> None:
        while True:
            due = time.perf_counter() + _PERIOD_S
            work = time.thread_time()
            await asyncio.sleep(_PERIOD_S)
            self._worst_work_ms = max(self._worst_work_ms, (time.thread_time() - work) * 1e3)
            if len(self._late_ms) < _MAX_BEATS:
                self._late_ms.append(max(0.0, time.perf_counter() - due) * 1e3)


STATUS = "assay/status"
STATUS_CHANGED = "$/assay/didChangeStatus"
# Work that takes less long is not reported.
_BUSY_AFTER_S = 0.2


class Status:
    """The status of one server. The client is told of a change at once, but of being busy only after a moment."""

    def __init__(self, notify: Callable[[str, Any], None], parts: Callable[[], dict[str, Any]]) -> None:
        """notify: sends a notification, given its method and params; parts: `status_of`."""
        self._notify, self._parts = notify, parts
        self._told: dict[str, Any] | None = None
        self._busy_timer: asyncio.TimerHandle | None = None
        self._silent_because: str | None = None

    def brief(self) -> dict[str, Any]:
        """What `$/assay/didChangeStatus` tells: the state of each part, and why nothing comes by itself."""
        return {**self._parts(), "silent": self._silent_because}

    def changed(self) -> None:
        """Tell the client, if anything differs from what it was told."""
        brief = self.brief()
        if brief != self._told:
            self._told = brief
            self._notify(STATUS_CHANGED, brief)

    def busy_changed(self, busy: bool) -> None:
        """The model began to work, or has nothing to do."""
        self.close()
        if busy:
            self._busy_timer = asyncio.get_running_loop().call_later(_BUSY_AFTER_S, self.changed)
        elif self._told is not None and self._told["busy"]:
            self.changed()

    def silent_changed(self, reason: str | None) -> None:
        """Why no suggestion comes by itself where the user is now; None: some may."""
        if reason != self._silent_because:
            self._silent_because = reason
            self.changed()

    def close(self) -> None:
        """Forget what was to be told later."""
        if self._busy_timer is not None:
            self._busy_timer.cancel()
            self._busy_timer = None


def status_of(
    session: Session, requests: Requests, stops: Stops, pause: Pause, tests: AcceptedTests, projects: ReadProjects
) -> dict[str, Any]:
    """The state of each part, but for why no suggestion comes by itself."""
    process = session.live.process
    return {
        "state": process.state,
        "reason": process.reason,
        "busy": session.live.scheduler.busy,
        "hidden": requests.hidden,
        "dial": stops.brief(),
        "paused": pause.until_iso,
        "tests": tests.as_json(),
        "notes": [*(state["reason"] for state in projects.states.values() if state["reason"]), *_refuted(session)],
    }


def details_of(
    session: Session, counts: RequestCounts, watch: DriftWatch, projects: ReadProjects, latency: EventLoopLatency
) -> dict[str, Any]:
    """What `assay/status` answers beside the status. The event-loop latency is counted anew from here.

    Of `$/assay/didChangeStatus`, too: state (loading, ready, failed, closed), reason: of the model; busy: it works, or something waits;
    silent: why nothing comes by itself in the last document, or null; hidden: generations that the dial hid; dial: {stop, words}, stop
    null at an exact level; paused: end of the pause, or null; tests: the verification of the last accepted suggestion, with its title,
    or null; notes: for people.
    model: {id, name, load_ms} or null; process: its number. calibrators: ids, or null; skipped_calibrators: unreadable or not trusted,
    with reason. drift: {calibrator, direction, size, n} of one that no longer holds, by the log; checked hourly for `kept`; or null.
    memory: folders of the project memory: {root, state (reading, ready, given up), reason, files, words, ms}. work: {prompt_tokens} not
    cached, {decoded_tokens}. settings: what is wrong with them. outcomes: requests by outcome; shown_ms: {n, p50, p95} of the latest.
    log: {path, dropped, trouble} or null. loop_lag: as `EventLoopLatency.take`, with `assay.diagnostics`, or null.
    """
    process, loaded, events = session.live.process, session.loaded, session.events
    registries = list(session.calibrators.registries())
    calibrators = list(dict.fromkeys(entry.calibrator.id for registry in registries for entry in registry.entries))
    drift = watch.found if session.settings.event == LABEL else None
    return {
        "model": None if loaded is None else {"id": loaded.fingerprint.id, "name": loaded.fingerprint.name, "load_ms": loaded.load_ms},
        "process": process.pid,
        "calibrators": calibrators or None,
        "skipped_calibrators": list(dict.fromkeys(reason for registry in registries for reason in registry.skipped)),
        "drift": drift.as_json() if drift is not None and drift.entry.calibrator.id in calibrators else None,
        "memory": list(projects.states.values()),
        "work": {"prompt_tokens": process.prompt_tokens, "decoded_tokens": process.decoded_tokens},
        "settings": list(session.problems),
        **counts.summary(),
        "log": None if events.path is None else {"path": str(events.path), "dropped": events.dropped, "trouble": events.trouble},
        "loop_lag": latency.take(),
    }


def _refuted(session: Session) -> list[str]:
    """Why the calibrators in use whose numbers studies refute give none."""
    if session.loaded is None:
        return []
    prompts = session.live.prompts(with_memory=session.settings.memory != "off")
    used = in_use(session.calibrators.registries(), session.loaded.fingerprint, prompts, session.settings.event).values()
    statuses = ((entry, effective_status(entry, show_refuted=session.settings.show_refuted)) for entry in used)
    return [
        f"Suggestions of the task {entry.calibrator.task} show no probability. {effective.reason}"
        for entry, effective in statuses
        if effective.status == REFUTED
    ]
