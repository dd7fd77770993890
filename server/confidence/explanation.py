"""Explains the confidence of a suggestion: for `assay/explain`, and as markdown for a hover. Pure.

What is not known is left out. Code, file names and reasons are put into markdown as code, so that nothing in them is interpreted.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ...calibration.bands import band_of
from ...calibration.confidence import Confidence
from ...calibration.control_characters import escaped
from ...calibration.measures.registry import LOWEST_COUNT
from ...calibration.registry import Choice, Entry, source_of
from ...calibration.validation.words import as_json as validation_json
from ...inference.model import Generation, Token
from ...suggestion.suggestion import Suggestion, SuggestionKind, confidence_json

_TICKS = re.compile("`+")
_LINE_END = re.compile(r"\r\n|\r|\n")
_MAX_SEEN_BEFORE = 3
_NO_LANGUAGE = re.compile(r"[^A-Za-z0-9_+#.-]")


@dataclass(frozen=True, slots=True)
class Seen:
    """A piece of what the model saw.

    part: what it is, for people. tokens: its length. file: its path, None for the document's own text.
    """

    part: str
    tokens: int | None = None
    file: str | None = None


@dataclass(frozen=True, slots=True)
class SeenBefore:
    """A line that half of the text was taken from by the project memory. file: None for the document itself. line: from 1."""

    file: str | None
    line: int


@dataclass(frozen=True, slots=True)
class Uncertain:
    """A token that the model was not sure of.

    index: from 0. text: empty for a control token such as the end of the text. best_other: the probability of the likeliest other token.
    """

    index: int
    text: str
    probability: float
    best_other: float | None


@dataclass(frozen=True, slots=True)
class Explanation:
    """All that is known of the confidence of one suggestion.

    id, kind, confidence, timings_ms: the suggestion's.
    calibrator: the one that gave the probability, with its evidence; None if none was used, or if it no longer exists.
    chosen_because: why this calibrator, or none. tokens: of the generation. least_certain: the least likely token first.
    seen: in the order in which the model saw it. seen_before: at most three.
    """

    id: str
    kind: SuggestionKind
    confidence: Confidence
    calibrator: dict[str, Any] | None
    chosen_because: str
    tokens: int
    least_certain: tuple[Uncertain, ...]
    seen: tuple[Seen, ...]
    timings_ms: dict[str, float]
    seen_before: tuple[SeenBefore, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """What `assay/explain` answers."""
        return {
            **asdict(self),
            "confidence": confidence_json(self.confidence),
            "text": self.confidence.text,
            "markdown": hover_markdown(self),
        }


def explanation(
    suggestion: Suggestion,
    generation: Generation,
    choice: Choice | None,
    seen: Sequence[Seen] = (),
    seen_before: Sequence[SeenBefore] = (),
) -> Explanation:
    """Explain a suggestion.

    generation: the one that the suggestion was made from. choice: the registry's, None if it is not known. It is used only if it is the
    calibrator that gave the confidence. seen: what the model was shown, if that is known. seen_before: where the text comes from, if a
    memory carried it.
    """
    entry = choice.entry if choice else None
    same = choice is not None and (entry.calibrator.id if entry else None) == suggestion.confidence.calibrator
    # There may be no probability although a calibrator was chosen. Then the choice does not explain the confidence.
    return Explanation(
        id=suggestion.id,
        kind=suggestion.kind,
        confidence=suggestion.confidence,
        calibrator=_calibrator_used(entry, suggestion.confidence) if entry and same else None,
        chosen_because=choice.reason if choice and same else "",
        tokens=len(generation.tokens),
        least_certain=least_certain(generation.tokens),
        seen=tuple(seen),
        seen_before=tuple(seen_before[:_MAX_SEEN_BEFORE]),
        timings_ms=suggestion.timings_ms,
    )


def least_certain(tokens: Sequence[Token], count: int = LOWEST_COUNT) -> tuple[Uncertain, ...]:
    """The `count` tokens with the lowest known log-probabilities, the lowest first."""
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


def seen_in(context: dict[str, Any]) -> tuple[Seen, ...]:
    """The pieces of a context (`context_json`) that are not empty, without their texts; those of other files first."""
    own = (("head", "the beginning of the file"), ("prefix", "the text before the cursor"), ("suffix", "the text after the cursor"))
    return (
        *(Seen("a part of", piece["tokens"], piece["path"]) for piece in context["extra"]),
        *(Seen(part, context[name]["tokens"]) for name, part in own if context[name]["text"]),
    )


def hover_markdown(explanation: Explanation) -> str:
    """The explanation for people: the band in a short first line, then a paragraph for each part of the evidence."""
    return "\n\n".join((f"**{explanation.confidence.text}**", *_paragraphs(explanation)))


def code_span(text: str) -> str:
    """The text as code within a line of markdown, whatever it contains. Line ends and tabs become ↵ and ⇥."""
    code = escaped(_LINE_END.sub("↵", text).replace("\t", "⇥"))
    ticks = "`" * (_longest(code) + 1)
    # Markdown removes one space at each end, except from a text of spaces only.
    pad = " " if code.strip(" ") and (code[0] in " `" or code[-1] in " `") else ""
    return f"{ticks}{pad}{code}{pad}{ticks}"


def fenced(code: str, language: str = "") -> str:
    """The code as a block of markdown, whatever it contains. language: the editor's name for it."""
    fence = "`" * max(3, _longest(code) + 1)
    return f"{fence}{_NO_LANGUAGE.sub('', language)}\n{escaped(_LINE_END.sub(chr(10), code))}\n{fence}"


