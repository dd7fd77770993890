"""`assay model info` and `assay model check`: what the model is, how fast it is on this machine, and which settings would be faster."""

from __future__ import annotations

import os
import statistics
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .terminal import Paint, print_json, wants_colour

if TYPE_CHECKING:
    from ..inference.model import Model
    from ..inference.opening import ModelChoice, ModelOptions

_PROMPT_TOKENS = 800  # about what a completion shows
_GENERATED_TOKENS = 48
_ROUNDS = 3
_CHUNKS = (64, 128, 256, 512)
_EXAMPLES = Path(__file__).parents[1] / "examples"
# A setting is suggested only where it is faster by more than machines vary from minute to minute.
_WORTH_IT = 1.08
_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Speed:
    """Medians of rounds that share no cache. prompt and generated: tokens a second; first_token_ms: with a prompt that is all new."""

    prompt_tokens: int
    prompt: float
    generated: float
    first_token_ms: float

    @property
    def completion_ms(self) -> float:
        """A completion from an empty cache: the prompt and 16 tokens. What settings are compared by."""
        return (self.prompt_tokens / self.prompt + 16 / self.generated) * 1e3


def info(choice: ModelChoice, *, as_json: bool) -> int:
    """Print what the model is. Raises ModelError."""
    began = time.perf_counter()
    with choice.open() as model:
        load_ms = (time.perf_counter() - began) * 1e3
        facts = description(model, choice)
    facts["load_ms"] = round(load_ms, 1)
    _print(facts, as_json)
    return 0


def check(choice: ModelChoice, *, as_json: bool) -> int:
    """Measure the model's speed, and for a GGUF file that of other settings, and print both. Raises ModelError."""
    from ..inference.backends import LLAMA_CPP

    with choice.open() as model:
        facts = {"name": model.fingerprint.name, "fingerprint": model.fingerprint.id}
        base = speed(model)
    facts |= _as_facts(base)
    if choice.backend is not LLAMA_CPP:
        _print(facts, as_json)
        return 0
    tried = _try_others(choice, base)
    best = min(tried, key=lambda row: row[1].completion_ms, default=None)
    better = best if best is not None and best[1].completion_ms * _WORTH_IT < base.completion_ms else None
    advice = _flags(better[0]) if better is not None else None
    if as_json:
        others = [{"flags": _flags(options), **_as_facts(row)} for options, row in tried]
        print_json({**facts, "tried": others, "suggested": advice})
        return 0
    _print(facts, as_json)
    print(f"\n{'settings':40s} {'prompt/s':>10s} {'generated/s':>12s} {'completion':>11s}")
    for name, row in [("as given", base), *((_flags(options), row) for options, row in tried)]:
        print(f"{name:40s} {row.prompt:10,.0f} {row.generated:12,.0f} {row.completion_ms:8,.0f} ms")
    if better is None:
        print(f"Nothing was faster by more than {_WORTH_IT - 1:.0%}: the settings are good as they are.")
    else:
        print(f"Suggested: {advice} ({better[1].completion_ms / base.completion_ms:.2f} of the time of a completion)")
    return 0


def description(model: Model, choice: ModelChoice) -> dict[str, Any]:
    """What `assay model info --json` prints, but for the time it took to load."""
    from ..inference.llamacpp.model import LlamaModel
    from ..inference.opening import EMBEDDED

    fingerprint = model.fingerprint
    facts = {
        "file": choice.where or str(EMBEDDED),
        "backend": choice.backend.name,
        **asdict(fingerprint),
        "fingerprint": fingerprint.id,
        "context_length": model.context_length,
        "layout": model.layout,
        "can": asdict(model.capabilities),
    }
    if isinstance(model, LlamaModel):
        facts["offload"] = asdict(model.offload)
    return facts


