"""A line that goes around: described in a comment above it, taken out, and written again below that comment.

The cursors are those of an editor, and what the model writes there is cut as in an editor. The comment is a part of what the model is
shown, never of the file that tests judge.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, TypedDict

from ....analysis.python.lines import Gap
from ....inference.completion.sampling import GREEDY, Sampling
from ....inference.completion.settings import Settings
from ....inference.project_memory.memory import Memory
from ....suggestion.cut.steps import text_to_show
from ...asked_line import OpenModel
from ...calibration.draw import label_id
from ...sets.lines import Place
from ...study import Step
from ...suggested import FileWithGap

# The paper's.
TEMPERATURE = 0.8
MAX_CHARACTERS = 128
REBUILD_TEMPERATURE = 0.1
# One rebuild of the uninformative comment would be noise, where rebuilds are drawn.
MIN_UNINFORMED = 3
UNINFORMED = "TODO: implement."
# Part of a run's question. Raised whenever a description is asked for, or code rebuilt, in another way.
VERSION = 1


class Described(TypedDict):
    """The record of the step describe."""

    id: str
    descriptions: list[str]


class Rebuilt(TypedDict):
    """One line below a comment. inserted: what the editor would insert of the text; None where it would hide it. equal: to the code."""

    text: str
    inserted: str | None
    equal: bool


class Trip(TypedDict):
    """What a comment led to. logprob: of the code, below this comment; None where the model can't tell it."""

    comment: str
    logprob: float | None
    rebuilt: list[Rebuilt]


class RoundTrips(TypedDict):
    """The record of the step rebuild. trips: of each description. uninformed: of a comment that says nothing of the code."""

    id: str
    trips: list[Trip]
    uninformed: Trip


DESCRIBE = Step("describe", "line", Described)
REBUILD = Step("rebuild", "described line", RoundTrips)


@dataclass(frozen=True, slots=True)
class Code:
    """A line at a place: its own, or one that a model suggested there. descriptions: where it has some."""

    place: Place
    text: str
    descriptions: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """The same as of its label."""
        return label_id(self.place.id, "line", self.text)

    def to_describe(self, settings: Settings) -> FileWithGap:
        """The file with the cursor in an empty comment above the code."""
        gap, indentation = self._gap, self._indentation
        before = self.place.text[: gap.start] + "# "
        text = f"{before}\n{indentation}{self.text}{self.place.text[gap.end :]}"
        return FileWithGap(text, Gap(len(before), len(before)), "line_rest", settings)

    def to_rebuild(self, comment: str, settings: Settings) -> FileWithGap:
        """The file with a comment, and below it the code as the gap."""
        gap = self._gap
        before = f"{self.place.text[: gap.start]}{f'# {comment}'.rstrip()}\n{self._indentation}"
        return FileWithGap(
            before + self.text + self.place.text[gap.end :], Gap(len(before), len(before) + len(self.text)), "line", settings
        )

    @property
    def _gap(self) -> Gap:
        return dict(self.place.gaps)["line"]

    @property
    def _indentation(self) -> str:
        before = self.place.text[: self._gap.start]
        return before[before.rfind("\n") + 1 :]


@dataclass(frozen=True, slots=True)
class Draws:
    """How many descriptions are drawn of each code, how often it is rebuilt from each, and the seed of both."""

    forward: int = 3
    backward: int = 1
    seed: int = 0

    @property
    def rebuilding(self) -> Sampling:
        """How a rebuild's tokens are chosen: several at temperature 0 would be one text."""
        return GREEDY if self.backward == 1 else Sampling(REBUILD_TEMPERATURE, seed=self.seed)

    @property
    def uninformed(self) -> int:
        """Rebuilds below the comment that says nothing."""
        return 1 if self.backward == 1 else max(MIN_UNINFORMED, self.backward)

    @property
    def question(self) -> dict[str, str | int]:
        """Their part of a run's question."""
        describing = Sampling(TEMPERATURE).decoding
        return {
            "forward": self.forward,
            "backward": self.backward,
            "describing": f"{describing}, at most {MAX_CHARACTERS} characters, version {VERSION}",
            "rebuilding": f"{self.rebuilding.decoding}, beside {UNINFORMED!r}",
        }


def logprob(asked: OpenModel[Draws], shown: FileWithGap, memory: Memory | None) -> float | None:
    """The log-probability of what is in the gap, with that of its end. None where the model can't tell it."""
    given = asked.given(shown, memory)
    total = math.nan if given is None else math.fsum(token.logprob for token in given.tokens)
    return total if math.isfinite(total) else None


def describe(asked: OpenModel[Draws], code: Code) -> dict[str, Any]:
    """Descriptions of a code: comments that the model writes above it."""
    draws = asked.asking.wanted
    shown = code.to_describe(asked.asking.model.settings)
    made = asked.written(shown, asked.memory_at(shown, code.place), draws.forward, Sampling(TEMPERATURE, seed=draws.seed))
    return {"descriptions": [description_of(one.text) for one in made]}


def rebuild(asked: OpenModel[Draws], code: Code) -> dict[str, Any]:
    """The code, rebuilt below each of its descriptions, and below a comment that says nothing of it."""
    draws = asked.asking.wanted
    known = {comment: _trip(asked, code, comment, draws.backward) for comment in dict.fromkeys(code.descriptions)}
    return {"trips": [known[comment] for comment in code.descriptions], "uninformed": _trip(asked, code, UNINFORMED, draws.uninformed)}


def _trip(asked: OpenModel[Draws], code: Code, comment: str, count: int) -> Trip:
    shown = code.to_rebuild(comment, asked.asking.model.settings)
    memory = asked.memory_at(shown, code.place)
    rebuilt: list[Rebuilt] = []
    for one in asked.written(shown, memory, count, asked.asking.wanted.rebuilding):
        inserted = text_to_show(one.text, shown.cursor)
        rebuilt.append({"text": one.text, "inserted": inserted, "equal": shown.is_exact(inserted)})
    return {"comment": comment, "logprob": logprob(asked, shown, memory), "rebuilt": rebuilt}


def description_of(text: str) -> str:
    """What is taken of a comment that a model wrote."""
    return text.strip()[:MAX_CHARACTERS].rstrip()
