"""Labels from a project's own tests: regions of its code are completed as the live engine would, and judged by the suite.

Places are regions that tests execute (analysis.regions, the sampler of round-trip correctness), drawn from the whole project in one seeded
order, so that any number of the first of them is a fair sample. At each the model is asked in up to four ways:

    line          a random line of the region; the cursor stands where its code begins
    line_rest     from a random place inside that line to its end
    line_middle   from a random place inside a bracket pair of it up to the closing bracket, which stays
    block         the whole region, where it is longer than a line

A place whose deletion changes no test's result says nothing about code, and is left out (the paper's filter). Events: exact_match (after
stripping trailing space) and tests_pass (each covering test ends as it does without the change; unknown where the tests can't say).
"""

from __future__ import annotations

import hashlib
import json
import random
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ... import __version__
from ...analysis.oracle.oracle import NotJudged, Oracle
from ...analysis.oracle.report import Verdict
from ...analysis.python.lines import Gap, Line, UnreadableSource, lines_inside_strings, middle, rest, whole
from ...analysis.python.regions import Region, candidates, deleted, drawn, weights
from ...analysis.sandbox.isolation.jail import Jail
from ...analysis.sandbox.isolation.levels import Isolation
from ...calibration.atomic_write import write_atomically
from ...calibration.measures.registry import measures_of
from ...calibration.samples import Sample
from ...inference.completion.settings import Settings
from ...inference.completion.task import Task, kind_of
from ...inference.model import Generation, Model
from ...inference.opening import ModelChoice
from ...suggestion.complete import complete
from ..run import RunError
from ..worker_model import opened_on_one_thread

TASKS: tuple[Task, ...] = ("line", "line_rest", "line_middle", "block")
SHARDS = "places"
_FIELDS = {"id", "file", "function", "statement", "line", "deletion", "answers"}
_OF_ANSWER = {"id", "task", "text", "truth", "measures", "timings", "exact_match", "tests_pass", "way", "tests_run", "tests_s"}


class Unjudged(Exception):
    """The machine failed, not the code: the place is to be asked again."""


