"""The prompt at a cursor: the context, cut to its budgets, and the tokens that it is laid out as."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..model import Model, Prompt
from .context import Excerpt, excerpt_of, fit_extra, without_closers
from .settings import CONTROL_TOKENS, Settings
from .task import Kind


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What can go into a prompt besides the text around the cursor, where the settings have a budget for it.

    head: the document's first `context.head_characters`, for a prefix that does not reach up to them. path: the document's, as the model
    reads it. extra: path and text of pieces of other files, in an order that typing does not change.
    """

    head: str = ""
    path: str = ""
    extra: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Context:
    """What goes into a prompt, cut to its budgets, with newlines as the model reads them.

    left_out: paths of extra pieces that did not fit.
    """

    document: Excerpt
    path: str
    extra: tuple[tuple[str, str], ...]
    left_out: tuple[str, ...]


def prompt_at(
    model: Model,
    prefix: str,
    suffix: str,
    *,
    kind: Kind = "line",
    settings: Settings | None = None,
    surroundings: Surroundings | None = None,
) -> Prompt:
    """The prompt at a cursor: `context_at`, laid out by the model."""
    return prompt_of(model, context_at(model, prefix, suffix, kind=kind, settings=settings, surroundings=surroundings))


def prompt_of(model: Model, context: Context) -> Prompt:
    """The model's prompt of a context."""
    return model.fim(context.document.before, context.document.suffix, context.extra, context.path, context.document.begun)


def context_at(
    model: Model,
    prefix: str,
    suffix: str,
    *,
    kind: Kind = "line",
    settings: Settings | None = None,
    surroundings: Surroundings | None = None,
) -> Context:
    """What goes into the prompt at a cursor: what fits of each part. settings: None for the usual budgets."""
    surroundings = surroundings or Surroundings()
    budget = _budgets(model, settings or Settings(), kind)
    if model.layout == "left_to_right":
        suffix = ""
    elif model.layout == "anchored" and kind == "line":
        suffix = without_closers(prefix, suffix)

    def count(text: str) -> int:
        return model.count_tokens(_newlines(text))

    found = excerpt_of(
        count,
        prefix,
        suffix,
        budget.prefix_tokens,
        budget.suffix_tokens,
        surroundings.head,
        budget.head_tokens,
        anchored=model.layout == "anchored",
    )
    extra = fit_extra(count, surroundings.extra, surroundings.path, budget.extra_tokens)
    begun = len(_newlines(found.prefix[len(found.prefix) - found.begun :]))
    return Context(
        Excerpt(_newlines(found.head), _newlines(found.prefix), _newlines(found.suffix), begun),
        surroundings.path,
        tuple((path, _newlines(text)) for path, text in extra),
        tuple(path for path, _ in surroundings.extra[len(extra) :]),
    )


def new_tokens(model: Model, settings: Settings, kind: Kind) -> int:
    """Tokens that may be generated: the settings', at most half of the model's context."""
    wanted = {"line": settings.line_tokens, "block": settings.block_tokens, "function": settings.function_tokens}[kind]
    return max(1, min(wanted, (model.context_length - CONTROL_TOKENS) // 2))


def _budgets(model: Model, settings: Settings, kind: Kind) -> Settings:
    """The settings, with prompt budgets reduced in proportion where the model's context is smaller."""
    room = model.context_length - CONTROL_TOKENS
    new = new_tokens(model, settings, kind)
    wanted, left = settings.shown_tokens, max(0, room - new)
    if wanted <= left:
        return settings
    return replace(
        settings,
        prefix_tokens=settings.prefix_tokens * left // wanted,
        suffix_tokens=settings.suffix_tokens * left // wanted,
        head_tokens=settings.head_tokens * left // wanted,
        extra_tokens=settings.extra_tokens * left // wanted,
    )


def _newlines(text: str) -> str:
    """Without the byte order mark, which an editor may leave at a document's start."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
