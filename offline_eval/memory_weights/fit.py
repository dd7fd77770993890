"""The work of `assay model memory`: records what memories say before each token of hidden text, fits weights, and judges them.

They are judged on projects that they were not fitted on. The projects are folders, or the wheels that projects.toml names. Nothing of a
wheel is run, also not by pip. None of the listed projects is one that anything is measured on. The embedded model was trained on them.
"""

from __future__ import annotations

import hashlib
import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...analysis.python.lines import Gap
from ...calibration.atomic_write import write_atomically
from ...calibration.metrics.intervals import Interval, student_t
from ...inference.completion.prompt import new_tokens
from ...inference.completion.settings import Settings
from ...inference.completion.task import kind_of
from ...inference.model import Model
from ...inference.opening import ModelChoice
from ...inference.project_memory.fitting import Forced, Step, fit, nats
from ...inference.project_memory.memory import Memory
from ...inference.project_memory.project import ProjectTooLarge, project_of
from ...inference.project_memory.spelling import Spelling
from ...inference.project_memory.weights import SOURCES, Extent, Gains, Weights, shipped_weights
from ...inference.stopping.stop import NONE
from ...suggestion.memory.folder import as_code, files_in, is_own_code
from ...suggestion.memory.memories import Memories, own_weights
from ..errors import StudyError, UsageError
from ..progress import Progress, counted, tell_if_stopped, to_stderr
from ..sets.lines import FileWithGap, Place, places_in
from ..sets.projects import Project, ProjectError, SourceFile, default_cache, fetch, python_files


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


MIN_PROJECTS = 3
# Fewer have too few tokens to fit some six hundred numbers to.
MIN_PLACES = 100
# Of the regularisation, found by cross-validation over projects of the training corpus (docs/engine.md).
_STRENGTH: Mapping[Extent, float] = {"file": 0.003, "project": 0.01}
# Of another model's weights, which stay near the embedded model's: docs/engine.md has what was tried.
_STRENGTH_NEAR = 0.03
_FOLDS = 5


@dataclass(frozen=True, slots=True)
class Judged:
    """Nats per token of text that nothing was fitted on, with intervals over projects.

    alone: by the model alone. mixed: with each scope's memory. less: by how much that is less than by the model alone.
    """

    alone: Interval
    mixed: Mapping[Extent, Interval]
    less: Mapping[Extent, Interval]


@dataclass(frozen=True, slots=True)
class Fitted:
    """Weights, and what they are worth on other projects."""

    weights: Weights
    judged: Judged


def check_enough(places: Sequence[int]) -> None:
    """Raises StudyError where weights can't be fitted on so many places, by project."""
    if len(places) < MIN_PROJECTS or sum(places) < MIN_PLACES:
        raise StudyError(
            f"there are {sum(places)} places in {len(places)} projects; weights need {MIN_PLACES} in {MIN_PROJECTS}. A place is some "
            "lines of a Python function with a docstring: give more projects, or raise --places"
        )


def fitted(recorded: Sequence[Recorded], model: str) -> Fitted:
    """Weights fitted to all that was recorded, near those of the embedded model if it was another. model: the id of the model that wrote.

    Raises StudyError where nothing was seen before, and where a memory does not help on projects that it was not fitted on.
    """
    prior = shipped_weights()
    near = None if model == prior.model else prior.for_model(model)
    judged = _judged(recorded, near)
    if worse := [scope for scope, less in judged.less.items() if less.value <= 0]:
        raise StudyError(f"the memory of the scope {' and '.join(worse)} makes text of other projects less likely: nothing is written")
    fitted_on = {
        "projects": [each.project for each in recorded],
        "places": sum(each.places for each in recorded),
        "tokens": sum(len(each.steps["file"]) for each in recorded),
        "nats_per_token": asdict(judged),
    }
    return Fitted(Weights({scope: _fit(recorded, scope, near) for scope in SOURCES}, model, fitted_on), judged)


