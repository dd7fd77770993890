"""The named sizes of a prompt, and which one a model gets: the largest that is read at a new place before a person goes on typing."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Literal

from .completion.settings import Settings
from .found.bandwidth import prompt_speed
from .hub.catalogue import catalogue
from .model import Model

PromptSize = Literal["small", "normal", "large"]
SizeChoice = Literal["auto", "small", "normal", "large"]

_SIZES: dict[PromptSize, Settings] = {
    "small": Settings(prefix_tokens=320, suffix_tokens=160),
    "normal": Settings(),
    "large": Settings(prefix_tokens=2048, suffix_tokens=512, extra_tokens=1024),
}
# In which the prompt at a new place is to be read.
_MAX_S = 1.5


def settings_of(size: PromptSize, *, files: bool = False) -> Settings:
    """The budgets of a size. files: whether pieces of other files are shown, too."""
    return _SIZES[size] if files else replace(_SIZES[size], extra_tokens=0)


def size_named(settings: Settings) -> PromptSize | None:
    """The size that has these budgets, whatever its budget for other files; None for budgets that a user set."""
    return next((size for size, its in _SIZES.items() if replace(its, extra_tokens=settings.extra_tokens) == settings), None)


def size_in_time(parameters: int, context_length: int, speed: float | None) -> PromptSize:
    """The largest size that is read in time; the smallest where none is.

    Calibrators hold for one size. So the choice hangs on nothing that changes on a machine, and a context that holds a size only cut has
    what it would have without a choice.

    speed: parameters times tokens of a prompt in a second (`prompt_speed`), infinite on a GPU; None where it is not known.
    """
    if speed is None or not _SIZES["normal"].fits(context_length):
        return "normal"
    tokens = _MAX_S * speed / parameters
    large = settings_of("large")
    if large.shown_tokens <= tokens and large.fits(context_length, "function"):
        return "large"
    return "normal" if _SIZES["normal"].shown_tokens <= tokens else "small"


def size_for(model: Model) -> PromptSize:
    """The size that an open model gets on this machine if nobody chooses one: that of its shipped calibrators, else the largest in time."""
    if size := next((entry.prompt_size for entry in catalogue() if entry.fingerprint == model.fingerprint.id), None):
        return size
    speed = None if model.on_gpu is None else math.inf if model.on_gpu else prompt_speed()
    return size_in_time(model.fingerprint.parameters, model.context_length, speed)


def settings_for(model: Model, size: SizeChoice = "auto") -> Settings:
    """What an open model is shown of one file, and may write: the same for editor, studies and commands. size: as the user chose it."""
    return settings_of(size_for(model) if size == "auto" else size)
