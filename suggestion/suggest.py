"""From a place in a text to a suggestion: what the command line does in its own process and the language server through the model's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ..calibration.bands import BOUNDARIES, Boundaries
from ..calibration.measures.agreement import SINGLE_DRAW, Drawn
from ..calibration.registry import Purpose, Registry
from ..calibration.samples import Event
from ..inference.completion.settings import Settings
from ..inference.completion.task import Kind, task_of
from ..inference.model import Generation, Layout, Model
from .complete import complete
from .cut.steps import text_to_show
from .place import Place
from .positions import Encoding, Range, position_at
from .suggestion import Suggestion, suggest
from .window import window

# The budgets that a user may set, by the names of `Settings`.
BUDGETS = {
    "prefix_tokens": "assay.context.prefixTokens",
    "suffix_tokens": "assay.context.suffixTokens",
    "head_tokens": "assay.context.headTokens",
    "extra_tokens": "assay.context.openFiles",
}


def prompt_mismatch(settings: Settings, context_length: int, kind: Kind) -> str:
    """What makes the prompt another than the one that calibrators are fitted with, for people, by the names of the settings; empty for
    none that is known."""
    usual = Settings()
    said = [
        f"{name} is {now}, and calibrators are fitted with {then}"
        for field, name in BUDGETS.items()
        if (now := getattr(settings, field)) != (then := getattr(usual, field))
    ]
    if not said and not settings.fits(context_length, kind):
        said = [
            f"the model's context, {context_length} tokens, is too short for all that it is shown elsewhere (assay.modelOptions.context)"
        ]
    return "; ".join(said)


def purpose_at(place: Place, model_id: str, layout: Layout, context_length: int, settings: Settings) -> Purpose:
    """What a calibrator is asked for at a place, for what this model writes there with these settings."""
    return Purpose(
        model_id,
        settings.fingerprint(layout, context_length, place.kind),
        place.event,
        task_of(place.prefix, place.suffix, place.kind),
        place.language,
        place.file,
    )


def suggestion_of(
    generation: Generation,
    place: Place,
    *,
    purpose: Purpose,
    registry: Registry,
    project: str | None = None,
    boundaries: Boundaries = BOUNDARIES,
    drawn: Drawn = SINGLE_DRAW,
    prompt_mismatch: Callable[[], str] = lambda: "",
) -> Suggestion | None:
    """The suggestion that this generation makes at this place, its lines ended as the place's are; None where it adds nothing.

    purpose: as `purpose_at`; all others: as `suggest`.
    """
    text = text_to_show(generation.text, place.cursor)
    if text is None:
        return None
    made = suggest(
        generation,
        kind=place.kind,
        range=place.range,
        purpose=purpose,
        registry=registry,
        project=project,
        boundaries=boundaries,
        drawn=drawn,
        prompt_mismatch=prompt_mismatch,
    )
    # Measures are of what the model wrote, whatever is cut from it for this place.
    return made and replace(made, text=text)


def suggest_at(
    model: Model,
    registry: Registry,
    text: str,
    offset: int,
    *,
    kind: Kind = "line",
    language: str = "plaintext",
    event: Event = "exact_match",
    encoding: Encoding = "utf-32",
    max_ms: float | None = None,
    project: str | None = None,
) -> Suggestion | None:
    """The suggestion at an offset (in code points) of a text, made in this process; None when the model suggests nothing.

    The range's columns count in `encoding`: code points unless told. project: as `suggest`. Raises ModelError.
    """
    settings = Settings()
    reach = window(settings)
    at = position_at(text, offset, encoding)
    place = Place(text[reach.start(offset) : offset], text[offset : offset + reach.after], Range(at, at), kind, language, event)
    generation = complete(model, place.prefix, place.suffix, kind=kind, settings=settings, max_ms=max_ms)
    return suggestion_of(
        generation,
        place,
        purpose=purpose_at(place, model.fingerprint.id, model.layout, model.context_length, settings),
        registry=registry,
        project=project,
        prompt_mismatch=lambda: prompt_mismatch(settings, model.context_length, kind),
    )
