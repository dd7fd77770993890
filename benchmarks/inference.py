"""The inference loop beside its peers, on the same GGUF, in one run.

    python benchmarks/inference.py [--models embedded,120M,500M] [--rounds 5] [--threads N] [--no-transformers]

Peers: llama.cpp's own loop (its decode and its greedy sampler, nothing else), llama-cpp-python's `create_completion`, llama-server and
transformers, each without and with log-probabilities where it gives them. In every round all have their turn, forwards and backwards by
turns, each with prompts of its own; a first round warms up and is not counted. A figure is the median over the rounds with its middle
half, a ratio that of the rounds' ratios. llama-bench starts its own process and has its turn once, behind the rounds.
llama-server and llama-bench are left out where they are not built: benchmarks/build_llama_server.py.

What only Assay's loop has is measured behind that, with the goal beside it where there is one.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
from platformdirs import user_cache_path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))
sys.path.insert(0, str(ROOT / "benchmarks"))

from llama_server import built_folder, is_built, running  # noqa: E402
from machine import described  # noqa: E402
from peers import (  # noqa: E402
    N_CTX,
    Assay,
    Bare,
    HighLevel,
    Peer,
    Server,
    Transformers,
    llama_bench,
    on_llama,
    on_transformers,
    transformers_model,
)
from random_model import SHAPES, make  # noqa: E402

from assay.inference.llamacpp.cores import physical_cores  # noqa: E402
from assay.inference.llamacpp.distribution import distribution  # noqa: E402
from assay.inference.llamacpp.model import LlamaModel  # noqa: E402
from assay.inference.model import Prompt, StopReason, Token  # noqa: E402
from assay.inference.stopping.stop import NONE  # noqa: E402

PROMPT, CHANGED, GENERATED = 800, 5, 48
DRAWN = 32  # tokens of an alternative
QUESTION = "\n# Is the line above right? Answer with True or False: "
REFERENCE = "llama.cpp's own loop"
LLAMA_BENCH_REPEATS = 3
LOGPROB_REPEATS = 200


def milliseconds(call: Callable[[], Any]) -> float:
    began = time.perf_counter()
    call()
    return (time.perf_counter() - began) * 1e3


def measure(ask: Callable[[list[int], int], int], text: list[int], at: int) -> dict[str, float]:
    """One round of one peer: a cold prompt, a warm one of which the last tokens changed, and generation. at: where in the text.

    Each of the first two ends with one token; generation is what more tokens cost behind the same prompt.
    """
    prompt = text[at : at + PROMPT]
    changed = [*prompt[:-CHANGED], *text[at + PROMPT : at + PROMPT + CHANGED]]
    cold = milliseconds(lambda: ask(prompt, 1))
    first = milliseconds(lambda: ask(changed, 1))
    ask(changed, 2)  # so that none finds the logits behind the prompt, and begins without a decode
    began = time.perf_counter()
    made = ask(changed, GENERATED)
    many = (time.perf_counter() - began) * 1e3
    ask(changed, 1)  # what a peer does with the long text's end is no part of the next
    again = milliseconds(lambda: ask(changed, 1))
    return {"prompt tokens/s": PROMPT / cold * 1e3, "generated tokens/s": (made - 1) / (many - again) * 1e3, "warm first token, ms": first}


def alternatives(model: LlamaModel, prompt: Prompt, number: int) -> tuple[float, float, float] | None:
    """Milliseconds of one generation, of four in a row and of four alternatives in one batch, the prompt in the cache for all.

    The batch comes first where number is odd. None where one of the texts ended early: it was less work.
    """
    lengths: list[int] = []

    def one(seed: int) -> None:
        lengths.append(len(model.generate(prompt, stop=NONE, max_tokens=DRAWN, temperature=0.8, seed=seed).tokens))

    def row() -> None:
        for i in range(4):
            one(4 * number + i)

    def batch() -> None:
        made = model.alternatives(prompt, 4, stop=NONE, max_tokens=DRAWN, temperature=0.8, seed=4 * number)
        lengths.extend(len(each.tokens) for each in made)

    one(4 * number)
    single = milliseconds(lambda: one(4 * number))
    took = {way: milliseconds(way) for way in ((batch, row) if number % 2 else (row, batch))}
    return (single, took[row], took[batch]) if set(lengths) == {DRAWN} else None


def question(model: LlamaModel, prompt: Prompt) -> tuple[float, float]:
    """Milliseconds of a question behind a generation, and of the same question with an empty cache."""
    made = model.generate(prompt, stop=NONE, max_tokens=DRAWN)
    tokens = (*prompt.tokens, *(t.id for t in made.tokens), *model.tokenize(QUESTION))
    asked = Prompt(tokens, "left_to_right")
    follow = milliseconds(lambda: model.next_token_logprobs(asked, ["True", "False"]))
    model.forget()
    return follow, milliseconds(lambda: model.next_token_logprobs(asked, ["True", "False"]))


def cancel_latency(model: LlamaModel, text: list[int], random: np.random.Generator, during: str) -> float | None:
    """Milliseconds from a flag that another thread sets to the return; None where the call had already ended."""
    prompt = Prompt(tuple(text[:PROMPT]), "left_to_right")
    if during == "prompt":
        model.forget()
        whole = 0.8 * PROMPT * model_ms_per_prompt_token(model, prompt)
        model.forget()
    else:
        model.generate(prompt, stop=NONE, max_tokens=1)
        whole = 0.8 * milliseconds(lambda: model.generate(prompt, stop=NONE, max_tokens=GENERATED))
    set_at: list[float] = []
    timer = threading.Timer(random.uniform(0.05, 1) * whole / 1e3, lambda: set_at.append(time.perf_counter()))
    timer.start()
    made = model.generate(prompt, stop=NONE, max_tokens=1 if during == "prompt" else GENERATED, cancel=lambda: bool(set_at))
    returned = time.perf_counter()
    timer.cancel()
    timer.join()
    return (returned - set_at[0]) * 1e3 if made.stopped_by is StopReason.CANCELLED else None


def model_ms_per_prompt_token(model: LlamaModel, prompt: Prompt) -> float:
    return milliseconds(lambda: model.generate(prompt, stop=NONE, max_tokens=1)) / len(prompt.tokens)


def logprob_costs_us(vocabulary: int) -> list[float]:
    """Microseconds of all that is recorded of a token, on a row of logits that is not in the processor's cache more than after a step."""
    rows = np.random.default_rng(0).normal(0, 3, (16, vocabulary)).astype(np.float32)
    work, took = np.empty((2, vocabulary), dtype=np.float32), []
    for i in range(LOGPROB_REPEATS):
        began = time.perf_counter()
        row = distribution(rows[i % 16], work)
        assert row is not None
        Token(row.top, b"", row.logprob(row.top), row.best_other_logprob(row.top), row.entropy())
        took.append((time.perf_counter() - began) * 1e6)
    return took