def speed(model: Model, rounds: int = _ROUNDS) -> Speed:
    """The model's speed on example code, as it is opened."""
    from ..inference.model import Prompt
    from ..inference.stopping.stop import NONE

    text = "\n".join(path.read_text(encoding="utf-8") for path in sorted(_EXAMPLES.glob("*.py")))
    tokens = model.tokenize(text)
    most = min(_GENERATED_TOKENS, model.context_length // 2)
    length = min(_PROMPT_TOKENS, len(tokens) - rounds, model.context_length - most)
    timings, generated = [], 0
    for start in range(rounds):
        # Each round begins one token later, so the cache holds nothing that it could use.
        prompt = Prompt(tuple(tokens[start : start + length]), "left_to_right")
        generation = model.generate(prompt, stop=NONE, max_tokens=most, temperature=1.0, seed=start)
        timings.append(generation.timings)
        generated += len(generation.tokens)
    generate_ms = sum(timing.generate_ms for timing in timings)
    prompt_ms = statistics.median(timing.prompt_ms for timing in timings)
    return Speed(length, length / prompt_ms * 1e3, generated / generate_ms * 1e3, prompt_ms + generate_ms / generated)


def _try_others(choice: ModelChoice, base: Speed) -> list[tuple[ModelOptions, Speed]]:
    """Each setting alone, then the best of each kind together; until the time is up, for a large model takes long."""
    from ..inference.errors import ModelError

    until = time.monotonic() + _SECONDS
    tried: list[tuple[ModelOptions, Speed]] = []

    def measured(options: ModelOptions) -> Speed | None:
        if time.monotonic() > until:
            return None
        try:
            with replace(choice, options={**choice.options, **options}).open() as model:
                row = speed(model, rounds=2)
        except ModelError:  # a build or a model that can't: then it is no suggestion
            return None
        tried.append((options, row))
        return row

    chosen: ModelOptions = {}
    for kind in _settings(choice.options):
        rows = [(options, row) for options in kind if (row := measured(options)) is not None]
        best = min(rows, key=lambda pair: pair[1].completion_ms, default=None)
        if best is not None and best[1].completion_ms * _WORTH_IT < base.completion_ms:
            chosen = {**chosen, **best[0]}
    if len(chosen) > 1:
        measured(chosen)
    return tried


def _settings(given: ModelOptions) -> Iterator[list[ModelOptions]]:
    """What to try, a list for each kind of setting; what the user set is left alone."""
    from ..inference.llamacpp.cores import physical_cores

    if "threads" not in given:
        cores, logical = physical_cores(), os.cpu_count() or 1
        yield [{"threads": n} for n in sorted({1, max(1, cores // 2), max(1, cores - 1), logical} - {cores})]
    if "chunk" not in given:
        yield [{"chunk": n} for n in _CHUNKS]
    if "flash_attention" not in given:
        yield [{"flash_attention": on} for on in (True, False)]


def _flags(options: ModelOptions) -> str:
    """The settings as they are given on the command line."""
    words = []
    for name, value in options.items():
        words += [f"--{name.replace('_', '-')}", {True: "on", False: "off"}[value] if isinstance(value, bool) else str(value)]
    return " ".join(words)


def _as_facts(row: Speed) -> dict[str, Any]:
    return {
        "prompt_tokens": row.prompt_tokens,
        "prompt_tokens_per_second": round(row.prompt, 1),
        "generated_tokens_per_second": round(row.generated, 1),
        "first_token_ms": round(row.first_token_ms, 1),
    }


def _print(facts: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print_json(facts)
        return
    paint = Paint(wants_colour(sys.stdout))
    told = {name: value for name, value in facts.items() if value != ""}
    widest = max(map(len, told))
    for name, value in told.items():
        print(f"{paint(name.replace('_', ' ').ljust(widest), 'dim')}  {_readable(value)}")


def _readable(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name.replace('_', ' ')} {_readable(part)}" for name, part in value.items())
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "none"}[value]
    return f"{value:,}" if isinstance(value, int | float) else str(value)
