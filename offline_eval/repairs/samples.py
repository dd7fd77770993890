"""Repairs as the driver makes samples of them: each of the first `RANKS` of a line that has a score."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...suggestion.repair.confidence import TASK
from ...suggestion.repair.localisation import TASK as FAULT
from .candidates import Candidate, of

# What calibrators of these samples are fitted to, by task. Of 20 projects each can be held out only for 18 measures or fewer.
FEATURES: Mapping[str, tuple[str, ...]] = {
    TASK: (
        "agreement", "logprob_gain", "edit_size", "rank", "old_logprob", "source_agreement", "draw_agreement", "by_rule", "surprise",
        "line_surprise", "mean_logprob", "min_logprob",
    ),
    FAULT: ("ochiai", "line_surprise", "spectrum_rank", "surprise_rank"),
}  # fmt: skip


def answer_of(
    name: str, about: dict[str, Any], made: Mapping[str, Any], labels: Mapping[str, Any] | None, *, arm: str = ""
) -> dict[str, Any]:
    """The repairs of a line with their labels.

    about: project, file and so on. labels: by the text's id; None where there are no tests. arm: of a control.

    A repair without a score has no number in the editor, and is no sample.
    """
    found = [_generation(name, each, labels) for each in of("both", made["candidates"]) if "logprob_gain" in each["measures"]]
    return {**about, "id": name, "generations": [{**each, "arm": arm} for each in found] if arm else found}


def sample_id(name: str, candidate: Candidate) -> str:
    """LINE:RANK."""
    return f"{name}:{candidate['measures']['rank']:.0f}"


def passes(candidate: Candidate, labels: Mapping[str, Any] | None) -> bool | None:
    """Whether a candidate passes the tests; None where that is unknown. labels: by the text's id; None where there are no tests."""
    if labels is None:
        return None
    if candidate["exact"]:
        return True
    label = labels.get(candidate["text_id"])
    return None if label is None else label["tests_pass"]


def _generation(name: str, each: Candidate, labels: Mapping[str, Any] | None) -> dict[str, Any]:
    return {
        "id": sample_id(name, each),
        "task": TASK,
        "text": each["text"],
        "inserted": each["text"],
        "measures": each["measures"],
        "labels": {"exact_match": each["exact"], "tests_pass": passes(each, labels)},
        "sources": each["sources"],
        "rank": int(each["measures"]["rank"]),
    }
