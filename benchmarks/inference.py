"""The inference loop beside its peers, on the same GGUF, in one run.

    python benchmarks/inference.py [--models embedded,120M,500M] [--rounds 5] [--threads 2]

Peers: llama.cpp's own loop (its decode and its greedy sampler, nothing else), llama-bench, llama-cpp-python's `create_completion`,
llama-server and transformers, each without and with log-probabilities where it gives them. All take turns in every round; a figure is the
median over rounds, a ratio the median of the rounds' ratios with its middle half. llama-server and llama-bench:
benchmarks/build_llama_server.py.
"""

from __future__ import annotations

import argparse
import ctypes
import http.client
import json
import os
import socket
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from platformdirs import user_cache_path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))
sys.path.insert(0, str(ROOT / "benchmarks"))

from llama_server import built_folder  # noqa: E402
from random_model import make  # noqa: E402

from assay.inference.cores import physical_cores  # noqa: E402
from assay.inference.distribution import distribution  # noqa: E402
from assay.inference.llama import LlamaModel  # noqa: E402
from assay.inference.llama_session import runtime  # noqa: E402
from assay.inference.model import Prompt, Token  # noqa: E402
from assay.inference.stops import NONE  # noqa: E402

PROMPT, CHANGED, GENERATED = 800, 5, 48
N_CTX = 1024
QUESTION = "\n# Is the line above right? Answer with True or False: "

Ask = Callable[[list[int], int], int]  # a prompt and how many tokens to generate; how many it generated


class Ours:
    """Assay's loop: every token with its exact log-probability, the best other's, and the entropy."""

    def __init__(self, file: Path, threads: int) -> None:
        self.model = LlamaModel(file, n_ctx=N_CTX, threads=threads)

    def ask(self, tokens: list[int], count: int) -> int:
        return len(self.model.generate(Prompt(tuple(tokens), "left_to_right"), stop=NONE, max_tokens=count).tokens)

    def close(self) -> None:
        self.model.close()


class Bare:
    """llama.cpp's own loop: llama_decode, then its greedy sampler in C; the common prefix of the last prompt kept."""

    def __init__(self, file: Path, threads: int) -> None:
        self.llama, _ = runtime()
        self.weights = self.llama.llama_model_load_from_file(os.fsencode(file), self.llama.llama_model_default_params())
        parameters = self.llama.llama_context_default_params()
        parameters.n_ctx, parameters.n_batch, parameters.n_ubatch = N_CTX, 128, 128
        parameters.n_threads = parameters.n_threads_batch = threads
        parameters.no_perf = True
        self.context = self.llama.llama_init_from_model(self.weights, parameters)
        self.memory = self.llama.llama_get_memory(self.context)
        self.sampler = self.llama.llama_sampler_init_greedy()
        self.held: list[int] = []

    def ask(self, tokens: list[int], count: int) -> int:
        llama, context, sampler = self.llama, self.context, self.sampler
        common = next((i for i, (a, b) in enumerate(zip(self.held, tokens, strict=False)) if a != b), min(len(self.held), len(tokens) - 1))
        llama.llama_memory_seq_rm(self.memory, 0, common, -1)
        rest = tokens[common:]
        for start in range(0, len(rest), 128):
            chunk = rest[start : start + 128]
            array = (ctypes.c_int32 * len(chunk))(*chunk)
            assert llama.llama_decode(context, llama.llama_batch_get_one(array, len(chunk))) == 0
        self.held = [*tokens]
        one = (ctypes.c_int32 * 1)()
        batch = llama.llama_batch_get_one(one, 1)
        for made in range(count):
            one[0] = llama.llama_sampler_sample(sampler, context, -1)
            if made + 1 < count:
                assert llama.llama_decode(context, batch) == 0
                self.held.append(one[0])
        return count

    def close(self) -> None:
        self.llama.llama_sampler_free(self.sampler)
        self.llama.llama_free(self.context)
        self.llama.llama_model_free(self.weights)


class HighLevel:
    """llama-cpp-python's create_completion."""

    def __init__(self, file: Path, threads: int, logprobs: bool) -> None:
        import llama_cpp

        self.logprobs = 5 if logprobs else None
        self.llama = llama_cpp.Llama(str(file), n_ctx=N_CTX, n_threads=threads, n_threads_batch=threads, logits_all=logprobs, verbose=False)

    def ask(self, tokens: list[int], count: int) -> int:
        answer: Any = self.llama.create_completion(tokens, max_tokens=count, temperature=0.0, logprobs=self.logprobs)
        return int(answer["usage"]["completion_tokens"])

    def close(self) -> None:
        self.llama.close()


