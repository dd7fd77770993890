"""A line to mend: the prompt of a model that was trained to say the right line behind a wrong one (training/README.md, "Lines to mend")."""

from __future__ import annotations

from ..model import Model, Prompt

FIX = "<|assay_fix|>"


def can_mend(model: Model) -> bool:
    """Whether a model was trained to mend lines."""
    return model.control(FIX) is not None


def mending_prompt(model: Model, prompt: Prompt, shown: str) -> Prompt:
    """What asks for the line in the place of one that is shown.

    prompt: that of a cursor where the line's code begins, with what stands behind the line as its suffix. The answer is all of the line's
    code, and may begin with white space. Raises ValueError for a model that was not trained to mend lines.
    """
    token = model.control(FIX)
    if token is None:
        raise ValueError(f"the model has no control token {FIX}")
    return Prompt((*prompt.tokens, *model.tokenize(prompt.held), *model.tokenize(shown), token), prompt.layout)
