"""From a cursor in a text to what a model writes there, cut: the same for editor, studies and commands."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any, TypedDict, Unpack

from ..inference.completion.prompt import Surroundings, new_tokens, prompt_at
from ..inference.completion.settings import GREEDY, Sampling, Settings
from ..inference.completion.task import Kind
from ..inference.errors import ContextTooLong, Unavailable
from ..inference.model import Cancel, Generation, Model, OnToken, Prompt, StopReason, Token
from ..inference.project_memory.memory import Memory
from ..inference.prompt_size import settings_for
from .cursor import Cursor
from .cut.steps import cut_after_writing, text_to_show
from .stopping_rule import stop_at

# Places of the text that are tried, the least sure first.
_MAX_PLACES = 3
# Ends that left no time for more.
_OVER = (StopReason.TIME, StopReason.CANCELLED)


@dataclass(frozen=True, slots=True)
class Budget:
    """What all texts for one request may take: the tokens of each, and the time when it is over (perf_counter; None for none)."""

    max_tokens: int
    ends_at: float | None = None
    cancel: Cancel | None = None

    @property
    def left_ms(self) -> float | None:
        """How much time is left."""
        return None if self.ends_at is None else max(0.0, (self.ends_at - time.perf_counter()) * 1e3)


def next_best(model: Model, prompt: Prompt, cursor: Cursor, first: Generation, budget: Budget) -> Generation:
    """The first text that breaks nothing, or the model's first choice where there is none in time.

    Each is the greedy text that begins as the first does, up to a token of which the model was not sure, and goes on with the second
    likeliest in its place. Its timings are those of all that was tried. Raises what `Model.generate` raises.
    """
    timings = first.timings
    for place in _least_sure(first.tokens):
        if first.stopped_by in _OVER or budget.left_ms == 0:
            break
        try:
            other = model.generate(
                prompt,
                stop=stop_at(cursor),
                max_tokens=budget.max_tokens,
                max_ms=budget.left_ms,
                cancel=budget.cancel,
                instead_of=[token.id for token in first.tokens[: place + 1]],
            )
        except (Unavailable, ContextTooLong):
            break
        timings = replace(timings, generate_ms=timings.generate_ms + other.timings.prompt_ms + other.timings.generate_ms)
        if other.stopped_by in _OVER:
            break
        found = cut_after_writing(other, cursor)
        if found.parses and text_to_show(found.text, cursor) is not None:
            return replace(found, timings=timings)
    return replace(first, timings=timings)


def _least_sure(tokens: tuple[Token, ...]) -> list[int]:
    """The places where the second likeliest token was nearest to the one that was taken, the nearest first."""
    margins = [
        (token.logprob - token.best_other_logprob, place) for place, token in enumerate(tokens) if token.best_other_logprob is not None
    ]
    return [place for _, place in sorted(margins)[:_MAX_PLACES]]


# Told the text so far at each token.
OnText = Callable[[str], None]


class How(TypedDict, total=False):
    """The keywords of `complete_several`, but for count."""

    kind: Kind
    language: str
    settings: Settings | None
    surroundings: Surroundings | None
    memory: Memory | None
    max_ms: float | None
    cancel: Cancel | None
    on_text: OnText | None
    sampling: Sampling


def complete(model: Model, prefix: str, suffix: str, **how: Unpack[How]) -> Generation:
    r"""What the model would write between prefix and suffix (the whole document's, of any length), greedily.

    The model is shown, and writes, `\n` for every kind of newline. Left out of the generation's text (its tokens stay) is, in a line with
    text behind the cursor, what the model repeats of that. memory: what the user's files say of this cursor, to be mixed in. on_text is
    told the text as it grows, its end not yet cut by any rule. Raises what `Model.generate` raises.

    A text cut off by a budget or a loop is unfinished: a line is then dropped, and its tokens stay; a block or a function is cut back to
    its last whole statement. A text that is cut back, or ended by the lines behind it, keeps the tokens that it is made of and
    none for its end: measures then say how sure the model was of what is written, not that it ends there. Where nothing is left, all
    tokens stay.

    how: as of `complete_several`. language: the protocol's identifier. If a line would break a file of that language, the model tries again
    from its least certain tokens; the first line that does not break it wins, else the original stays (`Generation.parses`).
    """
    return complete_several(model, prefix, suffix, **how)[0]


def complete_several(
    model: Model,
    prefix: str,
    suffix: str,
    *,
    kind: Kind = "line",
    language: str = "plaintext",
    settings: Settings | None = None,
    surroundings: Surroundings | None = None,
    memory: Memory | None = None,
    max_ms: float | None = None,
    cancel: Cancel | None = None,
    on_text: OnText | None = None,
    count: int = 1,
    sampling: Sampling = GREEDY,
) -> tuple[Generation, ...]:
    """`count` generations, of one reading of the prompt. Several may have one text.

    Only one alone is mended where it breaks the file: of several, calibrators are fitted to what the model drew.

    Greedily, number i begins with the i-th most likely token. At another temperature each is drawn, number i with the seed
    `sampling.seed` + i: the same seed gives the same text. A calibrator holds for these only with `Settings.fingerprint(…, sampling=…)`.
    """
    settings = settings or settings_for(model)
    cursor = Cursor(prefix, suffix, kind, language)
    prompt = prompt_for(model, prefix, suffix, kind=kind, settings=settings, surroundings=surroundings, memory=memory)
    tell = None if on_text is None else _told(on_text)
    budget = Budget(new_tokens(model, settings, kind), None if max_ms is None else time.perf_counter() + max_ms / 1e3, cancel)
    limits: dict[str, Any] = {"stop": stop_at(cursor), "max_tokens": budget.max_tokens, "max_ms": max_ms, "cancel": cancel}
    if count == 1:
        first = model.generate(prompt, **limits, on_token=tell, **asdict(sampling))
        made = [cut_after_writing(first, cursor)]
        if not made[0].parses and kind == "line" and sampling == GREEDY:
            made = [next_best(model, prompt, cursor, made[0], budget)]
    else:
        told = None if tell is None else lambda number, token, text: number == 0 and tell(token, text)
        several = model.alternatives(prompt, count, **limits, on_token=told, **asdict(sampling))
        made = [cut_after_writing(generation, cursor) for generation in several]
    mixed = "" if memory is None else memory.fingerprint
    return tuple(replace(generation, memory=mixed) for generation in made)


def prompt_for(
    model: Model,
    prefix: str,
    suffix: str,
    *,
    kind: Kind = "line",
    settings: Settings | None = None,
    surroundings: Surroundings | None = None,
    memory: Memory | None = None,
) -> Prompt:
    """The prompt that a completion at this cursor continues, with its memory."""
    prompt = prompt_at(model, prefix, suffix, kind=kind, settings=settings, surroundings=surroundings)
    return prompt if memory is None else replace(prompt, memory=memory)


def _told(on_text: OnText) -> OnToken:
    def on_token(_: Token, text: str) -> bool:
        on_text(text)
        return False

    return on_token
