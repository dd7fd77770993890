"""A folder of a transformers model in this process: the `Model` protocol on torch, with the same exact numbers as llama.cpp's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from ..chat_format import ChatFormat
from ..distribution import Row
from ..errors import ModelClosed, PackageMissing
from ..generating import Generating
from ..local_model import LocalModel, T
from ..model import Capabilities, Fingerprint, Layout, Prompt, StopReason
from ..room import context_for
from ..stopping.cancel_or_timeout import StopCheck
from .folder import read_folder

try:
    import torch
    import transformers
    from torch import Tensor

    from .cache import CachedSequence
    from .network import Network
    from .tokenizer import TextTokenizer
except ImportError as missing:
    raise PackageMissing("the packages of assay[hf]", missing, "torch>=2.6", "transformers>=5", "safetensors>=0.4") from missing


# Logits that a question holds at once, in numbers: 256 MiB of float32.
_LOGITS_AT_ONCE = 1 << 26


class HFModel(LocalModel):
    """The `Model` protocol on transformers. One call at a time; a call leaves its tokens in the cache for the next to reuse.

    Code that comes with a model is never run, and pickled weights are never read.

    Parameters
        path: a folder with config.json, tokenizer.json and *.safetensors.
        dtype: "float32", "float16", "bfloat16", or "auto" (bfloat16 or float16 on CUDA, float16 on mps, float32 on a CPU).
        device: torch's name of one, or "auto" (the first of cuda, mps, cpu).
        n_ctx: tokens of context; None for the model's own (4,096 at most).

    Raises ModelError where it can't be opened.
    """

    def __init__(self, path: str | Path, *, dtype: str = "auto", device: str = "auto", n_ctx: int | None = None) -> None:
        if n_ctx is not None and n_ctx < 1:
            raise ValueError(f"n_ctx is {n_ctx}, it must be at least 1")
        self.folder = read_folder(Path(path))
        self._tokenizer = TextTokenizer(self.folder)
        super().__init__(self.folder.path, "transformers", context_for(self.folder.context_length, n_ctx), self._tokenizer)
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

    @property
    def vocabulary_size(self) -> int:
        """How many tokens there are."""
        return self._open().vocabulary

    def fim(self, prefix: str, suffix: str, extra: Sequence[tuple[str, str]] = (), path: str = "", begun: int | None = None) -> Prompt:
        """See `Model.fim`."""
        self._open()
        return self._tokenizer.fim(prefix, suffix, extra, path, begun)

    def left_to_right(self, text: str) -> Prompt:
        """See `Model.left_to_right`."""
        self._open()
        return self._tokenizer.left_to_right(text)

    def forget(self) -> None:
        """Empty the cache, so that the next call reads its whole prompt."""
        self._open()
        self._reader.keep_common((), 0)
        self._replayed = None

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
        chunk = self._open().chunk
        for start in range(reused, len(prompt.tokens), chunk):
            if stopped := stop_check():
                return reused, stopped
            self._behind = self._reader.extend(prompt.tokens[start : start + chunk]).logits[0, -1]
        return reused, stop_check()

    def _row(self) -> Row:
        return _as_row(self._behind)

    def _extend(self, token: int, _several: Sequence[Generating]) -> None:
        self._behind = self._reader.extend([token]).logits[0, -1]

    def _go_on_together(self, several: Sequence[Generating], _max_tokens: int, stop_check: StopCheck) -> StopReason | None:
        batch, live = self._reader.fork(len(several)), list(range(len(several)))
        while True:
            unfinished = [row for row, number in enumerate(live) if several[number].ended is None]
            stopped = stop_check() if unfinished else None
            done = stopped is not None or not unfinished
            if live[0] == 0 and (done or 0 not in unfinished):
                self._reader.restore(batch.row(0))
            if done:
                return stopped
            if len(unfinished) < len(live):
                batch.keep(unfinished)
                live = [live[row] for row in unfinished]
            for number, logits in zip(live, batch.extend([several[number].sampled[-1] for number in live]), strict=True):
                several[number].take(several[number].distribution(_as_row(logits)))

    def _ask(self, tokens: Sequence[int], first: int, take: Callable[[Row], T]) -> list[T]:
        network, held = self._open(), self._reader.snapshot()
        common = self._reader.keep_common(tokens, first)
        most_rows = max(1, _LOGITS_AT_ONCE // network.vocabulary)
        taken: list[T] = []
        try:
            while (at := len(self._reader.tokens)) < len(tokens):
                end = min(at + network.chunk, max(first, at) + most_rows, len(tokens))
                count = max(1, end - max(first, at))
                rows = self._reader.extend(tokens[at:end], keep=count).logits[0]
                taken += [take(_as_row(row)) for row in rows] if end > first else []
        finally:
            # Where the question continues the last prompt, the cache is as it was.
            if held.tokens and common >= self._prompt_held:
                self._reader.restore(held)
            else:
                self._prompt_held = first
        return taken


def _as_row(logits: Tensor) -> Row:
    row: Row = logits.float().cpu().numpy()
    return row