def middle(values: list[float], form: str = ".3g") -> str:
    """The median and the middle half."""
    low, mid, high = statistics.quantiles(values, n=4, method="inclusive") if len(values) > 1 else (values[0],) * 3
    return f"{mid:{form}} ({low:{form}}-{high:{form}})"


def opened(name: str, threads: int, slow_peers: bool, stack: ExitStack) -> dict[str, Peer]:
    """All peers that this machine has, closed with the stack."""
    file, folder = make(name, user_cache_path("assay") / "benchmarks")
    peers: dict[str, Peer] = {"Assay": Assay(on_llama(file, threads)), REFERENCE: Bare(file, threads)}
    peers["create_completion"] = HighLevel(file, threads, logprobs=False)
    peers["create_completion, logprobs"] = HighLevel(file, threads, logprobs=True)
    if is_built():
        options = ("--ctx-size", str(N_CTX), "--threads", str(threads), "--threads-batch", str(threads))
        address = stack.enter_context(running(file, *options))
        peers |= {"llama-server": Server(address, False), "llama-server, n_probs": Server(address, True)}
    if slow_peers:
        import torch

        torch.set_num_threads(threads)
        device = "cuda" if torch.cuda.is_available() else "cpu"
        model = transformers_model(folder, device)
        peers |= {"transformers": Transformers(model, device, False), "transformers, logits": Transformers(model, device, True)}
        peers["Assay on transformers"] = Assay(on_transformers(folder, device))
    for peer in peers.values():
        stack.callback(peer.close)
    return peers


def compare(name: str, rounds: int, threads: int, slow_peers: bool) -> None:
    with ExitStack() as stack:
        peers = opened(name, threads, slow_peers, stack)
        ours: Any = peers["Assay"]
        model: LlamaModel = ours.model
        paths = sorted((ROOT / "examples").glob("*.py"))
        text = model.tokenize("\n".join(path.read_text(encoding="utf-8") for path in paths)) * 2
        took: dict[str, list[dict[str, float]]] = {peer: [] for peer in peers}
        for number in range(rounds + 1):
            turns = list(enumerate(peers.items()))
            for index, (peer, each) in reversed(turns) if number % 2 else turns:
                # Each at another place: two of them are one server, which keeps the other's prompt.
                figures = measure(each.ask, text, 37 * number + 5 * index)
                if number:  # the first warms up
                    took[peer].append(figures)
        benched = llama_bench(model.path, threads, PROMPT, GENERATED, LLAMA_BENCH_REPEATS) if is_built() else {}
        print(f"\n### {name}, {threads} threads, median of {rounds} rounds (middle half); prompts of {PROMPT} tokens\n")
        write(table(took, benched))
        print()
        write(more(model, text, rounds))


