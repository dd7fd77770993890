"""A transformers network on its device: loading it, and the only place that calls it."""

from __future__ import annotations

import contextlib
import inspect
import logging
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from transformers import CONFIG_MAPPING, AutoConfig, AutoModelForCausalLM, DynamicCache
from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES
from transformers.utils import logging as reports

from ..errors import (
    ComputationFailed,
    DamagedModel,
    LoadFailed,
    ModelError,
    NoSuchDevice,
    NoSuchDtype,
    OutOfMemory,
    RemoteCode,
    UnsupportedArchitecture,
)
from ..machine_memory import machine_memory
from .folder import Folder

DTYPES = {"float32": torch.float32, "float16": torch.float16, "bfloat16": torch.bfloat16}
# Layers whose state has one entry for each token, so that the last ones can be dropped.
_CROPPABLE = frozenset({"DynamicLayer", "DynamicSlidingWindowLayer"})
_MEMORY_WORDS = ("out of memory", "not enough memory", "allocate memory")


class Network:
    """A causal network.

    Parameters
        dtype: "auto" is bfloat16 on CUDA where the GPU has it, else float16; float16 on mps; float32 on a CPU.
        device: "auto" is the first of CUDA, mps, CPU.

    Attributes
        vocabulary: numbers in a row of logits.
        chunk: tokens read at once.
        cached: whether earlier tokens can be kept. A recurrent network can't drop its last tokens, so it reads the whole text each time.

    Raises ModelError.
    """

    def __init__(self, folder: Folder, dtype: str, device: str) -> None:
        self.path = folder.path
        self.device = _device(device)
        self.dtype = _dtype(dtype, self.device)
        if self.device.type == "cpu":
            _refuse_what_does_not_fit(folder, self.dtype)
        with _quiet():
            self._model = _load(folder, self.dtype)
            with _as_model_errors(self.path):
                self._model.requires_grad_(False).to(self.device)
        self._takes = frozenset(inspect.signature(self._model.forward).parameters)
        self.vocabulary = int(self._model.get_output_embeddings().weight.shape[0])
        # transformers 5.24 has renamed it
        self._cache_name = next((name for name in ("cache", "past_key_values") if name in self._takes), None)
        self.cached = self._cache_name is not None and _can_crop(self._model.config)
        self.chunk = (128 if self.device.type == "cpu" else 512) if self.cached else 1 << 30
        with _quiet():
            # A network's warnings come at its first step, and one that can't take a step has to fail here.
            self(self.tensor([[0]]), cache=DynamicCache() if self.cached else None)

    def __call__(self, rows: Tensor, *, cache: DynamicCache | None = None, keep: int | Tensor = 0) -> Any:
        """transformers' output for rows of tokens, shape (rows, length), behind those in the cache, to which they are added.

        keep: the positions whose logits are wanted: so many of the last, 0 for all, or a tensor of positions.
        Raises OutOfMemory, ComputationFailed.
        """
        given: dict[str, Any] = {"input_ids": rows, "use_cache": cache is not None, "return_dict": True}
        if cache is not None and self._cache_name is not None:
            given[self._cache_name] = cache
        all_kept = isinstance(keep, int) and keep == 0
        if not all_kept and "logits_to_keep" in self._takes:
            given["logits_to_keep"] = keep
        with _as_model_errors(self.path), torch.no_grad():
            output = self._model(**given)
            if not all_kept and "logits_to_keep" not in self._takes:
                output.logits = output.logits[:, keep] if isinstance(keep, Tensor) else output.logits[:, -keep:]
        return output

    def tensor(self, values: Sequence[Any]) -> Tensor:
        """Whole numbers on the network's device."""
        return torch.tensor(values, dtype=torch.long, device=self.device)

    def close(self) -> None:
        """Give the weights back."""
        self._model = None
        if self.device.type == "cuda":
            torch.cuda.empty_cache()


