"""What a model was shown, told to people: the answer to `assay/context`, and `assay complete --show-prompt`."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from ..inference.completion.prompt import Context
from ..inference.completion.settings import Settings
from ..inference.model import Prompt
from ..inference.prompt_size import size_named


def context_json(
    context: Context,
    count: Callable[[str], int],
    prompt: Prompt,
    prompt_text: str | None,
    settings: Settings,
) -> dict[str, Any]:
    """The pieces of a context with their tokens, and the prompt that is made of them.

    `{"size", "extra": [{"path", "tokens", "text"}], "head", "prefix", "suffix": {"tokens", "text"}, "leftOut": [{"path", "reason"}],
    "prompt": {"layout", "tokens", "text", "held"}}`. size: null where a user set the budgets. held: what stands before the cursor behind
    the prompt, and is written again first. A piece counts for itself, so that the prompt has a few tokens more: those that control, and
    paths. Its tokens are null where a server cuts them, its text where only the server knows it. leftOut has the pieces that found no room.
    """
    document = context.document
    pieces = {"head": document.head, "prefix": document.prefix, "suffix": document.suffix}
    return {
        "size": size_named(settings),
        "extra": [{"path": path, "tokens": count(text), "text": text} for path, text in context.extra],
        **{name: {"tokens": count(text), "text": text} for name, text in pieces.items()},
        "leftOut": [{"path": path, "reason": "budget"} for path in context.left_out],
        "prompt": {"layout": prompt.layout, "tokens": len(prompt.tokens) or None, "text": prompt_text, "held": prompt.held},
    }


def context_text(told: dict[str, Any]) -> str:
    """What `context_json` gives, for people: a line for each piece, then the prompt as it is, or its pieces where that is not known."""
    pieces = [(f"from {piece['path']}", piece) for piece in told["extra"]]
    pieces += [(name, told[name]) for name in ("head", "prefix", "suffix")]
    lines = [f"size: {told['size'] or 'set by hand'}", *(f"{name}: {piece['tokens']:,} tokens" for name, piece in pieces)]
    lines += [f"left out: {each['path']} ({each['reason']})" for each in told["leftOut"]]
    prompt = told["prompt"]
    size = "" if prompt["tokens"] is None else f", {prompt['tokens']:,} tokens"
    lines.append(f"prompt: layout {prompt['layout']}{size}")
    if prompt["held"]:
        lines.append(f"held back and written again first: {json.dumps(prompt['held'], ensure_ascii=False)}")
    if prompt["text"] is not None:
        return "\n".join([*lines, "", prompt["text"]])
    lines.append("Its spelling is not known here: the server has the tokens.")
    return "\n".join([*lines, *(f"\n--- {name}\n{piece['text']}" for name, piece in pieces)])
