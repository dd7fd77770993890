"""The programs that benchmarks/inference.py compares. Each generates greedily behind token ids, with the same file, threads and context.

All use flash attention where llama.cpp chooses it, and put all layers on a GPU where there is one. Each keeps its own default for the
tokens that it decodes at once (llama.cpp's own loop and llama-bench have Assay's) and for how it keeps prompts.
"""

from __future__ import annotations

import ctypes
import http.client
import json
import os
import subprocess
from contextlib import closing
from pathlib import Path
from typing import Any, Protocol

import harness  # noqa: F401 - which puts llama_server on the path
from llama_server import built_folder

from assay.inference.llamacpp.model import LlamaModel
from assay.inference.llamacpp.session import CHUNK, runtime
from assay.inference.model import Prompt
from assay.inference.stopping.stop import NONE

N_CTX = 1024


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


def transformers_model(file: Path, device: str) -> Any:
    """The GGUF file's weights in float32."""
    from transformers import AutoModelForCausalLM

    model: Any = AutoModelForCausalLM.from_pretrained(file.parent, gguf_file=file.name, local_files_only=True, dtype="float32")
    return model.to(device).eval()


def llama_bench(file: Path, threads: int, prompt: int, generated: int, repeats: int) -> dict[str, float]:
    """llama-bench: tokens a second of a prompt, and of generation behind a prompt of that length; means over its repeats."""
    options = ["-t", threads, "-p", prompt, "-n", generated, "-d", f"0,{prompt}", "-r", repeats, "-ub", CHUNK, "-o", "json"]
    command = [built_folder() / "llama-bench", "-m", file, *options]
    rows = json.loads(subprocess.run([*map(str, command)], capture_output=True, check=True, text=True).stdout)
    return {
        "prompt tokens/s": next(row["avg_ts"] for row in rows if row["n_prompt"] and row["n_depth"] == 0),
        "generated tokens/s": next(row["avg_ts"] for row in rows if row["n_gen"] and row["n_depth"] == prompt),
    }
