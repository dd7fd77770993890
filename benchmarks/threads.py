"""How the number of threads follows a machine that is in use: the controller beside every fixed number and llama-server, in one run.

    python benchmarks/threads.py [--models embedded,120M,500M] [--loads 0,1,2,3,2i] [--rounds 40] [--returns 5]

A load is so many processes that compute without end, "2i" two that the kernel runs only when nothing else wants to (SCHED_IDLE). Beside
each load all have their turn in every round, in changing order: the controller, each fixed number of threads, and llama-server as it is by
default. A turn is one request of each of four lengths of new prompt behind 400 tokens in the cache, as keys, words, lines and jumps leave
them. After a load has begun nothing is counted for 3 seconds. A ratio is that of medians or 95th percentiles over all requests, its
interval from resampling rounds. Then the load ends several times, and it is measured how long the controller takes to be back at the quiet
speed; and what the controller costs, and how much log-probabilities depend on the number of threads.

Without other work on the machine: what that takes beside the loads is printed, and rounds that disagree give wide intervals.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from platformdirs import user_cache_path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))
sys.path.insert(0, str(ROOT / "benchmarks"))

from llama_server import built_folder, free_port, is_built, wait_until_healthy  # noqa: E402
from machine import described  # noqa: E402
from peers import N_CTX, Server  # noqa: E402
from processes import busy_seconds, cpu_seconds  # noqa: E402
from random_model import SHAPES, make  # noqa: E402

from assay.inference.llamacpp.cores import fast_cores, physical_cores  # noqa: E402
from assay.inference.llamacpp.model import LlamaModel  # noqa: E402
from assay.inference.llamacpp.threads import ThreadController  # noqa: E402
from assay.inference.model import Prompt  # noqa: E402
from assay.inference.stopping.stop import NONE  # noqa: E402

HELD = 400
NEW = (3, 10, 30, 100)
GENERATED = {"embedded": 16, "120M": 12, "500M": 8}
PAUSE_S = 0.01
SETTLE_S = 3.0
WATCHED_S, STEADY = 6.0, 4
QUIET = 1.1
RESAMPLES = 2000
AUTO, SERVER = "auto", "llama-server"
BUSY = "while True: pass"
IDLE = "import os; os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))\n" + BUSY

# Milliseconds of the request for so many new tokens, which begins at this place of the text.
Ask = Callable[[int, int], float]
# Milliseconds by contender, round and length.
Rounds = dict[str, list[list[float]]]


@contextmanager
def loaded(load: str) -> Iterator[None]:
    """So many processes beside what runs in the context."""
    code = IDLE if load.endswith("i") else BUSY
    processes = [subprocess.Popen([sys.executable, "-c", code]) for _ in range(int(load.rstrip("i")))]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


@contextmanager
def default_server(file: Path) -> Iterator[Server]:
    """llama-server with its own number of threads and its own spinning."""
    port = free_port()
    options = ["--port", str(port), "--parallel", "1", "--ctx-size", str(N_CTX), "--log-disable", "--no-webui"]
    own = {name: value for name, value in os.environ.items() if not name.startswith(("OMP_", "GOMP_"))}
    command = [built_folder() / "llama-server", "--model", file, *options]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=own) as process:
        try:
            wait_until_healthy(process, f"http://127.0.0.1:{port}")
            yield Server(f"http://127.0.0.1:{port}", logprobs=False)
        finally:
            process.kill()


def contenders(name: str, file: Path, stack: ExitStack) -> tuple[dict[str, Ask], LlamaModel]:
    """Who is compared, and the model with the controller."""
    cores, generated = physical_cores(), GENERATED[name]
    fixed = range(1, cores + 1) if cores <= 4 else sorted({1, 2, cores // 2, cores - 1, cores})
    models = {AUTO: LlamaModel(file, n_ctx=N_CTX)} | {f"{n}": LlamaModel(file, n_ctx=N_CTX, threads=n) for n in fixed}
    for model in models.values():
        stack.callback(model.close)
    paths = sorted((ROOT / "examples").glob("*.py"))
    text = models[AUTO].tokenize("\n".join(path.read_text(encoding="utf-8") for path in paths)) * 3

    def tokens(new: int, at: int) -> list[int]:
        at = HELD + at % (len(text) - HELD - max(NEW))
        return [*text[:HELD], *text[at : at + new]]

    def on(model: LlamaModel) -> Ask:
        def ask(new: int, at: int) -> float:
            made = model.generate(Prompt(tuple(tokens(new, at)), "left_to_right"), stop=NONE, max_tokens=generated)
            return made.timings.prompt_ms + made.timings.generate_ms * generated / len(made.tokens)  # a text may end early

        return ask

    asks = {who: on(model) for who, model in models.items()}
    if is_built():
        server = stack.enter_context(default_server(file))

        def over_http(new: int, at: int) -> float:
            began = time.perf_counter()
            server.ask(tokens(new, at), generated)
            return (time.perf_counter() - began) * 1e3

        asks[SERVER] = over_http
    return asks, models[AUTO]


def turn(ask: Ask, at: int) -> list[float]:
    took = []
    for number, new in enumerate(NEW):
        took.append(ask(new, at + 7 * number))
        time.sleep(PAUSE_S)
    return took


def settle(ask: Ask, seconds: float) -> None:
    end = time.perf_counter() + seconds
    for at in range(10**6):
        turn(ask, 31 * at)
        if time.perf_counter() > end:
            return


def rounds_beside(asks: dict[str, Ask], rounds: int) -> Rounds:
    settle(asks[AUTO], SETTLE_S)
    took: Rounds = {who: [] for who in asks}
    names = [*asks]
    for number in range(rounds):
        first = number % len(names)
        for who in (names[first:] + names[:first])[:: 1 if number // len(names) % 2 else -1]:
            took[who].append(turn(asks[who], 113 * number))
    return took


def p95(numbers: Sequence[float]) -> float:
    return sorted(numbers)[math.ceil(0.95 * len(numbers)) - 1]


def ratio(took: Rounds, over: list[str], figure: Callable[[list[float]], float], seed: int = 0) -> str:
    """The controller's figure over the smallest of the others', with the 95 % interval of resampled rounds."""
    count, drawn, chance = len(took[AUTO]), [], random.Random(seed)

    def of(who: str, chosen: Sequence[int]) -> float:
        return figure([ms for number in chosen for ms in took[who][number]])

    for number in range(RESAMPLES + 1):
        chosen = range(count) if number == 0 else chance.choices(range(count), k=count)
        drawn.append(of(AUTO, chosen) / min(of(who, chosen) for who in over))
    first, *rest = drawn
    low, *_, high = statistics.quantiles(rest, n=40)
    return f"{first:.2f} ({low:.2f} to {high:.2f})"


def back_at_quiet(asks: dict[str, Ask], load: str, quiet: Sequence[float]) -> float | None:
    """Seconds from the end of a load to the first of several requests at about the quiet speed; None where that is not seen."""
    with loaded(load):
        settle(asks[AUTO], SETTLE_S)
    ended, began, ratios = time.perf_counter(), [], []
    while time.perf_counter() < ended + WATCHED_S or len(ratios) < 2 * STEADY:
        at = len(ratios)
        began.append(time.perf_counter() - ended)
        ratios.append(asks[AUTO](NEW[at % len(NEW)], 17 * at) / quiet[at % len(NEW)])
        time.sleep(PAUSE_S)
        if at >= STEADY and statistics.median(ratios[-STEADY:]) <= QUIET:
            return began[-STEADY]
    return None


def controller_us(steps: int = 20_000) -> float:
    """Microseconds that the controller takes for a step of 0.6 ms, its looks at the machine among them."""
    controller = ThreadController(fast_cores(), physical_cores())
    began = time.perf_counter()
    for _ in range(steps):
        controller.threads(1)
        controller.took(1, 0.0006)
    return (time.perf_counter() - began) / steps * 1e6


def logprob_differences(file: Path, places: int) -> str:
    """What one thread and all of them say of the same texts: greedy generations at places of the example files."""
    cores, chance = physical_cores(), random.Random(0)
    files = [path.read_text(encoding="utf-8") for path in sorted((ROOT / "examples").glob("*.py"))]
    totals, tokens, same, length = [], [], 0, 0
    with LlamaModel(file, n_ctx=N_CTX, threads=1) as one, LlamaModel(file, n_ctx=N_CTX, threads=cores) as several:
        for _ in range(places):
            text = chance.choice(files)
            at = chance.randrange(200, len(text))
            prompt = one.fim(text[max(0, at - 1200) : at], text[at : at + 400])
            made, other = (model.generate(prompt, stop=NONE, max_tokens=16) for model in (one, several))
            same += made.text == other.text
            if made.text == other.text:
                each = [abs(a.logprob - b.logprob) for a, b in zip(made.tokens, other.tokens, strict=True)]
                tokens += each
                totals.append(abs(sum(t.logprob for t in made.tokens) - sum(t.logprob for t in other.tokens)))
                length += len(each)
    return (
        f"1 thread against {cores}, {places} places, up to 16 tokens: the same text at {same}. There |Δ log p| of a token: median "
        f"{statistics.median(tokens):.4f}, 95 % {p95(tokens):.4f}, largest {max(tokens):.3f} (n = {length:,}); of a text: median "
        f"{statistics.median(totals):.4f}, 95 % {p95(totals):.4f}, largest {max(totals):.3f} (n = {same})."
    )


def measure(name: str, loads: list[str], rounds: int, returns: int) -> None:
    with ExitStack() as stack:
        file, _ = make(name, user_cache_path("assay") / "benchmarks")
        asks, model = contenders(name, file, stack)
        fixed = [who for who in asks if who.isdecimal()]
        for ask in asks.values():
            settle(ask, 0.5)
        print(f"\n### {name}, {rounds} rounds of {len(NEW)} requests, {GENERATED[name]} tokens each\n")
        heads = [*(f"{n} thread{'s' * (n != '1')}" for n in fixed), *([SERVER] if SERVER in asks else []), "controller"]
        print(
            "| beside | "
            + " | ".join(f"{head}, ms" for head in heads)
            + " | / best fixed, median | p95 | / llama-server, median | p95 | used |"
        )
        print("|:--" * (len(heads) + 1) + "|--:|--:|--:|--:|:--|")
        quiet: list[float] = []
        for load in loads:
            with loaded(load):
                # The loads and llama-server are this process's own.
                before, began = busy_seconds() - cpu_seconds(os.getpid()), time.perf_counter()
                took = rounds_beside(asks, rounds)
                others = (busy_seconds() - cpu_seconds(os.getpid()) - before) / (time.perf_counter() - began)
            every = {who: [ms for each in took[who] for ms in each] for who in took}
            cells = [
                f"{statistics.median(every[who]):.1f}, {p95(every[who]):.1f}"
                for who in [*fixed, *([SERVER] if SERVER in asks else []), AUTO]
            ]
            figures: list[Callable[[list[float]], float]] = [statistics.median, p95]
            ratios = [ratio(took, over, figure) for over in (fixed, [SERVER]) if over[0] in asks for figure in figures]
            used = model.threads
            beside = f"{load.rstrip('i')} idle-class" if load.endswith("i") else load
            row = [beside, *cells, *ratios, f"{used.prompt} and {used.generation}; others {others:.2f}"]
            print("| " + " | ".join(row) + " |", flush=True)
            quiet = quiet or [statistics.median(each[i] for each in took[AUTO]) for i in range(len(NEW))]
        for load in [load for load in loads if load.isdecimal() and load != "0"]:
            found = [back_at_quiet(asks, load, quiet) for _ in range(returns)]
            told = ", ".join("not seen" if seconds is None else f"{seconds:.2f}" for seconds in found)
            print(f"\nBack at the quiet speed after a load of {load}, seconds: {told}.", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", default="embedded,120M,500M", help="which, with commas between (default: %(default)s)")
    parser.add_argument("--loads", default="0,1,2,3,2i", help="beside what, the quiet machine first (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=40, help="at least 2 (default: %(default)s)")
    parser.add_argument("--returns", type=int, default=5, help="how often each load ends (default: %(default)s)")
    parser.add_argument("--places", type=int, default=200, help="at which log-probabilities are compared (default: %(default)s)")
    arguments = parser.parse_args()
    models, loads = arguments.models.split(","), arguments.loads.split(",")
    if unknown := [name for name in models if name not in ("embedded", *SHAPES)]:
        parser.error(f"--models: {', '.join(unknown)} is none of {', '.join(('embedded', *SHAPES))}")
    if wrong := [load for load in loads if not load.removesuffix("i").isdecimal()]:
        parser.error(f"--loads: {', '.join(wrong)} is no number of processes")
    if arguments.rounds < 2:
        parser.error("--rounds is at least 2")
    print(described("llama-cpp-python"))
    if not is_built():
        print(f"Without llama-server: {built_folder()} has none (benchmarks/build_llama_server.py).")
    for name in models:
        measure(name, loads, arguments.rounds, arguments.returns)
    print(f"\nThe controller takes {controller_us():.1f} us a step.")
    if arguments.places:
        for name in models:
            print(f"\n{name}: {logprob_differences(make(name, user_cache_path('assay') / 'benchmarks')[0], arguments.places)}")


if __name__ == "__main__":
    main()