class Server:
    """llama-server's /completion over the loopback, cache_prompt on."""

    def __init__(self, port: int, logprobs: bool) -> None:
        self.port = port
        self.n_probs = 5 if logprobs else 0

    def ask(self, tokens: list[int], count: int) -> int:
        asked = {
            "prompt": tokens,
            "n_predict": count,
            "cache_prompt": True,
            "temperature": 0.0,
            "ignore_eos": True,
            "n_probs": self.n_probs,
        }
        # A connection for each request, for the server drops those that are idle while the others have their turn: a fraction of 1 ms.
        with closing(http.client.HTTPConnection("127.0.0.1", self.port)) as connection:
            connection.request("POST", "/completion", json.dumps(asked), {"Content-Type": "application/json"})
            return int(json.loads(connection.getresponse().read())["tokens_predicted"])

    def close(self) -> None:
        pass


class Transformers:
    """transformers' own generate, float32; its cache does not outlive a call."""

    def __init__(self, folder: Path, threads: int, logprobs: bool) -> None:
        import torch
        from transformers import AutoModelForCausalLM

        torch.set_num_threads(threads)
        self.torch, self.logprobs = torch, logprobs
        self.model = AutoModelForCausalLM.from_pretrained(folder, local_files_only=True).eval()

    def ask(self, tokens: list[int], count: int) -> int:
        with self.torch.no_grad():
            made = self.model.generate(
                self.torch.tensor([tokens]),
                attention_mask=self.torch.ones(1, len(tokens), dtype=self.torch.long),
                min_new_tokens=count,
                max_new_tokens=count,
                do_sample=False,
                pad_token_id=0,
                return_dict_in_generate=True,
                output_logits=self.logprobs,
            )
            if self.logprobs:
                self.torch.log_softmax(self.torch.stack(made.logits).float(), -1)
        return int(made.sequences.shape[1]) - len(tokens)

    def close(self) -> None:
        del self.model


class Ourselves:
    """Assay's transformers backend on the same folder."""

    def __init__(self, folder: Path, threads: int) -> None:
        import torch

        from assay.inference.hf import HFModel

        torch.set_num_threads(threads)
        self.model = HFModel(folder, n_ctx=N_CTX)

    def ask(self, tokens: list[int], count: int) -> int:
        return len(self.model.generate(Prompt(tuple(tokens), "left_to_right"), stop=NONE, max_tokens=count).tokens)

    def close(self) -> None:
        self.model.close()


