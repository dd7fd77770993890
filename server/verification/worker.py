"""The process that runs a project's tests: `python -P -m assay.server.verification.worker PROJECT [PYTHON]`.

It keeps a copy of the project with what the tests say of it. The copy is made anew when files change; to see
that, files are looked at when something is asked: events do not come from every drive, and nobody needs the copy before. The end of stdin
(the server is gone) ends this process, in the middle of a run, too; a jail ends with it.

Requests: {"id", "op": "judge", "file", "before", "text"}, {"id", "op": "run", "file", "text", "first", "end"}, {"id", "op": "refresh"},
{"id", "op": "faults", "file", "text", "most_lines"}. Results: {"id", "ok": a verification, a list of faults, or null} or {"id", "error": a
sentence}. Before one may come {"id", "note": a sentence}.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from queue import SimpleQueue
from typing import Any, BinaryIO

from ...suggestion.repair.project_tests import Fault, NoTests, ProjectTests, default_cache, in_place_of
from ...suggestion.repair.verified import Judge, Verification
from ..model.ipc import frame, read_frame, take_stdio

# Tests yield to the model and to what the user does.
_NICE = 5
_GRACE_S = 5.0
# A project is looked at again after so many seconds, not before each of several candidates.
_LOOK_S = 1.0


class CurrentTests:
    """The tests of one project, as it is now."""

    def __init__(self, project: Path, python: Path | None, note: Callable[[str], None]) -> None:
        """note: is told what takes a while."""
        self._project, self._python, self._note = project, python, note
        self._tests: ProjectTests | None = None
        self._judge: tuple[tuple[Path, str], Judge] | None = None
        self._looked = 0.0
        # Why the tests can't be relied on, as the project is.
        self._trouble = ""

    def judge(self, file: Path, before: str, text: str) -> Verification:
        """What the tests say of a text of a file beside the one that stands there. Raises NoTests."""
        tests = self._current(file, text)
        if self._judge is None or self._judge[0] != (file, before):
            self._judge = (file, before), tests.judge(file, before)
        return self._judge[1](text)

    def run(self, file: Path, text: str, lines: range) -> Verification:
        """What the tests that touch some lines say of the text that stands there. Raises NoTests."""
        return self._current(file, text).run(file, text, lines)

    def faults(self, file: Path, text: str, most_lines: int) -> list[Fault]:
        """The tests of a file that fail, with where that may be: of the file as it is saved now. Raises NoTests."""
        self._looked = 0.0
        return self._current(None, "").faults(file, text, most_lines)

    def refresh(self) -> None:
        """Measure anew, if a file has changed. Raises NoTests."""
        self._current(None, "")

    def close(self) -> None:
        """Remove the copy."""
        if self._tests is not None:
            self._tests.close()
            self._tests = None
        self._judge = None
        self._trouble = ""

    def _current(self, file: Path | None, text: str) -> ProjectTests:
        """The tests with the project as it is, but for the file that is judged: of that the text is given."""
        begun = time.monotonic()
        if self._tests is not None and (begun - self._looked < _LOOK_S or self._tests.is_of(None if self._trouble else file)):
            self._looked = time.monotonic()
            if self._trouble:
                raise NoTests(self._trouble)
            return self._tests
        self.close()
        self._note(f"running the tests of {self._project.name} as they are")
        instead = {} if file is None else in_place_of(file, [text])
        self._tests = ProjectTests(self._project, python=self._python, cache=default_cache(), instead=instead, tell=self._note)
        try:
            self._tests.measure()
        except NoTests as error:
            if instead:
                self.close()
            else:  # it is the same until a file changes
                self._trouble, self._looked = str(error), time.monotonic()
            raise
        for remark in self._tests.remarks():
            self._note(remark)
        self._looked = time.monotonic()
        return self._tests


def main() -> None:
    """Answer requests until stdin ends."""
    stdin, stdout = take_stdio()
    with suppress(OSError, AttributeError):
        os.nice(_NICE)
    project, python = Path(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) > 2 else None
    requests: SimpleQueue[dict[str, Any]] = SimpleQueue()
    number = -1

    def send(message: dict[str, Any]) -> None:
        stdout.write(frame(message))
        stdout.flush()

    tests = CurrentTests(project, python, lambda text: send({"id": number, "note": text}))
    threading.Thread(target=_read, args=(stdin, requests), daemon=True, name="requests").start()
    try:
        while True:
            request = requests.get()
            number = request["id"]
            try:
                send({"id": number, "ok": _result(tests, request)})
            except NoTests as error:
                send({"id": number, "error": str(error)})
    except (KeyboardInterrupt, BrokenPipeError):
        pass
    finally:
        tests.close()


def _result(tests: CurrentTests, request: dict[str, Any]) -> dict[str, Any] | list[dict[str, Any]] | None:
    match request["op"]:
        case "judge":
            return tests.judge(Path(request["file"]), request["before"], request["text"]).as_json()
        case "run":
            return tests.run(Path(request["file"]), request["text"], range(request["first"], request["end"])).as_json()
        case "faults":
            return [asdict(each) for each in tests.faults(Path(request["file"]), request["text"], request["most_lines"])]
        case "refresh":
            tests.refresh()
            return None
        case other:
            raise ValueError(f"unknown request {other!r}")


def _read(stream: BinaryIO, requests: SimpleQueue[dict[str, Any]]) -> None:
    try:
        while (message := read_frame(stream)) is not None:
            requests.put(message)
    finally:  # whatever ended it: the server is gone, or wants this process to be
        with suppress(AttributeError):  # on Windows; a system call that the main thread waits in is interrupted
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
        time.sleep(_GRACE_S)
        os._exit(0)


if __name__ == "__main__":
    main()
