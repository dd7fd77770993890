"""The inference loop beside its peers, on the same GGUF, in one run.

    python benchmarks/inference.py [--model FILE.gguf] [--rounds 5] [--threads N] [--no-transformers]

Peers: llama.cpp's own loop (its decode and its greedy sampler, nothing else), llama-cpp-python's `create_completion`, llama-server and
transformers, each without and with log-probabilities where it gives them. In every round all have their turn, forwards and backwards by
turns, each with prompts of its own; a first round warms up and is not counted. A figure is the median over the rounds with its middle
half, a ratio that of the rounds' ratios. llama-bench starts its own process and has its turn once, behind the rounds.
llama-server and llama-bench are left out where they are not built (.ci/build_llama_server.py), transformers where accelerate is
missing. All use flash attention where llama.cpp chooses it, and put all layers on a GPU where there is one. Each keeps its own default for
the tokens that it decodes at once (llama.cpp's own loop and llama-bench have Assay's) and for how it keeps prompts.

What only Assay's loop has is measured behind that, with the goal beside it where there is one.
"""

from __future__ import annotations

import ctypes
import http.client
import importlib.util
import json
import os
import statistics
import subprocess
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any, Protocol

import harness
import numpy as np
from llama_server import built_folder, is_built, running

from assay.inference.llamacpp.model import LlamaModel
from assay.inference.llamacpp.session import CHUNK, runtime
from assay.inference.llamacpp.threads import physical_cores
from assay.inference.model import Prompt, StopReason
from assay.inference.opening import EMBEDDED
from assay.inference.stopping.stop import NONE

N_CTX = 1024
PROMPT, CHANGED, GENERATED = 800, 5, 48
DRAWN = 32  # tokens of an alternative
QUESTION = "\n# Is the line above right? Answer with True or False: "
REFERENCE = "llama.cpp's own loop"
LLAMA_BENCH_REPEATS = 3


class Peer(Protocol):
    """One way of running a model."""

    def ask(self, tokens: list[int], count: int) -> int:
        """Generate `count` tokens behind a prompt. Returns how many it generated."""
        ...

    def close(self) -> None:
        """Free its memory."""
        ...


class Assay:
    """Assay's loop: every token with its exact log-probability, the best other's, and the entropy."""

    def __init__(self, file: Path, threads: int) -> None:
        self.model = LlamaModel(file, n_ctx=N_CTX, threads=threads)

    def ask(self, tokens: list[int], count: int) -> int:
        return len(self.model.generate(Prompt(tuple(tokens), "left_to_right"), stop=NONE, max_tokens=count).tokens)

    def close(self) -> None:
        self.model.close()


def dies_of_amx() -> bool:
    """Whether weights that llama.cpp lays out for the processor end this process, as of inference/llamacpp/session.py."""
    return b"AMX_INT8 = 1" in runtime()[0].llama_print_system_info()


class Bare:
    """llama.cpp's own loop: llama_decode, then its greedy sampler in C; the common prefix of the last prompt kept."""

    def __init__(self, file: Path, threads: int) -> None:
        self.llama, _ = runtime()
        of_weights = self.llama.llama_model_default_params()
        of_weights.use_extra_bufts = not dies_of_amx()
        self.weights = self.llama.llama_model_load_from_file(os.fsencode(file), of_weights)
        parameters = self.llama.llama_context_default_params()
        parameters.n_ctx, parameters.n_batch, parameters.n_ubatch = N_CTX, CHUNK, CHUNK
        parameters.n_threads = parameters.n_threads_batch = threads
        parameters.no_perf = True
        self.context = self.llama.llama_init_from_model(self.weights, parameters)
        self.memory = self.llama.llama_get_memory(self.context)
        self.sampler = self.llama.llama_sampler_init_greedy()
        self.held: list[int] = []

    def ask(self, tokens: list[int], count: int) -> int:
        llama, context, sampler = self.llama, self.context, self.sampler
        common = next((i for i, (a, b) in enumerate(zip(self.held, tokens, strict=False)) if a != b), len(self.held))
        common = min(common, len(tokens) - 1)
        llama.llama_memory_seq_rm(self.memory, 0, common, -1)
        rest = tokens[common:]
        for start in range(0, len(rest), CHUNK):
            chunk = rest[start : start + CHUNK]
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
        self.llama = llama_cpp.Llama(
            str(file),
            n_ctx=N_CTX,
            n_threads=threads,
            n_threads_batch=threads,
            n_gpu_layers=-1,
            flash_attn=True,
            logits_all=logprobs,
            verbose=False,
        )

    def ask(self, tokens: list[int], count: int) -> int:
        answer: Any = self.llama.create_completion(tokens, max_tokens=count, temperature=0.0, logprobs=self.logprobs)
        return int(answer["usage"]["completion_tokens"])

    def close(self) -> None:
        self.llama.close()