def table(took: dict[str, list[dict[str, float]]], benched: dict[str, float]) -> list[list[str]]:
    head = ["", "prompt tokens/s", "generated tokens/s", "of llama.cpp's own loop (goal of Assay: 0.97 or more)", "warm first token, ms"]
    rows = [head]
    bare = [row["generated tokens/s"] for row in took[REFERENCE]]
    for peer, measured in took.items():
        prompt, generated, first = ([row[figure] for row in measured] for figure in measured[0])
        ratio = middle([g / b for g, b in zip(generated, bare, strict=True)])
        rows.append([peer, middle(prompt, ",.0f"), middle(generated, ",.0f"), ratio, middle(first, ",.1f")])
    if benched:
        prompt_speed, speed = benched.values()
        name = f"llama-bench, mean of {LLAMA_BENCH_REPEATS}, later"
        rows.append([name, f"{prompt_speed:,.0f}", f"{speed:,.0f}", f"{speed / statistics.median(bare):.3g}", ""])
    return rows


def more(model: LlamaModel, text: list[int], rounds: int) -> list[list[str]]:
    """What only Assay's loop has: the cost of log-probabilities, alternatives, questions, cancels."""
    prompts = [Prompt(tuple(text[41 * i : 41 * i + PROMPT]), "left_to_right") for i in range(2 * rounds)]
    drawn = [took for i, prompt in enumerate(prompts) if (took := alternatives(model, prompt, i))]
    asked = [question(model, prompt) for prompt in prompts]
    generated = [model.generate(prompt, stop=NONE, max_tokens=GENERATED) for prompt in prompts]
    step = statistics.median(g.timings.generate_ms / len(g.tokens) for g in generated) * 1e3
    vocabulary = model.header.number("llama.vocab_size", 0)
    costs = logprob_costs_us(vocabulary)
    random = np.random.default_rng(0)
    cancelled = {
        during: [x for _ in range(10 * rounds) if (x := cancel_latency(model, text, random, during)) is not None]
        for during in ("prompt", "generation")
    }
    rows = [["", "median (middle half)", "goal", "n"]]
    for what, goal, values in (
        ("four alternatives / four runs in a row", "0.65 or less on a CPU", [batch / row for _, row, batch in drawn]),
        ("four alternatives / one run", "1.6 or less on a GPU", [batch / single for single, _, batch in drawn]),
        ("a follow-up question / the same from a fresh prompt", "0.08 or less", [follow / fresh for follow, fresh in asked]),
        ("a follow-up question, ms", "", [follow for follow, _ in asked]),
        (f"recording a token, µs, {vocabulary:,} in the vocabulary", "", costs),
        (f"the same, share of a step of {step:,.0f} µs", "0.03 or less at 32,768", [cost / step for cost in costs]),
        ("from a cancel to the return, prompt, ms", "", cancelled["prompt"]),
        ("from a cancel to the return, generation, ms", "", cancelled["generation"]),
    ):
        if values:
            worst = f", worst {max(values):.3g}" if "cancel" in what else ""
            rows.append([what, middle(values) + worst, goal, str(len(values))])
    return rows


def write(table: list[list[str]]) -> None:
    """A table for docs/performance.md."""
    head, *rows = ("| " + " | ".join(row) + " |" for row in table)
    print(head, "|" + "---|" * len(table[0]), *rows, sep="\n", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", default="embedded,120M,500M", help="which, with commas between (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=5, help="that are counted, at least 2 (default: %(default)s)")
    parser.add_argument("--threads", type=int, default=physical_cores(), help="(default: the machine's cores, %(default)s)")
    parser.add_argument("--no-transformers", action="store_true", help="leave the slow peers out")
    arguments = parser.parse_args()
    models = arguments.models.split(",")
    if unknown := [name for name in models if name not in ("embedded", *SHAPES)]:
        parser.error(f"--models: {', '.join(unknown)} is none of {', '.join(('embedded', *SHAPES))}")
    if arguments.rounds < 2 or arguments.threads < 1:
        parser.error("--rounds is at least 2, --threads at least 1")
    if not arguments.no_transformers:
        import torch  # noqa: F401  # so that its GPU is named

    print(described("llama-cpp-python", *(() if arguments.no_transformers else ("torch", "transformers")), "numpy"))
    if not is_built():
        print(f"Without llama-server and llama-bench: {built_folder()} has none (benchmarks/build_llama_server.py).")
    for name in models:
        compare(name, arguments.rounds, arguments.threads, not arguments.no_transformers)


if __name__ == "__main__":
    main()
