"""The texts of a run as the page reads them: each with its class, what the tests said, and what the model thinks of it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..classes import Class, Outcomes, class_of
from .draw import MEASURE, gap_id
from .label import ChangedTest, known_at_gap, outcomes

BY = "project"


@dataclass(frozen=True, slots=True)
class Text:
    """A text at a gap that the editor would show.

    stream: of drawn ones; empty for the suggestion that is shown. head, truth: what stands before it of its line's code, and what stood in
    its place. agreement: the share of the gap's draws that are this text. changed: the tests that changed, each with its reason.
    """

    id: str
    gap: str
    task: str
    project: str
    stream: str
    text_id: str
    head: str
    inserted: str
    truth: str
    outcomes: Outcomes
    measures: Mapping[str, float]
    agreement: float
    changed: Sequence[ChangedTest]

    @property
    def kind(self) -> Class | None:
        """Its class; None where the tests did not tell."""
        return class_of(self.outcomes)

    @property
    def p_tot(self) -> float:
        """The model's own probability of it."""
        return math.exp(self.measures.get("total_logprob", math.nan))

    @property
    def asked(self) -> float:
        """The log odds of right, as the model says when asked; nan where it was not."""
        return self.measures.get(MEASURE, math.nan)


@dataclass(frozen=True, slots=True)
class Gap:
    """A gap. pass_rate: pass@1, the share of its draws that pass, as far as labels tell. repairs: the share of passing repairs of each of
    its counterfeits that were repaired.
    """

    id: str
    task: str
    project: str
    pass_rate: float | None
    repairs: Sequence[float]

    @property
    def repair_rate(self) -> float | None:
        """The mean over its counterfeits."""
        return sum(self.repairs) / len(self.repairs) if self.repairs else None


def texts_of(answers: Sequence[Any]) -> list[Text]:
    """The texts of `label.labelled`."""
    return [text for answer in answers for text in _of_place(answer)]


def _of_place(answer: Mapping[str, Any]) -> Iterator[Text]:
    draws = Counter[str](one["task"] for one in answer["generations"] if "stream" in one)
    same = Counter[tuple[str, str]]((one["task"], one["text_id"]) for one in answer["generations"] if "stream" in one)
    for one in answer["generations"]:
        if one["text_id"] is None:
            continue
        task, tested = one["task"], one.get("tested")
        yield Text(
            one["id"],
            gap_id(answer["id"], task),
            task,
            answer["project"],
            one.get("stream", ""),
            one["text_id"],
            one["head"],
            one["inserted"],
            one["truth"],
            outcomes(one),
            one["measures"],
            same[task, one["text_id"]] / draws[task] if draws[task] else math.nan,
            tested["changed"] if tested else (),
        )


def distinct(texts: Sequence[Text]) -> list[Text]:
    """Each text of a gap once: the first, which is the one that is shown where that is among them."""
    found: dict[tuple[str, str], Text] = {}
    for text in texts:
        found.setdefault((text.gap, text.text_id), text)
    return list(found.values())


def gaps_of(answers: Sequence[Any]) -> list[Gap]:
    """The gaps of `label.labelled`."""
    found = []
    for answer in answers:
        for task in dict.fromkeys(one["task"] for one in answer["generations"]):
            known, repairs = known_at_gap(answer, task)
            rate = sum(known) / len(known) if known else None
            found.append(Gap(gap_id(answer["id"], task), task, answer["project"], rate, repairs))
    return found
