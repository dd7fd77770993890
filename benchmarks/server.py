"""What the language server costs: the same completions in this process and through a real server over pipes, in turn.

    python benchmarks/server.py [--model FILE.gguf] [--keystrokes 100] [--typed 400] [--starts 5]

Types a line into an example file, one character after the other, and asks for a suggestion after each; then, with a server as it is by
default, types along suggestions, which are answered from memory. Prints a Markdown table.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import time
from pathlib import Path

from assay.calibration.registry import folders, read_registry
from assay.inference.opening import EMBEDDED, open_model
from assay.suggestion.suggest import suggest_at

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests" / "server"))
sys.path.insert(0, str(ROOT / "benchmarks"))

from client import Client, client_of, span  # noqa: E402
from machine import described, own_data_folder  # noqa: E402

# Both ways do the same work: nothing is remembered, prepared or waited for.
OPTIONS = {"remember": False, "speculate": False, "delay": 0, "kind": "line", "showAbove": 0}
URI = "file:///benchmark.py"
# Of lines at least so long a half is taken out.
LONG = 25
# Between two keys: a server that has slept finds nothing of its own in the processor's caches, as it does behind a person.
PAUSE_S = 0.1
TURNS = 4
TYPED = "def total(values, weights):\n    result = sum(value * weight for value, weight in zip(values, weights))\n    return result"


async def start_ms(model: Path) -> float:
    """Milliseconds from the start of the process to the answer of initialize."""
    began = time.perf_counter()
    async with client_of(model) as client:
        await client.initialize()
        took = (time.perf_counter() - began) * 1e3
        await client.leave()
    return took


async def ping_ms(client: Client, n: int) -> list[float]:
    took = []
    for _ in range(n):
        began = time.perf_counter()
        await client.request("assay/status")
        took.append((time.perf_counter() - began) * 1e3)
    return took


async def compare(model_path: Path, before: str, after: str, keystrokes: int) -> dict[str, list[float]]:
    """Milliseconds of every completion in both ways, and of the server's answers and heartbeats."""
    took: dict[str, list[float]] = {"in process": [], "through the server": []}
    registry = read_registry(folders())
    with open_model(model_path) as model:
        async with client_of(model_path) as client:
            await client.initialize(options={"diagnostics": True, **OPTIONS}, encodings=["utf-32"])
            client.open(URI, before + after)
            assert (await client.ready())["state"] == "ready"
            took["ping"] = await ping_ms(client, 200)  # also empties the heartbeats of the start
            for count in range(1, min(keystrokes, len(TYPED)) + 1):
                typed = TYPED[:count]
                line = before.count("\n") + typed[:-1].count("\n")
                column = len(typed[:-1].rpartition("\n")[2])

                async def in_process(text: str = before + typed) -> str:
                    made = suggest_at(model, registry, text + after, len(text), language="python")
                    return made.text if made else ""

                async def in_server(count: int = count, line: int = line, column: int = column) -> str:
                    client.change(URI, count + 1, {"range": span(line, column, line, column), "text": TYPED[count - 1]})
                    at = (line + 1, 0) if TYPED[count - 1] == "\n" else (line, column + 1)
                    items = await client.complete(URI, *at)
                    return str(items[0]["insertText"]) if items else ""

                ways = [("in process", in_process), ("through the server", in_server)]
                texts = {}
                for name, way in ways if count % 2 else reversed(ways):
                    began = time.perf_counter()
                    texts[name] = await way()
                    took[name].append((time.perf_counter() - began) * 1e3)
                assert texts["in process"] == texts["through the server"], texts
            lag = (await client.request("assay/status"))["loop_lag"]
            took["lag"] = [lag["p99_ms"], lag["worst_ms"], lag["worst_work_ms"], lag["beats"]]
            await client.leave()
    return took