class Server:
    """llama-server's /completion over the loopback, cache_prompt on."""

    def __init__(self, address: str, logprobs: bool) -> None:
        self.host = address.removeprefix("http://")
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
        with closing(http.client.HTTPConnection(self.host)) as connection:
            connection.request("POST", "/completion", json.dumps(asked), {"Content-Type": "application/json"})
            return int(json.loads(connection.getresponse().read())["tokens_predicted"])

    def close(self) -> None:
        """The server is ended by who started it."""


class Transformers:
    """transformers' own generate, float32; its cache does not outlive a call."""

    def __init__(self, model: Any, device: str, logprobs: bool) -> None:
        self.model, self.device, self.logprobs = model, device, logprobs

    def ask(self, tokens: list[int], count: int) -> int:
        import torch

        with torch.no_grad():
            made = self.model.generate(
                torch.tensor([tokens], device=self.device),
                attention_mask=torch.ones(1, len(tokens), dtype=torch.long, device=self.device),
                min_new_tokens=count,
                max_new_tokens=count,
                do_sample=False,
                pad_token_id=0,
                return_dict_in_generate=True,
                output_logits=self.logprobs,
            )
            if self.logprobs:
                torch.log_softmax(torch.stack(made.logits).float(), -1).amax(-1).tolist()
        return len(made.sequences[0].tolist()) - len(tokens)

    def close(self) -> None:
        """The model is its opener's."""


def llama_bench(file: Path, threads: int, prompt: int, generated: int, repeats: int) -> dict[str, float]:
    """llama-bench: tokens a second of a prompt, and of generation behind a prompt of that length; means over its repeats."""
    options = ["-t", threads, "-p", prompt, "-n", generated, "-d", f"0,{prompt}", "-r", repeats, "-ub", CHUNK, "-o", "json"]
    command = [built_folder() / "llama-bench", "-m", file, *options]
    rows = json.loads(subprocess.run([*map(str, command)], capture_output=True, check=True, text=True).stdout)
    return {
        "prompt tokens/s": next(row["avg_ts"] for row in rows if row["n_prompt"] and row["n_depth"] == 0),
        "generated tokens/s": next(row["avg_ts"] for row in rows if row["n_gen"] and row["n_depth"] == prompt),
    }


def measure(ask: Callable[[list[int], int], int], text: list[int], at: int) -> dict[str, float]:
    """One round of one peer: a cold prompt, a warm one of which the last tokens changed, and generation. at: where in the text.

    Each of the first two ends with one token; generation is what more tokens cost behind the same prompt.
    """
    prompt = text[at : at + PROMPT]
    changed = [*prompt[:-CHANGED], *text[at + PROMPT : at + PROMPT + CHANGED]]
    cold = harness.milliseconds(lambda: ask(prompt, 1))
    first = harness.milliseconds(lambda: ask(changed, 1))
    ask(changed, 2)  # so that none finds the logits behind the prompt, and begins without a decode
    began = time.perf_counter()
    made = ask(changed, GENERATED)
    many = (time.perf_counter() - began) * 1e3
    ask(changed, 1)  # what a peer does with the long text's end is no part of the next
    again = harness.milliseconds(lambda: ask(changed, 1))
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
    single = harness.milliseconds(lambda: one(4 * number))
    took = {way: harness.milliseconds(way) for way in ((batch, row) if number % 2 else (row, batch))}
    return (single, took[row], took[batch]) if set(lengths) == {DRAWN} else None


