"""`assay model info` and `assay model check`: what the model is, how fast it is on this machine, and which settings would be faster."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from .exit_codes import DONE, UsageError
from .options import Subparsers, command_parser, model_choice, set_run
from .terminal import Paint, print_json, show, wants_colour

if TYPE_CHECKING:
    from ..inference.llamacpp.threads import ThreadsInUse
    from ..inference.model import Model
    from ..inference.opening import ModelChoice, ModelOptions
    from ..inference.remote.model import RemoteModel

_PROMPT_TOKENS = 800  # about the length of a completion's prompt
_GENERATED_TOKENS = 48
_ROUNDS = 3
_CHUNKS = (64, 128, 256, 512)
_EXAMPLES = Path(__file__).parents[1] / "examples"
# A machine's speed varies more than this from minute to minute.
_WORTH_IT = 1.08
_MAX_SECONDS = 60.0
_NOT_HELD = (
    "The server can't hold the model to what stands before the cursor: inside a word its suggestions are right less often "
    "(docs/model_server.md)."
)


@dataclass(frozen=True, slots=True)
class Speed:
    """Medians of rounds that share no cache.

    prompt, generated: tokens per second. first_token_ms: with a prompt of which nothing is in the cache.
    """

    prompt_tokens: int
    prompt: float
    generated: float
    first_token_ms: float

    @property
    def completion_ms(self) -> float:
        """The time of a completion from an empty cache: the prompt and 16 tokens. Settings are compared by it."""
        return (self.prompt_tokens / self.prompt + 16 / self.generated) * 1e3


def register(actions: Subparsers) -> None:
    """Add `assay model info` and `assay model check`."""
    info_parser = command_parser(
        actions, "info", "describe the model: architecture, size, context length, prompt layout, GPU layers, fingerprint"
    )
    check_parser = command_parser(actions, "check", "measure how fast the model is, and which settings would be faster")
    for parser, run in ((info_parser, info), (check_parser, check)):
        parser.add_argument("name", metavar="MODEL", nargs="?", help="the same as --model")
        set_run(parser, run, "model", "json")


def _choice(arguments: argparse.Namespace) -> ModelChoice:
    """The model that is named, with or without --model. Raises UsageError where it is named twice."""
    if arguments.name and arguments.model:
        raise UsageError(f"the model is named twice, {arguments.name} and --model {arguments.model}: leave one out")
    if arguments.name is not None:
        arguments.model = arguments.name
    return model_choice(arguments)


def info(arguments: argparse.Namespace) -> int:
    """Describe the model. Raises ModelError and UsageError."""
    choice = _choice(arguments)
    began = time.perf_counter()
    with choice.open() as model:
        load_ms = (time.perf_counter() - began) * 1e3
        facts = description(model, choice)
    facts["load_ms"] = round(load_ms, 1)
    _print(facts, arguments.json)
    return DONE


def check(arguments: argparse.Namespace) -> int:
    """Measure and print the speed of the model, and of other settings for a GGUF file. Raises ModelError and UsageError."""
    from ..inference.backends import LLAMA_CPP

    choice = _choice(arguments)
    with choice.open() as model:
        facts: dict[str, Any] = {"name": model.fingerprint.name, "fingerprint": model.fingerprint.id}
        base = speed(model)
        threads = threads_of(model)
    facts |= _as_facts(base)
    if threads is not None:
        facts["threads"] = asdict(threads)
    if choice.backend is not LLAMA_CPP:
        _print(facts, arguments.json)
        return DONE
    tried = _try_others(choice, base)
    best = min(tried, key=lambda row: row[1].completion_ms, default=None)
    better = best if best is not None and best[1].completion_ms * _WORTH_IT < base.completion_ms else None
    advice = _flags(better[0]) if better is not None else None
    if arguments.json:
        others = [{"flags": _flags(options), **_as_facts(row)} for options, row in tried]
        print_json({**facts, "tried": others, "suggested": advice})
        return DONE
    _print(facts, as_json=False)
    show("", f"{'settings':40s} {'prompt/s':>10s} {'generated/s':>12s} {'completion':>11s}")
    for name, row in [("as given", base), *((_flags(options), row) for options, row in tried)]:
        show(f"{name:40s} {row.prompt:10,.0f} {row.generated:12,.0f} {row.completion_ms:8,.0f} ms")
    if threads is not None and threads.crowded:
        show(crowded_line(threads))
    if better is None:
        show(f"No other setting was more than {_WORTH_IT - 1:.0%} faster: keep the settings as they are.")
    else:
        saved = 1 - better[1].completion_ms / base.completion_ms
        show(f"Suggested: {advice} (a completion takes {saved:.0%} less time)")
    return DONE


def description(model: Model, choice: ModelChoice) -> dict[str, Any]:
    """What `assay model info --json` prints, except the time it took to load."""
    from ..inference.backends import SERVER
    from ..inference.llamacpp.model import LlamaModel
    from ..inference.prompt_size import size_named

    fingerprint, settings = model.fingerprint, choice.settings_for(model)
    facts = {
        "file": str(choice.located),
        "backend": choice.backend.name,
        **asdict(fingerprint),
        "fingerprint": fingerprint.id,
        "context_length": model.context_length,
        "layout": model.layout,
        "prompt": {"size": size_named(settings), "before": settings.prefix_tokens, "after": settings.suffix_tokens},
        "can": asdict(model.capabilities),
        "memory": _memory_weights(model),
    }
    if isinstance(model, LlamaModel):
        facts["offload"] = asdict(model.offload)
    if choice.backend is SERVER:
        from ..inference.remote.address import key_source

        remote = cast("RemoteModel", model)
        facts["way"], facts["key"] = remote.way, key_source(remote.where, choice.at(remote.where).options.get("key_files", {}))
    if not model.capabilities.heals:
        facts["note"] = _NOT_HELD
    if fingerprint.cache:
        facts["note"] = f"With a cache of {fingerprint.cache} it has numbers of its own: calibrators of another cache do not apply."
    return facts


def _memory_weights(model: Model) -> str:
    """How much a project memory counts beside the model, in words; empty if the model can't have one."""
    from ..suggestion.memory.memories import weights_for

    if not model.capabilities.memory:
        return ""
    weights = weights_for(model.fingerprint.id, model.fingerprint.kin)
    fitted = "fitted to another model, so counted by nine tenths" if weights.is_damped else "fitted to this model or its kin"
    return f"weights {weights.version}, {fitted}"


