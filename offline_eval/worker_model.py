"""A model in a worker, which shares the machine with the others."""

from __future__ import annotations

from contextlib import suppress

from ..inference.backends import TRANSFORMERS
from ..inference.model import Model
from ..inference.opening import ModelChoice


def opened_on_one_thread(choice: ModelChoice) -> Model:
    """The model, run by one thread of this process; a server's has its own. Raises what `ModelChoice.open` raises."""
    if choice.backend is TRANSFORMERS:
        with suppress(ImportError):  # opening says what to install
            import torch

            torch.set_num_threads(1)
    return choice.on_one_thread().open()
