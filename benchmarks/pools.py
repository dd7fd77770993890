"""What the pools of the laboratory cost and gain: threads that wait for a server, and the driver of a Ray cluster.

    python benchmarks/pools.py [--model FILE.gguf] [--rounds N]

*Threads*: short questions to a real llama-server of the model with eight slots, and to a made-up one that answers sixteen at a time, by one
thread, by four, and by four that grow while that pays (what `assay eval` does without --workers). Answers a second, over those of one
thread of the same round.

*Ray*: two nodes of this machine. Items that only wait, so that the rest is the driver's: its processor time for an item, and the most items
a second that it hands out, with few and with a thousand under way. A thousand are two actors that wait for 500 at once each. Needs Ray and,
with --model, llama-server. The driver also waits until each record is on the disk: that time is the last line. Prints Markdown.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import harness
from llama_server import running
from ray_cluster import local_cluster

from assay.inference.asking.asker import Asker, Message
from assay.inference.opening import ModelChoice
from assay.offline_eval.asked_model import Asking, asked_model
from assay.offline_eval.pool import ray as on_ray
from assay.offline_eval.pool.pool import Pool
from assay.offline_eval.run import Records

QUESTIONS, SLOTS = 48, 8
MADE_UP, TOGETHER, ANSWER_S = 600, 16, 0.05
WAYS = {"one thread": 1, "four": 4, "four that grow": None}
FEW, MANY, WAIT_S = 2, 1000, 2.0


def ask(asker: Asker, item: int) -> dict[str, Any]:
    """A question that no other has the beginning of."""
    said = asker.say([Message("user", f"{item} is a number. Write {item} + 1 as a sum in Python, and nothing else.")], max_tokens=16)
    return {"said": said[0].text}


def made_up(room: threading.Semaphore, _: int) -> str:
    with room:
        time.sleep(ANSWER_S)
    return "an answer"


def rate(start: Callable[[], Callable[[int], Any]], items: range, workers: int | None) -> float:
    """Answers a second. Raises RuntimeError where an item was lost."""
    began = time.perf_counter()
    for finished in Pool(workers).run(start, items, waits=True):
        if finished.answer is None:
            raise RuntimeError(finished.lost)
    return len(items) / (time.perf_counter() - began)


def waiting(name: str, start: Callable[[], Callable[[int], Any]], count: int, rounds: int) -> list[object]:
    """A row of the table of threads."""
    rates: dict[str, list[float]] = {way: [] for way in WAYS}
    for number in range(rounds):
        for place, way in enumerate(harness.in_turn(WAYS, number)):
            first = (number * len(WAYS) + place) * count  # a server remembers what it has answered
            rates[way].append(rate(start, range(first, first + count), WAYS[way]))
    alone = rates["one thread"]
    over = [harness.spread([one / each for one, each in zip(rates[way], alone, strict=True)]) for way in list(WAYS)[1:]]
    return [name, harness.spread(alone), *over]


def slept(seconds: float) -> Callable[[int], int]:
    """A work function that only waits."""

    def work(item: int) -> int:
        time.sleep(seconds)
        return item

    return work


def driver(address: str, under_way: int, count: int) -> list[object]:
    """A row of the table of the driver: milliseconds of its processor for an item, and items a second."""
    import ray

    ray.init(address=address, log_to_driver=False, logging_level="ERROR")
    try:
        each = max(1, under_way // 2)
        actor = ray.remote(num_cpus=1, max_concurrency=each)(on_ray.Worker)
        staff = [actor.options(scheduling_strategy="SPREAD").remote(partial(slept, WAIT_S if under_way > FEW else 0.0)) for _ in range(2)]
        ray.get([one.why_not.remote() for one in staff])
        began, spent = time.perf_counter(), time.process_time()
        found = on_ray.answers(ray, (KeyError, OSError), staff * each, lambda: staff[0], iter(range(count)), None, 1)
        lost = [one.lost for one in found if one.answer is None]
        took, busy = time.perf_counter() - began, time.process_time() - spent
        if lost:
            raise RuntimeError(lost[0])
        return [f"{2 * each:,}", f"{count:,}", f"{1e3 * busy / count:.2f}", f"{count / took:,.0f}"]
    finally:
        ray.shutdown()


def on_disk(count: int = 500) -> float:
    """Milliseconds until the record of an item is on the disk."""
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
        records = Records(Path(folder) / "answers.jsonl", dict)
        return statistics.median(harness.milliseconds(lambda: records.add({"id": "a place", "text": "x" * 2000})) for _ in range(count))


def main() -> None:
    parser = harness.parser_of(__doc__)
    parser.add_argument("--model", type=harness.model_file, help="also ask a llama-server of this model")
    parser.add_argument("--rounds", type=int, default=3, help="(default: %(default)s)")
    arguments = parser.parse_args()
    print(f"{harness.described('ray')}\n")
    room = threading.Semaphore(TOGETHER)
    rows = [waiting(f"made up: {TOGETHER} at a time, {ANSWER_S:g} s each", lambda: partial(made_up, room), MADE_UP, arguments.rounds)]
    if arguments.model:
        with running(Path(arguments.model), "--threads", "2", "--ctx-size", str(1024 * SLOTS), slots=SLOTS) as url:
            start = Asking(asked_model(ModelChoice(url)), ask)
            rows.append(waiting(f"llama-server, {SLOTS} slots, 2 CPUs", start, QUESTIONS, arguments.rounds))
    print(harness.table(["server", "one thread, answers/s", *(f"{way}, times that" for way in list(WAYS)[1:])], rows))
    sys.stdout.flush()
    with local_cluster(cpus=2, nodes=2) as address:
        rows = [driver(address, FEW, 2000), driver(address, MANY, 10 * MANY)]
    print(f"\n{harness.table(['under way', 'items', 'driver, ms CPU an item', 'items a second'], rows, names=0)}")
    print(f"\nA record of 2 kB is on the disk of the current folder in {on_disk():.2f} ms.")


if __name__ == "__main__":
    main()
