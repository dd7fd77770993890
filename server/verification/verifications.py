"""What the tests of the workspace's folders say of changes: a process for each folder, and the reasons why there may be none."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from ...suggestion.repair.project_tests import Fault
from ...suggestion.repair.verified import Verification
from ..background_tasks import BackgroundTasks
from ..documents.workspace import Roots, path_of, root_of
from ..model.ipc import HEADER_BYTES, frame, parse
from .consent import Asks, Consent

_COMMAND = ("-P", "-m", "assay.server.verification.worker")  # -P: a workspace's json.py must not be imported in place of Python's own
# One answer may take so long, the first runs of the whole suite included. Then the process is ended.
MAX_ANSWER_S = 600.0
# A process that nobody asks holds a copy of the project.
_IDLE_S = 900.0
# Its copy is removed meanwhile.
_CLOSE_S = 6.0


class ProjectProcess:
    """Runs the tests of one project, one request after the other."""

    def __init__(self, project: Path, python: Path | None, note: Callable[[str], None]) -> None:
        """note: is told, in a sentence, what takes a while."""
        self.project = project
        self._arguments = [str(project), *([str(python)] if python else [])]
        self._note = note
        self._child: asyncio.subprocess.Process | None = None
        self._turn = asyncio.Lock()
        self._requests = 0
        self._idle: asyncio.TimerHandle | None = None
        self._closed = False

    @property
    def pid(self) -> int | None:
        """The process's id while it runs."""
        return self._child.pid if self._child is not None and self._child.returncode is None else None

    async def judge(self, file: Path, before: str, text: str) -> Verification:
        """What the tests say of a text of a file beside the one that stands there."""
        return await self._verification({"op": "judge", "file": str(file), "before": before, "text": text})

    async def run(self, file: Path, text: str, lines: range) -> Verification:
        """What the tests that touch some lines (from 1) say of the text that stands there."""
        return await self._verification({"op": "run", "file": str(file), "text": text, "first": lines.start, "end": lines.stop})

    async def faults(self, file: Path, text: str, most_lines: int) -> list[Fault] | Verification:
        """The tests of a file that fail, with where that may be; or why they are not known."""
        said = await self._answered({"op": "faults", "file": str(file), "text": text, "most_lines": most_lines})
        return said if isinstance(said, Verification) else [Fault(**each) for each in said]

    async def refresh(self) -> None:
        """Measure anew where files have changed; nothing where no process runs."""
        if self.pid is not None and not self._turn.locked():
            await self._verification({"op": "refresh"})

    async def close(self) -> None:
        """End the process: kindly, then by force."""
        self._closed = True
        await self._end()

    async def _verification(self, message: dict[str, Any]) -> Verification:
        said = await self._answered(message)
        return said if isinstance(said, Verification) else _from_json(said)

    async def _answered(self, message: dict[str, Any]) -> Any:
        """What the process answers; a verification that says why there is no answer."""
        # The answer is waited for also where nobody wants it any more: the next one must not be taken for it.
        return await asyncio.shield(asyncio.ensure_future(self._in_turn(message)))

    async def _in_turn(self, message: dict[str, Any]) -> Any:
        async with self._turn:
            if self._closed:
                return _unknown("no tests of this project are run any more")
            # A save is no request: the process idles on.
            is_asked = message["op"] != "refresh"
            if self._idle is not None and is_asked:
                self._idle.cancel()
            try:
                answer = await asyncio.wait_for(self._ask(message), MAX_ANSWER_S)
            except TimeoutError:
                await self._end()
                return _unknown(f"the tests of {self.project.name} took longer than {MAX_ANSWER_S / 60:.0f} minutes, and were ended")
            except (OSError, ValueError, asyncio.IncompleteReadError):
                await self._end()
                return _unknown(f"the process that runs the tests of {self.project.name} ended; the next request starts it again")
            if is_asked or self._idle is None:
                self._idle = asyncio.get_running_loop().call_later(_IDLE_S, lambda: asyncio.ensure_future(self._end()))
        if "error" in answer:
            return _unknown(answer["error"])
        return _unknown("") if answer["ok"] is None else answer["ok"]

    async def _ask(self, message: dict[str, Any]) -> dict[str, Any]:
        child = await self._started()
        assert child.stdin is not None
        assert child.stdout is not None
        self._requests += 1
        child.stdin.write(frame({"id": self._requests, **message}))
        await child.stdin.drain()
        while True:
            size = int.from_bytes(await child.stdout.readexactly(HEADER_BYTES), "big")
            answer = parse(await child.stdout.readexactly(size))
            if answer["id"] != self._requests:
                continue
            if "note" not in answer:
                return answer
            self._note(answer["note"])

    async def _started(self) -> asyncio.subprocess.Process:
        if self._child is None or self._child.returncode is not None:
            pipe = asyncio.subprocess.PIPE
            nothing = asyncio.subprocess.DEVNULL
            self._child = await asyncio.create_subprocess_exec(
                sys.executable, *_COMMAND, *self._arguments, stdin=pipe, stdout=pipe, stderr=nothing
            )
        return self._child

    async def _end(self) -> None:
        child, self._child = self._child, None
        if self._idle is not None:
            self._idle.cancel()
        if child is None or child.returncode is not None:
            return
        assert child.stdin is not None
        child.stdin.close()
        with suppress(TimeoutError):
            await asyncio.wait_for(child.wait(), _CLOSE_S)
            return
        with suppress(ProcessLookupError):
            child.kill()
        await child.wait()


def _unknown(why: str) -> Verification:
    return Verification(None, 0, 0.0, why=why)


def _from_json(told: dict[str, Any]) -> Verification:
    mends, breaks, failing = (tuple(told[key]) for key in ("mends", "breaks", "failing"))
    return Verification(told["passed"], told["tests"], told["seconds"], mends, breaks, told["why"], failing)


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

    async def judge(self, uri: str, before: str, text: str) -> Verification:
        """The same of one text. Without consent the user is asked, and nothing waits for the answer."""
        (said,) = [each async for each in self.judged(uri, before, [text], asks="later")]
        return said

    async def may_run(self, uri: str) -> bool:
        """Whether the user has allowed the tests that a document belongs to. Asks nobody."""
        root = root_of(uri, self._roots())
        return root is not None and await self.consent.is_given(root)

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

    async def faults(self, uri: str, text: str, most_lines: int) -> list[Fault] | str:
        """The tests of a document that fail, with where that may be; or why they are not known. The user has asked for it."""
        place = await self._place(uri, "now")
        if isinstance(place, str):
            return place
        process, file = place
        said = await process.faults(file, text, most_lines)
        return said.why if isinstance(said, Verification) else said

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