def threads_of(model: Model) -> ThreadsInUse | None:
    """The threads of this process that the model uses; None if another process or library runs it."""
    from ..inference.llamacpp.model import LlamaModel

    return model.threads if isinstance(model, LlamaModel) else None


def crowded_line(threads: ThreadsInUse) -> str:
    """A line for the user if other programs slowed the model down."""
    used = f"{threads.generation} of {threads.cores} core{'s' * (threads.cores != 1)}"
    return f"The machine was busy: {threads.others:.1f} other tasks wanted to run, and the model wrote on {used}. Alone it is faster."


def speed(model: Model, rounds: int = _ROUNDS) -> Speed:
    """The speed of an open model on example code."""
    import statistics

    from ..inference.model import Prompt
    from ..inference.stopping.stop import NONE

    text = "\n".join(path.read_text(encoding="utf-8") for path in sorted(_EXAMPLES.glob("*.py")))
    tokens = model.tokenize(text)
    max_tokens = min(_GENERATED_TOKENS, model.context_length // 2)
    length = min(_PROMPT_TOKENS, len(tokens) - rounds, model.context_length - max_tokens)
    timings, generated = [], 0
    for start in range(rounds):
        # Each round begins one token later, so the cache holds nothing that it could use.
        prompt = Prompt(tuple(tokens[start : start + length]), "left_to_right")
        generation = model.generate(prompt, stop=NONE, max_tokens=max_tokens, temperature=1.0, seed=start)
        timings.append(generation.timings)
        generated += len(generation.tokens)
    generate_ms = sum(timing.generate_ms for timing in timings)
    prompt_ms = statistics.median(timing.prompt_ms for timing in timings)
    return Speed(length, length / prompt_ms * 1e3, generated / generate_ms * 1e3, prompt_ms + generate_ms / generated)


def _try_others(choice: ModelChoice, base: Speed) -> list[tuple[ModelOptions, Speed]]:
    """The speed with each other setting alone, then with the best ones together, within a limit of time."""
    from ..inference.errors import ModelError

    until = time.monotonic() + _MAX_SECONDS
    tried: list[tuple[ModelOptions, Speed]] = []

    def measured(options: ModelOptions) -> Speed | None:
        if time.monotonic() > until:
            return None
        try:
            with replace(choice, options={**choice.options, **options}).open() as model:
                row = speed(model, rounds=2)
        except ModelError:  # this build or model does not take the setting, so it is not suggested
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
    """The settings to try, a list for each kind that the user did not set.

    Threads are not among them: the fastest number changes with what else runs, and the model follows it by itself.
    """
    from ..inference.llamacpp.session import CHUNK

    if "chunk" not in given:
        yield [{"chunk": n} for n in _CHUNKS if n != CHUNK]
    if "flash_attention" not in given:
        yield [{"flash_attention": on} for on in (True, False)]


def _flags(options: ModelOptions) -> str:
    """The settings as options of the command line."""
    from ..inference.opening import ModelChoice

    return " ".join(ModelChoice(None, options).arguments)


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
    # A server may not say how large its model is.
    known = {name: value for name, value in facts.items() if value != "" and (name, value) != ("parameters", 0)}
    widest = max(map(len, known))
    for name, value in known.items():
        show(f"{paint(name.replace('_', ' ').ljust(widest), 'dim')}  {_readable(value)}")


def _readable(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name.replace('_', ' ')} {_readable(part)}" for name, part in value.items())
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "none"}[value]
    return f"{value:,}" if isinstance(value, int | float) else str(value)
