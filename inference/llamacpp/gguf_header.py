"""The header of a GGUF file, read without llama.cpp: what the model is, and whether the file is whole.

ggml may abort the process on a damaged file, so every file is checked here first.
Format: the "GGUF file format" specification in the ggml repository, versions 2 and 3, little-endian.
"""

from __future__ import annotations

import hashlib
import math
import mmap
import re
import struct
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from ..completion.fim_families import FAMILIES
from ..errors import DamagedModel, NoSuchModel, NotAGGUF, TruncatedModel, UnreadableModel, UnsupportedArchitecture
from ..file_kind import BEGINNING, refuse_other_kind, refuse_unfinished

Value = int | float | bool | str

_SCALARS = {0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q", 12: "<d"}
_STRING, _ARRAY = 8, 9
_MAX_DIMENSIONS = 4
_MAX_KEY_BYTES = 65_535
# Far more than models have, of metadata keys and of tensors.
_MAX_ENTRIES = 100_000
# llama.cpp aborts where there are more layers, or none.
_MAX_BLOCKS = 512
_DEFAULT_ALIGNMENT = 32
# llama.cpp reads the arrays of _OF_EACH_TOKEN by the length of _TOKENS, and aborts where a token occurs twice.
_TOKENS = "tokenizer.ggml.tokens"
# What no quantisation changes, by llama.cpp's names behind that of the architecture.
_SHAPE = ("block_count", "embedding_length", "feed_forward_length", "attention.head_count", "attention.head_count_kv")
_FORMATS = frozenset(("", "gguf", "awq", "gptq", "mlx", "exl2", "hf", "bf16", "fp16", "fp8", "int8", "int4"))
_OF_EACH_TOKEN = {"tokenizer.ggml.token_type", "tokenizer.ggml.scores"}
# The three kinds of tokens of a prompt to fill in the middle. llama.cpp takes them from the metadata, under an old name too, or finds them
# by their spelling (llama-vocab.cpp, llama_vocab::impl::load).
_FIM_KEYS = (("fim_pre", "prefix"), ("fim_suf", "suffix"), ("fim_mid", "middle"))
_FIM_SPELLINGS = (
    frozenset({"<|fim_prefix|>", "<fim-prefix>", "<fim_prefix>", "<｜fim▁begin｜>", "<PRE>", "▁<PRE>", "<|code_prefix|>", "<|prefix|>"}),
    frozenset({"<|fim_suffix|>", "<fim-suffix>", "<fim_suffix>", "<｜fim▁hole｜>", "<SUF>", "▁<SUF>", "<|code_suffix|>", "<|suffix|>"}),
    frozenset({"<|fim_middle|>", "<fim-middle>", "<fim_middle>", "<｜fim▁end｜>", "<MID>", "▁<MID>", "<|code_middle|>", "<|middle|>"}),
)
_KNOWN_SPELLINGS = {
    struct.pack("<Q", len(spelling.encode())) + spelling.encode(): spelling
    for spelling in frozenset().union(*_FIM_SPELLINGS, *((*family.controls, *family.marks) for family in FAMILIES))
}

# ggml's tensor types: name, elements in a block, bytes of a block.
_TENSOR_TYPES: dict[int, tuple[str, int, int]] = {
    0: ("F32", 1, 4),
    1: ("F16", 1, 2),
    2: ("Q4_0", 32, 18),
    3: ("Q4_1", 32, 20),
    6: ("Q5_0", 32, 22),
    7: ("Q5_1", 32, 24),
    8: ("Q8_0", 32, 34),
    9: ("Q8_1", 32, 40),
    10: ("Q2_K", 256, 84),
    11: ("Q3_K", 256, 110),
    12: ("Q4_K", 256, 144),
    13: ("Q5_K", 256, 176),
    14: ("Q6_K", 256, 210),
    15: ("Q8_K", 256, 292),
    16: ("IQ2_XXS", 256, 66),
    17: ("IQ2_XS", 256, 74),
    18: ("IQ3_XXS", 256, 98),
    19: ("IQ1_S", 256, 50),
    20: ("IQ4_NL", 32, 18),
    21: ("IQ3_S", 256, 110),
    22: ("IQ2_S", 256, 82),
    23: ("IQ4_XS", 256, 136),
    24: ("I8", 1, 1),
    25: ("I16", 1, 2),
    26: ("I32", 1, 4),
    27: ("I64", 1, 8),
    28: ("F64", 1, 8),
    29: ("IQ1_M", 256, 56),
    30: ("BF16", 1, 2),
    34: ("TQ1_0", 256, 54),
    35: ("TQ2_0", 256, 66),
    39: ("MXFP4", 32, 17),
    40: ("NVFP4", 64, 36),
    41: ("Q1_0", 128, 18),
}

# Names of llama.cpp's file types.
_FILE_TYPES = {
    0: "F32",
    1: "F16",
    2: "Q4_0",
    3: "Q4_1",
    7: "Q8_0",
    8: "Q5_0",
    9: "Q5_1",
    10: "Q2_K",
    11: "Q3_K_S",
    12: "Q3_K_M",
    13: "Q3_K_L",
    14: "Q4_K_S",
    15: "Q4_K_M",
    16: "Q5_K_S",
    17: "Q5_K_M",
    18: "Q6_K",
    19: "IQ2_XXS",
    20: "IQ2_XS",
    21: "Q2_K_S",
    22: "IQ3_XS",
    23: "IQ3_XXS",
    24: "IQ1_S",
    25: "IQ4_NL",
    26: "IQ3_S",
    27: "IQ3_M",
    28: "IQ2_S",
    29: "IQ2_M",
    30: "IQ4_XS",
    31: "IQ1_M",
    32: "BF16",
    36: "TQ1_0",
    37: "TQ2_0",
    38: "MXFP4_MOE",
    39: "NVFP4",
    40: "Q1_0",
}


@dataclass(frozen=True, slots=True)
class GGUFHeader:
    """What a GGUF says of itself.

    Attributes
        metadata: the single values; arrays are left out.
        parameters: the number of elements of all tensors.
        tensor_types: parameters by the name of the tensor type.
        tokenizer: SHA-256 of the tokenizer's metadata, independent of their order in the file.
        size: bytes that the file must have.
        spellings: those tokens of the vocabulary that a family of `fim_families` or llama.cpp knows as control tokens.
        bytes_by_role: bytes of the tensors by how often they are read (`_role`).
        vocabulary: SHA-256 of the tokens alone.
    """

    version: int
    metadata: dict[str, Value]
    parameters: int
    tensor_types: dict[str, int]
    tokenizer: str
    size: int
    spellings: frozenset[str] = frozenset()
    bytes_by_role: dict[str, int] = field(default_factory=dict)
    vocabulary: str = ""

    @property
    def kin(self) -> str:
        """16 hex digits over base name, version, what it was tuned for, shape and tokens; empty without a base name.

        Whoever converts or quantises a model keeps these. Names of formats (`_FORMATS`) are left out of what it was tuned for.
        """
        base = str(self.metadata.get("general.basename", "")).lower()
        if not base:
            return ""
        shape = [self.number(f"{self.architecture}.{name}", 0) for name in _SHAPE]
        version, tuned = (str(self.metadata.get(f"general.{name}", "")).lower() for name in ("version", "finetune"))
        words = sorted(set(re.split(r"[^a-z0-9]+", tuned)) - _FORMATS)
        parts = (base, version, words, self.architecture, shape, self.vocabulary)
        return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]

    @property
    def fills_middle(self) -> bool:
        """Whether llama.cpp finds the three tokens of a prompt to fill in the middle."""
        named = ([f"tokenizer.ggml.{name}_token_id" for name in names] for names in _FIM_KEYS)
        return all(
            self.spellings & spellings or any(self.number(key, -1) >= 0 for key in keys)
            for keys, spellings in zip(named, _FIM_SPELLINGS, strict=True)
        )

    @property
    def architecture(self) -> str:
        """As llama.cpp names it: "llama", "qwen2", …; empty for a later file of a model in several."""
        return str(self.metadata.get("general.architecture", ""))

    @property
    def read_per_token(self) -> int:
        """About how many bytes of the weights are read for one token: not the experts that it does not ask, and one row of an embedding
        that is not tied."""
        sizes, experts, used = (
            self.bytes_by_role,
            *(self.number(f"{self.architecture}.expert_{name}", 0) for name in ("count", "used_count")),
        )
        share = used / experts if 0 < used <= experts else 1.0
        embedding = 0 if sizes.get("output") else sizes.get("embedding", 0)
        return int(sizes.get("other", 0) + sizes.get("output", 0) + embedding + sizes.get("experts", 0) * share)

    @property
    def quantisation(self) -> str:
        """The file type's name; where the metadata gives none, that of the tensor type with the most parameters."""
        name = _FILE_TYPES.get(self.number("general.file_type", -1))
        return name or max(self.tensor_types, key=lambda key: self.tensor_types[key], default="unknown")

    @property
    def context_length(self) -> int | None:
        """Tokens that the model was trained for, or None where the metadata does not say."""
        length = self.number(f"{self.architecture}.context_length", 0)
        return length if length > 0 else None

    def number(self, key: str, default: int) -> int:
        """A whole number of the metadata, or `default` where there is none of that name."""
        value = self.metadata.get(key)
        return value if isinstance(value, int) else default

    def cache_bytes(self, n_ctx: int, bytes_per_number: float) -> int:
        """About how much memory the keys and values of n_ctx tokens take; 0 where the metadata does not say."""
        name = self.architecture
        heads = self.number(f"{name}.attention.head_count", 0)
        width = self.number(f"{name}.embedding_length", 0) // heads if heads else 0
        key = self.number(f"{name}.attention.key_length", width)
        value = self.number(f"{name}.attention.value_length", width)
        groups = self.number(f"{name}.attention.head_count_kv", heads)
        return int(self.number(f"{name}.block_count", 0) * groups * (key + value) * n_ctx * bytes_per_number)


