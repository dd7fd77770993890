"""The space before the cursor is not written twice."""

from __future__ import annotations

from dataclasses import replace

from ...inference.completion.prompt import held_back
from ...inference.model import Generation
from ..cursor import Cursor


def without_held_back_space(generation: Generation, cursor: Cursor) -> Generation:
    """Leave out the space or tab that the prompt was not given (`held_back`), where the model writes it first."""
    return replace(generation, text=generation.text.removeprefix(held_back(cursor.prefix)))