class Changed(Exception):
    """Project, model or Assay are not those that the run began with; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Place:
    """A region of a file and the line of it that is asked for.

    id: file, first line and length, the same in each run on the same code. tests: how many touch the region.
    """

    id: str
    file: str
    region: Region
    line: Line | None
    tests: int


def regions_of(oracle: Oracle, seed: int) -> list[tuple[str, Region]]:
    """Every region of the project that can be asked for, with its file, in the order in which they are."""
    found: list[tuple[str, Region]] = []
    weighted: list[float] = []
    for file in oracle.files():
        try:
            source = oracle.source(file)
            # what runs at import is judged by the whole suite alone
            lines = oracle.covered(file).keys() - oracle.coverage().imported.get(file, frozenset())
            regions = candidates(source, eligible_lines=lines)
        except (UnreadableSource, NotJudged):
            continue  # code for another Python
        found += [(file, region) for region in regions]
        weighted += weights(source, regions)
    return [found[i] for i in drawn(weighted, f"{seed}", len(found))]


def places_of(oracle: Oracle, regions: Sequence[tuple[str, Region]], seed: int) -> Iterator[Place]:
    """The places of these regions, made as they are taken. Regions overlap: one whose line was asked for before is left out."""
    asked: set[tuple[str, int]] = set()
    for file, region in regions:
        place = _place(file, oracle.source(file), region, oracle, seed)
        if place.line is None or (file, place.line.start) not in asked:
            if place.line is not None:
                asked.add((file, place.line.start))
            yield place


def _place(file: str, source: str, region: Region, oracle: Oracle, seed: int) -> Place:
    name = f"{file}:{region.first_line}+{region.end - region.start}"
    covered = oracle.covered(file)
    touching = frozenset().union(*(covered.get(line, frozenset()) for line in range(region.first_line, region.last_line + 1)))
    return Place(name, file, region, _line_of(source, region, f"{seed}:{name}"), len(touching))


def _line_of(source: str, region: Region, seed: str) -> Line | None:
    """One random line of a region that has code: no blank one, no comment, none inside a string that began above."""
    inside = lines_inside_strings(source)
    lines, start = [], source.rfind("\n", 0, region.start) + 1
    for number in range(region.first_line, region.last_line + 1):
        end = source.find("\n", start)
        end = len(source) if end < 0 else end
        text = source[start:end].strip()
        if text and not text.startswith("#") and number not in inside:
            lines.append(Line(region.function, start, end))
        start = end + 1
    return random.Random(f"{seed}:line").choice(lines) if lines else None


def gaps_of(source: str, place: Place, tasks: Sequence[Task], seed: int) -> dict[Task, Gap]:
    """What is taken out for each task that can be asked at a place."""
    region, line = place.region, place.line
    found: dict[Task, Gap | None] = {}
    if line is not None:
        found = {"line": whole(source, line), "line_rest": rest(source, line, str(seed)), "line_middle": middle(source, line, str(seed))}
    if region.last_line > region.first_line:
        found["block"] = Gap(region.start, region.end)
    return {task: gap for task in tasks if (gap := found.get(task)) is not None}


@dataclass(frozen=True, slots=True)
class Spec:
    """All that a worker needs to answer places, as it travels. project: the folder; cache: where the oracle keeps its baseline.

    content: `Oracle.content` of the code that the places are of; model: the fingerprint's id of the one that the run is of; version: the
    driver's of Assay. shards: where a worker on this machine leaves what it has finished; None
    where the driver does.
    """

    project: Path
    interpreter: Path
    isolation: Isolation
    cache: Path
    choice: ModelChoice
    settings: Settings
    tasks: tuple[Task, ...]
    seed: int
    content: str
    model: str
    shards: Path | None
    version: str = __version__

    def __call__(self) -> Answering:
        """The work function, with the model and the oracle open. Raises Changed, and what `ModelChoice.open` and `Oracle` raise."""
        if self.version != __version__:
            raise Changed(f"the worker has Assay {__version__}, the driver {self.version}: install the same on both")
        with ExitStack() as stack:
            model = stack.enter_context(opened_on_one_thread(self.choice))
            if model.fingerprint.id != self.model:
                raise Changed(
                    f"{self.choice.where or 'the embedded model'} is the model {model.fingerprint.id} for the worker, and was {self.model} "
                    "when the run began: have the same one in its place, everywhere"
                )
            oracle = stack.enter_context(Oracle(self.project, self.interpreter, Jail(self.isolation), cache=self.cache))
            if oracle.content != self.content:
                raise Changed(
                    f"{self.project} is not what it was when the run began; what is finished is kept, and the same command begins anew "
                    "with the present code"
                )
            return Answering(self, model, oracle, stack.pop_all())


class Answering:
    """Answers places; holds a model and an oracle."""

    def __init__(self, spec: Spec, model: Model, oracle: Oracle, held: ExitStack) -> None:
        self._spec, self._model, self._oracle, self._held = spec, model, oracle, held

    def __call__(self, place: Place) -> dict[str, Any]:
        """The record of one place, written to its shard where the spec names a folder."""
        record = answer(self._model, self._oracle, place, self._spec)
        if self._spec.shards:
            write_shard(self._spec.shards, record)
        return record

    def close(self) -> None:
        """Put the model and the oracle away."""
        self._held.close()


def answer(model: Model, oracle: Oracle, place: Place, spec: Spec) -> dict[str, Any]:
    """What is known of a place: whether its deletion is seen, and if it is each task's generation with its labels. JSON.

    Raises Unjudged where the machine failed.
    """
    source, region = oracle.source(place.file), place.region
    lines = range(region.first_line, region.last_line + 1)
    begun = time.perf_counter()
    without = _judged(oracle, place.file, deleted(source, region), lines)
    record: dict[str, Any] = {
        "id": place.id,
        "file": place.file,
        "function": region.function,
        "statement": region.statement,
        "line": region.first_line,
        "lines": len(lines),
        "characters": region.end - region.start,
        "tests": place.tests,
        # a test that says the same without the code does not test it
        "deletion": {None: "unknown", True: "unseen", False: "seen"}[without.label],
        "deletion_s": time.perf_counter() - begun,
        "deletion_way": without.way,
        "why": without.reason,
        "answers": [],
    }
    if without.label is False:
        for task, gap in gaps_of(source, place, spec.tasks, spec.seed).items():
            record["answers"].append(_answered(model, oracle, place, source, task, gap, spec.settings))
    return record


def _answered(model: Model, oracle: Oracle, place: Place, source: str, task: Task, gap: Gap, settings: Settings) -> dict[str, Any]:
    before, after, truth = source[: gap.start], source[gap.end :], source[gap.start : gap.end]
    begun = time.perf_counter()
    made = complete(model, before, after, kind=kind_of(task), settings=settings)
    generate_s = time.perf_counter() - begun
    exact = made.text.rstrip() == truth.rstrip()
    label, why, way, seconds, tests = _tested(oracle, place, source, gap, made, exact)
    return {
        "id": f"{place.id}:{task}",
        "task": task,
        "text": made.text,
        "truth": truth,
        "measures": measures_of(made),
        "stopped_by": made.stopped_by.value,
        "exact_match": exact,
        "tests_pass": label,
        "why": why,
        "way": way,
        "tests_run": tests,
        "tests_s": seconds,
        "timings": {**asdict(made.timings), "total_s": generate_s},
    }


def _tested(oracle: Oracle, place: Place, source: str, gap: Gap, made: Generation, exact: bool) -> tuple[bool | None, str, str, float, int]:
    """tests_pass, why, by which way, seconds and tests of that; nothing is run for what is already there, nor for what shows no text."""
    if exact:
        return True, "it is what is there", "none", 0.0, 0
    if not made.text.strip():
        return None, "no text", "none", 0.0, 0
    begun = time.perf_counter()
    region = place.region
    lines = range(region.first_line, region.last_line + 1)
    found = _judged(oracle, place.file, source[: gap.start] + made.text + source[gap.end :], lines)
    return found.label, found.reason, found.way, time.perf_counter() - begun, found.tests


def _judged(oracle: Oracle, file: str, text: str, lines: range) -> Verdict:
    found = oracle.verdict(file, text, lines)
    if found.infrastructure:
        raise Unjudged(found.reason)
    return found


def write_shard(folder: Path, record: dict[str, Any]) -> None:
    """Keep a place's record: whole or not at all, and the same file however often it is made."""
    with write_atomically(_shard(folder, record["id"])) as out:
        out.write(json.dumps(record).encode() + b"\n")


