"""What token healing costs beside a step of the model, in one run.

    python benchmarks/healing.py [--model FILE.gguf] [--places 200]

At places of CPython's library a line is completed. Each part of healing is timed on its own, on the distributions that the model has
there: to find the pre-token at the cursor (once a request), to hold a step to what stands there, and to note for whoever types along which
share of the tokens agrees with each. "New": bytes that were not asked for before, as at the first cursor of a word. The goal is 20 us a
step beyond the first. Prints Markdown.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sysconfig
import time
from collections.abc import Callable
from pathlib import Path

from machine import described

from assay.inference.completion.prompt import prompt_at
from assay.inference.healing.healing import Healing
from assay.inference.llamacpp.generation import only
from assay.inference.llamacpp.model import LlamaModel
from assay.inference.model import Prompt
from assay.inference.opening import EMBEDDED
from assay.inference.stopping.stop import LINE
from assay.suggestion.complete import complete

REPEATS = 20


def microseconds(work: Callable[[], object]) -> float:
    """Of one call, the fastest of some."""
    times = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return 1e6 * min(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, default=EMBEDDED, help="a GGUF file (the embedded model)")
    parser.add_argument("--places", type=int, default=200, help="(default: %(default)s)")
    arguments = parser.parse_args()
    files = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))
    chosen, parts = random.Random(0), dict[str, list[float]]()
    with LlamaModel(arguments.model, threads=1) as model:
        pieces = [model.token_bytes(token) for token in range(model._open().session.vocab_size)]
        healing = model._vocabulary.healing
        for _ in range(arguments.places):
            text = chosen.choice(files).read_text(encoding="utf-8", errors="replace")
            at = chosen.randrange(len(text) // 2, len(text))
            prefix, suffix = text[:at], text[text.find("\n", at) :]
            prompt = prompt_at(model, prefix, suffix)
            made = complete(model, prefix, suffix)
            row = measured(model, healing, pieces, prefix, prompt)
            row["a step of the model"] = 1e3 * made.timings.generate_ms / max(1, len(made.tokens))
            for name, value in row.items():
                parts.setdefault(name, []).append(value)
    print(described("llama-cpp-python"))
    print(f"{arguments.model.name}, {len(pieces):,} tokens, 1 thread, {arguments.places} places\n")
    print("| | median, us | p95, us |\n|:--|--:|--:|")
    for name, values in parts.items():
        print(f"| {name} | {statistics.median(values):,.1f} | {statistics.quantiles(values, n=20)[-1]:,.1f} |")


def measured(model: LlamaModel, healing: Healing, pieces: list[bytes], prefix: str, prompt: Prompt) -> dict[str, float]:
    """Microseconds of each part at one place."""
    made = model.generate(prompt, stop=LINE, max_tokens=1)
    row = model._open().row().copy()
    distribution = model._distribution(row)
    written = [token.text for token in made.tokens] + [pieces[distribution.top]]
    held = prompt.held_bytes or b" "

    def note() -> None:
        along = healing.typed_along()
        for piece in written:
            along.step(distribution.weights.__getitem__, distribution.total, piece)
        along.shares(written)

    return {
        "the pre-token at the cursor, once a request": microseconds(lambda: healing.split(prefix)),
        "which tokens agree, new": microseconds(lambda: healing._vocabulary._agreeing(held)),
        "which tokens agree, known": microseconds(lambda: healing.agreeing(held)),
        "to hold a step to them": microseconds(lambda: only(row, healing.agreeing(held))),
        "to note the shares of a token": microseconds(note) / len(written),
    }


if __name__ == "__main__":
    main()
