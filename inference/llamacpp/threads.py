"""How many threads decode a batch: as many as are fastest beside what else the machine does, found by timing the batches themselves."""

from __future__ import annotations

import bisect
import functools
import math
import os
import re
import statistics
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

_DEVICES = Path("/sys/devices")
_QUOTA = Path("/sys/fs/cgroup/cpu.max")
# A core is fast from this share of the fastest one's speed on. Cores of one kind differ by a few percent, efficient ones by half.
_FAST = 0.75


def usable_cpus() -> set[int]:
    """The numbers of the CPUs that this process may use; each thread of a core is one."""
    return os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set(range(os.cpu_count() or 1))


def physical_cores(quota: Path = _QUOTA, devices: Path = _DEVICES) -> int:
    """The cores that this process may use. Hyper-threads of a core count once, and a container's share of CPU time is a bound.

    quota: the file of that share (Linux, cgroup v2): microseconds of CPU time, or "max", and microseconds of the period.
    devices: the folder in which Linux describes the processors.
    """
    return _cores(usable_cpus(), quota, devices)


def fast_cores(quota: Path = _QUOTA, devices: Path = _DEVICES) -> int:
    """Those of `physical_cores` that are not slower than others: performance cores, where the system tells; else all."""
    usable = usable_cpus()
    speeds = {cpu: _speed(cpu, devices) for cpu in usable}
    fastest = max(speeds.values())
    fast = {cpu for cpu, speed in speeds.items() if speed >= _FAST * fastest}
    with suppress(OSError):  # Intel's processors of two kinds list the performance cores
        fast = _listed((devices / "cpu_core/cpus").read_text()) & usable or fast
    return _cores(fast, quota, devices)


def most_running(quota: Path = _QUOTA) -> int:
    """How many threads of this process may run at once, with all threads of a core."""
    return _within(len(usable_cpus()), quota)


def _cores(cpus: set[int], quota: Path, devices: Path) -> int:
    return _within(len({_read(devices / f"system/cpu/cpu{cpu}/topology/thread_siblings_list") or str(cpu) for cpu in cpus}), quota)


