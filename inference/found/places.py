"""The places where models are looked for. To add one, write a module beside this file and put its `PLACE` here."""

from __future__ import annotations

from . import embedded, folder, gpt4all, huggingface, jan, llama_cpp, lm_studio, ollama
from .candidate import Place

PLACES: tuple[Place, ...] = (
    embedded.PLACE,
    ollama.PLACE,
    lm_studio.PLACE,
    llama_cpp.PLACE,
    huggingface.PLACE,
    jan.PLACE,
    gpt4all.PLACE,
    folder.PLACE,
)