def table(found: Fitted) -> str:
    """What people read."""
    on: Mapping[str, Any] = found.weights.fitted_on
    judged = found.judged
    rows: list[tuple[str, Interval, Interval | None]] = [("the model alone", judged.alone, None)]
    rows += [(f"with the memory of the {scope}", mixed, judged.less[scope]) for scope, mixed in judged.mixed.items()]
    lines = [f"{'nats per token':34s} {'':7s} {'95 % interval':>17s}   less than alone"]
    for name, value, less in rows:
        gain = f"{less.value:.3f} ({less.low:.3f} to {less.high:.3f})" if less else ""
        lines.append(f"{name:34s} {value.value:7.3f} {f'{value.low:.3f} to {value.high:.3f}':>17s}   {gain}".rstrip())
    return "\n".join(
        [
            *lines,
            f"n = {on['tokens']:,} tokens of {on['places']:,} places in {len(on['projects'])} projects, each judged by weights of others",
        ]
    )


def _judged(recorded: Sequence[Recorded], near: Weights | None) -> Judged:
    sizes = np.array([len(each.steps["file"]) for each in recorded], dtype=np.float64)
    alone = np.array([nats(each.steps["file"], None).sum() for each in recorded])
    mixed = {scope: _held_out_nats(recorded, scope, near) for scope in SOURCES}
    return Judged(
        _per_token(alone, sizes),
        {scope: _per_token(sums, sizes) for scope, sums in mixed.items()},
        {scope: _per_token(alone - sums, sizes) for scope, sums in mixed.items()},
    )


def _held_out_nats(recorded: Sequence[Recorded], scope: Extent, near: Weights | None) -> NDArray[np.float64]:
    """The nats of each project, by weights that were fitted without it."""
    folds = min(_FOLDS, len(recorded))
    found = np.zeros(len(recorded))
    for fold in range(folds):
        gains = _fit([each for number, each in enumerate(recorded) if number % folds != fold], scope, near)
        for number in range(fold, len(recorded), folds):
            found[number] = nats(recorded[number].steps[scope], gains).sum()
    return found


def _fit(recorded: Sequence[Recorded], scope: Extent, near: Weights | None) -> Gains:
    steps = [step for each in recorded for step in each.steps[scope]]
    try:
        return fit(steps, _STRENGTH[scope]) if near is None else fit(steps, _STRENGTH_NEAR, prior=near.gains[scope])
    except ValueError as error:
        raise StudyError(f"the memory of the scope {scope}: {error}") from error


def _per_token(sums: NDArray[np.float64], sizes: NDArray[np.float64]) -> Interval:
    """A ratio of sums over projects, with its interval by the jackknife over projects."""
    count = len(sums)
    value = float(sums.sum() / sizes.sum())
    without = (sums.sum() - sums) / (sizes.sum() - sizes)
    half = student_t(count - 1) * math.sqrt((count - 1) / count * float(((without - without.mean()) ** 2).sum()))
    return Interval(value, value - half, value + half)


_SEED = 0


def fit_to(choice: ModelChoice, folders: Sequence[Path], per_project: int, out: Path | None) -> tuple[Fitted, Path]:
    """Fit weights to a model on places of these folders, or of the listed projects without any, and write them. Returns where, too.

    out: without one, the file of the user's own weights for this model. Raises UsageError, StudyError, ModelError and OSError.
    """
    if out is not None and out.is_dir():
        raise UsageError(f"{out} is a folder: --out names a file")
    with tell_if_stopped(lambda: "Nothing was written."), choice.open() as model:
        recorder = Recorder(model, choice.settings_for(model))
        drawn = []
        for each in folders or listed_projects():
            code = code_of(each)
            if len(code.files) < 2:
                to_stderr(f"{code.project}: {counted(len(code.files), 'file')}, so there are no others to remember; it is left out")
                continue
            places = places_in(code.project, code.files, per_project, _SEED)
            to_stderr(f"{code.project}: {counted(len(places), 'function')}")
            if places:
                drawn.append((code, places))
        sizes = [len(places) for _, places in drawn]
        check_enough(sizes)
        progress = Progress("places", sum(sizes), None)
        found_in = [recorder.record(code, places, progress) for code, places in drawn]
        progress.end()
        recorded = [each for each in found_in if each.places]
        sizes = [each.places for each in recorded]
        check_enough(sizes)
        to_stderr(f"fitting to {counted(sum(sizes), 'place')}")
        found = fitted(recorded, model.fingerprint.id)
        path = out or own_weights(model.fingerprint.id)
    with write_atomically(path) as file:
        file.write(found.weights.as_json().encode())
    return found, path
