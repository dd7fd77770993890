"""From a generation at a place to a suggestion with its confidence: for the language server and the commands alike."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import replace

from ..calibration.bands import BOUNDARIES, Boundaries
from ..calibration.confidence import uncalibrated
from ..calibration.effective_status import confidence_of
from ..calibration.fitting.shrinkage import Level
from ..calibration.measures.agreement import SINGLE_DRAW, Drawn
from ..calibration.measures.registry import measures_of
from ..calibration.registry import Purpose, Registry, choose, explain_choice, why_not_own
from ..calibration.samples import Event
from ..inference.completion.settings import Settings
from ..inference.completion.task import Kind, task_of
from ..inference.model import Fingerprint, Generation, Layout, Model
from ..inference.project_memory.memory import Memory
from ..inference.prompt_size import settings_for, size_named
from .complete import complete
from .cursor import window
from .cut.steps import text_to_show
from .positions import Encoding, Range, position_at
from .suggestion import Place, Suggestion

# The budgets that a user may set, by the names of `Settings`.
BUDGETS = {
    "prefix_tokens": "assay.context.prefixTokens",
    "suffix_tokens": "assay.context.suffixTokens",
    "head_tokens": "assay.context.headTokens",
    "extra_tokens": "assay.context.openFiles",
}


def prompt_mismatch(settings: Settings, usual: Settings, context_length: int, kind: Kind) -> str:
    """How the prompt differs from the one that calibrators are fitted with, by the names of the settings; empty if it does not.

    usual: the settings of the size that is chosen for the model.
    """
    size, then_size = size_named(settings), size_named(usual)
    if size and then_size and size != then_size:
        return f"assay.context.size is {size}, and calibrators are fitted with {then_size}"
    said = [
        f"{name} is {now}, and calibrators are fitted with {then}"
        for field, name in BUDGETS.items()
        if (now := getattr(settings, field)) != (then := getattr(usual, field))
    ]
    if not said and not settings.fits(context_length, kind):
        said = [
            f"the model's context, {context_length} tokens, is too short for the prompt that calibrators are fitted with "
            "(assay.modelOptions.context)"
        ]
    return "; ".join(said)


def purpose_at(
    place: Place, fingerprint: Fingerprint, layout: Layout, context_length: int, settings: Settings, *, heals: bool, memory: str
) -> Purpose:
    """What a calibrator must be for, to say how likely this model is to be right at a place with these settings.

    memory: of the generation that was made (`Generation.memory`), whatever is set: a project is not read at once.
    """
    return Purpose(
        fingerprint.id,
        settings.fingerprint(layout, context_length, place.kind, heals=heals, memory=memory),
        place.event,
        task_of(place.prefix, place.suffix, place.kind),
        place.language,
        place.file,
        fingerprint.kin,
    )


def suggestion_of(
    generation: Generation,
    place: Place,
    *,
    purpose: Purpose,
    registry: Registry,
    project: str | None = None,
    boundaries: Boundaries = BOUNDARIES,
    show_refuted: bool = False,
    drawn: Drawn = SINGLE_DRAW,
    prompt_mismatch: Callable[[], str] = lambda: "",
) -> Suggestion | None:
    """The suggestion that a generation makes at a place; None where the text is hidden (`cut.steps.text_to_show`).

    Measures and confidence are of what the model wrote, whatever is cut from it for this place. The confidence has no number where no
    calibrator is for the purpose, or where studies refute the calibrator's numbers.

    Parameters
        purpose: what the registry is asked for (`purpose_at`).
        project: the root folder's name; a calibrator may have a map of its own for it.
        show_refuted: whether a number that studies refute is shown all the same.
        drawn: the generation's rank among the alternatives that were drawn with it.
        prompt_mismatch: words it (`prompt_mismatch`); called only where no calibrator of the model is for the purpose.
    """
    text = text_to_show(generation.text, place.cursor)
    if text is None:
        return None
    # A server may tell no log-probabilities.
    measures = measures_of(generation) | drawn.measures if generation.tokens else {}
    entry = choose(registry, purpose, drawn)
    if entry is None:
        found = uncalibrated(purpose.event, explain_choice(registry, purpose, drawn, prompt_mismatch()).reason)
    else:
        groups: dict[Level, str] = {"language": purpose.language, **({"project": project} if project else {})}
        found = confidence_of(entry, measures, groups, boundaries, show_refuted=show_refuted)
        if entry.calibrator.fitted_on.models:
            found = replace(found, reason=found.reason + why_not_own(registry, entry, purpose, prompt_mismatch()))
    return Suggestion(
        id=uuid.uuid4().hex[:12],
        text=text,
        range=place.range,
        kind=place.kind,
        confidence=found,
        measures=measures,
        timings_ms={"prompt": generation.timings.prompt_ms, "generate": generation.timings.generate_ms},
    )


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
    memory: Memory | None = None,
    show_refuted: bool = False,
    settings: Settings | None = None,
) -> Suggestion | None:
    """The suggestion at an offset (in code points) of a text, made in this process; None where nothing is shown.

    encoding: what the columns of the range count. project, show_refuted: as `suggestion_of`. memory: as `complete`. Raises ModelError.
    """
    settings = settings or settings_for(model)
    reach = window(settings)
    at = position_at(text, offset, encoding)
    place = Place(text[reach.start(offset) : offset], text[offset : offset + reach.after], Range(at, at), kind, language, event)
    generation = complete(model, place.prefix, place.suffix, kind=kind, language=language, settings=settings, memory=memory, max_ms=max_ms)
    return suggestion_of(
        generation,
        place,
        purpose=purpose_at(
            place,
            model.fingerprint,
            model.layout,
            model.context_length,
            settings,
            heals=model.capabilities.heals,
            memory=generation.memory,
        ),
        registry=registry,
        project=project,
        show_refuted=show_refuted,
        prompt_mismatch=lambda: prompt_mismatch(settings, settings_for(model), model.context_length, kind),
    )
