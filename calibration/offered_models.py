"""The models of the catalogue for this machine: which fit it, about how fast they are here, and which have numbers."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from ..inference.found.bandwidth import prompt_speed, reading_speed, runs_on_gpu
from ..inference.hub.catalogue import Entry, catalogue
from ..inference.hub.download import cached
from ..inference.machine_memory import gpu_memory, machine_memory
from ..inference.prompt_size import settings_of, size_in_time
from ..inference.room import DEFAULT_CONTEXT
from .found_models import entries_for, numbers_of
from .registry import load_registry

# The share of the memory that weights may take beside the cache and all other programs.
_SHARE = 0.6
# What a suggestion costs while a line is typed: the tokens that are read and written. What is slower than MAX_S is no help.
_READ, _WRITTEN, _MAX_S = 8, 10, 2.0
# Weights of fewer bytes than this are K-quants, with which a prompt is read twice as fast: Qwen2.5-Coder 0.5B in Q4_K_M, whose rows are
# too short for K-quants, went through 9.4e10 parameters times tokens a second, and 1.5B through 2.0e11.
_K_QUANT_BYTES, _K_QUANT_SPEED = 0.8, 2.0
# The recommended model answers so soon while a line is typed, and is of the family that was measured here.
_RECOMMENDED_S, _MEASURED = 0.6, "qwen2.5-coder"


@dataclass(frozen=True, slots=True)
class Speeds:
    """Of the processors: bytes of weights a second, and parameters times tokens of a prompt a second."""

    reading: float
    prompt: float


@dataclass(frozen=True, slots=True)
class Offer:
    """A model of the catalogue for this machine.

    Attributes
        new_place_s, typing_s: about how long a suggestion takes where nothing is read yet, and while a line is typed; None on a GPU.
        fits: whether the memory holds it, and it is fast enough to be of use.
        numbers: as in `found_models`.
        path: where it is already, in the cache of the hub.
    """

    entry: Entry
    new_place_s: float | None
    typing_s: float | None
    fits: bool
    numbers: str
    path: Path | None
    recommended: bool = False

    def as_json(self) -> dict[str, Any]:
        """As docs/formats.md has it."""
        facts = {name: value for name, value in asdict(self.entry).items() if name != "tokenizer"}
        return {
            **facts,
            "model": self.entry.model,
            "new_place_ms": _ms(self.new_place_s),
            "typing_ms": _ms(self.typing_s),
            "fits": self.fits,
            "recommended": self.recommended,
            "numbers": self.numbers,
            "path": None if self.path is None else str(self.path),
        }


def offered_models() -> tuple[Offer, ...]:
    """The catalogue for this machine, the smallest first. The memory is measured for a fraction of a second."""
    if runs_on_gpu():
        speeds, memory = None, gpu_memory() or machine_memory()
    else:
        speeds, memory = Speeds(reading_speed(), prompt_speed()), machine_memory()
    registry = load_registry()
    offers = []
    for entry in sorted(catalogue(), key=lambda entry: entry.about_bytes):
        new_place, typing = seconds(entry, speeds)
        fits = (memory is None or entry.about_bytes <= _SHARE * memory) and (typing is None or typing <= _MAX_S)
        offers.append(Offer(entry, new_place, typing, fits, numbers_of(entries_for(registry, entry.fingerprint)), cached(entry)))
    return with_recommended(offers)


def seconds(entry: Entry, speeds: Speeds | None) -> tuple[float | None, float | None]:
    """About how long a suggestion takes at a new place, and while a line is typed; None where the speeds are not known."""
    if speeds is None:
        return None, None
    faster = _K_QUANT_SPEED if entry.about_bytes < _K_QUANT_BYTES * entry.parameters else 1.0
    token = entry.parameters / (speeds.prompt * faster)
    writing = _WRITTEN * entry.about_bytes / speeds.reading
    shown = settings_of(entry.prompt_size or size_in_time(entry.parameters, DEFAULT_CONTEXT, speeds.prompt)).shown_tokens
    return shown * token + writing, _READ * token + writing


def with_recommended(offers: list[Offer]) -> tuple[Offer, ...]:
    """The offers with one marked: of those for any use and of the family that was measured the largest that is fast enough."""
    candidates = [offer for offer in offers if offer.fits and offer.entry.commercial_use and offer.entry.family == _MEASURED]
    fast = [offer for offer in candidates if offer.typing_s is None or offer.typing_s <= _RECOMMENDED_S] or candidates[:1]
    best = max(fast, key=lambda offer: (offer.entry.parameters, -offer.entry.about_bytes), default=None)
    return tuple(replace(offer, recommended=offer is best) for offer in offers)


def _ms(seconds: float | None) -> int | None:
    return None if seconds is None else round(seconds * 1e3)
