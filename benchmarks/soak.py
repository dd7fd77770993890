"""Check that the language server's memory stays flat: requests as an impatient editor sends them, and the size of both its processes.

    python benchmarks/soak.py [--model FILE.gguf] [--requests 100000]

Four documents are typed into and deleted from. At each change a suggestion is asked for. A third of the requests are cancelled at once, one
in twenty is invoked, some are accepted, explained or hovered over, and now and then a document is closed and opened again. Prints what
became of the requests, and for each process the resident size in the middle and at the end and the slope over the second half (least
squares), with a 95 % interval from 2,000 resamples of ten blocks. The first half fills what is bounded: caches, and the allocator's arenas.
Linux only.
"""

from __future__ import annotations

import asyncio
import random
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import harness
import numpy as np
from client import Client, RpcError, client_of, place, span
from numpy.typing import NDArray

from assay.inference.opening import EMBEDDED

EVERY = 500
# So many requests wait for their answer at a time: more than any editor has open.
OPEN = 4
# What is typed into a document at most before it is opened anew.
MAX_TYPED = 120


class Typist:
    """An editor that types into the middle of a document, and deletes."""

    def __init__(self, client: Client, name: str, text: str, pick: random.Random) -> None:
        self.uri = f"file:///soak/{name}"
        self._client = client
        self._pick = pick
        self._version = 1
        lines = text.split("\n")
        self._line = pick.randrange(len(lines))
        self._source = lines[self._line] + " "
        self._text = "\n".join([*lines[: self._line], "", *lines[self._line + 1 :]])
        self._typed = 0
        client.open(self.uri, self._text)

    def step(self) -> dict[str, Any]:
        """Make one change. Returns where suggestions may be asked for then."""
        self._version += 1
        if self._typed and self._pick.random() < 0.15:
            self._typed -= 1
            change = {"range": span(self._line, self._typed, self._line, self._typed + 1), "text": ""}
        else:
            change = {
                "range": span(self._line, self._typed, self._line, self._typed),
                "text": self._source[self._typed % len(self._source)],
            }
            self._typed += 1
        self._client.change(self.uri, self._version, change)
        if self._typed > MAX_TYPED or self._pick.random() < 0.0005:
            self._client.notify("textDocument/didClose", {"textDocument": {"uri": self.uri}})
            self._client.open(self.uri, self._text)
            self._version, self._typed = 1, 0
        return place(self.uri, self._line, self._typed)


async def one(client: Client, typist: Typist, pick: random.Random) -> None:
    """A change, a request for suggestions, and what an editor does with the answer."""
    where = typist.step() | {"context": {"triggerKind": 1 if pick.random() < 0.05 else 2}}
    number = client.ask("textDocument/inlineCompletion", where)
    if pick.random() < 1 / 3:
        client.notify("$/cancelRequest", {"id": number})
    with suppress(RpcError):
        for item in ((await client.answer(number)) or {}).get("items", ())[:1]:
            said, fate = item["command"]["arguments"], pick.random()
            if fate < 0.05:
                await client.request("workspace/executeCommand", {"command": item["command"]["command"], "arguments": said})
            elif fate < 0.07:
                await client.request("assay/explain", {"id": said[0]["id"]})
            elif fate < 0.1:
                await client.request("textDocument/hover", place(typist.uri, 0, 0))


async def soak(model: Path, requests: int) -> tuple[list[int], dict[str, list[int]], dict[str, int]]:
    """After each `EVERY` requests their number and the size of each process (KiB), and at the end how many requests ended how."""
    pick = random.Random(0)
    counts: list[int] = []
    sizes: dict[str, list[int]] = {"server": [], "model": []}
    async with client_of(model) as client:
        await client.initialize(options={"memory": "project"}, root=harness.ROOT / "examples")
        child = (await client.ready())["process"]
        texts = [path.read_text(encoding="utf-8") for path in sorted((harness.ROOT / "examples").glob("*.py"))]
        typists = [Typist(client, f"{number}.py", texts[number % len(texts)], pick) for number in range(4)]
        going: set[asyncio.Task[None]] = set()
        for number in range(1, requests + 1):
            going.add(asyncio.create_task(one(client, typists[number // 50 % len(typists)], pick)))
            while len(going) >= OPEN:
                done, going = await asyncio.wait(going, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    task.result()
            client.notifications.clear()
            if number % EVERY == 0:
                counts.append(number)
                sizes["server"].append(harness.resident_kib(client.process.pid))
                sizes["model"].append(harness.resident_kib(child))
        await asyncio.gather(*going)
        status = await client.request("assay/status")
        assert status["process"] == child, "the model's process was started again"
        await client.leave()
    outcomes: dict[str, int] = status["outcomes"]
    return counts, sizes, outcomes


def slope(requests: NDArray[np.float64], kib: NDArray[np.float64]) -> tuple[float, float, float]:
    """The slope in KiB per 1,000 requests, with its 95 % interval."""
    blocks = np.array_split(np.arange(len(kib)), 10)
    random = np.random.default_rng(0)
    drawn = []
    for _ in range(2000):
        taken = np.concatenate([blocks[i] for i in random.integers(10, size=10)])
        if np.ptp(requests[taken]) > 0:
            drawn.append(np.polyfit(requests[taken], kib[taken], 1)[0] * 1000)
    low, high = np.percentile(drawn, [2.5, 97.5])
    return float(np.polyfit(requests, kib, 1)[0] * 1000), float(low), float(high)


def main() -> None:
    parser = harness.parser_of(__doc__)
    parser.add_argument("--model", type=harness.model_file, default=EMBEDDED, help="a GGUF file (the embedded model)")
    parser.add_argument("--requests", type=int, default=100_000, help="at least 10,000 (default: %(default)s)")
    arguments = parser.parse_args()
    if arguments.requests < 10_000:
        parser.error("--requests is at least 10000: fewer say nothing of a slope")
    if not Path("/proc/self/statm").is_file():
        sys.exit("The size of another process is read from /proc, which this system does not have.")
    began = time.monotonic()
    with harness.own_data_folder():
        counts, sizes, outcomes = asyncio.run(soak(arguments.model, arguments.requests))
    spent, half = time.monotonic() - began, len(counts) // 2
    print(harness.described("llama-cpp-python"))
    print(f"{arguments.requests:,} requests in {spent:.0f} s; they ended as " + ", ".join(f"{name} {n:,}" for name, n in outcomes.items()))
    print(f"of {arguments.requests:,} requests {sum(outcomes.values()):,} have an outcome\n")
    rows = []
    for name, values in sizes.items():
        kib = np.array(values, dtype=np.float64)
        value, low, high = slope(np.array(counts[half:], dtype=np.float64), kib[half:])
        mib = (f"{size / 1024:.1f}" for size in (kib[half], kib[-1], kib.max()))
        rows.append([name, *mib, f"{value:.1f} ({low:.1f} to {high:.1f})"])
    print(harness.table(["resident, MiB", "middle", "end", "most", "KiB for 1,000 requests, second half (95 %)"], rows))


if __name__ == "__main__":
    main()
