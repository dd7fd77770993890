"""A model that was found, and what its headers say of it."""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass, replace
from pathlib import Path

from ..completion.fim_families import FAMILIES, Family, family_of
from ..errors import ModelError
from ..file_hash import hash_of_hashes, known_sha256, known_sha256_of_all
from ..hf.folder import Folder, read_folder
from ..llamacpp.gguf_header import GGUFHeader
from ..llamacpp.header_checks import check_generates, layout_of, read_parts
from ..model import Fingerprint
from ..regular_file import read_regular_file
from .candidate import Candidate

_MAX_TOKENIZER_BYTES = 1 << 27
# How transformers ends the names of classes that write text.
_WRITES = ("ForCausalLM", "LMHeadModel", "ForConditionalGeneration")


@dataclass(frozen=True, slots=True)
class FoundModel:
    """A model on this machine, or at a server on it.

    names: as `--model` takes them. place: the program that keeps it. where: the file, folder or server's address.
    server_model: its name at a server with several. size, read_per_token: bytes of its files, and about how many are read for one token.
    fills_middle: whether it takes what stands behind the cursor into account. family: of its layout of prompts (`fim_families`).
    fingerprint: by which calibrators are matched to it; empty where it is not known before the model is opened.
    problem: why it can't be used.
    """

    names: tuple[str, ...]
    place: str
    where: str
    server_model: str = ""
    size: int = 0
    read_per_token: int = 0
    parameters: int = 0
    quantisation: str = ""
    architecture: str = ""
    context_length: int | None = None
    fills_middle: bool | None = None
    family: str = ""
    fingerprint: str = ""
    problem: str = ""


def describe(candidate: Candidate, place: str, names: tuple[str, ...]) -> FoundModel | None:
    """What a candidate is, from its headers alone; None for a folder whose model does not write text."""
    parts = candidate.parts or (candidate.path,)
    found = FoundModel(names, place, str(candidate.path), size=sum(map(_size, parts)), problem=candidate.problem)
    try:
        if candidate.path.is_dir():
            return _with_folder(found, read_folder(candidate.path))
        header = _header(parts, tuple(map(_state, parts)))
    except ModelError as error:
        return replace(found, problem=found.problem or _reason(error, candidate.path))
    found = _with_header(found, header)
    try:
        layout_of(candidate.path, header)
        check_generates(candidate.path, header)
    except ModelError as error:
        found = replace(found, problem=found.problem or _reason(error, candidate.path))
    weights = "" if found.problem else candidate.sha256 or known_sha256_of_all(parts)
    return replace(found, fingerprint=fingerprint_id(weights, header.tokenizer)) if weights else found


def fingerprint_id(weights: str, tokenizer: str) -> str:
    """`Fingerprint.id` of a model with these hashes, run with a cache that is not quantised."""
    return Fingerprint("", "", 0, "", weights, tokenizer, "").id


def _with_header(found: FoundModel, header: GGUFHeader) -> FoundModel:
    name = str(header.metadata.get("general.name", ""))
    family = family_of(lambda spelling: 0 if spelling in header.spellings else None, name) if header.fills_middle else None
    return replace(
        found,
        read_per_token=header.read_per_token,
        parameters=header.parameters,
        quantisation=header.quantisation,
        architecture=header.architecture,
        context_length=header.context_length,
        fills_middle=header.fills_middle,
        family=family.name if family else "",
    )


def _with_folder(found: FoundModel, folder: Folder) -> FoundModel | None:
    classes = folder.config.get("architectures")
    if isinstance(classes, list) and classes and not any(str(name).endswith(_WRITES) for name in classes):
        return None
    family = _family_of_folder(folder)
    size = sum(map(_size, folder.weights))
    hashes = [known_sha256(path) for path in folder.weights]
    # A large tokenizer takes a second to read, so it is only where the rest is known.
    fingerprint = fingerprint_id(hash_of_hashes(hashes), folder.tokenizer_hash) if all(hashes) else ""
    return replace(
        found,
        size=size,
        read_per_token=size,
        parameters=folder.parameters,
        quantisation=_format_of(folder),
        architecture=folder.model_type,
        context_length=folder.context_length,
        fills_middle=family is not None,
        family=family.name if family else "",
        fingerprint=fingerprint,
    )


def _family_of_folder(folder: Folder) -> Family | None:
    """By the spellings that tokenizer.json has somewhere; to parse a large one takes a second."""
    try:
        data = read_regular_file(folder.path / "tokenizer.json", _MAX_TOKENIZER_BYTES)
    except OSError:
        return None
    spellings = {spelling for family in FAMILIES for spelling in (*family.controls, *family.marks)}
    written = {s for s in spellings if any(json.dumps(s, ensure_ascii=plain).encode() in data for plain in (False, True))}
    return family_of(lambda spelling: 0 if spelling in written else None, folder.name)


def _format_of(folder: Folder) -> str:
    """The number format of the weights, as far as the configuration says it."""
    quantised = folder.config.get("quantization_config")
    if isinstance(quantised, dict) and quantised.get("quant_method"):
        return str(quantised["quant_method"])
    return str(folder.config.get("dtype") or folder.config.get("torch_dtype") or "")


def _reason(error: ModelError, path: Path) -> str:
    """What is wrong, without the path, which stands beside it."""
    return str(error).removeprefix(f"{path}: ")


@functools.lru_cache(maxsize=512)
def _header(parts: tuple[Path, ...], _states: tuple[tuple[int, int], ...]) -> GGUFHeader:
    return read_parts(parts)


def _state(path: Path) -> tuple[int, int]:
    try:
        status = path.stat()
    except OSError:
        return -1, -1
    return status.st_size, status.st_mtime_ns


def _size(path: Path) -> int:
    return max(0, _state(path)[0])