def question(model: LlamaModel, prompt: Prompt) -> tuple[float, float]:
    """Milliseconds of a question behind a generation, and of the same question with an empty cache."""
    made = model.generate(prompt, stop=NONE, max_tokens=DRAWN)
    tokens = (*prompt.tokens, *(t.id for t in made.tokens), *model.tokenize(QUESTION))
    asked = Prompt(tokens, "left_to_right")
    follow = harness.milliseconds(lambda: model.next_token_logprobs(asked, ["True", "False"]))
    model.forget()
    return follow, harness.milliseconds(lambda: model.next_token_logprobs(asked, ["True", "False"]))


def cancel_latency(model: LlamaModel, text: list[int], random: np.random.Generator, during: str) -> float | None:
    """Milliseconds from a flag that another thread sets to the return; None where the call had already ended."""
    prompt = Prompt(tuple(text[:PROMPT]), "left_to_right")
    if during == "prompt":
        model.forget()
        whole = 0.8 * harness.milliseconds(lambda: model.generate(prompt, stop=NONE, max_tokens=1))
        model.forget()
    else:
        model.generate(prompt, stop=NONE, max_tokens=1)
        whole = 0.8 * harness.milliseconds(lambda: model.generate(prompt, stop=NONE, max_tokens=GENERATED))
    set_at: list[float] = []
    timer = threading.Timer(random.uniform(0.05, 1) * whole / 1e3, lambda: set_at.append(time.perf_counter()))
    timer.start()
    made = model.generate(prompt, stop=NONE, max_tokens=1 if during == "prompt" else GENERATED, cancel=lambda: bool(set_at))
    returned = time.perf_counter()
    timer.cancel()
    timer.join()
    return (returned - set_at[0]) * 1e3 if made.stopped_by is StopReason.CANCELLED else None


def opened(file: Path, threads: int, slow_peers: bool, stack: ExitStack) -> dict[str, Peer]:
    """All peers that this machine has, closed with the stack."""
    peers: dict[str, Peer] = {"Assay": Assay(file, threads), REFERENCE: Bare(file, threads)}
    if dies_of_amx():
        print("Without create_completion, which dies on a processor with AMX.")
    else:
        peers["create_completion"] = HighLevel(file, threads, logprobs=False)
        peers["create_completion, logprobs"] = HighLevel(file, threads, logprobs=True)
    if is_built():
        options = ("--ctx-size", str(N_CTX), "--threads", str(threads), "--threads-batch", str(threads))
        address = stack.enter_context(running(file, *options))
        peers |= {"llama-server": Server(address, False), "llama-server, n_probs": Server(address, True)}
    if slow_peers:
        import torch
        import transformers

        torch.set_num_threads(threads)
        device = "cuda" if torch.cuda.is_available() else "cpu"
        read: Any = transformers.AutoModelForCausalLM.from_pretrained(
            file.parent, gguf_file=file.name, local_files_only=True, dtype="float32"
        )
        model = read.to(device).eval()
        peers |= {"transformers": Transformers(model, device, False), "transformers, logits": Transformers(model, device, True)}
    for peer in peers.values():
        stack.callback(peer.close)
    return peers


def compare(file: Path, rounds: int, threads: int, slow_peers: bool) -> None:
    with ExitStack() as stack:
        peers = opened(file, threads, slow_peers, stack)
        ours: Any = peers["Assay"]
        model: LlamaModel = ours.model
        paths = sorted((harness.ROOT / "examples").glob("*.py"))
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
        print(f"\n### {file.name}, {threads} threads, median of {rounds} rounds (middle half); prompts of {PROMPT} tokens\n")
        print(table(took, benched), more(model, text, rounds), sep="\n\n", flush=True)