def _within(count: int, quota: Path) -> int:
    with suppress(OSError, ValueError, ZeroDivisionError):  # no such file, or no limit
        allowed, period = quota.read_text().split()
        count = min(count, int(allowed) // int(period))
    return max(1, count)


def _speed(cpu: int, devices: Path) -> int:
    """The kernel's figure for a CPU's speed, in units that all CPUs of a machine have in common; 0 where there is none."""
    folder = devices / f"system/cpu/cpu{cpu}"
    told = (_read(folder / "cpu_capacity"), _read(folder / "cpufreq/cpuinfo_max_freq"))
    return next((int(figure) for figure in told if figure.isdecimal()), 0)


def _listed(text: str) -> set[int]:
    """CPUs written as 0-3,8."""
    ranges = re.findall(r"(\d+)(?:-(\d+))?", text)
    return {cpu for first, last in ranges for cpu in range(int(first), int(last or first) + 1)}


def _read(file: Path) -> str:
    try:
        return file.read_text().strip()
    except OSError:
        return ""


# How long a number of threads is kept before another may take its turn. A scheduler lets a process run for some milliseconds at once, so
# that a shorter look would be luck.
TURN_S = 0.025
# Decoding with the best number between two tries of another. It doubles with every try, so that a bad look is soon made good and few
# requests pay for tries: at the most it is so long, or so many times as long as a batch of the try.
MIN_WAIT_S, MAX_WAIT_S, MIN_WAIT_TRIES = 0.2, 3.0, 50
# The best number gives way to another that takes less than this share of its time.
GAIN = 0.95
# A speed is that of about so much decoding, and of at least so many batches.
WINDOW_S, MIN_WINDOW = 0.25, 4
# What one batch counts for at most beyond twice what was expected: one that waited for a disk says little of the next.
MAX_EXCESS_S = 0.05
# Batches of at least so many tokens each have a number of threads of their own, for they spend their time differently: reading weights,
# attention, multiplying.
SIZES = (2, 8, 64)
# How often the other tasks are counted, in time of decoding, and of how many counts the middle one holds: most programs that wake beside
# the model sleep again at once.
COUNT_EVERY_S, COUNTS = 0.002, 3
# Numbers of other tasks that are told apart, beside many cores.
LEVELS = 8


@dataclass(frozen=True, slots=True)
class ThreadsInUse:
    """How many threads decode at the moment.

    generation, prompt: threads for one token, and for many. cores: threads of a quiet machine. others: tasks of other programs that wanted
    to run while this one decoded, in the mean; None where the system does not tell, or the number of threads is fixed.
    """

    generation: int
    prompt: int
    cores: int
    others: float | None

    @property
    def crowded(self) -> bool:
        """Whether other programs take what a quiet machine would give."""
        return self.others is not None and self.others >= 0.5 and (self.generation < self.cores or self.cores == 1)


def running_tasks(source: Path = Path("/proc/loadavg")) -> int | None:
    """How many tasks of the whole machine run or could run, those included that the kernel runs only when nothing else wants to.

    None where the system does not tell.
    """
    if (file := _opened(source)) is None:
        return None
    try:
        return int(os.pread(file, 64, 0).split()[3].partition(b"/")[0])
    except (OSError, ValueError, IndexError):
        return None


@functools.cache
def _opened(source: Path) -> int | None:
    """The file, opened once for as long as this process lives: opening takes longer than reading."""
    try:
        return os.open(source, os.O_RDONLY)
    except OSError:
        return None


@dataclass(slots=True)
class _Speed:
    """Seconds and tokens of the last batches; older ones fade."""

    seconds: float = 0.0
    tokens: float = 0.0

    @property
    def cost(self) -> float:
        return self.seconds / self.tokens

    def add(self, tokens: int, seconds: float) -> None:
        if self.tokens:
            expected = self.cost * tokens
            seconds = min(seconds, 2 * expected + MAX_EXCESS_S)
            faded = math.exp(-min(expected / WINDOW_S, 1 / MIN_WINDOW))
            self.seconds *= faded
            self.tokens *= faded
        self.seconds += seconds
        self.tokens += tokens


@dataclass(slots=True)
class _Situation:
    """What is known of batches of one size beside so much else.

    first: the numbers of threads to begin with. threads: the number in use, for `left` seconds more. best: the fastest that is known.
    wait: seconds with the best between two tries, of which `waited` are over. tried: seconds of a batch in the last try. step: from the
    best to the number to try next.
    """

    first: tuple[int, ...]
    threads: int
    best: int
    left: float = 0.0
    wait: float = MIN_WAIT_S
    waited: float = 0.0
    tried: float = 0.0
    step: int = 1
    speeds: dict[int, _Speed] = field(default_factory=dict)

    def begin_turn(self, most: int) -> None:
        """Choose the next number of threads: one of `first` that is not known yet, else the best, or now and then a neighbour of it."""
        self.left = TURN_S
        unknown = next((number for number in self.first if number not in self.speeds), None)
        if unknown is not None:
            self.threads = self.best = unknown
            return
        fastest = min(self.speeds, key=lambda number: self.speeds[number].cost)
        if self.speeds[fastest].cost < GAIN * self.speeds[self.best].cost:
            # The next number in this direction is tried at once, twice as far away, so that many cores are not gone through one by one.
            self.step = 2 * (fastest - self.best)
            self.best, self.wait, self.tried = fastest, MIN_WAIT_S, 0.0
            self.waited = self.wait if self._neighbour(most) != fastest else 0.0
        elif self.threads != self.best:
            self.step = -1 if self.step > 0 else 1
        self.threads = self.best
        if self.waited >= max(self.wait, MIN_WAIT_TRIES * self.tried) and most > 1:
            if self._neighbour(most) == self.best:
                self.step = -1 if self.step > 0 else 1
            self.threads = self._neighbour(most)
            # Of a number that is seldom tried only the last try tells how fast it is now.
            self.speeds.pop(self.threads, None)
            self.waited, self.wait = 0.0, min(2 * self.wait, MAX_WAIT_S)

    def _neighbour(self, most: int) -> int:
        return min(max(1, self.best + self.step), most)

    def took(self, tokens: int, seconds: float) -> None:
        """Note a batch with the number of threads in use."""
        self.left -= seconds
        if self.threads == self.best:
            self.waited += seconds
        else:
            self.tried = seconds
        self.speeds.setdefault(self.threads, _Speed()).add(tokens, seconds)


class ThreadController:
    """Says before each batch how many threads shall decode it, and is told after it how long that took.

    Batches of one token, of few, of a short prompt and of a long one each have their own number, and so has each number of other tasks
    that want to run. Of these one learns which number is fastest: first the cores that the others leave and all cores are tried, then now
    and then a neighbour of the best. The number of others is only a name for a situation, and what counts is the time: tasks that give way
    to anything else (SCHED_IDLE) are soon known to take nothing. Where the others can't be counted all is one situation.

    For the one thread that decodes; another may read `in_use`.

    Parameters
        cores: the number to begin with: the fast cores of a quiet machine.
        most: the most that is tried.
        running: counts the tasks of the whole machine that run or could run, this process's threads among them; None where unknown.
    """

    def __init__(self, cores: int, most: int, running: Callable[[], int | None] = running_tasks) -> None:
        self._cores, self._most, self._running = cores, most, running
        self._situations: dict[tuple[int, int], _Situation] = {}
        self._now: dict[int, _Situation] = {}
        self._counts: deque[int] = deque(maxlen=COUNTS)
        self._uncounted = math.inf
        self._sum_of_counts = self._looks = self._others = 0

    def threads(self, tokens: int) -> int:
        """The number of threads for the next batch, of so many tokens."""
        size = bisect.bisect(SIZES, tokens)
        situation = self._situations.get((size, self._others))
        if situation is None:
            first = (max(1, self._cores - self._others), self._cores)
            situation = self._situations[size, self._others] = _Situation(first, *first)
        if situation.left <= 0:
            situation.begin_turn(self._most)
        self._asked = size, situation
        return situation.threads

    def took(self, tokens: int, seconds: float) -> None:
        """Note how long the batch took for which `threads` was asked last, right after it."""
        size, situation = self._asked
        # The first batch of a size is not counted: memory is reserved for it, and weights may come from the disk.
        if size in self._now:
            situation.took(tokens, seconds)
        self._now[size] = situation
        self._uncounted += seconds
        if self._uncounted >= COUNT_EVERY_S:
            self._count(situation.threads)

    def in_use(self) -> ThreadsInUse:
        """The numbers that were last in use; before that the number to begin with."""
        now = dict(self._now)
        one = now.pop(0, None)
        prompt = now[max(now)] if now else None
        others = round(self._sum_of_counts / self._looks, 1) if self._looks else None
        return ThreadsInUse(one.best if one else self._cores, prompt.best if prompt else self._cores, self._cores, others)

    def _count(self, own: int) -> None:
        self._uncounted = 0.0
        if (running := self._running()) is None:
            return
        # Right after a batch its threads still look out for the next.
        self._counts.append(max(0, running - own))
        self._sum_of_counts += self._counts[-1]
        self._looks += 1
        others = min(statistics.median_low(self._counts), self._cores)
        coarse = max(1, self._cores // LEVELS)
        self._others = others // coarse * coarse
