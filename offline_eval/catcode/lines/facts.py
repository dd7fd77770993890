"""What became of rewrites, place by place: facts.jsonl, and all that the report counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from ...calibration.draw import label_id
from .asking import Measures, Regenerated, Scored
from .confirm import Rewritten
from .rewrites import Tried, Variant


class VariantFacts(TypedDict):
    """A rewrite. rules: of its steps. line, diff, kind: as of a variant. measures: of the line in it; None where the model can't tell."""

    arm: str
    rules: list[str]
    line: str
    kind: str
    diff: list[str]
    measures: Measures | None


class LineFacts(TypedDict):
    """A line that passes its tests. code: truth or suggestion. exact: it is the project's own. tried: what became of each rule."""

    code: str
    text: str
    exact: bool
    plain: Measures | None
    identity: Measures | None
    variants: list[VariantFacts]
    tried: list[Tried]


class RegeneratedFacts(TypedDict):
    """What is suggested in rewritten code. rules: of the rewrites. text: what would be inserted."""

    rules: list[str]
    text: str
    measures: Measures
    exact: bool
    passes: bool | None


class PlaceFacts(TypedDict):
    """The rewrites at a place; id: of its sample. regenerated: None where nothing is suggested, or the code was not rewritten."""

    id: str
    project: str
    file: str
    lines: list[LineFacts]
    regenerated: RegeneratedFacts | None


class Known(TypedDict):
    """The records of a run, by their ids, and what the tests said of texts."""

    rewrites: Mapping[str, Rewritten]
    scores: Mapping[str, Scored]
    regenerated: Mapping[str, Regenerated]
    said: Mapping[str, bool | None]


def is_exact(text: str | None, truth: str) -> bool:
    """Whether a line is the project's own, white space at its end aside."""
    return text is not None and text.rstrip() == truth.rstrip()


def lines_at(answer: Mapping[str, Any], of: Sequence[str]) -> dict[str, str]:
    """The distinct lines of a place that are looked at, by what they are: truth, suggestion. A suggestion may be the truth."""
    (one,) = answer["generations"]
    texts = {"truth": one["truth"], "suggestion": one["inserted"]}
    found: dict[str, str] = {}
    for code in of:
        text = texts[code]
        if text is not None and (text.strip() or code == "truth") and text not in found.values():
            found[code] = text
    return found


def facts_of(answers: Sequence[Mapping[str, Any]], known: Known, of: Sequence[str]) -> list[PlaceFacts]:
    """The facts of each place. of: truth, suggestion."""
    return [
        {
            "id": answer["generations"][0]["id"],
            "project": answer["project"],
            "file": answer["file"],
            "lines": [line for code, text in lines_at(answer, of).items() if (line := _line(answer, code, text, known))],
            "regenerated": _regenerated(answer, known),
        }
        for answer in answers
    ]


def _line(answer: Mapping[str, Any], code: str, text: str, known: Known) -> LineFacts | None:
    """The facts of a line, where it was rewritten."""
    name = label_id(answer["id"], "line", text)
    rewritten, scored = known["rewrites"].get(name), known["scores"].get(name)
    if rewritten is None:
        return None
    measures = scored["variants"] if scored else [None] * len(rewritten["variants"])
    return {
        "code": code,
        "text": text,
        "exact": is_exact(text, answer["generations"][0]["truth"]),
        "plain": scored["plain"] if scored else None,
        "identity": scored["identity"] if scored else None,
        "variants": [_variant(one, found) for one, found in zip(rewritten["variants"], measures, strict=True)],
        "tried": rewritten["tried"],
    }


def _variant(variant: Variant, measures: Measures | None) -> VariantFacts:
    rules = [step["rule"] for step in variant["steps"]]
    return {
        "arm": variant["arm"],
        "rules": rules,
        "line": variant["line"],
        "kind": variant["kind"],
        "diff": variant["diff"],
        "measures": measures,
    }


def _regenerated(answer: Mapping[str, Any], known: Known) -> RegeneratedFacts | None:
    made = known["regenerated"].get(answer["id"])
    if made is None or made["inserted"] is None or made["measures"] is None:
        return None
    variant = known["rewrites"][made["line"]]["variants"][made["variant"]]
    return {
        "rules": [step["rule"] for step in variant["steps"]],
        "text": made["inserted"],
        "measures": made["measures"],
        "exact": is_exact(made["inserted"], answer["generations"][0]["truth"]),
        "passes": True if made["equal"] else known["said"].get(f"{answer['id']}:rewritten"),
    }
