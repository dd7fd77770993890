"""What a file of recorded answers holds, whatever its format."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Literal, get_args

import msgspec

from ...calibration.measures.registry import measures_of
from ...inference.model import Generation, StopReason, Timings, Token
from ..errors import UsageError

Step = Literal["draw", "test", "judge", "execute", "repair", "describe", "rebuild", "pair", "translate"]
STEPS: tuple[Step, ...] = get_args(Step)
Form = Literal["answer", "program", "completion"]
Fact = bool | int | float | str | None
Key = tuple[str, str, int]


class RecordedError(UsageError):
    """A file of recorded answers can't be read. The message says file, line and reason."""

    def __init__(self, path: Path, line: int | None, reason: str) -> None:
        super().__init__(f"{path}:{line}: {reason}" if line else f"{path}: {reason}")


# gc=False: a frozen answer of texts, numbers and dicts of them is in no reference cycle, and each collection would visit all of them.
class RecordedAnswer(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """One answer of a model.

    item: what was asked about, by the set's own name, such as `HumanEval/0`; not empty.
    index: its number, from 0. `item`, `step` and `index` together are used once.
    text: as it came. logprobs: of its tokens, in nats, none above 0. stopped_by: why the model ended, in its server's words.
    score: a confidence that the answer tells, on the scale of the file.
    form: of a draw. A `program` is run as it is, a `completion` behind the problem's prompt; an `answer` as far as it answers the problem.
    labels: by event what is published of the text, or of the judged text. facts: what else is published. Neither is ever a measure.
    """

    item: Annotated[str, msgspec.Meta(min_length=1)]
    step: Step
    index: Annotated[int, msgspec.Meta(ge=0)]
    text: str
    logprobs: tuple[Annotated[float, msgspec.Meta(ge=-1e9, le=0)], ...] | None = None
    stopped_by: str = ""
    score: float | None = None
    labels: dict[Literal["exact_match", "tests_pass", "kept"], bool | None] = {}
    facts: dict[str, Fact] = {}
    form: Form = "answer"

    @property
    def measures(self) -> dict[str, float]:
        """The measures of its log-probabilities, as of a text that Assay made; none where it has no log-probabilities."""
        if not self.logprobs:
            return {}
        tokens = tuple(Token(-1, b"", logprob, None, None) for logprob in self.logprobs)
        return measures_of(Generation(self.text, tokens, StopReason.END, Timings(0.0, 0.0, 0, 0)))

    @property
    def key(self) -> Key:
        """By what it is looked up."""
        return self.item, self.step, self.index


@dataclass(frozen=True)
class Recorded:
    """A file of recorded answers.

    name: of the set, for people. model: who answered. source, licence: where it is from; "" where nothing tells.
    scale: the lowest and the highest score that an answer can have. failed: requests that got no answer. unusable: answers whose
    log-probabilities can't be used.
    """

    name: str
    model: str
    source: str
    licence: str
    answers: Mapping[Key, RecordedAnswer]
    scale: tuple[float, float] = (0.0, 1.0)
    failed: int = 0
    unusable: int = 0

    def measures_of(self, answer: RecordedAnswer) -> dict[str, float]:
        """The measures of an answer: of its log-probabilities, and its score as verbalised confidence; those that it has."""
        score = self.confidence(answer)
        return answer.measures if score is None else {**answer.measures, "verbalised": score}

    def of(self, item: str, step: Step) -> list[RecordedAnswer]:
        """The answers to one question, by index."""
        return self._by_question.get((item, step), [])

    @cached_property
    def _by_question(self) -> dict[tuple[str, Step], list[RecordedAnswer]]:
        found: dict[tuple[str, Step], list[RecordedAnswer]] = {}
        for answer in sorted(self.answers.values(), key=lambda answer: answer.index):
            found.setdefault((answer.item, answer.step), []).append(answer)
        return found

    def items(self) -> list[str]:
        """What was asked about, in the order of the file."""
        return list(dict.fromkeys(item for item, _, _ in self.answers))

    def confidence(self, answer: RecordedAnswer) -> float | None:
        """The score of an answer on a scale from 0 to 1; None where it has none."""
        low, high = self.scale
        return None if answer.score is None else (answer.score - low) / (high - low)
