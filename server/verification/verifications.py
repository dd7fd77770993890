"""What the tests of the workspace's folders say of changes: a process for each folder, and the reasons why there may be none."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...calibration.log.events import AcceptanceTested
from ...suggestion.repair.verified import Verification
from ..background_tasks import BackgroundTasks
from ..documents.workspace import Roots, path_of, root_of
from ..requests.given import Given
from .consent import Asks, Consent
from .process import ProjectProcess

# The copy is made anew so long after a file was saved, if its tests were run before.
_SAVED_S = 5.0


class Verifications:
    """Runs the tests of the folder that a document is in; never without consent."""

    def __init__(
        self, consent: Consent, roots: Callable[[], Roots], python: Callable[[], Path | None], note: Callable[[str], None]
    ) -> None:
        """roots: the workspace folders; python: what runs their tests, None for their own. note: is told what takes a while."""
        self.consent = consent
        self._roots, self._python, self._note = roots, python, note
        self._processes: dict[tuple[Path, Path | None], ProjectProcess] = {}
        self._saved: dict[Path, asyncio.TimerHandle] = {}
        self._tasks = BackgroundTasks()

    @property
    def pids(self) -> list[int]:
        """The processes that run."""
        return [pid for process in self._processes.values() if (pid := process.pid) is not None]

    async def judged(self, uri: str, before: str, texts: Iterable[str], *, asks: Asks) -> AsyncGenerator[Verification]:
        """What the tests say of texts of a document beside the one that stands there, one after the other.

        asks: as in `Consent.why_not`. Where no tests can be run, each says why.
        """
        place = await self._place(uri, asks)
        for text in texts:
            if isinstance(place, str):
                yield Verification(None, 0, 0.0, why=place)
            else:
                process, file = place
                yield await process.judge(file, before, text)

    async def judged_within(
        self,
        seconds: float,
        uri: str,
        before: str,
        texts: Iterable[str],
        is_more_wanted: Callable[[Sequence[Verification]], bool],
        *,
        asks: Asks,
    ) -> list[Verification]:
        """The same of the texts from the first on, until no more are wanted or the time is up. What runs then goes on."""
        said: list[Verification] = []
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds), aclosing(self.judged(uri, before, texts, asks=asks)) as judged:
                async for verification in judged:
                    said += [verification]
                    if not is_more_wanted(said):
                        break
        return said

    async def are_refused(self, uri: str) -> bool:
        """Whether the user does not want the tests run that a document belongs to."""
        root = root_of(uri, self._roots())
        return root is not None and await self.consent.is_refused(root)

    def is_asking(self, uri: str) -> bool:
        """Whether the user is being asked whether the tests may be run that a document belongs to."""
        root = root_of(uri, self._roots())
        return root is not None and self.consent.is_asking(root)

    async def run(self, uri: str, text: str, lines: range) -> Verification:
        """What the tests that touch some lines (from 1) say of the text that stands there. The user has asked for it."""
        place = await self._place(uri, "now")
        if isinstance(place, str):
            return Verification(None, 0, 0.0, why=place)
        process, file = place
        return await process.run(file, text, lines)

    async def forbid(self, root: Path) -> bool:
        """The user takes consent back. Gives whether that is remembered."""
        is_remembered = await self.consent.answer(root, allowed=False)
        for key in [key for key in self._processes if key[0] == root]:
            await self._processes.pop(key).close()
        return is_remembered

    def saved(self, uri: str) -> None:
        """A file was saved: what its project's tests say is asked anew in the background, if they were run before."""
        root = root_of(uri, self._roots())
        if root is None or all(process.pid is None for key, process in self._processes.items() if key[0] == root):
            return
        if (earlier := self._saved.pop(root, None)) is not None:
            earlier.cancel()
        self._saved[root] = asyncio.get_running_loop().call_later(_SAVED_S, self._refresh, root)

    async def close(self) -> None:
        """End all processes."""
        for timer in self._saved.values():
            timer.cancel()
        self._tasks.cancel()
        processes, self._processes = list(self._processes.values()), {}
        await asyncio.gather(*(process.close() for process in processes))

    def _refresh(self, root: Path) -> None:
        self._saved.pop(root, None)
        self._tasks.start(self._refreshed(root))

    async def _refreshed(self, root: Path) -> None:
        """Measure anew, where that is still allowed; else the processes end."""
        allowed = await self.consent.is_given(root)
        for key in [key for key in self._processes if key[0] == root]:
            if allowed:
                await self._processes[key].refresh()
            else:
                await self._processes.pop(key).close()

    async def _place(self, uri: str, asks: Asks) -> tuple[ProjectProcess, Path] | str:
        """The process of the folder that a document is in, and its file; or why there is none, in a sentence."""
        file, root = path_of(uri), root_of(uri, self._roots())
        if file is None:
            return "it is not saved in a file, so no test can import it"
        if root is None:
            return "the file is in none of the open folders, so its tests are unknown"
        if file.suffix != ".py":
            return "only the tests of Python files are run"
        if why_not := await self.consent.why_not(root, asks):
            return why_not
        key = root, self._python()
        if key not in self._processes:
            self._processes[key] = ProjectProcess(*key, self._note)
        return self._processes[key], file


@dataclass(frozen=True, slots=True)
class Acceptance:
    """An accepted suggestion. showing: as in the log. before, after: the text of the document without it, and with it."""

    showing: str | None
    uri: str
    before: str
    after: str


class AcceptedTests:
    """Runs one after the other. Of those that come meanwhile the latest waits; the others are not run."""

    def __init__(
        self, verifications: Verifications, tasks: BackgroundTasks, on_result: Callable[[AcceptanceTested | None, str | None], None]
    ) -> None:
        """on_result: is told that there is something new to show, and what is to be logged of which showing, if anything."""
        self._verifications, self._tasks, self._on_result = verifications, tasks, on_result
        self._waiting: Acceptance | None = None
        self._is_running = False
        self.latest: Verification | None = None
        # The suggestion that was accepted last, whether tests are run or not.
        self.accepted: Given | None = None

    def begin(self, acceptance: Acceptance) -> None:
        """Run the tests that touch it, soon."""
        self._waiting = acceptance
        if not self._is_running:
            self._is_running = True
            self._tasks.start(self._run())

    def as_json(self) -> dict[str, Any] | None:
        """What the latest tests said, for the status: docs/formats.md."""
        return None if self.latest is None else {**self.latest.as_json(), "title": self.latest.title}

    async def _run(self) -> None:
        try:
            while (acceptance := self._waiting) is not None:
                self._waiting = None
                async for said in self._verifications.judged(acceptance.uri, acceptance.before, [acceptance.after], asks="once"):
                    self.latest = said
                    self._on_result(event_of(said) if said.tests and acceptance.showing else None, acceptance.showing)
        finally:
            self._is_running = False


def event_of(said: Verification) -> AcceptanceTested:
    """What is logged: no names of tests."""
    passed = True if said.passed else False if said.breaks else None
    return AcceptanceTested(passed=passed, tests=said.tests, mends=len(said.mends), milliseconds=round(said.seconds * 1e3, 1))
