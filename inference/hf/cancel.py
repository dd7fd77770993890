"""Cancelling transformers' own `generate`, for those who call it themselves."""

from __future__ import annotations

import torch
from torch import Tensor

from ..model import Cancel


class CancelCriteria:
    """Ends transformers' own `generate` where `cancel()` is true: `model.generate(..., stopping_criteria=[CancelCriteria(cancel)])`.

    A StoppingCriteria by what it does: called after each token with the ids so far (sequences, tokens), it says of each sequence whether
    it is done.
    """

    def __init__(self, cancel: Cancel) -> None:
        self._cancel = cancel

    def __call__(self, input_ids: Tensor, _scores: object, **_options: object) -> Tensor:
        """Whether each sequence is done: (sequences), all alike."""
        return torch.full((input_ids.shape[0],), self._cancel(), dtype=torch.bool, device=input_ids.device)
