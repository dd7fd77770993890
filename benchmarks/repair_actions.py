"""How long repairs take in an editor, and how long a keystroke waits for one, through a real server over pipes.

    python benchmarks/repair_actions.py [--model FILE.gguf] [--keystrokes 100] [--repairs 10] [--lights 200]

A lightbulb is a request for code actions with a diagnostic, in a file of 48,000 lines, while the model loads and afterwards. A keystroke is
a character that is typed into one file, and the completion that is asked for behind it. In turns it comes alone, and while repairs of
another file are looked for, one after the other. Prints a Markdown table.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from assay.inference.opening import EMBEDDED

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests" / "server"))
sys.path.insert(0, str(ROOT / "benchmarks"))

from client import Client, RpcError, client_of, span  # noqa: E402
from machine import described, own_data_folder  # noqa: E402

OPTIONS = {"remember": False, "speculate": False, "delay": 0, "kind": "line", "memory": "file", "repair.maxMs": 600_000}
LARGE, TYPED, WRONG = "file:///large.py", "file:///typed.py", "file:///wrong.py"
LINE = "        result = sum(value * weight for value, weight in zip(values, weights))"
# Between two keys, as a person types.
PAUSE_S = 0.1
COPIES = 8_000


async def lights(client: Client, text: str, count: int) -> list[float]:
    """Milliseconds of each request for code actions at lines with something in them."""
    took = []
    rows = [number for number, line in enumerate(text.split("\n")) if line.strip()]
    for row in rows[:: max(1, len(rows) // count)][:count]:
        told = [{"range": span(row, 0, row, 4), "message": "something is wrong here", "source": "linter", "severity": 1}]
        began = time.perf_counter()
        assert await client.actions(LARGE, span(row, 0, row, 0), diagnostics=told)
        took.append((time.perf_counter() - began) * 1e3)
        await asyncio.sleep(0.002)
    return took


async def repair(client: Client, row: int, version: int) -> tuple[float, float]:
    """Milliseconds until the first repairs of a line are told of, and until all are there."""
    token = f"{version}/{row}"
    began = time.perf_counter()
    asked = client.ask("assay/repairs", {"textDocument": {"uri": WRONG}, "range": span(row, 0, row, 0), "workDoneToken": token})
    while not any(_is_report(each, token) for each in client.notifications):
        await asyncio.sleep(0.001)
    first = time.perf_counter()
    await client.answer(asked, 600)
    return (first - began) * 1e3, (time.perf_counter() - began) * 1e3


def _is_report(message: dict[str, Any], token: str) -> bool:
    params = message["params"]
    return message["method"] == "$/progress" and params["token"] == token and params["value"]["kind"] == "report"


async def keystrokes(client: Client, count: int, row: int, version: int) -> list[float]:
    """Milliseconds from each character to the completion behind it. Types LINE over and over, into one line."""
    took = []
    for number in range(count):
        column = number % len(LINE)
        version += 1
        if column == 0:
            client.change(TYPED, version, {"range": span(row, 0, row, len(LINE)), "text": ""})
            version += 1
        began = time.perf_counter()
        client.change(TYPED, version, {"range": span(row, column, row, column), "text": LINE[column]})
        await client.complete(TYPED, row, column + 1, invoked=False)
        took.append((time.perf_counter() - began) * 1e3)
        await asyncio.sleep(PAUSE_S)
    return took


async def repairs_until(client: Client, rows: list[int], version: int, ends: asyncio.Event) -> int:
    """How many repairs were found, one after the other, each of a text that nothing is known of."""
    made = 0
    for row in itertools.cycle(rows):
        client.change(WRONG, version := version + 1, {"range": span(0, 0, 0, 0), "text": "#"})
        asked = client.ask("assay/repairs", {"textDocument": {"uri": WRONG}, "range": span(row, 0, row, 0)})
        answer = asyncio.create_task(client.answer(asked, 600))
        await asyncio.wait({answer, ending := asyncio.create_task(ends.wait())}, return_when=asyncio.FIRST_COMPLETED)
        ending.cancel()
        if ends.is_set():
            client.notify("$/cancelRequest", {"id": asked})
            with suppress(RpcError):
                await answer
            break
        made += 1
    return made


def row_of(name: str, values: list[float]) -> str:
    ordered = sorted(values)
    p50, p95 = (ordered[int(share * (len(ordered) - 1))] for share in (0.5, 0.95))
    return f"| {name} | {p50:.1f} | {p95:.1f} | {ordered[-1]:.1f} | {len(ordered)} |"


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, default=EMBEDDED, help="a GGUF file (the embedded model)")
    parser.add_argument("--keystrokes", type=int, default=100)
    parser.add_argument("--repairs", type=int, default=10)
    parser.add_argument("--lights", type=int, default=200)
    arguments = parser.parse_args()
    text = sorted((ROOT / "examples").glob("*.py"))[0].read_text(encoding="utf-8")
    rows = [number for number, line in enumerate(text.split("\n")) if len(line.strip()) > 12]
    rows = rows[:: max(1, len(rows) // arguments.repairs)][: arguments.repairs]
    large = "def f(a):\n    if a < 3:\n        return a\n    return 3\n\n\n" * COPIES
    async with client_of(arguments.model) as client:
        await client.initialize(options=OPTIONS, resolves=True)
        client.open(LARGE, large)
        loading = await lights(client, large, arguments.lights)
        await client.ready()
        loaded = await lights(client, large, arguments.lights)
        client.open(WRONG, text)
        firsts, all_of_them = zip(*[await repair(client, row, 1) for row in rows], strict=True)
        client.open(TYPED, text)
        end = text.count("\n")
        alone, beside, made, version = [], [], 0, 1
        for _ in range(2):
            alone += await keystrokes(client, arguments.keystrokes // 2, end, version)
            version += 2 * arguments.keystrokes
            ends = asyncio.Event()
            repairs = asyncio.create_task(repairs_until(client, rows, version, ends))
            beside += await keystrokes(client, arguments.keystrokes // 2, end, version)
            version += 2 * arguments.keystrokes
            ends.set()
            made += await repairs
        await client.leave()
    print(described("llama-cpp-python"), "\n")
    print("| ms | p50 | p95 | most | n |\n|:---|---:|---:|---:|---:|")
    print(row_of("a lightbulb while the model loads", loading))
    print(row_of("a lightbulb", loaded))
    print(row_of("a repair: the first are found", list(firsts)))
    print(row_of("a repair: all are found", list(all_of_them)))
    print(row_of("a keystroke to its completion, alone", alone))
    print(row_of("the same while repairs are looked for", beside))
    print(f"\nMeanwhile {made} repairs were found whole.")


if __name__ == "__main__":
    with own_data_folder():
        asyncio.run(main())
