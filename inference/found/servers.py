"""Servers of models that run on this machine, asked on their usual ports: only on the loopback.

Ports (the documentation of each): Ollama 11434 (envconfig/config.go), LM Studio 1234 (lmstudio.ai/docs/app/api), llama-server 8080
(tools/server/README.md), vLLM 8000 (docs.vllm.ai, OpenAI-compatible server).
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from ..errors import PackageMissing
from .candidate import Notes
from .model import FoundModel

PORTS: tuple[tuple[str, int], ...] = (("Ollama", 11434), ("LM Studio", 1234), ("llama-server", 8080), ("vLLM", 8000))


def served_models(notes: Notes, ports: Sequence[tuple[str, int]]) -> list[FoundModel]:
    """What the servers on the ports serve, all asked at once for some seconds. A port where nothing is is passed over."""
    try:
        # Before there are threads: of several that import a module at once whose import fails, some see half of it.
        from .served import ask_server
    except PackageMissing as error:
        notes.append(f"servers were not asked: {error}")
        return []
    with ThreadPoolExecutor(len(ports)) as pool:
        answers = list(pool.map(lambda port: ask_server(*port), ports))
    for _, said in answers:
        notes += said
    return [model for models, _ in answers for model in models]
