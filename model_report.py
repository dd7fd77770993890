"""`assay model info` and `assay model check`: what the model is, and how fast it is on this machine."""

from __future__ import annotations

import statistics
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .terminal import Paint, print_json, wants_colour

if TYPE_CHECKING:
    from .inference.llama import LlamaModel

_PROMPT_TOKENS = 1000
_GENERATED_TOKENS = 64
_ROUNDS = 3
_EXAMPLES = Path(__file__).parent / "examples"


def info(path: Path | None, *, as_json: bool) -> int:
    """Print what the model is. Raises ModelError."""
    from .inference.embedded import open_model

    began = time.perf_counter()
    with open_model(path) as model:
        load_ms = (time.perf_counter() - began) * 1e3
        facts = description(model)
    facts["load_ms"] = round(load_ms, 1)
    _print(facts, as_json)
    return 0


def check(path: Path | None, *, as_json: bool) -> int:
    """Measure the model's speed and print it. Raises ModelError."""
    from .inference.embedded import open_model

    with open_model(path) as model:
        facts = {"name": model.fingerprint.name, "fingerprint": model.fingerprint.id, **speed(model)}
    _print(facts, as_json)
    return 0


def description(model: LlamaModel) -> dict[str, Any]:
    """What `assay model info --json` prints, but for the time it took to load."""
    fingerprint = model.fingerprint
    offload = asdict(model.offload)
    return {
        "file": str(model.path),
        **asdict(fingerprint),
        "fingerprint": fingerprint.id,
        "context_length": model.context_length,
        "layout": model.layout,
        "offload": offload,
    }


def speed(model: LlamaModel) -> dict[str, Any]:
    """Prompt tokens/s, generated tokens/s and the time to the first token, in three rounds on example code that share no cache."""
    from .inference.model import Prompt
    from .inference.stops import NONE

    tokens = model.tokenize("\n".join(path.read_text(encoding="utf-8") for path in sorted(_EXAMPLES.glob("*.py"))))
    length = min(_PROMPT_TOKENS, len(tokens) - _ROUNDS, model.context_length - _GENERATED_TOKENS)
    timings, generated = [], 0
    for start in range(_ROUNDS):
        # Each round begins one token later, so the cache holds nothing that it could use.
        prompt = Prompt(tuple(tokens[start : start + length]), "left_to_right")
        generation = model.generate(prompt, stop=NONE, max_tokens=_GENERATED_TOKENS, temperature=1.0, seed=start)
        timings.append(generation.timings)
        generated += len(generation.tokens)
    generate_ms = sum(timing.generate_ms for timing in timings)
    return {
        "prompt_tokens": length,
        "prompt_tokens_per_second": round(statistics.median(length / timing.prompt_ms * 1e3 for timing in timings), 1),
        "generated_tokens_per_second": round(generated / generate_ms * 1e3, 1),
        "first_token_ms": round(statistics.median(timing.prompt_ms for timing in timings) + generate_ms / generated, 1),
    }


def _print(facts: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print_json(facts)
        return
    paint = Paint(wants_colour(sys.stdout))
    widest = max(map(len, facts))
    for name, value in facts.items():
        print(f"{paint(name.replace('_', ' ').ljust(widest), 'dim')}  {_readable(value)}")


def _readable(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name.replace('_', ' ')} {_readable(part)}" for name, part in value.items())
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "none"}[value]
    return f"{value:,}" if isinstance(value, int | float) else str(value)