@contextmanager
def llama_server(file: Path, threads: int) -> Iterator[int]:
    """A running llama-server and its port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    command = [built_folder() / "llama-server", "-m", file, "--port", port, "-c", N_CTX, "-np", 1, "-t", threads, "-tb", threads]
    process = subprocess.Popen([*map(str, command), "--no-webui"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(600):
            time.sleep(0.1)
            try:
                connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
                connection.request("GET", "/health")
                if connection.getresponse().status == 200:
                    break
            except OSError:
                assert process.poll() is None, "llama-server ended"
        yield port
    finally:
        process.kill()
        process.wait()


def milliseconds(call: Callable[[], Any]) -> float:
    began = time.perf_counter()
    call()
    return (time.perf_counter() - began) * 1e3


def measure(ask: Ask, text: list[int], at: int) -> dict[str, float]:
    """One round of one peer: a cold prompt, a warm one of which the last tokens changed, and generation. at: where in the text."""
    prompt = text[at : at + PROMPT]
    changed = [*prompt[:-CHANGED], *text[at + PROMPT : at + PROMPT + CHANGED]]
    cold = milliseconds(lambda: ask(prompt, 1))
    first = milliseconds(lambda: ask(changed, 1))
    began = time.perf_counter()
    made = ask(changed, GENERATED)
    many = (time.perf_counter() - began) * 1e3
    again = milliseconds(lambda: ask(changed, 1))
    return {"prompt tokens/s": PROMPT / cold * 1e3, "generated tokens/s": (made - 1) / (many - again) * 1e3, "warm first token, ms": first}


def bench(file: Path, threads: int) -> dict[str, float]:
    """llama-bench: the prompt, and generation behind it."""
    command = [
        built_folder() / "llama-bench",
        "-m",
        file,
        "-t",
        threads,
        "-p",
        PROMPT,
        "-n",
        GENERATED,
        "-d",
        f"0,{PROMPT}",
        "-r",
        3,
        "-ub",
        128,
    ]
    rows = json.loads(subprocess.run([*map(str, command), "-o", "json"], capture_output=True, check=True, text=True).stdout)
    prompt = next(row["avg_ts"] for row in rows if row["n_prompt"] and row["n_depth"] == 0)
    return {
        "prompt tokens/s": prompt,
        "generated tokens/s": next(row["avg_ts"] for row in rows if row["n_gen"] and row["n_depth"] == PROMPT),
    }


def alternatives(model: LlamaModel, prompt: Prompt, seed: int) -> tuple[float, float, float]:
    """Milliseconds of one generation, of four in a row and of four alternatives in one batch, the prompt in the cache for all."""

    def one(number: int) -> None:
        model.generate(prompt, stop=NONE, max_tokens=32, temperature=0.8, seed=number)

    one(seed)
    single = milliseconds(lambda: one(seed))
    row = milliseconds(lambda: [one(seed + i) for i in range(4)])
    return single, row, milliseconds(lambda: model.alternatives(prompt, 4, stop=NONE, max_tokens=32, temperature=0.8, seed=seed))


def question(model: LlamaModel, prompt: Prompt) -> tuple[float, float]:
    """Milliseconds of a question behind a generation, and of the same question with nothing in the cache."""
    made = model.generate(prompt, stop=NONE, max_tokens=32)
    tokens = (*prompt.tokens, *(t.id for t in made.tokens), *model.tokenize(QUESTION))
    asked = Prompt(tokens, "left_to_right")
    follow = milliseconds(lambda: model.next_token_logprobs(asked, ["True", "False"]))
    model.forget()
    return follow, milliseconds(lambda: model.next_token_logprobs(asked, ["True", "False"]))


def cancel_latency(model: LlamaModel, text: list[int], during: str, random: np.random.Generator) -> float | None:
    """Milliseconds from a flag that another thread sets to the return; None where the call was done before."""
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
    model.generate(prompt, stop=NONE, max_tokens=1 if during == "prompt" else GENERATED, cancel=lambda: bool(set_at))
    returned = time.perf_counter()
    timer.cancel()
    return (returned - set_at[0]) * 1e3 if set_at else None


def model_ms_per_prompt_token(model: LlamaModel, prompt: Prompt) -> float:
    return milliseconds(lambda: model.generate(prompt, stop=NONE, max_tokens=1)) / len(prompt.tokens)


def logprob_cost_us(vocabulary: int) -> float:
    """Microseconds of all that is recorded of a token, on a row of logits that is not in the processor's cache more than after a step."""
    rows = np.random.default_rng(0).normal(0, 3, (16, vocabulary)).astype(np.float32)
    work, took = np.empty((2, vocabulary)), []
    for i in range(200):
        began = time.perf_counter()
        row = distribution(rows[i % 16], work)
        assert row is not None
        Token(row.top, b"", row.logprob(row.top), row.best_other_logprob(row.top), row.entropy())
        took.append((time.perf_counter() - began) * 1e6)
    return statistics.median(took)


def middle(values: list[float]) -> str:
    """Median and middle half."""
    low, mid, high = statistics.quantiles(values, n=4) if len(values) > 1 else (values[0],) * 3
    return f"{mid:.3g} ({low:.3g}-{high:.3g})"


