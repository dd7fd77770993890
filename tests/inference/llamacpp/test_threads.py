"""The number of threads follows the machine: on machines that are computed, with their own noise, and with real models."""

import operator
import random
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.inference.llamacpp import threads
from assay.inference.llamacpp.model import LlamaModel
from assay.inference.llamacpp.threads import (
    MAX_WAIT_S,
    ThreadController,
    ThreadsInUse,
    fast_cores,
    most_running,
    physical_cores,
    running_tasks,
)
from assay.inference.stopping.stop import NONE

PROMPT = 100


@dataclass
class Machine:
    """Some cores, of which other tasks take `load`; `idle` more run only when nothing else wants to. told: whether it counts its tasks.

    A batch takes `step` seconds on one thread that has a core of its own; part of it can't be shared out. Threads beyond the free cores
    are waited for: a batch of one token, which has many short parts, then loses more than a prompt.
    """

    cores: int
    load: int = 0
    idle: int = 0
    told: bool = True
    step: float = 0.002
    most: int = 0
    slow_cores: int = 0
    noise: random.Random = field(default_factory=lambda: random.Random(7))
    clock: float = 0.0
    used: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.most = self.most or self.cores
        self.controller = ThreadController(self.cores, self.most, self.running)

    def running(self) -> int | None:
        return self.used[-1] + self.load + self.idle if self.told else None

    def seconds(self, threads: int, tokens: int) -> float:
        """What a batch takes in the mean."""
        shared, waiting = (0.8, 1.0) if tokens == 1 else (0.95, 0.3)
        fast = min(threads, self.cores)
        alone = self.step * (1 + tokens / 5) * (1 - shared + shared / (fast + self.slow_cores * (threads - fast)))
        cores = self.cores if not self.slow_cores else self.most
        over = threads + self.load - cores
        if over <= 0:
            return alone
        return alone * (threads + self.load) / cores * (1 + waiting * min(over, threads - 1))

    def best(self, tokens: int) -> int:
        return min(range(1, self.most + 1), key=lambda threads: self.seconds(threads, tokens))

    def batch(self, tokens: int, held_up: float = 0.0) -> float:
        """Decode a batch. Returns the seconds."""
        self.used.append(self.controller.threads(tokens))
        took = self.seconds(self.used[-1], tokens) * self.noise.lognormvariate(0, 0.15) + held_up
        self.clock += took
        self.controller.took(tokens, took)
        return took

    def run(self, seconds: float) -> list[float]:
        """Requests for so long, each a prompt and 16 tokens. Returns the seconds of each."""
        end, took = self.clock + seconds, []
        while self.clock < end:
            took.append(sum(self.batch(tokens) for tokens in (PROMPT, *[1] * 16)))
        return took

    def fixed(self, count: int) -> list[list[float]]:
        """Seconds of so many requests with each fixed number of threads."""
        noise = [[self.noise.lognormvariate(0, 0.15) for _ in range(17)] for _ in range(count)]
        every = [[self.seconds(threads, tokens) for tokens in (PROMPT, *[1] * 16)] for threads in range(1, self.most + 1)]
        return [[sum(map(operator.mul, seconds, drawn)) for drawn in noise] for seconds in every]

    def behind(self, took: list[float]) -> tuple[float, float]:
        """Mean and 95th percentile of requests, each over that of the best fixed number."""
        fixed = self.fixed(len(took))
        return mean(took) / min(map(mean, fixed)), p95(took) / min(map(p95, fixed))


def mean(numbers: list[float]) -> float:
    return sum(numbers) / len(numbers)


def p95(numbers: list[float]) -> float:
    return sorted(numbers)[int(0.95 * len(numbers))]


@pytest.mark.parametrize(("step", "told"), [(0.001, True), (0.04, False)])
@pytest.mark.parametrize(("cores", "load"), [(2, 1), (2, 3), (8, 0), (16, 17)])
def test_the_fastest_number_is_found_beside_any_load_and_kept(cores: int, load: int, step: float, told: bool) -> None:
    machine = Machine(cores, load, step=step, told=told)
    machine.run(10 if told else 30)
    assert max(machine.behind(machine.run(5000 * step))) < 1.1
    if (cores, load) == (2, 3):
        assert (machine.best(PROMPT), machine.best(1)) == (2, 1), "prompts and generation have numbers of their own"


def test_when_the_load_ends_or_a_batch_was_held_up_the_quiet_speed_is_back_within_a_few_batches() -> None:
    machine = Machine(2, 0)
    machine.run(5)
    machine.batch(1, held_up=5)
    machine.run(1)
    assert machine.behind(machine.run(1))[0] < 1.1
    for load in (1, 2, 3):
        machine.load = load
        machine.run(2)
        machine.load = 0
        machine.run(0.03)
        assert machine.behind(machine.run(0.5))[0] < 1.1


