"""Labels of what was rebuilt: by a benchmark's tests, by a project's own, or by how much of an edit's text is there."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, NotRequired, Protocol, TypedDict

from ....analysis.sandbox.isolation.best_level import best_level
from ....analysis.sandbox.isolation.levels import Isolation
from ...errors import StudyError
from ...sets.judging import InSandbox, Text
from ...sets.problem import Problem
from ...sets.suites import Judged, Judging, Suite
from ...study import Step
from .asking import Rebuilt
from .items import Edit, Item, trimmed

# The sandbox ends a program long before; a suite is run several times before it can judge.
MAX_PROGRAM_S, MAX_SUITE_S = 600.0, 1800.0


class Label(TypedDict):
    """What is known of a text. tests_pass: None where the machine failed. bleu, rouge: of an edit, from 0 to 1."""

    id: str
    tests_pass: NotRequired[bool | None]
    why: NotRequired[str]
    bleu: NotRequired[float]
    rouge: NotRequired[float]


LABELS = Step("labels", "text", Label)


def label_id(item: str, text: str) -> str:
    """The id of the label of a text of an item: equal texts have one."""
    return f"{item}:{hashlib.sha256(text.encode(errors='surrogatepass')).hexdigest()[:16]}"


class Labels(Protocol):
    """How a set is labelled. sim: what a round trip is judged by. max_item_s: as the pool's."""

    @property
    def sim(self) -> str:
        """Its name in a label, or "exact"."""
        ...

    @property
    def max_item_s(self) -> float | None:
        """As the pool's."""
        ...

    def unit(self, name: str, item: Item, text: str) -> Any:
        """What a worker gets to label a text."""
        ...

    def __call__(self) -> Callable[[Any], dict[str, Any]]:
        """The worker's function."""
        ...


def to_label(items: Sequence[Item], rebuilt: Sequence[Rebuilt], labels: Labels) -> Iterator[Any]:
    """Each distinct text that was rebuilt, unless it is the code itself."""
    by_id, known = {item.id: item for item in items}, set[str]()
    for record in rebuilt:
        item = by_id[record["id"]]
        for one in record["rebuilt"]:
            if one["text"] is None or one["exact"]:
                continue
            name = label_id(item.id, one["text"])
            if name not in known:
                known.add(name)
                yield labels.unit(name, item, one["text"])


@dataclass(frozen=True, slots=True)
class ByProgram:
    """Labels by a benchmark's tests. problems: by the id of the item."""

    problems: Mapping[str, Problem]
    isolation: Isolation
    sim: str = "tests_pass"
    max_item_s: float | None = MAX_PROGRAM_S

    @classmethod
    def of(cls, problems: Mapping[str, Problem]) -> ByProgram:
        """In the strongest sandbox that this machine has. Raises NoIsolation."""
        return cls(problems, best_level())

    def unit(self, name: str, item: Item, text: str) -> Text:
        """A program. What defines the function anew follows its published head, whose imports it needs."""
        problem = self.problems[item.id]
        assert not isinstance(item, Edit), "a benchmark's problems are code"
        dedented = item.dedented(text)
        whole = re.search(rf"^def {re.escape(str(problem.entry_point))}\s*\(", dedented, re.MULTILINE)
        return Text(name, problem, f"{problem.prompt}\n{dedented}" if whole else f"{item.indentation}{text}")

    def __call__(self) -> Callable[[Text], dict[str, Any]]:
        """The worker's function, with its sandbox."""
        return InSandbox(self.isolation)()


@dataclass(frozen=True, slots=True)
class Region:
    """Where a region stands. file: in the project's folder. text: the file's. start, end: offsets in it. lines: those whose tests judge."""

    suite: Suite
    file: str
    text: str
    start: int
    end: int
    lines: tuple[int, int]


@dataclass(frozen=True, slots=True)
class BySuite:
    """Labels by the projects' own tests: each that touches the region ends as before. regions: by the id of the item."""

    regions: Mapping[str, Region]
    contents: Mapping[str, str]
    sim: str = "tests_pass"
    max_item_s: float | None = MAX_SUITE_S

    def unit(self, name: str, item: Item, text: str) -> Judged:
        """The project's file with the text in the region's place."""
        at = self.regions[item.id]
        return Judged(name, at.suite, at.file, at.text[: at.start] + text + at.text[at.end :], at.lines)

    def __call__(self) -> Callable[[Judged], dict[str, Any]]:
        """The worker's function."""
        return Judging(self.contents)()


@dataclass(frozen=True, slots=True)
class Texts:
    """A text, and what it should be."""

    id: str
    text: str
    wanted: str


@dataclass(frozen=True, slots=True)
class ByOverlap:
    """Labels of edits: BLEU of sacrebleu and the F1 of ROUGE-L of rouge-score, each of the whole new text."""

    sim: str = "exact"
    max_item_s: float | None = None

    @staticmethod
    def require() -> None:
        """Raises StudyError where the libraries are missing."""
        if missing := [name for name in ("sacrebleu", "rouge_score") if find_spec(name) is None]:
            raise StudyError(f"{' and '.join(missing)}, which edits are compared with, is not installed: pip install 'assay[studies]'")

    def unit(self, name: str, item: Item, text: str) -> Texts:
        """Both texts."""
        assert isinstance(item, Edit), "only edits are compared by their texts"
        return Texts(name, trimmed(text), trimmed(item.new))

    def __call__(self) -> Callable[[Texts], dict[str, Any]]:
        """The worker's function."""
        from rouge_score.rouge_scorer import RougeScorer
        from sacrebleu import sentence_bleu

        scorer = RougeScorer(["rougeL"])

        def score(texts: Texts) -> dict[str, Any]:
            rouge = scorer.score(texts.wanted, texts.text)["rougeL"].fmeasure
            return {"id": texts.id, "bleu": sentence_bleu(texts.text, [texts.wanted]).score / 100, "rouge": rouge}

        return score
