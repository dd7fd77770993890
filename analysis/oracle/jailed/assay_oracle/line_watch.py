"""Record which lines of a project's files run for which test: by sys.monitoring from Python 3.12 on, by sys.settrace before."""

from __future__ import annotations

import importlib.machinery
import os
import sys
import threading
from types import CodeType, FrameType, ModuleType
from typing import Any

from .files import is_test_file

Lines = dict[str, set[int]]


class LineWatch:
    """Records each line that runs for the innermost owner: a test, a fixture of a wider scope, or the import of a module.

    imported: the lines that ran at import, whatever caused it. again: whether a file of the project was imported a second time since this
    was last set to False.
    """

    def __init__(self, root: str) -> None:
        self.imported: Lines = {}
        self.again = False
        self._root = f"{root}{os.sep}"
        self._names: dict[str, str | None] = {}
        self._executed: set[str] = set()
        self._owners: list[Lines] = [self.imported]
        self._backend = _Monitoring(self) if sys.version_info >= (3, 12) else _Tracing(self)
        self._watch_imports()

    def enter(self, lines: Lines) -> None:
        """Record the lines that run from now on in `lines`."""
        self._owners.append(lines)
        self._backend.restart()

    def leave(self) -> None:
        """Record for the previous owner again."""
        self._owners.pop()
        self._backend.restart()

    def name(self, file: str) -> str | None:
        """A code object's file as a path inside the project; None for a test file, or one outside."""
        try:
            return self._names[file]
        except KeyError:
            inside = file[len(self._root) :] if file.startswith(self._root) else None
            return self._names.setdefault(file, None if inside is None or is_test_file(inside) else inside)

    def saw(self, name: str, line: int) -> None:
        """Record a line for the present owner."""
        self._owners[-1].setdefault(name, set()).add(line)

    def _watch_imports(self) -> None:
        loader: Any = importlib.machinery.SourceFileLoader
        execute = loader.exec_module

        def exec_module(this: Any, module: ModuleType) -> None:
            name = self.name(this.path)
            if name is None:
                execute(this, module)
                return
            self.again |= name in self._executed
            self._executed.add(name)
            self.enter(self.imported)
            try:
                execute(this, module)
            finally:
                self.leave()

        loader.exec_module = exec_module


class _Monitoring:
    """Reports each line once after each restart; after that the line costs nothing."""

    _TOOL = 3

    def __init__(self, watch: LineWatch) -> None:
        monitoring: Any = sys.monitoring  # type: ignore[attr-defined, unused-ignore]
        name, saw, disable = watch.name, watch.saw, monitoring.DISABLE

        def line_runs(code: CodeType, line: int) -> Any:
            if (inside := name(code.co_filename)) is not None:
                saw(inside, line)
            return disable

        monitoring.use_tool_id(self._TOOL, "assay oracle")
        monitoring.register_callback(self._TOOL, monitoring.events.LINE, line_runs)
        monitoring.set_events(self._TOOL, monitoring.events.LINE)
        self.restart = monitoring.restart_events


# After this many repeated lines a function is taken to run all its lines for the present owner. So an owner may get a line too many, never
# one too few, and a loop around a line that never runs costs no more than this.
_MAX_REPEATED = 20_000


class _Seen:
    """The lines of a function that the present owner has not run yet, and how many repeated lines are still watched."""

    __slots__ = ("code", "left", "unseen")

    def __init__(self, code: CodeType) -> None:
        self.code = code
        self.left = _MAX_REPEATED
        lines = {line for *_, line in code.co_lines() if line is not None}
        # the line of the `def` is among them, but runs only where the body stands on it, too
        self.unseen = lines - {code.co_firstlineno} or lines


class _Tracing:
    """Traces a function until all its lines were seen since the last restart."""

    def __init__(self, watch: LineWatch) -> None:
        self._watch = watch
        # by id, since a code object's hash is computed from its whole content
        self._seen: dict[int, _Seen] = {}
        # code of other files, to which most calls go
        self._others: dict[int, CodeType] = {}
        self.restart()

    def restart(self) -> None:
        self._seen.clear()
        threading.settrace(self._enter)
        sys.settrace(self._enter)
        # running functions that were no longer traced
        for frame in sys._current_frames().values():
            at: FrameType | None = frame
            while at is not None:
                if at.f_trace is not None:
                    at.f_trace_lines = True
                at = at.f_back

    def _of(self, code: CodeType) -> _Seen:
        found = self._seen.get(id(code))
        if found is None:
            found = self._seen[id(code)] = _Seen(code)
        return found

    def _enter(self, frame: FrameType, _event: str, _argument: Any) -> Any:
        code = frame.f_code
        if id(code) in self._others:
            return None
        if self._watch.name(code.co_filename) is None:
            self._others[id(code)] = code
            return None
        if not self._of(code).unseen:
            return None
        frame.f_trace_lines = True  # for a generator that goes on, and was no longer traced
        return self._line

    def _line(self, frame: FrameType, event: str, _argument: Any) -> Any:
        if event != "line":
            return self._line
        code, line = frame.f_code, frame.f_lineno
        seen = self._of(code)
        name = self._watch.name(code.co_filename)
        if name is None:
            return self._line
        if line in seen.unseen or line == code.co_firstlineno:
            seen.unseen.discard(line)
            self._watch.saw(name, line)
        else:
            seen.left -= 1
            if not seen.left:
                for rest in seen.unseen:
                    self._watch.saw(name, rest)
                seen.unseen.clear()
        if not seen.unseen:
            frame.f_trace_lines = False
        return self._line