def _device(name: str) -> torch.device:
    if name == "auto":
        if torch.cuda.is_available():
            return torch.device("cuda")
        return torch.device("mps" if torch.backends.mps.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.empty(1, device=device).cpu()
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        raise NoSuchDevice(name, _first_line(error)) from error
    return device


def _dtype(name: str, device: torch.device) -> torch.dtype:
    if name != "auto":
        if name not in DTYPES:
            raise NoSuchDtype(name, ", ".join(DTYPES))
        return DTYPES[name]
    if device.type == "cuda":
        # Without emulation: a GPU that computes bfloat16 by float32 is faster in float16.
        return torch.bfloat16 if torch.cuda.get_device_capability(device) >= (8, 0) else torch.float16
    return torch.float16 if device.type == "mps" else torch.float32


def _refuse_what_does_not_fit(folder: Folder, dtype: torch.dtype) -> None:
    needed, memory = folder.parameters * dtype.itemsize, machine_memory()
    if memory is not None and needed > memory:
        raise OutOfMemory(folder.path, f"the weights take {needed / 2**30:,.1f} GiB as {dtype}, this machine has {memory / 2**30:,.1f}")


def _load(folder: Folder, dtype: torch.dtype) -> Any:
    path, model_type = folder.path, folder.model_type
    if model_type not in CONFIG_MAPPING:
        if "auto_map" in folder.config:
            raise RemoteCode(path, model_type or "without a name")
        raise UnsupportedArchitecture(path, f'transformers does not know the architecture "{model_type}"', "transformers")
    _refuse_what_generates_no_text(folder)
    try:
        config = AutoConfig.from_pretrained(path, trust_remote_code=False, local_files_only=True)
        loaded: Any = AutoModelForCausalLM.from_pretrained(
            path,
            config=config,
            dtype=dtype,
            use_safetensors=True,
            trust_remote_code=False,
            local_files_only=True,
            output_loading_info=True,
        )
    except Exception as error:  # transformers, safetensors and their validators raise all kinds
        if _mentions_memory(error):
            raise OutOfMemory(path, _first_line(error)) from error
        raise LoadFailed(path, "transformers", _first_line(error)) from error
    model, found = loaded
    # transformers fills what is missing with random numbers.
    if absent := sorted(found["missing_keys"]):
        raise DamagedModel(path, f"the weights lack {len(absent)} tensors, {absent[0]} among them")
    return model.eval()


def _refuse_what_generates_no_text(folder: Folder) -> None:
    generates = MODEL_FOR_CAUSAL_LM_MAPPING_NAMES.get(folder.model_type)
    if generates is None:
        raise UnsupportedArchitecture(folder.path, f'the architecture "{folder.model_type}" does not continue text', "transformers")
    classes = {generates} if isinstance(generates, str) else set(generates)
    said = folder.config.get("architectures")
    made_as = [name for name in said if isinstance(name, str)] if isinstance(said, list) else []
    if made_as and classes.isdisjoint(made_as):
        if "auto_map" in folder.config:
            raise RemoteCode(folder.path, str(made_as[0]))
        raise UnsupportedArchitecture(folder.path, f'it was made as "{made_as[0]}", which does not continue text', "transformers")


def _can_crop(config: Any) -> bool:
    text = config.get_text_config(decoder=True)
    # Attention within blocks of fixed length: what a token sees depends on where the block began.
    if getattr(text, "attention_chunk_size", None) is not None:
        return False
    return all(type(layer).__name__ in _CROPPABLE for layer in DynamicCache(config=config).layers)


@contextlib.contextmanager
def _as_model_errors(path: Path) -> Iterator[None]:
    """Turn errors of torch into ModelErrors. It raises RuntimeError for nearly everything, lack of memory included."""
    try:
        yield
    except ModelError:
        raise
    except Exception as error:
        if _mentions_memory(error):
            raise OutOfMemory(path, _first_line(error)) from error
        raise ComputationFailed(path, "transformers", _first_line(error)) from error


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keep transformers' progress bars and warnings off standard error."""
    verbosity, bars = reports.get_verbosity(), reports.is_progress_bar_enabled()
    reports.set_verbosity(logging.CRITICAL)
    reports.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        reports.set_verbosity(verbosity)
        if bars:
            reports.enable_progress_bar()  # type: ignore[no-untyped-call]


def _mentions_memory(error: BaseException) -> bool:
    said = str(error).lower()
    return isinstance(error, MemoryError | torch.OutOfMemoryError) or any(words in said for words in _MEMORY_WORDS)


def _first_line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
