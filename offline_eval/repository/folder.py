"""The question of a run of `assay calibrate repo`, and the folder that belongs to it."""

from __future__ import annotations

import contextlib
import glob
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ...analysis.oracle.oracle import Oracle
from ...analysis.sandbox.isolation.best_level import NoIsolation, best_level
from ...analysis.sandbox.isolation.jail import Jail
from ...analysis.sandbox.isolation.levels import Isolation
from ...inference.completion.settings import Settings
from ...inference.completion.task import Task, kind_of
from ..run import SCHEMA, Run, RunError
from .asking import done_of
from .plan import Asked, Seen, UsageError
from .study import SHARDS, TASKS

STUDY = "repository"

Question = dict[str, str | int | Sequence[str]]


@dataclass(frozen=True, slots=True)
class AskedModel:
    """Fingerprint and name of the model, and of each task's prompt."""

    fingerprint: str
    name: str
    prompts: Mapping[Task, str]


def model_of(asked: Asked) -> AskedModel:
    """What a question says of its model, which is opened for it. Raises UsageError, and what `ModelChoice.open` raises."""
    settings = Settings()
    with asked.choice.open() as model:
        if not model.capabilities.logprobs:
            raise UsageError(f"{asked.choice.where} tells no log-probabilities, so there is nothing to calibrate with")
        if asked.choice.options.get("shift_tokens"):
            raise UsageError("with --shift log-probabilities are approximate, so no calibrator can be fitted on them: leave it out")
        prompts = {task: settings.fingerprint(model.layout, model.context_length, kind_of(task)) for task in TASKS}
        return AskedModel(model.fingerprint.id, model.fingerprint.name, prompts)


def question_of(asked: Asked, model: AskedModel, project: Path, interpreter: Path, isolation: Isolation, content: str) -> Question:
    """All that makes a run another one. content: `Oracle.content`."""
    return {
        "schema": SCHEMA,
        "study": STUDY,
        "model": model.fingerprint,
        "model_name": model.name,
        "prompt": model.prompts["line"],
        "prompt_block": model.prompts["block"],
        "seed": asked.seed,
        "project": project.name,
        "folder": str(project),
        "content": content,
        "tasks": list(asked.tasks),
        "interpreter": str(interpreter),
        "isolation": str(isolation),
    }


def folder_of(asked: Asked, cache: Path, question: Question) -> Path:
    """Where the run of a question is kept."""
    digest = hashlib.sha256(json.dumps(question, sort_keys=True).encode()).hexdigest()[:12]
    return asked.out or cache / "repositories" / f"{question['project']}-{digest}"


def most_done(runs: Path, project: Path) -> tuple[int, Path] | None:
    """Of the runs on a project, whatever they asked, the one with the most places, and how many those are."""
    found = []
    for path in runs.glob(f"{glob.escape(project.name)}-*/run.toml"):
        with contextlib.suppress(RunError, OSError):
            if Run(path.parent).asked().get("folder") == str(project):
                found.append((sum(1 for _ in (path.parent / SHARDS).glob("*.json")), path.parent))
    most = max(found, default=(0, runs))
    return most if most[0] else None


def seen(asked: Asked, project: Path, isolation: Isolation, interpreter: Path, cache: Path) -> Seen:
    """What is known before a test has run. The interpreter is asked, and compiles a copy, in a jail also where the run would have none.

    The folder is known of the embedded model and of `Asked.out` alone: others may take long to open. Raises UnusableInterpreter, NotCopied,
    UsageError, and RunError where the folder holds another question.
    """
    jail = _jail()
    if asked.make_environment or jail is None:
        return _given(asked)
    with Oracle(project, interpreter, jail, cache=cache / "oracle") as oracle:
        pytest, content = oracle.suite.interpreter.pytest, oracle.content
    if asked.choice.where is not None:
        return replace(_given(asked), pytest=pytest)
    question = question_of(asked, model_of(asked), project, interpreter, isolation, content)
    run = folder_of(asked, cache, question)
    if (run / "run.toml").is_file() and Run(run).asked() != question:
        raise Run(run).another(question)
    return Seen(pytest, run, done_of(run))


def _jail() -> Jail | None:
    try:
        return Jail(best_level())
    except NoIsolation:
        return None


def _given(asked: Asked) -> Seen:
    """What is seen where the question is not known."""
    return Seen(run=asked.out, done=done_of(asked.out) if asked.out else None)
