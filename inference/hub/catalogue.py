"""The catalogue of models that can be had, and how a name leads to one of them."""

from __future__ import annotations

import difflib
import functools
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ..errors import ModelError
from ..found.model import fingerprint_id

_FILE = Path(__file__).with_name("catalogue.toml")
_SUFFIX = ".gguf"
# Of Q4_K_M, for a model whose size is not known before its download. All such are of this format, which a test holds.
_BYTES_OF_A_WEIGHT = 0.6
_MAX_NEAR = 3


@dataclass(frozen=True, slots=True)
class Entry:
    """A model of the catalogue. Its fields are explained in catalogue.toml; what is empty, or 0, the hub tells."""

    name: str
    repository: str
    file: str
    parameters: int
    licence: str
    family: str
    commercial_use: bool = True
    revision: str = ""
    sha256: str = ""
    bytes: int = 0
    tokenizer: str = ""
    prompt_size: Literal["small", "normal", "large"] | None = None
    kin: str = ""

    @property
    def about_bytes(self) -> int:
        """The size of the file, or about that."""
        return self.bytes or round(self.parameters * _BYTES_OF_A_WEIGHT)

    @property
    def model(self) -> str:
        """As `--model` takes it once it is there."""
        return f"hf:{self.repository}/{self.file.removesuffix(_SUFFIX)}"

    @property
    def fingerprint(self) -> str:
        """The id by which calibrators are matched to it; empty where it is not known before the model is opened."""
        return fingerprint_id(self.sha256, self.tokenizer) if self.sha256 and self.tokenizer else ""


@functools.cache
def catalogue() -> tuple[Entry, ...]:
    """All models, as the file orders them."""
    return tuple(Entry(**fields) for fields in tomllib.loads(_FILE.read_text(encoding="utf-8"))["model"])


@functools.cache
def kin_of(fingerprint: str) -> str:
    """What all quantisations of a model share (`Fingerprint.kin`), by the id of one in the catalogue; empty where it is not known."""
    return next((entry.kin for entry in catalogue() if fingerprint and entry.fingerprint == fingerprint), "")


def models_of_kin(kin: str) -> tuple[str, ...]:
    """The ids of the catalogue's models of a kin; none where it is empty."""
    return tuple(entry.fingerprint for entry in catalogue() if kin and entry.kin == kin)


def found_entry(name: str) -> Entry | None:
    """The model of a name, or of a file of the catalogue, in any case; None where there is none."""
    wanted = name.strip().lower()
    for entry in catalogue():
        if wanted in (entry.name, entry.file.lower(), entry.file.lower().removesuffix(_SUFFIX), entry.model.lower()):
            return entry
    return None


def entry_named(name: str) -> Entry:
    """The model of a name, or of a file of the catalogue. Raises ModelError."""
    if entry := found_entry(name):
        return entry
    wanted = name.lower()
    names = [entry.name for entry in catalogue()]
    within = [known for known in names if wanted in known]
    near = [*within, *difflib.get_close_matches(wanted, names, _MAX_NEAR)][:_MAX_NEAR]
    meant = f"Did you mean {' or '.join(near)}? " if near else ""
    raise ModelError(
        f"{name}: no model of that name. {meant}assay model get shows those that there are; any other GGUF file of yours is used with "
        "--model FILE."
    )
