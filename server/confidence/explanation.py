"""Why a suggestion has the confidence that it has: for `assay/explain` and, as markdown, for a hover. Pure. What is not known is not said.

What code, files and reasons say goes into markdown as code only, so that it is shown and never acts.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ...calibration.confidence import Confidence
from ...calibration.control_characters import strip_control_characters
from ...calibration.measures.registry import LOWEST_COUNT
from ...calibration.metrics.intervals import Interval
from ...calibration.registry import Choice, Entry, Origin
from ...inference.model import Generation, Token
from ...suggestion.suggestion import Suggestion, SuggestionKind, confidence_json

_TICKS = re.compile("`+")
_LINE_END = re.compile(r"\r\n|\r|\n")
_NO_LANGUAGE = re.compile(r"[^A-Za-z0-9_+#.-]")


@dataclass(frozen=True, slots=True)
class Seen:
    """Something that the model saw.

    part: which, for people; tokens: how many it took, None where they were not counted; file: its path, None for the document's own text.
    """

    part: str
    tokens: int | None = None
    file: str | None = None


@dataclass(frozen=True, slots=True)
class Uncertain:
    """A token that the model was not sure of.

    index: its place among the tokens, from 0; text: empty for a control token such as the end of the text; probability: its own;
    best_other: the most likely other token's, None where that is not known.
    """

    index: int
    text: str
    probability: float
    best_other: float | None


@dataclass(frozen=True, slots=True)
class Judge:
    """The calibrator whose answer the confidence is, and what it is worth on data that it was not fitted on, as `Evidence`.

    file: its name; fitted_on: samples; ece and ece_noise_floor: as `CalibrationError`.
    """

    id: str
    origin: Origin
    file: str
    status: str
    features: tuple[str, ...]
    fitted_on: int
    n: int
    groups: int
    grouped_by: str
    base_rate: float
    skill: Interval | None
    ece: float
    ece_noise_floor: float


@dataclass(frozen=True, slots=True)
class Explanation:
    """All that is known of one suggestion's confidence; `as_json` is the format in docs/formats.md.

    calibrator: None where none was used, or the one that was is no longer there; chosen_because: the registry's reason, empty where the
    choice is not known. least_certain: the least likely token first. seen: in the order in which the model saw it.
    """

    id: str
    kind: SuggestionKind
    confidence: Confidence
    calibrator: Judge | None
    chosen_because: str
    tokens: int
    least_certain: tuple[Uncertain, ...]
    seen: tuple[Seen, ...]
    timings_ms: dict[str, float]

    def as_json(self) -> dict[str, Any]:
        """What `assay/explain` answers."""
        return {
            **asdict(self),
            "confidence": confidence_json(self.confidence),
            "text": self.confidence.text,
            "markdown": hover_markdown(self),
        }


def explanation(suggestion: Suggestion, generation: Generation, choice: Choice | None, seen: Sequence[Seen] = ()) -> Explanation:
    """What is known of a suggestion.

    generation: the one whose text and tokens the suggestion is. choice: the registry's, None where it is not known; of a calibrator other
    than the one that gave the confidence nothing is taken. seen: what the model was shown, as far as that is known.
    """
    entry = choice.entry if choice else None
    used = suggestion.confidence.calibrator
    same = choice is not None and (entry.calibrator.id if entry else None) == used
    # A number can be refused for reasons of its own although a calibrator was chosen: then the choice explains nothing.
    return Explanation(
        id=suggestion.id,
        kind=suggestion.kind,
        confidence=suggestion.confidence,
        calibrator=_judge(entry) if entry and same else None,
        chosen_because=choice.reason if choice and same else "",
        tokens=len(generation.tokens),
        least_certain=least_certain(generation.tokens),
        seen=tuple(seen),
        timings_ms=suggestion.timings_ms,
    )


def least_certain(tokens: Sequence[Token], count: int = LOWEST_COUNT) -> tuple[Uncertain, ...]:
    """The `count` tokens with the lowest log-probabilities, the lowest first; those whose log-probability is not known are left out."""
    known = [(token.logprob, index, token) for index, token in enumerate(tokens) if not math.isnan(token.logprob)]
    return tuple(
        Uncertain(
            index,
            token.text.decode("utf-8", "replace"),
            math.exp(token.logprob),
            None if token.best_other_logprob is None or math.isnan(token.best_other_logprob) else math.exp(token.best_other_logprob),
        )
        for _, index, token in sorted(known, key=lambda one: one[:2])[:count]
    )


def seen_in(told: dict[str, Any]) -> tuple[Seen, ...]:
    """The pieces of what `context_json` gives, without their texts, those of other files first; empty ones are left out."""
    own = (("head", "the head of the file"), ("prefix", "the text before the cursor"), ("suffix", "the text behind it"))
    return (
        *(Seen("a piece of", piece["tokens"], piece["path"]) for piece in told["extra"]),
        *(Seen(part, told[name]["tokens"]) for name, part in own if told[name]["text"]),
    )


def hover_markdown(explanation: Explanation) -> str:
    """For people: the band in a short first line, then the evidence for it, a paragraph each."""
    return "\n\n".join((f"**{explanation.confidence.text}**", *_paragraphs(explanation)))


def code_span(text: str) -> str:
    """The text as code within a line of markdown, whatever it holds; line ends and tabs as ↵ and ⇥."""
    shown = strip_control_characters(_LINE_END.sub("↵", text).replace("\t", "⇥"))
    ticks = "`" * (_longest(shown) + 1)
    # A space at each end is taken off again, but for a text of spaces only.
    pad = " " if shown.strip(" ") and (shown[0] in " `" or shown[-1] in " `") else ""
    return f"{ticks}{pad}{shown}{pad}{ticks}"


def fenced(code: str, language: str = "") -> str:
    """The code as a block of markdown, whatever it holds; language: as the editor names it."""
    fence = "`" * max(3, _longest(code) + 1)
    return f"{fence}{_NO_LANGUAGE.sub('', language)}\n{strip_control_characters(_LINE_END.sub(chr(10), code))}\n{fence}"


def _judge(entry: Entry) -> Judge:
    calibrator, evidence = entry.calibrator, entry.calibrator.evidence
    return Judge(
        id=calibrator.id,
        origin=entry.origin,
        file=entry.path.name,
        status=calibrator.status,
        features=calibrator.features,
        fitted_on=calibrator.fitted_on.n,
        n=evidence.n,
        groups=evidence.groups,
        grouped_by=calibrator.fitted_on.grouped_by,
        base_rate=evidence.base_rate,
        skill=evidence.skill,
        ece=evidence.ece.value,
        ece_noise_floor=evidence.ece.noise_floor,
    )


def _paragraphs(told: Explanation) -> Iterator[str]:
    said = told.confidence
    if said.probability is not None:
        yield f"Probability: {_percent(said.probability)}."
    elif said.reason:
        yield f"No probability: {code_span(said.reason)}"
    if (judge := told.calibrator) is not None:
        skill = "" if judge.skill is None else f", skill score {judge.skill.value:.2f} ({judge.skill.low:.2f} to {judge.skill.high:.2f})"
        yield (
            f"Calibrator: {judge.origin} {code_span(judge.file)}, {judge.status}, from {', '.join(map(code_span, judge.features))}. "
            f"On {judge.n} held-out samples of {judge.groups} {judge.grouped_by}s: base rate {_percent(judge.base_rate)}{skill}, "
            f"ECE {judge.ece:.3f} (noise alone gives {judge.ece_noise_floor:.3f})."
        )
        yield f"Why this one: {code_span(told.chosen_because)}"
    if told.least_certain:
        yield f"Least certain of {told.tokens} tokens: {'; '.join(map(_uncertain, told.least_certain))}."
    if told.seen:
        yield f"The model saw {', '.join(map(_seen, told.seen))}."
    if told.timings_ms:
        yield f"Time: {', '.join(f'{name} {ms:.0f} ms' for name, ms in told.timings_ms.items())}."


def _uncertain(token: Uncertain) -> str:
    text = code_span(token.text) if token.text else "the end"
    other = "" if token.best_other is None else f" (best other {_percent(token.best_other)})"
    return f"{text} {_percent(token.probability)}{other}"


def _percent(probability: float) -> str:
    """In whole percents, and never as impossible or as certain."""
    return "<1 %" if probability < 0.01 else ">99 %" if probability > 0.99 else f"{100 * probability:.0f} %"


def _seen(seen: Seen) -> str:
    amount = "" if seen.tokens is None else f" ({seen.tokens} tokens)"
    return f"{seen.part}{'' if seen.file is None else f' {code_span(seen.file)}'}{amount}"


def _longest(text: str) -> int:
    return max(map(len, _TICKS.findall(text)), default=0)
