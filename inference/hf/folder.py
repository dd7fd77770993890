"""A folder of a transformers model, checked before it is loaded: which files it has, whether they are whole, what they announce."""

from __future__ import annotations

import hashlib
import json
import math
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import DamagedModel, MissingFile, NoSuchModel, NotAModelFolder, TruncatedModel, UnreadableModel, UnsafeWeights
from ..file_hash import file_sha256, hash_of_hashes
from ..file_kind import BEGINNING, refuse_other_kind
from ..regular_file import read_regular_file

_INDEX = "model.safetensors.index.json"
_WEIGHTS = "model.safetensors"
_NAMES_A_MODEL = "Give a folder that holds config.json and safetensors, or a GGUF file."
_ALL_OF_IT = "Download or copy the folder again, all files of it."
_PICKLED = ("*.bin", "*.pt", "*.pth", "*.ckpt")
# The bound of the format's own readers: a header that announces more is damaged.
_MAX_HEADER_BYTES = 100_000_000
# The largest tokenizers have some dozen MiB.
_MAX_JSON_BYTES = 1 << 28
_MAX_TEMPLATE_BYTES = 1 << 20
_LENGTHS = ("max_position_embeddings", "n_positions", "max_seq_len", "max_sequence_length", "seq_length", "n_ctx")


@dataclass(frozen=True, slots=True)
class Folder:
    """What a folder holds.

    Attributes
        config, tokenizer_config: the files of these names; the latter is empty where there is none.
        ends: ids of the end tokens.
        weights: the safetensors files, ordered by name.
        parameters: how many numbers they hold.
    """

    path: Path
    config: Mapping[str, Any]
    tokenizer_config: Mapping[str, Any]
    ends: frozenset[int]
    weights: tuple[Path, ...]
    parameters: int

    @property
    def name(self) -> str:
        """The model's name: what the configuration was loaded from or the folder's name."""
        said = str(self.config.get("_name_or_path") or "")
        return said.rstrip("/").rsplit("/", 1)[-1] or self.path.resolve().name

    @property
    def model_type(self) -> str:
        """The architecture's short name, as transformers calls it."""
        return str(self.config.get("model_type", ""))

    @property
    def chat_template(self) -> str:
        """The chat template; empty where there is none. Of several it is the default. Raises UnreadableModel.

        Reference: transformers, tokenization_utils_base.py, `_from_pretrained` and `get_chat_template`.
        """
        path = self.path / "chat_template.jinja"
        try:
            if path.is_file():
                return read_regular_file(path, _MAX_TEMPLATE_BYTES).decode("utf-8", "replace")
        except OSError as error:
            raise UnreadableModel(path, error.strerror or str(error)) from error
        said = self.tokenizer_config.get("chat_template")
        named = {_table(one).get("name"): _table(one).get("template") for one in said} if isinstance(said, list) else {"default": said}
        return str(named.get("default") or "")

    @property
    def context_length(self) -> int | None:
        """Tokens that the model was made for; None where the configuration sets no bound.

        For a model whose rotary frequencies change with the length (LongRoPE) it is the original length: beyond that, cached tokens
        would have other frequencies than those that follow.
        """
        text = {**self.config, **_table(self.config.get("text_config"))}
        known: list[int] = [text[key] for key in _LENGTHS if isinstance(text.get(key), int) and text[key] > 0]
        rope = _table(text.get("rope_scaling")) | _table(text.get("rope_parameters"))
        original = text.get("original_max_position_embeddings") or rope.get("original_max_position_embeddings")
        if "longrope" in (rope.get("rope_type"), rope.get("type")) and isinstance(original, int):
            return min([*known[:1], original])
        return known[0] if known else None

    @property
    def vocabulary(self) -> int | None:
        """How many tokens the network knows; None where the configuration does not say. The tokenizer may have more."""
        size = {**self.config, **_table(self.config.get("text_config"))}.get("vocab_size")
        return size if isinstance(size, int) else None

    @property
    def tokenizer_hash(self) -> str:
        """SHA-256 in hex of what tokenizer.json says; its layout and the order of its keys do not count."""
        content = read_json(self.path / "tokenizer.json")
        return hashlib.sha256(json.dumps(content, sort_keys=True, separators=(",", ":")).encode()).hexdigest()

    @property
    def weights_hash(self) -> str:
        """SHA-256 in hex over the hashes of all weight files, in the order of their names. Raises UnreadableModel."""
        return hash_of_hashes(file_sha256(path) for path in self.weights)


