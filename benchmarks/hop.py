"""What the model's own process costs: the same completions in this process and through a model process, in turn.

    python benchmarks/hop.py [--model FILE.gguf] [--completions 120]

The model's own time for prompt and tokens is subtracted from each completion. What remains is the way there and back, the cutting of the
context, and the cost of sending each token. *Hop* is that time through the process minus that in this process, as a line in the number of
tokens (Theil-Sen: the slope is the median of those between all pairs). Prints a Markdown table.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import time
from pathlib import Path

import numpy as np
from scipy.stats import theilslopes

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "benchmarks"))

from machine import described  # noqa: E402

from assay.inference.completion.task import Kind  # noqa: E402
from assay.inference.model import Generation  # noqa: E402
from assay.inference.opening import EMBEDDED, ModelChoice, open_model  # noqa: E402
from assay.server.model.process import ModelProcess  # noqa: E402
from assay.server.requests.request import GenerationRequest  # noqa: E402
from assay.suggestion.complete import complete_several  # noqa: E402
from assay.suggestion.place import Place  # noqa: E402
from assay.suggestion.positions import Position, Range  # noqa: E402

# A keystroke's pause: what is measured at once behind another is warm in a way that typing never is.
PAUSE_S = 0.02
AT = Range(Position(0, 0), Position(0, 0))


def beyond_model(began: float, made: tuple[Generation, ...]) -> float:
    """Milliseconds since `began` in which the model did not work."""
    timings = made[0].timings
    return (time.perf_counter() - began) * 1e3 - timings.prompt_ms - timings.generate_ms


async def compare(file: Path, text: str, completions: int) -> tuple[list[int], list[float], list[float]]:
    """The tokens of each completion, and the milliseconds beyond the model's own: in this process and through the other."""
    process = ModelProcess(ModelChoice(str(file)))
    await process.start()
    await process.loaded()
    tokens, here, there = [], [], []
    kinds: tuple[Kind, ...] = ("line", "block")
    with open_model(file) as model:
        for number in range(completions):
            at, kind = len(text) // 3 + 7 * number, kinds[number // 2 % 2]
            prefix, suffix = text[:at], text[at:]

            def in_process(prefix: str = prefix, suffix: str = suffix, kind: Kind = kind) -> tuple[Generation, ...]:
                began = time.perf_counter()
                made = complete_several(model, prefix, suffix, kind=kind, on_text=lambda _: None)
                here.append(beyond_model(began, made))
                return made

            async def through_process(prefix: str = prefix, suffix: str = suffix, kind: Kind = kind) -> tuple[Generation, ...]:
                began = time.perf_counter()
                made = await process.complete(GenerationRequest("", Place(prefix, suffix, AT, kind)), on_text=lambda _: None)
                there.append(beyond_model(began, made))
                return made

            if number % 2:
                own, other = in_process(), await through_process()
            else:
                other, own = await through_process(), in_process()
            assert own[0].text == other[0].text, (own[0].text, other[0].text)
            tokens.append(len(own[0].tokens))
            await asyncio.sleep(PAUSE_S)
    await process.close()
    return tokens, here, there


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, default=EMBEDDED, help="a GGUF file (the embedded model)")
    parser.add_argument("--completions", type=int, default=120, help="on each way (default: %(default)s)")
    arguments = parser.parse_args()
    if not arguments.model.is_file():
        parser.error(f"{arguments.model}: no such model file")
    text = "".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "examples").glob("*.py")))
    tokens, here, there = asyncio.run(compare(arguments.model, text, arguments.completions))
    hop = np.subtract(there, here)
    slope, intercept, low, high = theilslopes(hop, tokens)
    print(described("llama-cpp-python"), "\n")
    print("| ms beyond the model's own time | median | middle half | n |\n|---|---|---|---|")
    for name, values in (("in this process", here), ("through the model's process", there), ("hop, pair by pair", hop.tolist())):
        first, middle, third = statistics.quantiles(values, n=4)
        print(f"| {name} | {middle:.2f} | {first:.2f}-{third:.2f} | {len(values)} |")
    print(
        f"\nHop = {intercept:.2f} ms for a request + {slope:.4f} ms for a token (95 % {low:.4f} to {high:.4f}; 1 to {max(tokens)} tokens)."
    )


if __name__ == "__main__":
    main()
