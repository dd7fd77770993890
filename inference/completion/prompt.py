"""What a model is shown at a cursor: the context, cut to its budgets, and the prompt that is made of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

from ..model import Model, Prompt
from .context import Shown, fit_extra, shown
from .settings import CONTROL_TOKENS, Settings
from .task import Kind


@runtime_checkable
class CountsTokens(Protocol):
    """A model that counts tokens with less ado than by giving them out: one behind a server, where each text would be a request."""

    def count_tokens(self, text: str) -> int:
        """How many tokens a text has."""
        ...


@runtime_checkable
class SpellsPrompts(Protocol):
    """A model in this process, which can say what its tokens are."""

    def prompt_text(self, prompt: Prompt) -> str:
        """A prompt as text, its control tokens spelled."""
        ...


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a model can be shown besides the text around the cursor, as far as the settings have a budget for it.

    head: the beginning of the document, `context.head_characters` of it, where the prefix that is given does not reach up to it. path:
    the document's, as the model reads it. extra: path and text of pieces of other files, in an order that typing does not change.
    """

    head: str = ""
    path: str = ""
    extra: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Context:
    """What a model is shown, cut to its budgets, with newlines as it reads them; left_out: paths of extra pieces that did not fit."""

    document: Shown
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
    """What `complete` gives the model: `context_at`, laid out."""
    return prompt_of(model, context_at(model, prefix, suffix, kind=kind, settings=settings, surroundings=surroundings))


def prompt_of(model: Model, context: Context) -> Prompt:
    """A context as the model's prompt."""
    return model.fim(context.document.before, context.document.suffix, context.extra, context.path)


def context_at(
    model: Model,
    prefix: str,
    suffix: str,
    *,
    kind: Kind = "line",
    settings: Settings | None = None,
    surroundings: Surroundings | None = None,
) -> Context:
    """What the model is shown at a place: as much of all parts as the budgets hold, without the space that the prefix ends with."""
    surroundings = surroundings or Surroundings()
    budget = _budgets(model, settings or Settings(), kind)
    prefix = prefix.removesuffix(held_back(prefix))
    suffix = "" if model.layout == "left_to_right" else suffix

    def count(text: str) -> int:
        return count_tokens(model, _newlines(text))

    found = shown(count, prefix, suffix, budget.prefix_tokens, budget.suffix_tokens, surroundings.head, budget.head_tokens)
    extra = fit_extra(count, surroundings.extra, surroundings.path, budget.extra_tokens)
    return Context(
        Shown(_newlines(found.head), _newlines(found.prefix), _newlines(found.suffix)),
        surroundings.path,
        tuple((path, _newlines(text)) for path, text in extra),
        tuple(path for path, _ in surroundings.extra[len(extra) :]),
    )


def prompt_text(model: Model, prompt: Prompt) -> str | None:
    """A prompt as text, control tokens spelled; None where the model is behind a server, which alone knows."""
    return model.prompt_text(prompt) if isinstance(model, SpellsPrompts) else None


def count_tokens(model: Model, text: str) -> int:
    """How many tokens a text has, by the model's shortest way."""
    return model.count_tokens(text) if isinstance(model, CountsTokens) else len(model.tokenize(text))


def held_back(prefix: str) -> str:
    """The space or tab that the prefix ends with, if it does.

    A tokenizer takes it together with the word behind it, so a prompt that ends with it ends as no text does that was learned from. It is
    left out of the prompt, and out of the text where the model writes it first.
    """
    return prefix[-1:] if prefix[-1:] in (" ", "\t") else ""


def new_tokens(model: Model, settings: Settings, kind: Kind) -> int:
    """Tokens to write, at most half of the model's context."""
    wanted = {"line": settings.line_tokens, "block": settings.block_tokens, "function": settings.function_tokens}[kind]
    return max(1, min(wanted, (model.context_length - CONTROL_TOKENS) // 2))


def _budgets(model: Model, settings: Settings, kind: Kind) -> Settings:
    """The settings as far as the model's context allows."""
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
    return text.replace("\r\n", "\n").replace("\r", "\n")
