"""Completions from llama-server beside the same model in this process, at the same places: what differs, and what token healing costs.

    python benchmarks/model_server.py [--model FILE.gguf] [--places 240] [--fast] [--seed 1]

Places are drawn from files of Python's standard library, half of them behind a letter. A quarter of them each has CRLF newlines, tabs for
indentation, and characters outside of ASCII. Server and process compute with caches of 32 bits and without flash attention, unless --fast.
Latencies are those of typing: the prompt is in both caches. *Without holding* asks the server with what stands before the cursor in the
prompt. Prints Markdown.
"""

from __future__ import annotations

import argparse
import sys
import sysconfig
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "benchmarks"), str(ROOT / "tests")]

from llama_server import EXACT, HOW_TO_BUILD, is_built, running  # noqa: E402
from machine import described  # noqa: E402

from assay.inference.completion.prompt import prompt_at  # noqa: E402
from assay.inference.llamacpp.model import LlamaModel  # noqa: E402
from assay.inference.model import Generation, Prompt  # noqa: E402
from assay.inference.opening import EMBEDDED  # noqa: E402
from assay.inference.remote.model import RemoteModel  # noqa: E402
from assay.inference.stopping.stop import LINE  # noqa: E402

MAX_TOKENS = 24
Ask = Callable[[Prompt], Generation]


def places(count: int, seed: int) -> Iterator[tuple[str, str]]:
    """Texts before and behind the cursor."""
    chance = Random(seed)
    files = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))
    for number in range(count):
        text = chance.choice(files).read_text(encoding="utf-8", errors="replace")
        if number % 4 == 1:
            text = text.replace("\n", "\r\n")
        elif number % 4 == 2:
            text = text.replace("    ", "\t")
        elif number % 4 == 3:
            text = text.replace("self", "sélf").replace("# ", "# größe 説明 😀 ")
        wanted = [at + 1 for at, character in enumerate(text) if character > "\x7f"] if number % 4 == 3 else []
        wanted = wanted or [at + 1 for at, character in enumerate(text) if number % 2 == 0 or character.isalpha()]
        at = chance.choice(wanted or [0])
        yield text[:at], text[at:]


def timed(ask: Ask, prompt: Prompt) -> tuple[Generation, float]:
    began = time.perf_counter()
    made = ask(prompt)
    return made, (time.perf_counter() - began) * 1e3


def apart(mine: Generation, theirs: Generation) -> float | None:
    """The largest difference of two log-probabilities; None where the texts differ."""
    if (mine.text, [token.id for token in mine.tokens]) != (theirs.text, [token.id for token in theirs.tokens]):
        return None
    return max((abs(one.logprob - other.logprob) for one, other in zip(mine.tokens, theirs.tokens, strict=True)), default=0.0)


def compare(remote: RemoteModel, local: LlamaModel, count: int, seed: int) -> None:
    def asked(model: RemoteModel | LlamaModel) -> Ask:
        return lambda prompt: model.generate(prompt, stop=LINE, max_tokens=MAX_TOKENS)

    gaps: list[float | None] = []
    tokens = same_prompts = 0
    ms: dict[str, list[float]] = {"in this process": [], "server": [], "server, without holding": []}
    for prefix, suffix in places(count, seed):
        prompt = prompt_at(remote, prefix, suffix)
        same_prompts += prompt == prompt_at(local, prefix, suffix)
        whole = replace(prompt, tokens=(*prompt.tokens, *remote.tokenize(prompt.held)), held="")
        for _ in range(2):  # the first time the prompt is read
            theirs, local_ms = timed(asked(local), prompt)
            mine, remote_ms = timed(asked(remote), prompt)
            _, whole_ms = timed(asked(remote), whole)
        for name, took in zip(ms, (local_ms, remote_ms, whole_ms), strict=True):
            ms[name].append(took)
        gaps.append(apart(mine, theirs))
        tokens += len(mine.tokens)
    alike = [gap for gap in gaps if gap is not None]
    print(f"* The same text at {len(alike)} of {count} places ({tokens} tokens), log-probabilities at most {max(alike):.2g} apart there.")
    print(f"* The same prompt as in this process at {same_prompts} of {count} places.\n")
    print("| a line, ms | median | p95 | |\n|---|---|---|---|")
    for name, took in ms.items():
        print(f"| {name} | {np.median(took):.1f} | {np.quantile(took, 0.95):.1f} | n = {len(took)} |")


def main() -> None:
    parser = argparse.ArgumentParser(description="Compare completions from llama-server with those of the same model in this process.")
    parser.add_argument("--model", type=Path, default=EMBEDDED, help="a GGUF file (default: the embedded model)")
    parser.add_argument("--places", type=int, default=240)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--fast", action="store_true", help="caches and kernels as both choose them")
    arguments = parser.parse_args()
    if not is_built():
        sys.exit(HOW_TO_BUILD)
    exact = not arguments.fast
    print(f"{described('llama-cpp-python')}, {arguments.model.name}, seed {arguments.seed}\n")
    local = (
        LlamaModel(arguments.model, threads=1, kv_type="f32", flash_attention=False) if exact else LlamaModel(arguments.model, threads=1)
    )
    with running(arguments.model, *(EXACT if exact else ())) as address, local:
        began = time.perf_counter()
        with RemoteModel(address) as remote:
            print(f"* Opened in {(time.perf_counter() - began) * 1e3:.0f} ms; held by: {remote.served.holding}.")
            compare(remote, local, arguments.places, arguments.seed)


if __name__ == "__main__":
    main()
