"""What a project memory costs: its indexes, and each token beside a step of the model, in one run.

    python benchmarks/project_memory.py [--model FILE.gguf] [--tokens 2.3] [--places 120]

The code is CPython's library with its tests, then what is installed beside this. The open file's index is made at cursors in files of
about 40 kB, as of a new file and again for each key of twenty. The project's is made of so many million tokens, in a process of its own.
Then blocks are completed on one thread at places of the same code, without a memory, with the open file's and with the project's in turn.
The lookups run beside the model where it leaves a CPU, so that a step with a memory takes less than both. Seconds are the processor's.
Prints Markdown.
"""

from __future__ import annotations

import random
import statistics
import sysconfig
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

import harness

from assay.inference.llamacpp.model import LlamaModel
from assay.inference.opening import EMBEDDED
from assay.inference.project_memory.memory import Memory
from assay.inference.project_memory.mixture import Row
from assay.inference.project_memory.open_file import OpenFile
from assay.inference.project_memory.project import Project, ProjectFiles, project_of
from assay.inference.project_memory.reader import Reader
from assay.inference.project_memory.source import Source
from assay.suggestion.complete import complete
from assay.suggestion.memory.folder import as_code
from assay.suggestion.memory.memories import Memories
from assay.suggestion.memory.scope import SCOPES, Scope

LIBRARY = Path(sysconfig.get_path("stdlib"))
FILES, KEYS = 30, 20
MAX_INDEX_MS, MAX_PROJECT_S, MAX_TOKEN_MS = 3.0, 1.0, 0.15

Files = list[tuple[str, str]]


class Timed:
    """A memory, or none, with the times of each token of the generations that are made with it.

    Attributes
        memory_s: what the memory does for a token, beside the model too.
        step_s: from one token to the next.
    """

    def __init__(self, memory: Memory | None) -> None:
        self.fingerprint, self._memory = "", memory
        self.memory_s: list[float] = []
        self.step_s: list[float] = []

    def reader(self, held: str) -> _TimedReader:
        return _TimedReader(self, self._memory and self._memory.reader(held))


class _TimedReader:
    def __init__(self, timed: Timed, reader: Reader | None) -> None:
        self._timed, self._reader = timed, reader
        self._last: float | None = None
        self._ahead = 0.0

    def look_ahead(self) -> None:
        began = time.perf_counter()
        if self._reader is not None:
            self._reader.look_ahead()
        self._ahead = time.perf_counter() - began

    def mix(self, row: Row) -> Row:
        began = time.perf_counter()
        if self._last is not None:
            self._timed.step_s.append(began - self._last)
        self._last = began
        mixed = row if self._reader is None else self._reader.mix(row)
        self._timed.memory_s.append(self._ahead + time.perf_counter() - began)
        self._ahead = 0.0
        return mixed

    def take(self, token: int) -> None:
        began = time.perf_counter()
        if self._reader is not None:
            self._reader.take(token)
        self._timed.memory_s[-1] += time.perf_counter() - began

    def sources(self) -> tuple[Source, ...]:
        return () if self._reader is None else self._reader.sources()


@dataclass(frozen=True)
class Line:
    """A row of the table. values: in the unit of `what`; goal: the highest median."""

    what: str
    values: Sequence[float]
    goal: float | None = None

    def cells(self) -> tuple[str, ...]:
        median = statistics.median(self.values)
        goal = "" if self.goal is None else f"{self.goal:g}: {'met' if median <= self.goal else f'missed by {median / self.goal - 1:.0%}'}"
        return self.what, harness.middle(self.values), goal, f"{len(self.values):,}"


def code() -> Iterator[tuple[str, str]]:
    """Path and text of real code: CPython's library, then other packages."""
    packages = Path(sysconfig.get_path("purelib"))
    library = sorted(path for path in LIBRARY.rglob("*.py") if "site-packages" not in path.parts)
    for path in (*library, *sorted(packages.rglob("*.py"))):
        text = as_code(path.read_text(encoding="utf-8", errors="replace"))
        if text:
            yield str(path), text


def enough(model: LlamaModel, tokens: float) -> tuple[Files, int]:
    """Files of so many tokens, and how many they have."""
    found, total = Files(), 0
    for path, text in code():
        found.append((path, text))
        total += len(model.tokenize(text))
        if total >= tokens:
            break
    return found, total


def indexed(files: Files) -> tuple[float, float]:
    """Seconds to make a project's index, and the megabytes by which the process grows for it."""
    before, began = harness.resident_kib(), time.thread_time()
    gathered = ProjectFiles()
    for path, text in files:
        gathered.add(path, text)
    project = gathered.project()
    done = time.thread_time()
    assert project.paths
    return done - began, (harness.resident_kib() - before) * 1024 / 1e6