def _shard(folder: Path, place: str) -> Path:
    return folder / f"{hashlib.sha256(place.encode(errors='surrogatepass')).hexdigest()[:24]}.json"


def is_done(folder: Path, place: Place) -> bool:
    """Whether a place has its shard."""
    return _shard(folder, place.id).is_file()


def records_of(run: Path) -> Iterator[dict[str, Any]]:
    """The records of all places that a run has finished, by id. Raises RunError for a shard that was damaged, naming it."""
    found = map(_record, sorted((run / SHARDS).glob("*.json")))
    return iter(sorted(found, key=lambda record: str(record["id"])))


def _record(path: Path) -> dict[str, Any]:
    try:
        record = json.loads(path.read_bytes())
        if not (isinstance(record, dict) and record.keys() >= _FIELDS and all(made.keys() >= _OF_ANSWER for made in record["answers"])):
            raise ValueError("not the record of a place")
    except (ValueError, AttributeError, TypeError, RecursionError) as error:
        raise RunError(f"{path}: damaged ({error}); delete it to have the place asked again") from None
    return record


def remove_damaged(folder: Path) -> list[Path]:
    """Remove the shards that no place's record is in, of which there is none but by a fault of the disk; which they were."""
    removed = []
    for path in sorted(folder.glob("*.json")):
        try:
            _record(path)
        except RunError:
            path.unlink()
            removed.append(path)
    return removed


def samples_of(
    records: Sequence[dict[str, Any]], *, project: str, model: str, model_name: str, prompts: Mapping[Task, str], seed: int
) -> dict[Task, list[Sample]]:
    """Samples by task; a generation without text would never be shown, so it makes none. prompts: fingerprint by task."""
    found: dict[Task, list[Sample]] = {}
    for record in records:
        for made in record["answers"]:
            if not made["text"].strip():
                continue
            found.setdefault(made["task"], []).append(
                Sample(
                    id=made["id"],
                    model=model,
                    prompt=prompts[made["task"]],
                    task=made["task"],
                    language="python",
                    project=project,
                    file=record["file"],
                    seed=seed,
                    measures=made["measures"],
                    labels={"exact_match": made["exact_match"], "tests_pass": made["tests_pass"], "kept": None},
                    text_sha256=hashlib.sha256(made["text"].encode(errors="surrogatepass")).hexdigest(),
                    model_name=model_name,
                )
            )
    return found


def until(places: Iterable[Place], folder: Path, wanted: int | None, most_s: float | None, done: Callable[[], int]) -> Iterator[Place]:
    """The places that are still to be asked, until so many are done that tell something, or the time is up."""
    begun = time.monotonic()
    for place in places:
        if (wanted is not None and done() >= wanted) or (most_s is not None and time.monotonic() - begun >= most_s):
            return
        if not is_done(folder, place):
            yield place
