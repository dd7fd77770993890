"""The calibration study's line completion: real lines taken out of real functions, completed by what the live engine runs, and compared.

Of each project, from files that are not tests, a random set of functions; of each function one random line (analysis.lines), asked for
in up to three ways:

    line          the whole line; the cursor stands where its code begins
    line_rest     from a random place inside the line to its end
    line_middle   from a random place inside a bracket pair up to the closing bracket, which stays

The model sees the rest of the file as the live engine shows it, and may be asked what it thinks of each generation (reflective measures).
Event: exact_match, after stripping trailing space. A generation without text would never be shown, so it is recorded but makes no sample: a
calibrator answers for what is shown.
"""

from __future__ import annotations

import hashlib
import random
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict, dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from ...analysis.python.lines import Gap, UnreadableSource, middle, rest, sample_lines, whole
from ...calibration.measures.agreement import distinct
from ...calibration.measures.reflective import Question, reflect
from ...calibration.measures.registry import measures_of
from ...calibration.samples import Sample, write_samples
from ...inference.completion.prompt import prompt_at
from ...inference.completion.settings import Settings
from ...inference.completion.task import Task
from ...inference.model import Model
from ...inference.opening import ModelChoice
from ...suggestion.complete import complete_several
from ..run import GENERATIONS, LABELS, Run, RunError
from ..worker_model import opened_on_one_thread
from .projects import Project, is_test, sources

TASKS: tuple[Task, ...] = ("line", "line_rest", "line_middle")
EVENT = "exact_match"


@dataclass(frozen=True, slots=True)
class LineTask:
    """One gap of one file. line is the number of its line, from 1."""

    id: str
    task: Task
    function: str
    line: int
    gap: Gap


@dataclass(frozen=True, slots=True)
class FileTasks:
    """All that is asked of one file: what a worker gets at once, so that the model's cache serves neighbours."""

    project: str
    path: str
    text: str
    tasks: tuple[LineTask, ...]


def tasks_of(project: Project, cache: Path, per_project: int, seed: int, tasks: Sequence[Task] = TASKS) -> list[FileTasks]:
    """The gaps to ask of one project: at most `per_project` functions, the same for the same seed. Raises ProjectError."""
    found = []
    for file in sources(project, cache):
        if is_test(file.path):
            continue
        try:
            found += [(file, line) for line in sample_lines(file.text, f"{seed}:{file.path}")]
        except UnreadableSource:
            continue  # a template, or code for another Python
    rng = random.Random(f"{seed}:{project.name}")
    chosen = sorted(rng.sample(found, min(per_project, len(found))), key=lambda pair: (pair[0].path, pair[1].start))
    by_file: dict[str, tuple[str, list[LineTask]]] = {}
    for file, line in chosen:
        gaps = {
            "line": whole(file.text, line),
            "line_rest": rest(file.text, line, str(seed)),
            "line_middle": middle(file.text, line, str(seed)),
        }
        number = file.text.count("\n", 0, line.start) + 1
        entry = by_file.setdefault(file.path, (file.text, []))[1]
        for task in tasks:
            if (gap := gaps[task]) is not None:
                entry.append(LineTask(f"{project.name}:{file.path}:{number}:{task}", task, line.function, number, gap))
    return [FileTasks(project.name, path, text, tuple(t)) for path, (text, t) in by_file.items()]


def answer(
    model: Model, file: FileTasks, settings: Settings, questions: Mapping[str, Question] | None = None, alternatives: int = 1
) -> list[dict[str, Any]]:
    """The model's generations for each gap of a file, as lines of generations.jsonl.

    questions: what it is then asked of each that has a text, by reflective measure (`questions_for`); nothing by default. alternatives:
    how many are drawn at each gap, of which those with different texts are given, the first choice first; it alone where it has no text:
    the live engine then shows nothing.
    """
    records = []
    for task in file.tasks:
        before, after = file.text[: task.gap.start], file.text[task.gap.end :]
        begun = time.perf_counter()
        made = complete_several(model, before, after, settings=settings, count=alternatives)
        total_ms = (time.perf_counter() - begun) * 1e3
        shown = distinct(made, alternatives) if made[0].text.strip() else distinct(made[:1], 1)
        for generation, drawn in shown:
            record: dict[str, Any] = {
                "id": id_of(task.id, drawn.rank),
                "task": task.task,
                "project": file.project,
                "file": file.path,
                "line": task.line,
                "function": task.function,
                "text": generation.text,
                "truth": file.text[task.gap.start : task.gap.end],
                "measures": measures_of(generation) | drawn.measures,
                "stopped_by": generation.stopped_by.value,
                "timings": {**asdict(generation.timings), "total_ms": total_ms},
            }
            if alternatives > 1:
                record |= {"rank": drawn.rank} if drawn.rank > 1 else {"rank": 1, "ranks": [other.rank for _, other in shown]}
            if questions and generation.text.strip():
                begun = time.perf_counter()
                said = reflect(model, prompt_at(model, before, after, settings=settings), generation, questions)
                record["measures"] |= said.measures
                record |= {"asked": said.asked, "fallbacks": said.fallbacks, "answers": said.answers}
                record["timings"]["questions_ms"] = (time.perf_counter() - begun) * 1e3
            records.append(record)
    return records