def table(took: dict[str, list[dict[str, float]]], benched: dict[str, float]) -> str:
    head = ["", "prompt tokens/s", "generated tokens/s", "of llama.cpp's own loop (goal of Assay: 0.97 or more)", "warm first token, ms"]
    rows = []
    bare = [row["generated tokens/s"] for row in took[REFERENCE]]
    for peer, measured in took.items():
        prompt, generated, first = ([row[figure] for row in measured] for figure in measured[0])
        ratio = harness.middle([g / b for g, b in zip(generated, bare, strict=True)])
        rows.append([peer, harness.middle(prompt, ",.0f"), harness.middle(generated, ",.0f"), ratio, harness.middle(first, ",.1f")])
    if benched:
        prompt_speed, speed = benched.values()
        name = f"llama-bench, mean of {LLAMA_BENCH_REPEATS}, later"
        rows.append([name, f"{prompt_speed:,.0f}", f"{speed:,.0f}", f"{speed / statistics.median(bare):.3g}", ""])
    return harness.table(head, rows)


def more(model: LlamaModel, text: list[int], rounds: int) -> str:
    """What only Assay's loop has: alternatives, questions, cancels."""
    prompts = [Prompt(tuple(text[41 * i : 41 * i + PROMPT]), "left_to_right") for i in range(2 * rounds)]
    drawn = [took for i, prompt in enumerate(prompts) if (took := alternatives(model, prompt, i))]
    asked = [question(model, prompt) for prompt in prompts]
    random = np.random.default_rng(0)
    cancelled = {
        during: [x for _ in range(10 * rounds) if (x := cancel_latency(model, text, random, during)) is not None]
        for during in ("prompt", "generation")
    }
    rows = []
    for what, goal, values in (
        ("four alternatives / four runs in a row", "0.65 or less on a CPU", [batch / row for _, row, batch in drawn]),
        ("four alternatives / one run", "1.6 or less on a GPU", [batch / single for single, _, batch in drawn]),
        ("a follow-up question / the same from a fresh prompt", "0.08 or less", [follow / fresh for follow, fresh in asked]),
        ("from a cancel to the return, prompt, ms", "", cancelled["prompt"]),
        ("from a cancel to the return, generation, ms", "", cancelled["generation"]),
    ):
        if values:
            worst = f", worst {max(values):.3g}" if "cancel" in what else ""
            rows.append([what, harness.middle(values) + worst, goal, str(len(values))])
    return harness.table(["", "median (middle half)", "goal", "n"], rows)


def main() -> None:
    parser = harness.parser_of(__doc__)
    parser.add_argument("--model", type=harness.model_file, default=EMBEDDED, help="a GGUF file (the embedded model)")
    parser.add_argument("--rounds", type=int, default=5, help="that are counted, at least 2 (default: %(default)s)")
    parser.add_argument("--threads", type=int, default=physical_cores(), help="(default: the machine's cores, %(default)s)")
    parser.add_argument("--no-transformers", action="store_true", help="leave the slow peers out")
    arguments = parser.parse_args()
    if arguments.rounds < 2 or arguments.threads < 1:
        parser.error("--rounds is at least 2, --threads at least 1")
    slow_peers = not arguments.no_transformers and importlib.util.find_spec("accelerate") is not None
    if slow_peers:
        import torch  # noqa: F401  # so that its GPU is named

    print(harness.described("llama-cpp-python", *(("torch", "transformers") if slow_peers else ()), "numpy"))
    if not is_built():
        print(f"Without llama-server and llama-bench: {built_folder()} has none (.ci/build_llama_server.py).")
    if not slow_peers and not arguments.no_transformers:
        print("Without transformers: it reads a GGUF file only with accelerate (pip install accelerate).")
    compare(arguments.model, arguments.rounds, arguments.threads, slow_peers)


if __name__ == "__main__":
    main()