def read_folder(path: Path) -> Folder:
    """Check a folder without loading its weights.

    Raises NoSuchModel, NotAModelFolder, MissingFile, UnsafeWeights, NotTheModel, DamagedModel, TruncatedModel, UnreadableModel.
    """
    try:
        exists, is_folder = path.exists(), path.is_dir()
    except OSError as error:
        raise UnreadableModel(path, error.strerror or str(error)) from error
    if not exists:
        raise NoSuchModel(path, "Check the path; a transformers model is one folder. Nothing is downloaded.")
    if not is_folder:
        raise NotAModelFolder(path, "it is a file", "Give the folder that holds config.json.")
    if not (path / "config.json").is_file():
        adapter = (path / "adapter_config.json").is_file()
        advice = "It is an adapter: merge it into its base model and save that." if adapter else _NAMES_A_MODEL
        raise NotAModelFolder(path, "there is neither config.json nor a GGUF file", advice)
    config = read_json(path / "config.json")
    weights = _weight_files(path)
    if not (path / "tokenizer.json").is_file():
        advice = "Make it from the tokenizer's other files: AutoTokenizer.from_pretrained(FOLDER).save_pretrained(FOLDER)."
        raise MissingFile(path, "tokenizer.json", advice)
    generation = path / "generation_config.json"
    ends = _ids(config.get("eos_token_id")) | _ids(read_json(generation).get("eos_token_id") if generation.is_file() else None)
    tokenizer_config = path / "tokenizer_config.json"
    return Folder(
        path=path,
        config=config,
        tokenizer_config=read_json(tokenizer_config) if tokenizer_config.is_file() else {},
        ends=ends,
        weights=weights,
        parameters=sum(_parameters(file) for file in weights),
    )


def read_json(path: Path) -> dict[str, Any]:
    """The table that a JSON file holds. Raises NotTheModel, DamagedModel, UnreadableModel."""
    data = b""
    try:
        data = read_regular_file(path, _MAX_JSON_BYTES)
        value = json.loads(data.decode("utf-8"))
    except OSError as error:
        raise UnreadableModel(path, error.strerror or str(error)) from error
    except (ValueError, RecursionError) as error:
        refuse_other_kind(path, data[:BEGINNING])
        raise DamagedModel(path, f"it is not JSON ({error})") from error
    if not isinstance(value, dict):
        raise DamagedModel(path, "it is not a table of names and values")
    return value


def _weight_files(path: Path) -> tuple[Path, ...]:
    index = path / _INDEX
    if index.is_file():
        table = read_json(index).get("weight_map")
        if not isinstance(table, dict) or not table or not all(isinstance(name, str) for name in table.values()):
            raise DamagedModel(index, "it names no weights")
        names = sorted(set(table.values()))
        if outside := [name for name in names if Path(name).name != name]:
            raise DamagedModel(index, f'"{outside[0]}" is not a file of the folder')
        if gone := [name for name in names if not (path / name).is_file()]:
            raise MissingFile(path, f"{gone[0]}, one of {len(names)} files of weights", _ALL_OF_IT)
        return tuple(path / name for name in names)
    if (path / _WEIGHTS).is_file():
        return (path / _WEIGHTS,)
    if pickled := sorted(file.name for pattern in _PICKLED for file in path.glob(pattern)):
        raise UnsafeWeights(path, pickled[0])
    raise MissingFile(path, f"{_WEIGHTS}, the weights", _ALL_OF_IT)


def _parameters(path: Path) -> int:
    """How many numbers a safetensors file holds, by its header. The file must be as long as the header announces.

    Reference: https://github.com/huggingface/safetensors, README.md.
    """
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            beginning = file.read(BEGINNING)
            if b"{" not in beginning[8:16]:
                refuse_other_kind(path, beginning)
            file.seek(0)
            start = file.read(8)
            if len(start) < 8:
                raise TruncatedModel(path, size, 8, "the length of the header")
            (length,) = struct.unpack("<Q", start)
            if length > _MAX_HEADER_BYTES:
                raise DamagedModel(path, f"its header would be {length:,} bytes long")
            if 8 + length > size:
                raise TruncatedModel(path, size, 8 + length, "the header")
            header = json.loads(file.read(length))
        tensors = [value for name, value in header.items() if name != "__metadata__"]
        end = 8 + length + max((tensor["data_offsets"][1] for tensor in tensors), default=0)
        parameters = int(sum(math.prod(tensor["shape"]) for tensor in tensors))
    except OSError as error:
        raise UnreadableModel(path, error.strerror or str(error)) from error
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise DamagedModel(path, f"its header is not that of a safetensors file ({error})") from error
    if end > size:
        raise TruncatedModel(path, size, end, "the last tensor")
    return parameters


def _table(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _ids(value: object) -> frozenset[int]:
    values = value if isinstance(value, list) else [value]
    return frozenset(token for token in values if isinstance(token, int))