def read_header(path: Path) -> GGUFHeader:
    """Read and check a GGUF file's header; the weights themselves are not read.

    Raises NoSuchModel, UnreadableModel, NotTheModel, NotAGGUF, TruncatedModel, DamagedModel, UnsupportedArchitecture (a number format not
    known here).
    """
    try:
        if not path.is_file():
            raise NoSuchModel(path, "Check the path; a model is one .gguf file.")
        refuse_unfinished(path)
        with path.open("rb") as file:
            if path.stat().st_size == 0:
                raise NotAGGUF(path, "the file is empty")
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
                return parse_header(data, path)
    except OSError as error:
        raise UnreadableModel(path, error.strerror or str(error)) from error


def parse_header(data: mmap.mmap | bytes, path: Path) -> GGUFHeader:
    """As `read_header`, from the file's bytes. path: for messages."""
    reader = _Reader(data, path)
    version = _version(data, path)
    reader.position = 8
    tensors, pairs = reader.scalar("<Q"), reader.scalar("<Q")
    if max(tensors, pairs) > _MAX_ENTRIES:
        raise DamagedModel(path, f"it has {pairs:,} metadata keys and {tensors:,} tensors, and models have at most {_MAX_ENTRIES:,}")
    metadata, tokenizer, spellings = _metadata(reader, pairs)
    # Of a model in several files only the first says what it is.
    if not isinstance(metadata.get("general.architecture", "" if metadata.get("split.no") else None), str):
        raise DamagedModel(path, "general.architecture is missing from the metadata")
    alignment = metadata.get("general.alignment", _DEFAULT_ALIGNMENT)
    if not isinstance(alignment, int) or alignment < 1 or alignment & (alignment - 1):
        raise DamagedModel(path, f"general.alignment is {alignment!r}, not a power of two")
    blocks = metadata.get(f"{metadata.get('general.architecture')}.block_count", 1)
    if isinstance(blocks, int) and not 1 <= blocks <= _MAX_BLOCKS:
        raise DamagedModel(path, f"it has {blocks:,} layers, and llama.cpp takes 1 to {_MAX_BLOCKS}")
    counts, end, sizes = _tensors(reader, tensors)
    size = -(-reader.position // alignment) * alignment + end if tensors else reader.position
    if size > len(data):
        raise TruncatedModel(path, len(data), size, "the weights")
    vocabulary = reader.vocabulary
    return GGUFHeader(version, metadata, sum(counts.values()), dict(counts), tokenizer, size, spellings, dict(sizes), vocabulary)


class _Reader:
    """A position in the file's bytes. It never reads beyond their end and never allocates by a length that the file can't hold."""

    def __init__(self, data: mmap.mmap | bytes, path: Path) -> None:
        self.data = data
        self.path = path
        self.position = 0
        self.spellings: frozenset[str] = frozenset()
        self.vocabulary = ""

    def skip(self, count: int) -> int:
        start, end = self.position, self.position + count
        if end > len(self.data):
            raise TruncatedModel(self.path, len(self.data), end, "the header")
        self.position = end
        return start

    def scalar(self, form: str) -> int:
        value: int = struct.unpack_from(form, self.data, self.skip(struct.calcsize(form)))[0]
        return value

    def string(self) -> str:
        size = self.scalar("<Q")
        start = self.skip(size)
        return self.data[start : start + size].decode("utf-8", "replace")

    def key(self) -> str:
        start = self.position
        size = self.scalar("<Q")
        if not 0 < size <= _MAX_KEY_BYTES:
            raise DamagedModel(self.path, f"a name of {size:,} bytes at offset {start:,}")
        self.position = start
        return self.string()

    def array(self, *, unique: bool = False) -> int:
        """Skip an array. Returns its length. unique: its strings must differ."""
        start = self.position
        kind, count = self.scalar("<I"), self.scalar("<Q")
        if kind in _SCALARS:
            self.skip(count * struct.calcsize(_SCALARS[kind]))
        elif kind == _STRING:
            self._strings(count, unique)
        else:
            raise DamagedModel(self.path, f"an array of type {kind} at offset {start:,}")
        return count

    def _strings(self, count: int, unique: bool) -> None:
        data, size, position = self.data, len(self.data), self.position
        if position + 8 * count > size:
            raise TruncatedModel(self.path, size, position + 8 * count, "the header")
        length = struct.Struct("<Q").unpack_from
        seen: set[bytes] = set()
        for _ in range(count):
            if position + 8 > size:
                raise TruncatedModel(self.path, size, position + 8, "the header")
            start = position
            position += 8 + length(data, position)[0]
            if unique:
                seen.add(data[start:position])
        if position > size:
            raise TruncatedModel(self.path, size, position, "the header")
        if unique and len(seen) < count:
            raise DamagedModel(self.path, f"{count - len(seen):,} of the vocabulary's {count:,} tokens stand in it twice")
        if unique:
            self.spellings = frozenset(spelling for written, spelling in _KNOWN_SPELLINGS.items() if written in seen)
        self.position = position


def _version(data: mmap.mmap | bytes, path: Path) -> int:
    magic = bytes(data[:4])
    if not b"GGUF".startswith(magic):
        refuse_other_kind(path, bytes(data[:BEGINNING]))
        raise NotAGGUF(path, f"it begins with {magic!r}")
    if len(data) < 8:
        raise TruncatedModel(path, len(data), 24, "the header")
    version: int = struct.unpack_from("<I", data, 4)[0]
    if version not in (2, 3):
        raise NotAGGUF(path, f"it says version {version}")
    return version


def _metadata(reader: _Reader, pairs: int) -> tuple[dict[str, Value], str, frozenset[str]]:
    """The single values by key, the hash of all pairs that say how text becomes tokens, and the known spellings of the vocabulary."""
    values: dict[str, Value] = {}
    tokenizer: dict[str, bytes] = {}
    seen: set[str] = set()
    lengths: dict[str, int] = {}
    for _ in range(pairs):
        start = reader.position
        key = reader.key()
        if key in seen:
            raise DamagedModel(reader.path, f"{key!r} stands twice in the metadata")
        seen.add(key)
        kind = reader.scalar("<I")
        if kind in _SCALARS:
            values[key] = reader.scalar(_SCALARS[kind])
        elif kind == _STRING:
            values[key] = reader.string()
        elif kind == _ARRAY:
            lengths[key] = reader.array(unique=key == _TOKENS)
            if key == _TOKENS:
                reader.vocabulary = hashlib.sha256(reader.data[start : reader.position]).hexdigest()
        else:
            raise DamagedModel(reader.path, f"{key!r} has the unknown type {kind}")
        if key.startswith("tokenizer.") and not key.startswith("tokenizer.chat_template"):
            tokenizer[key] = hashlib.sha256(reader.data[start : reader.position]).digest()
    for key in _OF_EACH_TOKEN & lengths.keys():
        if lengths[key] != lengths.get(_TOKENS, 0):
            raise DamagedModel(reader.path, f"{key} is about {lengths[key]:,} tokens, the vocabulary has {lengths.get(_TOKENS, 0):,}")
    return values, hashlib.sha256(b"".join(tokenizer[key] for key in sorted(tokenizer))).hexdigest(), reader.spellings


def _role(name: str) -> str:
    """What a tensor is, as far as it says how often it is read: by llama.cpp's names (llama-arch.cpp)."""
    if "_exps." in name:
        return "experts"
    return {"token_embd.weight": "embedding", "output.weight": "output"}.get(name, "other")


def _tensors(reader: _Reader, count: int) -> tuple[Counter[str], int, Counter[str]]:
    """Elements by tensor type, where the last tensor ends in the file's data section, and bytes by `_role`."""
    elements: Counter[str] = Counter()
    sizes: Counter[str] = Counter()
    end = 0
    for _ in range(count):
        name = reader.key()
        dimensions = reader.scalar("<I")
        if dimensions > _MAX_DIMENSIONS:
            raise DamagedModel(reader.path, f"the tensor {name!r} has {dimensions:,} dimensions")
        shape = [reader.scalar("<Q") for _ in range(dimensions)]
        kind, offset = reader.scalar("<I"), reader.scalar("<Q")
        if kind not in _TENSOR_TYPES:
            raise UnsupportedArchitecture(reader.path, f"the tensor {name!r} has the number format {kind}, which is not known here")
        label, block, size = _TENSOR_TYPES[kind]
        number = math.prod(shape)
        if (shape[0] if shape else 1) % block:
            raise DamagedModel(
                reader.path, f"the rows of the tensor {name!r} ({shape[0]:,}) are no multiple of {label}'s blocks of {block}"
            )
        elements[label] += number
        end = max(end, offset + number // block * size)
        sizes[_role(name)] += number // block * size
    return elements, end, sizes
