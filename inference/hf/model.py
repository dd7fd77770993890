"""A folder of a transformers model in this process: the `Model` protocol on torch, with the same exact numbers as llama.cpp's."""

from __future__ import annotations

import contextlib
import math
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path

from ..chat_format import ChatFormat
from ..errors import ModelClosed, PackageMissing
from ..local_model import LocalModel
from ..model import (
    Capabilities,
    Fingerprint,
    Layout,
    Prompt,
    StopReason,
)
from ..replay.given_text import Choice, GivenText
from ..room import check_tokens, context_for
from ..stopping.cancel_or_timeout import StopCheck, never_stop
from ..stopping.continuation import Continuation
from .folder import read_folder

try:
    import torch
    import transformers
    from torch import Tensor

    from .cache import CachedSequence
    from .generation import Choose, Generating, GenerationLoop, best_other, check_numbers, chooser, logprobs_of, widest_float
    from .network import Network
    from .tokenizer import TextTokenizer
except ImportError as missing:
    raise PackageMissing("the packages of assay[hf]", missing, "torch>=2.6", "transformers>=5", "safetensors>=0.4") from missing


# Logits that `score` holds at once, in numbers: 256 MiB of float32.
_LOGITS_AT_ONCE = 1 << 26


class HFModel(LocalModel[Generating, Choose]):
    """The `Model` protocol on transformers. One call at a time; a call leaves its tokens in the cache for the next to reuse.

    Code that comes with a model is never run, and pickled weights are never read.

    Parameters
        path: a folder with config.json, tokenizer.json and *.safetensors.
        dtype: "float32", "float16", "bfloat16", or "auto" (bfloat16 or float16 on CUDA, float16 on mps, float32 on a CPU).
        device: torch's name of one, or "auto" (the first of cuda, mps, cpu).
        n_ctx: tokens of context; None for the model's own (4,096 at most).

    Raises on opening
        NoSuchModel, NotAModelFolder, MissingFile, UnsafeWeights, RemoteCode, UnsupportedFolder, UnsupportedTokenizer, DamagedModel,
        TruncatedModel, UnreadableModel, NoSuchDevice, NoSuchDtype, OutOfMemory, FolderLoadFailed, ContextTooLong.
    """

    _sampler = staticmethod(chooser)

    def __init__(self, path: str | Path, *, dtype: str = "auto", device: str = "auto", n_ctx: int | None = None) -> None:
        if n_ctx is not None and n_ctx < 1:
            raise ValueError(f"n_ctx is {n_ctx}, it must be at least 1")
        self.folder = read_folder(Path(path))
        self.path = self.folder.path
        self._context_length = context_for(self.folder.context_length, n_ctx)
        self._tokenizer = TextTokenizer(self.folder)
        self._loop = GenerationLoop(self.path, self._tokenizer)
        self._network: Network | None = Network(self.folder, dtype, device)
        self._reader: CachedSequence = CachedSequence(self._network)
        # How many of the cached tokens are the last prompt's, and the logits behind it.
        self._prompt_held, self._behind = 0, torch.empty(0)

    @property
    def fingerprint(self) -> Fingerprint:
        """What the model is; the files are hashed at the first call (a second or so for each 2 GB). Raises UnreadableModel."""
        network, folder = self._open(), self.folder
        dtype = str(network.dtype).removeprefix("torch.")
        method = (folder.config.get("quantization_config") or {}).get("quant_method")
        return Fingerprint(
            name=folder.name,
            architecture=folder.model_type,
            parameters=folder.parameters,
            quantisation=f"{method} {dtype}" if method else dtype,
            weights=folder.weights_hash,
            tokenizer=folder.tokenizer_hash,
            runtime=f"transformers {transformers.__version__} torch {torch.__version__}",
        )

    @property
    def capabilities(self) -> Capabilities:
        """Everything; a suffix is used where the tokenizer has fill-in-the-middle tokens of a known family."""
        return Capabilities(fim=self._tokenizer.family is not None, files=self._tokenizer.separates_files)

    @property
    def device(self) -> str:
        """Where it runs: torch's name of the device."""
        return str(self._open().device)

    @property
    def on_gpu(self) -> bool:
        """Whether it runs on a GPU."""
        return self._open().device.type != "cpu"

    @property
    def layout(self) -> Layout:
        """The layout of the model's family (fim_families.py); "left_to_right" where it has none."""
        return self._tokenizer.layout

    @property
    def chat_format(self) -> ChatFormat | None:
        """How it is asked in chat; None where the folder has no template. Raises UnreadableModel."""
        return self._tokenizer.chat_format(self.folder.chat_template)

    def tokenize(self, text: str) -> list[int]:
        """Token ids of plain text as it stands in the middle of another; the spelling of a control token is text like any other."""
        self._open()
        return self._tokenizer.tokenize(text)

    def token_bytes(self, token: int) -> bytes:
        """The bytes that a token stands for; none for a control token."""
        return self._tokenizer.piece(token)

    @property
    def vocabulary_size(self) -> int:
        """How many tokens there are."""
        return self._open().vocabulary

    def fim(self, prefix: str, suffix: str, extra: Sequence[tuple[str, str]] = (), path: str = "", begun: int | None = None) -> Prompt:
        """The prompt that asks for what stands between prefix and suffix (the suffix is left out in a left-to-right layout).

        extra, path: pieces of other files, as `fim_families.in_front` lays them out. begun: as for `Model.fim`.
        """
        self._open()
        return self._tokenizer.fim(prefix, suffix, extra, path, begun)

    def left_to_right(self, text: str) -> Prompt:
        """The prompt that asks for what follows a text, without a layout and with nothing held back."""
        self._open()
        return self._tokenizer.left_to_right(text)

    def prompt_text(self, prompt: Prompt) -> str:
        """A prompt as text, its control tokens spelled."""
        return self._tokenizer.spelled(prompt.tokens)

    def _chooser_of(self, given: GivenText) -> Choose:
        tokenizer = self._tokenizer
        choice = Choice(given, tokenizer.healing.vocabulary, tokenizer.piece, tokenizer.ends.__contains__, tokenizer.tokenize)
        return lambda row: torch.tensor(choice.choose(row.cpu().numpy()), device=row.device)

    def _begin(self, prompt: Prompt, text: Continuation, choose: Choose) -> Generating:
        return self._loop.generating(prompt, text, choose)

    def _go_on(self, one: Generating, stop_check: StopCheck, instead_of: Sequence[int] = ()) -> StopReason:
        given, logits = deque(instead_of), self._behind
        while True:
            rows, chosen = self._loop.rows(logits, [one]), None
            if given and not self._loop.only_holds(rows[0], one.text):
                first = given.popleft()
                chosen = torch.tensor([first if given else best_other(rows[0], first)], device=rows.device)
            (token,), (ended,) = self._loop.add(rows, [one], chosen)
            if stopped := ended or stop_check():
                return stopped
            logits = self._reader.extend([token]).logits[:, -1]

    def _go_on_together(
        self, several: list[Generating], _max_tokens: int, stop_check: StopCheck, *, greedy: bool
    ) -> tuple[list[Generating], StopReason | None]:
        """What is held back is written by the same tokens in all greedy ones."""
        loop, first = self._loop, None
        rows = loop.rows(self._behind, several[:1])
        if greedy:
            while loop.only_holds(rows[0], several[0].text):
                token, _ = loop.add_first(rows, several, rows.argmax(-1).expand(len(several)))
                if stopped := stop_check():
                    return several, stopped
                rows = loop.rows(self._reader.extend(token[:1]).logits[:, -1], several[:1])
            several = several[: max(1, int((rows > -math.inf).sum()))]
            first = torch.argsort(rows[0], descending=True, stable=True)[: len(several)]
        batch = self._reader.fork(len(several))

        def hold_the_first(number: int, row: int) -> None:
            if number == 0:
                self._reader.restore(batch.row(row))

        last, _ = loop.add_first(rows, several, first)
        return several, loop.together(batch, last, several, stop_check, hold_the_first)

    def score(self, prompt: Prompt, continuation: Sequence[int]) -> list[float]:
        """log p of each continuation token given the prompt and those before it, in nats.

        Raises ContextTooLong, OutOfMemory, ForwardFailed; ValueError for a token that the vocabulary does not have.
        """
        self._room(prompt, len(continuation))
        check_tokens(continuation, self.vocabulary_size)
        if not continuation:
            return []
        network = self._open()
        given = [prompt.tokens[-1], *continuation[:-1]]
        step = max(1, min(network.chunk, _LOGITS_AT_ONCE // network.vocabulary))
        scores: list[float] = []
        with self._question(prompt.tokens):
            self._read_on(prompt.tokens[:-1], never_stop)
            for start in range(0, len(given), step):
                chunk = given[start : start + step]
                logits = widest_float(self._reader.extend(chunk, keep=len(chunk)).logits[0])
                scores += logprobs_of(logits, network.tensor(continuation[start : start + len(chunk)]))
        return check_numbers(self.path, scores)

    def next_token_logprobs(self, prompt: Prompt, candidates: Sequence[str]) -> list[float]:
        """log p that the first token of each candidate text comes next, in nats.

        Raises ContextTooLong, OutOfMemory, ForwardFailed; ValueError for an empty candidate.
        """
        first = self._first_tokens(prompt, candidates)
        with self._question(prompt.tokens):
            logits, _ = self._read_on(prompt.tokens, never_stop)
            row = widest_float(logits).expand(len(first), -1)
            return check_numbers(self.path, logprobs_of(row, self._open().tensor(first)) if first else [])

    def forget(self) -> None:
        """Empty the cache, so that the next call reads its whole prompt."""
        self._open()
        self._reader.keep_common((), 0)

    def close(self) -> None:
        """Free the memory. The model can't be used afterwards. A second call does nothing."""
        if self._network is not None:
            self._reader.keep_common((), 0)
            self._network.close()
            self._network = None

    def _open(self) -> Network:
        if self._network is None:
            raise ModelClosed(self.path)
        return self._network

    def _read(self, prompt: Prompt, stop_check: StopCheck) -> tuple[int, StopReason | None]:
        reused = self._reader.keep_common(prompt.tokens, len(prompt.tokens) - 1)
        self._prompt_held = len(prompt.tokens) - 1
        self._behind, stopped = self._read_on(prompt.tokens, stop_check)
        return reused, stopped

    def _read_on(self, tokens: Sequence[int], stop_check: StopCheck) -> tuple[Tensor, StopReason | None]:
        """Read the tokens that are not cached, chunk by chunk. Returns the logits behind them, if nothing broke it off, and why or None."""
        chunk = self._open().chunk
        logits = torch.empty(0)
        for start in range(len(self._reader.tokens), len(tokens), chunk):
            if stopped := stop_check():
                return logits, stopped
            logits = self._reader.extend(tokens[start : start + chunk]).logits[:, -1]
        return logits, stop_check()

    @contextlib.contextmanager
    def _question(self, tokens: Sequence[int]) -> Iterator[None]:
        """Ask a question behind `tokens`. Where they continue the last prompt, the cache is afterwards as it was."""
        held = self._reader.snapshot()
        common = self._reader.keep_common(tokens, len(tokens) - 1)
        try:
            yield
        finally:
            if held.tokens and common >= self._prompt_held:
                self._reader.restore(held)
            else:
                self._prompt_held = len(tokens) - 1