async def along_ms(model_path: Path, text: str, typed: int, *, logged: bool) -> tuple[list[float], float]:
    """Milliseconds from each character that is typed along a suggestion to the answer, and the most that the event loop's own work took.

    Of each line the second half is taken out, and what is suggested there is typed. Raises AssertionError where one is not answered.
    """
    took: list[float] = []
    async with client_of(model_path) as client:
        await client.initialize(options={"diagnostics": True, "log.events": logged}, encodings=["utf-32"])
        assert (await client.ready())["state"] == "ready"
        client.open(URI, text)
        await client.request("assay/status")  # empties the heartbeats of the start
        version = 1
        for number, line in enumerate(text.split("\n")):
            half = len(line) // 2
            if len(line.strip()) < LONG:
                continue
            version += 1
            client.change(URI, version, {"range": span(number, half, number, len(line)), "text": ""})
            items = await client.complete(URI, number, half)
            for column, character in enumerate(items[0]["insertText"].split("\n")[0][:-1] if items else "", half):
                await asyncio.sleep(PAUSE_S)
                version += 1
                began = time.perf_counter()
                client.change(URI, version, {"range": span(number, column, number, column), "text": character})
                client.notify("$/cancelRequest", {"id": 0})  # as editors do
                assert await client.complete(URI, number, column + 1), (number, column)
                took.append((time.perf_counter() - began) * 1e3)
            if len(took) >= typed:
                break
        lag = (await client.request("assay/status"))["loop_lag"]
        await client.leave()
    return took, lag["worst_work_ms"]


def row(name: str, values: list[float]) -> str:
    low, middle, high = statistics.quantiles(values, n=4)
    return f"| {name} | {middle:.2f} | {low:.2f}-{high:.2f} | {len(values)} |"


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, default=EMBEDDED, help="a GGUF file (the embedded model)")
    parser.add_argument("--keystrokes", type=int, default=100, help=f"completions on each way, at most {len(TYPED)}")
    parser.add_argument("--typed", type=int, default=400, help="characters typed along suggestions (default: %(default)s)")
    parser.add_argument("--starts", type=int, default=5, help="starts of the server, at least 2")
    arguments = parser.parse_args()
    if not arguments.model.is_file():
        parser.error(f"{arguments.model}: no such model file")
    text = sorted((ROOT / "examples").glob("*.py"))[0].read_text(encoding="utf-8")
    middle = text.index("\n", len(text) // 2) + 1
    starts = [await start_ms(arguments.model) for _ in range(max(2, arguments.starts))]
    took = await compare(arguments.model, text[:middle], "\n" + text[middle:], arguments.keystrokes)
    along, unlogged, most = [], [], 0.0
    for _ in range(TURNS):
        with_log, work_ms = await along_ms(arguments.model, text, arguments.typed // TURNS, logged=True)
        along, most = along + with_log, max(most, work_ms)
        unlogged += (await along_ms(arguments.model, text, arguments.typed // TURNS, logged=False))[0]
    more = [there - here for here, there in zip(took["in process"], took["through the server"], strict=True)]
    p99, worst, work, beats = took["lag"]
    print(described("llama-cpp-python"), "\n")
    print("| ms | median | middle half | n |\n|---|---|---|---|")
    print(row("completion in this process", took["in process"]))
    print(row("the same through the server (edit, request, answer)", took["through the server"]))
    print(row("difference, pair by pair", more))
    print(row("a cheap request (assay/status)", took["ping"]))
    print(row("a key typed along a suggestion, answered from memory", along))
    print(row("the same without a log of events, in turns with it", unlogged))
    print(row("start of the process to the answer of initialize", starts))
    print(f"\nEvent loop of the server while completing: p99 {p99:.2f} ms late, worst {worst:.2f} ms ({beats:.0f} heartbeats of 1 ms);")
    print(f"the most that its own work took of one processor between two heartbeats: {work:.2f} ms.")
    p95 = sorted(along)[int(0.95 * (len(along) - 1))]
    print(f"Typed along: p95 {p95:.2f} ms, worst {max(along):.2f} ms; the event loop's own work at most {most:.2f} ms.")


if __name__ == "__main__":
    with own_data_folder():
        asyncio.run(main())