def _calibrator_used(entry: Entry, confidence: Confidence) -> dict[str, Any]:
    calibrator, evidence = entry.calibrator, entry.calibrator.evidence
    return {
        "id": calibrator.id,
        "source": source_of(entry),
        "origin": entry.origin,
        "file": entry.path.name,
        # "missing" and "outside" are of this suggestion alone
        "status": calibrator.status if confidence.status in ("missing", "outside") else confidence.status,
        "features": calibrator.features,
        "fitted_on": calibrator.fitted_on.n,
        "n": evidence.n,
        "groups": evidence.groups,
        "grouped_by": calibrator.fitted_on.grouped_by,
        "base_rate": evidence.base_rate,
        "skill": None if evidence.skill is None else asdict(evidence.skill),
        "ece": evidence.ece.value,
        "ece_noise_floor": evidence.ece.noise_floor,
        "validation": None if entry.validation is None else validation_json(entry.validation),
    }


def _of_wrong_ones(explanation: Explanation) -> Iterator[str]:
    """What studies say of wrong suggestions: the numbers that they got, and how many of those that look right had this badge."""
    validation = explanation.calibrator["validation"] if explanation.calibrator else None
    confidence = explanation.confidence
    if validation is None or confidence.probability is None:
        return
    if validation["failures"]:
        yield validation["failures"]
    # with boundaries of the user's own the same word may be another badge
    if band_of(confidence.probability).word == confidence.band and confidence.band in validation["badges"]:
        yield validation["badges"][confidence.band]


def _paragraphs(explanation: Explanation) -> Iterator[str]:
    confidence = explanation.confidence
    if (used := explanation.calibrator) is not None:
        yield f"Source: {used['source']} ({code_span(used['file'])})."
    if confidence.probability is not None:
        yield f"Probability: {_percent(confidence.probability)}{', borrowed ' if confidence.reason else ''}{confidence.reason}."
    elif confidence.reason:
        yield f"No number: {code_span(confidence.reason)}"
    if used is not None:
        skill = used["skill"]
        score = "" if skill is None else f", skill score {skill['value']:.2f} ({skill['low']:.2f} to {skill['high']:.2f})"
        yield (
            f"Calibrator: {code_span(used['file'])} ({used['origin']}, {used['status']}), "
            f"from {', '.join(map(code_span, used['features']))}. "
            f"On {used['n']} held-out samples of {used['groups']} {used['grouped_by']}s: base rate {_percent(used['base_rate'])}{score}, "
            f"calibration error (ECE) {used['ece']:.3f}; noise alone gives {used['ece_noise_floor']:.3f}."
        )
        if used["validation"] is not None:
            yield " ".join((f"{used['validation']['summary'].capitalize()}.", *used["validation"]["refuted"], *_of_wrong_ones(explanation)))
        yield f"Chosen because: {code_span(explanation.chosen_because)}"
    if explanation.least_certain:
        yield f"Least certain of {explanation.tokens} tokens: {'; '.join(map(_uncertain, explanation.least_certain))}."
    if explanation.seen:
        yield f"The model saw {', '.join(map(_seen, explanation.seen))}."
    if explanation.seen_before:
        yield f"Seen before in {', '.join(map(_seen_before, explanation.seen_before))}."
    if explanation.timings_ms:
        yield f"Time: {', '.join(f'{name} {ms:.0f} ms' for name, ms in explanation.timings_ms.items())}."


def _uncertain(token: Uncertain) -> str:
    text = code_span(token.text) if token.text else "end of text"
    other = "" if token.best_other is None else f" (best other token {_percent(token.best_other)})"
    return f"{text} {_percent(token.probability)}{other}"


def _percent(probability: float) -> str:
    """In whole percents, but never 0 % or 100 %."""
    return "<1 %" if probability < 0.01 else ">99 %" if probability > 0.99 else f"{100 * probability:.0f} %"


def _seen(seen: Seen) -> str:
    amount = "" if seen.tokens is None else f" ({seen.tokens} tokens)"
    return f"{seen.part}{'' if seen.file is None else f' {code_span(seen.file)}'}{amount}"


def _seen_before(seen: SeenBefore) -> str:
    return f"{'this file' if seen.file is None else code_span(seen.file)}, line {seen.line}"


def _longest(text: str) -> int:
    return max(map(len, _TICKS.findall(text)), default=0)