def project_lines(files: Files, tokens: int) -> Iterator[Line]:
    """The cost of the project's index."""
    rounds = []
    for _ in range(3):
        with get_context("spawn").Pool(1) as alone:
            rounds.append(alone.apply(indexed, (files,)))
    of = f"of {tokens / 1e6:.1f}M tokens in {len(files):,} files"
    yield Line(f"the project's index, {of}, s", [seconds for seconds, _ in rounds], MAX_PROJECT_S)
    yield Line("by how much the process grows for it, MB a million tokens", [size / tokens * 1e6 for _, size in rounds])


def _some(chosen: random.Random, files: Files, count: int) -> Files:
    """At most so many files of about 40 kB."""
    fitting = [file for file in files if 35_000 < len(file[1]) < 45_000]
    return chosen.sample(fitting, min(count, len(fitting)))


def file_lines(files: Files) -> Iterator[Line]:
    """The cost of the open file's index: of a file that is new, and while it is typed in."""
    chosen, new, typed = random.Random(0), [], []
    for _, text in _some(chosen, files, FILES):
        opened, at = OpenFile(), chosen.randrange(len(text) // 4, len(text) * 3 // 4)
        for key in range(KEYS):
            began = time.perf_counter()
            opened.index(text[: at + key], text[at + KEYS :])
            (typed if key else new).append(1e3 * (time.perf_counter() - began))
    yield Line("the open file's index, new, of 40 kB, ms", new, MAX_INDEX_MS)
    yield Line("the open file's index for the next key, of 40 kB, ms", typed, MAX_INDEX_MS)


def token_lines(model: LlamaModel, project: Project, files: Files, places: int) -> Iterator[Line]:
    """The cost of a token, with each memory and without."""
    chosen, memories = random.Random(0), Memories(model)
    took: dict[Scope, list[Timed]] = {scope: [] for scope in SCOPES}
    at_request: dict[str, list[float]] = {"file": [], "project": []}
    large = [file for file in files if 10_000 < len(file[1]) < 60_000]
    for _ in range(places):
        path, text = chosen.choice(large)
        start = text.index("\n", chosen.randrange(len(text) // 4, len(text) * 3 // 4)) + 1
        end = text.find("\n", start)
        at = chosen.randrange(start, max(start + 1, end))
        prefix, suffix = text[:at], text[end:]
        for scope in SCOPES:
            began = time.perf_counter()
            memory = memories.at(prefix, suffix, path, scope, project)
            if memory is not None:
                at_request[scope].append(1e3 * (time.perf_counter() - began))
            timed = Timed(memory)
            complete(model, prefix, suffix, kind="block", memory=timed)  # type: ignore[arg-type]
            took[scope].append(timed)
    for scope in ("file", "project"):
        yield Line(f"the memory of a request, {scope}, ms", at_request[scope])
    yield Line("a step without a memory, ms", _ms([step for each in took["off"] for step in each.step_s]))
    for scope in ("file", "project"):
        yield Line(f"the memory's own work for a token, {scope}, ms", _ms([own for each in took[scope] for own in each.memory_s]))
        added = [
            statistics.median(each.step_s) - statistics.median(off.step_s)
            for each, off in zip(took[scope], took["off"], strict=True)
            if each.step_s and off.step_s
        ]
        yield Line(f"how much longer a step is with it, {scope}, by place, ms", _ms(added), MAX_TOKEN_MS)


def _ms(seconds: Sequence[float]) -> list[float]:
    return [1e3 * each for each in seconds]


def main() -> None:
    parser = harness.parser_of(__doc__)
    parser.add_argument("--model", type=harness.model_file, default=EMBEDDED, help="a GGUF file (the embedded model)")
    parser.add_argument("--tokens", type=float, default=2.3, help="million tokens of the project (default: %(default)s)")
    parser.add_argument("--places", type=int, default=120, help="(default: %(default)s)")
    arguments = parser.parse_args()
    with LlamaModel(arguments.model, threads=1) as model:
        files, tokens = enough(model, arguments.tokens * 1e6)
        print(harness.described("numpy", "llama-cpp-python"))
        print(f"{arguments.model.name}, 1 thread, median (middle half)\n")
        lines = [*file_lines(files), *project_lines(files, tokens), *token_lines(model, project_of(files), files, arguments.places)]
        print(harness.table(["", "", "goal", "n"], [line.cells() for line in lines]))


if __name__ == "__main__":
    main()