def compare(name: str, rounds: int, threads: int, slow_peers: bool) -> None:
    file, folder = make(name, user_cache_path("assay") / "benchmarks")
    with ExitStack() as stack:
        peers: dict[str, Any] = {"Assay": Ours(file, threads), "llama.cpp's own loop": Bare(file, threads)}
        peers["create_completion"] = HighLevel(file, threads, logprobs=False)
        peers["create_completion, logprobs"] = HighLevel(file, threads, logprobs=True)
        if (built_folder() / "llama-server").is_file():
            port = stack.enter_context(llama_server(file, threads))
            peers |= {"llama-server": Server(port, False), "llama-server, n_probs": Server(port, True)}
        if slow_peers:
            peers |= {"transformers": Transformers(folder, threads, False), "transformers, logits": Transformers(folder, threads, True)}
            peers["Assay on transformers"] = Ourselves(folder, threads)
        ours: LlamaModel = peers["Assay"].model
        paths = sorted((ROOT / "examples").glob("*.py"))
        text = ours.tokenize("\n".join(path.read_text(encoding="utf-8") for path in paths)) * 2
        took: dict[str, list[dict[str, float]]] = {peer: [] for peer in peers}
        for number in range(rounds + 1):
            for index, (peer, opened) in enumerate(peers.items()):
                # Each at another place: two of them are one server, which keeps the other's prompt.
                figures = measure(opened.ask, text, 37 * number + 5 * index)
                if number:  # the first warms up
                    took[peer].append(figures)
        report(name, took, bench(file, threads) if (built_folder() / "llama-bench").is_file() else {})
        more(ours, text, rounds)
        for opened in peers.values():
            opened.close()


def report(name: str, took: dict[str, list[dict[str, float]]], benched: dict[str, float]) -> None:
    table = [["", "prompt tokens/s", "generated tokens/s", "of llama.cpp's own loop", "warm first token, ms"]]
    bare = [row["generated tokens/s"] for row in took["llama.cpp's own loop"]]
    for peer, rows in took.items():
        prompt, generated, first = (statistics.median(row[figure] for row in rows) for figure in rows[0])
        ratio = middle([row["generated tokens/s"] / b for row, b in zip(rows, bare, strict=True)])
        table.append([peer, f"{prompt:,.0f}", f"{generated:,.0f}", ratio, f"{first:,.1f}"])
    if benched:
        prompt, generated = benched.values()
        table.append(["llama-bench", f"{prompt:,.0f}", f"{generated:,.0f}", f"{generated / statistics.median(bare):.3g}", ""])
    print(f"\n### {name}\n")
    write(table)


def more(model: LlamaModel, text: list[int], rounds: int) -> None:
    """What only Assay's loop has: log-probabilities' cost, alternatives, questions, cancels."""
    prompts = [Prompt(tuple(text[41 * i : 41 * i + PROMPT]), "left_to_right") for i in range(2 * rounds)]
    drawn = [alternatives(model, prompt, i) for i, prompt in enumerate(prompts)]
    asked = [question(model, prompt) for prompt in prompts]
    generated = [model.generate(prompt, stop=NONE, max_tokens=GENERATED) for prompt in prompts]
    step = statistics.median(g.timings.generate_ms / len(g.tokens) for g in generated) * 1e3
    vocabulary = model.header.number("llama.vocab_size", 0)
    cost = logprob_cost_us(vocabulary)
    table = [["", "median (middle half)", "n"]]
    for what, values in (
        ("four alternatives / four runs in a row", [batch / row for _, row, batch in drawn]),
        ("four alternatives / one run", [batch / single for single, _, batch in drawn]),
        ("a follow-up question / the same from a fresh prompt", [follow / fresh for follow, fresh in asked]),
        ("a follow-up question, ms", [follow for follow, _ in asked]),
    ):
        table.append([what, middle(values), str(len(values))])
    table.append(
        [f"recording a token, µs ({vocabulary:,} in the vocabulary)", f"{cost:.0f}: {cost / step:.1%} of a step of {step:,.0f}", "200"]
    )
    random = np.random.default_rng(0)
    for during in ("prompt", "generation"):
        latencies = [x for _ in range(10 * rounds) if (x := cancel_latency(model, text, during, random)) is not None]
        if latencies:
            table.append(
                [f"from a cancel to the return, {during}, ms", f"{middle(latencies)}, worst {max(latencies):.3g}", str(len(latencies))]
            )
    print()
    write(table)


def write(table: list[list[str]]) -> None:
    """A table for docs/performance.md."""
    head, *rows = ("| " + " | ".join(row) + " |" for row in table)
    print(head, "|" + "---|" * len(table[0]), *rows, sep="\n", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", default="embedded,120M,500M", help="which, with commas between")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=physical_cores())
    parser.add_argument("--no-transformers", action="store_true", help="leave the slow peers out")
    arguments = parser.parse_args()
    for name in arguments.models.split(","):
        compare(name, arguments.rounds, arguments.threads, not arguments.no_transformers)


if __name__ == "__main__":
    main()