def test_tasks_that_give_way_to_anything_else_take_no_cores() -> None:
    machine = Machine(2, 0, idle=2)
    machine.run(2)
    assert machine.behind(machine.run(5))[0] < 1.05
    machine.load = 1
    machine.run(1)
    assert machine.behind(machine.run(5))[0] < 1.1
    machine.load = 0
    machine.run(2 * MAX_WAIT_S)
    assert machine.behind(machine.run(5))[0] < 1.1


def test_slower_cores_are_used_where_they_help() -> None:
    helping = Machine(4, most=8, slow_cores=1)
    helping.run(20)
    assert helping.controller.in_use().prompt > 4
    useless = Machine(4, most=8)
    useless.run(20)
    assert useless.controller.in_use().prompt == 4


@given(st.lists(st.tuples(st.integers(1, 600), st.floats(0, 10), st.one_of(st.none(), st.integers(0, 500))), max_size=200))
def test_the_number_is_within_its_bounds_whatever_is_timed(batches: list[tuple[int, float, int | None]]) -> None:
    counts = iter([count for *_, count in batches] * 2)
    controller = ThreadController(6, 10, lambda: next(counts))
    for tokens, seconds, _ in batches:
        assert 1 <= controller.threads(tokens) <= 10
        controller.took(tokens, seconds)
    in_use = controller.in_use()
    assert 1 <= min(in_use.generation, in_use.prompt) <= max(in_use.generation, in_use.prompt) <= 10


def test_a_machine_is_crowded_where_others_run_and_cores_are_left_to_them() -> None:
    assert ThreadsInUse(1, 2, 2, 1.0).crowded
    assert ThreadsInUse(1, 1, 1, 1.0).crowded
    assert not ThreadsInUse(2, 2, 2, 2.0).crowded  # they give way
    assert not ThreadsInUse(1, 2, 2, 0.1).crowded  # a small model on few cores
    assert not ThreadsInUse(1, 1, 1, None).crowded


def test_running_tasks_are_counted_where_the_system_tells(tmp_path: Path) -> None:
    told = tmp_path / "loadavg"
    told.write_text("0.73 0.55 1.75 5/94 4711\n")
    assert running_tasks(told) == 5
    told.write_text("0.73 0.55 1.75 12/94 4711\n")
    assert running_tasks(told) == 12
    for wrong in ("", "0.1 0.2 0.3", "a b c d e"):
        told.write_text(wrong)
        assert running_tasks(told) is None
    assert running_tasks(tmp_path / "absent") is None


def test_a_model_follows_the_machine_unless_the_number_is_fixed(tiny_gguf: Path) -> None:
    with LlamaModel(tiny_gguf) as model, LlamaModel(tiny_gguf, threads=1) as fixed:
        cores = model.threads.cores
        assert model.threads == ThreadsInUse(cores, cores, cores, None)
        prompt = model.fim("def f(x):\n    return x", "")
        for each in (model, fixed):
            each.generate(prompt, stop=NONE, max_tokens=30)
        assert 1 <= model.threads.generation <= cores
        assert fixed.threads == ThreadsInUse(1, 1, 1, None)
    with LlamaModel(tiny_gguf, threads="auto") as model:
        assert model.threads.cores == cores


@pytest.mark.parametrize(("share", "at_most"), [("50000 100000", 1), ("max 100000", 4096), ("1 0", 4096)])
def test_a_container_s_share_of_time_bounds_the_threads(tmp_path: Path, share: str, at_most: int) -> None:
    (tmp_path / "cpu.max").write_text(share)
    unlimited = physical_cores(tmp_path / "absent")
    assert physical_cores(tmp_path / "cpu.max") == min(unlimited, at_most)
    assert most_running(tmp_path / "cpu.max") == min(most_running(tmp_path / "absent"), at_most)


def machine(folder: Path, files: dict[str, str]) -> tuple[Path, Path]:
    """A file without a limit, and a folder that describes processors as Linux does."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text + "\n")
    return folder / "absent", folder


@pytest.mark.parametrize(
    ("files", "fast"),
    [
        ({}, 8),
        ({"cpu_core/cpus": "0,2-3"}, 3),
        ({"cpu_core/cpus": "100-107"}, 8),  # none of those that this process may use
        ({f"system/cpu/cpu{n}/cpu_capacity": "1024" if n < 2 else "446" for n in range(8)}, 2),
        ({f"system/cpu/cpu{n}/cpufreq/cpuinfo_max_freq": "5100000" if n < 6 else "3800000" for n in range(8)}, 6),
        ({f"system/cpu/cpu{n}/topology/thread_siblings_list": f"{n // 2 * 2}-{n // 2 * 2 + 1}" for n in range(8)}, 4),
    ],
)
def test_performance_cores_are_told_from_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: dict[str, str], fast: int) -> None:
    monkeypatch.setattr(threads, "usable_cpus", lambda: set(range(8)))
    assert fast_cores(*machine(tmp_path, files)) == fast
