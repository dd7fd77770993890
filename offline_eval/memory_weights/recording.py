"""What memories say before each token of hidden text, while a model is made to write it: what weights are fitted to.

The projects are folders, or the wheels that projects.toml names. Nothing of a wheel is run, also not by pip. None of the listed projects is
one that anything is measured on. The embedded model was trained on them.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ...analysis.python.lines import Gap
from ...inference.completion.prompt import new_tokens
from ...inference.completion.settings import Settings
from ...inference.completion.task import kind_of
from ...inference.model import Model
from ...inference.project_memory.fitting import Forced, Step
from ...inference.project_memory.memory import Memory
from ...inference.project_memory.project import ProjectTooLarge, project_of
from ...inference.project_memory.spelling import Spelling
from ...inference.project_memory.weights import SOURCES, Extent
from ...inference.stopping.stop import NONE
from ...suggestion.memory.folder import as_code, files_in, is_own_code
from ...suggestion.memory.memories import Memories
from ..errors import StudyError, UsageError
from ..progress import Progress
from ..sets.lines import Place
from ..sets.projects import Project, ProjectError, SourceFile, default_cache, fetch, python_files
from ..suggested import FileWithGap


@dataclass(frozen=True, slots=True)
class Code:
    """The files of a project that its memory reads."""

    project: str
    files: Sequence[SourceFile]


def listed_projects() -> list[Project]:
    """The list in projects.toml; the hashes are of wheels."""
    listed = tomllib.loads((Path(__file__).parent / "projects.toml").read_text())["project"]
    return [Project(each["name"], each["version"], each["sha256"]) for each in listed]


def code_of(project: Project | Path) -> Code:
    """The code of a listed project or of a folder. Raises ProjectError, UsageError, StudyError."""
    return _in_wheel(project, default_cache()) if isinstance(project, Project) else _in_folder(project)


def _in_wheel(project: Project, cache: Path) -> Code:
    archive = fetch(project.name, project.version, "wheel", cache, project.sha256)
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    if digest != project.sha256:
        raise ProjectError(f"{archive}: its SHA-256 is {digest}, projects.toml names {project.sha256}; delete the file and try again")
    own = (file for file in python_files(archive, project.name) if is_own_code(file.path) and as_code(file.text) is not None)
    return Code(f"{project.name} {project.version}", tuple(own))


def _in_folder(folder: Path) -> Code:
    if not folder.is_dir():
        raise UsageError(f"{folder} is not a folder")
    name = folder.resolve().name
    try:
        return Code(name, tuple(SourceFile(name, path, text.replace("\r\n", "\n")) for path, text in files_in(folder)))
    except ProjectTooLarge as error:
        raise StudyError(f"{folder} is too large for a project memory ({error}): leave it out") from error


# What stands behind hidden text is read so far, for the token in which both meet.
_BEHIND = 80
# So many lines are hidden at a place, as they are while somebody writes a function: reading a prompt costs as much as writing them.
_LINES = 8


@dataclass(frozen=True, slots=True)
class Recorded:
    """What was recorded of one project. places: at how many lines were written; steps: of all of them, by scope, as many of each."""

    project: str
    places: int
    steps: Mapping[Extent, Sequence[Step]]


class Recorder:
    """Makes a model write hidden text. Raises UsageError for one that can't be mixed with a memory."""

    def __init__(self, model: Model, settings: Settings) -> None:
        self._model, self._settings = model, settings
        self._memories = Memories(model)
        spelling = self._memories.spelling
        if spelling is None:
            raise UsageError(f"{model.fingerprint.name} can't be mixed with a project memory: it doesn't run in this process")
        self._spelling: Spelling = spelling

    def record(self, code: Code, places: Sequence[Place], progress: Progress) -> Recorded:
        """Write some lines at each of a project's places, but at those in a file that is all that its project has.

        Raises StudyError where the project is too large, and what `Model.generate` raises.
        """
        try:
            others = project_of((file.path, file.text) for file in code.files)
        except ProjectTooLarge as error:
            raise StudyError(f"{code.project} is too large for a project memory ({error}): leave it out") from error
        steps: dict[Extent, list[Step]] = {scope: [] for scope in SOURCES}
        count = 0
        for place in places:
            gap = _some_lines(place)
            hidden = FileWithGap(place.text, gap, "block", self._settings)
            before, after = place.text[: gap.start], place.text[gap.end :]
            found = [self._memories.at(before, after, place.path, scope, others) for scope in SOURCES]
            memories = {memory.scope: memory for memory in found if memory is not None}
            progress.step()
            if memories.keys() < SOURCES.keys():
                continue
            for scope, each in zip(memories, self._forced(hidden, after, list(memories.values())).steps, strict=True):
                steps[scope] += each
            count += 1
        return Recorded(code.project, count, steps)

    def _forced(self, hidden: FileWithGap, after: str, memories: Sequence[Memory]) -> Forced:
        """What was recorded while the hidden text was written, up to the first token that has something of what stands behind it."""
        prompt = hidden.prompt(self._model)
        tokens = self._tokens(prompt.held + hidden.truth, after)[: new_tokens(self._model, self._settings, kind_of(hidden.task))]
        forced = Forced(memories, self._spelling, tokens)
        self._model.generate(replace(prompt, memory=forced), stop=NONE, max_tokens=len(tokens), on_token=lambda *_: forced.is_done)
        return forced

    def _tokens(self, text: str, after: str) -> list[int]:
        size, tokens = len(text.encode("utf-8", "replace")), list[int]()
        for token in self._spelling.tokens(text + (after[:_BEHIND] or "\n")):
            tokens.append(token)
            size -= len(self._spelling.bytes_of(token))
            if size < 0:
                break
        return tokens


def _some_lines(place: Place) -> Gap:
    """The gap of a place that begins first, as far as the end of `_LINES` lines."""
    start = end = min(gap.start for _, gap in place.gaps)
    for _ in range(_LINES):
        end = place.text.find("\n", end + 1)
        if end < 0:
            return Gap(start, len(place.text))
    return Gap(start, end)