def id_of(gap: str, rank: int) -> str:
    """The id of a gap's generation: the gap's own for the first choice."""
    return gap if rank == 1 else f"{gap}:{rank}"


def _finished(run: Run) -> tuple[set[str], set[str]]:
    """The ids of all generations that the run has, and of the gaps that have all of theirs."""
    records = list(run.records(GENERATIONS))
    there = {record["id"] for record in records}
    ranks = {record["id"]: record.get("ranks", [1]) for record in records if record.get("rank", 1) == 1}
    return there, {gap for gap, found in ranks.items() if there.issuperset(id_of(gap, rank) for rank in found)}


_worker: tuple[Model, Settings, Mapping[str, Question], int] | None = None


def _start_worker(choice: ModelChoice, settings: Settings, questions: Mapping[str, Question], alternatives: int) -> None:
    global _worker
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches every process of a terminal; the parent decides
    _worker = opened_on_one_thread(choice), settings, questions, alternatives


def _answer_in_worker(file: FileTasks) -> list[dict[str, Any]]:
    assert _worker is not None, "the pool starts every worker with _start_worker"
    model, settings, questions, alternatives = _worker
    return answer(model, file, settings, questions, alternatives)


def generate(
    run: Run,
    files: Sequence[FileTasks],
    choice: ModelChoice,
    settings: Settings,
    workers: int,
    say: Callable[[str], None],
    questions: Mapping[str, Question] | None = None,
    alternatives: int = 1,
) -> None:
    """Complete what the run does not have yet, in `workers` processes of one thread each, writing as it goes.

    questions, alternatives: as `answer`.

    Raises RunError when a worker dies; what was written stays, and the same call goes on from there.
    """
    there, done = _finished(run)
    labelled = {record["id"] for record in run.records(LABELS)}
    run.append(LABELS, [_label(r) for r in run.records(GENERATIONS) if r["id"] not in labelled])
    asked = (replace(file, tasks=tuple(t for t in file.tasks if t.id not in done)) for file in files)
    left = [file for file in asked if file.tasks]
    total, begun, made, said = sum(len(f.tasks) for f in left), time.monotonic(), 0, 0.0
    if done:
        say(f"{len(done)} gaps are done already, {total} are left")
    what = choice, settings, questions or {}, alternatives
    with ProcessPoolExecutor(workers, get_context("spawn"), _start_worker, what) as pool:
        try:
            for file, records in zip(left, pool.map(_answer_in_worker, left), strict=True):
                new = [record for record in records if record["id"] not in there]
                run.append(GENERATIONS, new)
                run.append(LABELS, [_label(r) for r in new])
                made += len(file.tasks)
                if (spent := time.monotonic() - begun) - said > 15:
                    said = spent
                    minutes = (total - made) * spent / made / 60
                    say(f"{made}/{total} gaps, {made / spent:.1f} a second, about {minutes:.0f} minutes left")
        except KeyboardInterrupt:
            say(f"stopping behind the files that are being completed; the same command goes on where {run.folder} is")
            pool.shutdown(wait=False, cancel_futures=True)
            raise
        except BrokenProcessPool:
            raise RunError(f"a worker process died (out of memory?); the same command goes on where {run.folder} stopped") from None


def _label(record: dict[str, Any]) -> dict[str, Any]:
    return {"id": record["id"], EVENT: record["text"].rstrip() == record["truth"].rstrip()}


def samples(run: Run, model_id: str, model_name: str, prompt_id: str, seed: int, alternatives: int = 1) -> dict[Task, list[Sample]]:
    """The run's samples by task; alternatives: how many were drawn at each gap. Generations without text make none."""
    labels = {record["id"]: record.get(EVENT) for record in run.records(LABELS)}
    found: dict[Task, list[Sample]] = {}
    for r in run.records(GENERATIONS):
        if not r["text"].strip():
            continue
        sample = Sample(
            id=r["id"],
            model=model_id,
            prompt=prompt_id,
            task=r["task"],
            language="python",
            project=r["project"],
            file=r["file"],
            seed=seed,
            measures=r["measures"],
            labels={EVENT: labels.get(r["id"]), "tests_pass": None, "kept": None},
            text_sha256=hashlib.sha256(r["text"].encode()).hexdigest(),
            model_name=model_name,
            asked=r.get("asked", {}),
            fallbacks=r.get("fallbacks", ()),
            rank=r.get("rank", 1),
            alternatives=alternatives,
        )
        found.setdefault(r["task"], []).append(sample)
    return found


def write_all_samples(run: Run, by_task: dict[Task, list[Sample]]) -> list[Path]:
    """One samples file per task, since a calibrator is fitted to one task: RUN/samples/line.jsonl, …"""
    paths = []
    for task, found in sorted(by_task.items()):
        paths.append(run.folder / "samples" / f"{task}.jsonl")
        write_samples(paths[-1], found)
    return paths


def to_stderr(text: str) -> None:
    """A line for people."""
    print(text, file=sys.stderr, flush=True)
