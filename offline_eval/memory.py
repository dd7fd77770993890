"""The project memory in a study: made as in the editor, of the project's files as they are, but for what was taken out of the open one.

Near copies of the open file, which have what was taken out, are left out of each request's memory by the memory itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ..inference.model import Model
from ..inference.project_memory.memory import Memory
from ..inference.project_memory.project import Project, ProjectTooLarge, project_of
from ..suggestion.memory.memories import Memories
from ..suggestion.memory.scope import Scope
from .errors import StudyError
from .suggested import FileWithGap

# Path and text of each file of a project, by the project's name.
Files = Callable[[str], Iterable[tuple[str, str]]]


class StudyMemory:
    """Makes the memories of a worker's requests. It keeps the index of the project that was asked about last."""

    def __init__(self, model: Model, scope: Scope, files: Files) -> None:
        self._memories, self._scope, self._files = Memories(model), scope, files
        self._last: tuple[str, Project] | None = None

    def forget(self) -> None:
        """Drop what is kept of the open files, so that an item's memory depends on none before it."""
        self._memories.forget()

    def at(self, gap: FileWithGap, project: str = "", path: str = "") -> Memory | None:
        """The memory at a gap in a file of a project, or of none; None for the scope "off".

        Raises StudyError, and what reading the files raises.
        """
        before, after = gap.text[: gap.gap.start], gap.text[gap.gap.end :]
        return self._memories.at(before, after, path, self._scope, self._project(project) if self._scope == "project" else None)

    def _project(self, name: str) -> Project:
        if self._last is None or self._last[0] != name:
            try:
                self._last = (name, project_of(self._files(name)))
            except ProjectTooLarge as error:
                raise StudyError(f"{name} is too large for a project memory ({error}): leave it out, or ask with --memory file") from error
        return self._last[1]
