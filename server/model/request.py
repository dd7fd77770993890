"""What the model's process is asked, and what there is for it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from ...inference.completion.prompt import Surroundings
from ...inference.completion.settings import Settings
from ...inference.completion.task import Kind
from ...inference.model import Generation, StopReason
from ...suggestion.memory.scope import Scope
from ...suggestion.positions import Encoding
from ...suggestion.suggestion import Place

# Where the text came from: what was suggested before, a generation of its own, or one that ran already and still fitted.
Source = Literal["memory", "model", "running"]


@dataclass(frozen=True, slots=True)
class ReadAlong:
    """What a project memory reads at a place, besides the place's own texts.

    scope: what may be read. before, after: the text of the file in front of the prefix and behind the suffix. root: the workspace folder
    that the file is in, empty for none; path: the file's, below that. lines: how many the document has, of a notebook the cell.
    """

    scope: Scope = "off"
    before: str = ""
    after: str = ""
    root: str = ""
    path: str = ""
    lines: int = 0


@dataclass(frozen=True, slots=True)
class GenerationRequest:
    """What an editor asks for at a place, and what the model is asked for it.

    Of the editor
        place: the text around the cursor, and the kind of text that is wanted there.
        root: the workspace folder whose calibrators are used.
        cut: whether the document begins before the place's prefix.
        menu: whether it is for the ordinary list of completions.
        selected: the end of the prefix that is only selected in a menu; a suggestion inserts it as well.
        start, stood: the text that a suggestion replaces: its offset in characters, and what it is. The outcome tracker follows it.

    For the model
        surroundings, settings, max_ms: as `suggestion.complete`.
        memory: what is read beside the model.
        ends_at: when the answer comes too late (time.monotonic); None where that is not known.
        count: how many different generations.
        delay_s: the debounce, in which a later request may supersede this one.
        speculative: nobody has asked for it yet.
    """

    uri: str
    place: Place
    invoked: bool = False
    root: Path | None = None
    cut: bool = False
    menu: bool = False
    selected: str = ""
    start: int = 0
    stood: str = ""
    surroundings: Surroundings = field(default_factory=Surroundings)
    settings: Settings = field(default_factory=Settings)
    memory: ReadAlong = field(default_factory=ReadAlong)
    count: int = 1
    max_ms: float | None = None
    ends_at: float | None = None
    delay_s: float = 0.0
    speculative: bool = False

    @property
    def urgency(self) -> int:
        """The most urgent is worked on first: what somebody asked for, then what comes by itself, then what nobody has asked for yet."""
        return 0 if self.speculative else 2 if self.invoked else 1


@dataclass(frozen=True, slots=True)
class GenerationResult:
    """What there is for a request.

    generations: what is left of them at its place, in their order; empty where there is nothing to add. kind: what was asked for when they
    were made; typed: what has been typed along them since; waited_ms: from the request to the start of the model's work; tokens: that
    were sampled for it; timed_out: the time was over before any of them had a text; drawn: how many were made at the place.
    """

    generations: tuple[Generation, ...]
    kind: Kind
    typed: str = ""
    source: Source = "model"
    waited_ms: float = 0.0
    tokens: int = 0
    timed_out: bool = False
    drawn: int = 1

    @property
    def was_cut_off(self) -> bool:
        """Whether a generation ended because its time was over or nobody wanted it, and not by itself or by a budget."""
        return any(generation.stopped_by in (StopReason.TIME, StopReason.CANCELLED) for generation in self.generations)


@dataclass(frozen=True, slots=True)
class RepairRequest:
    """lines[first:end] of a text are to be repaired, or it is asked how much they surprise.

    text: the document's, unsaved; of a notebook's cell that of all cells of its language. encoding: what the columns of ranges count.
    most: how many repairs are given. max_ms: of the model's work. message: what another tool says is wrong there, empty where none does.
    instruct: the address of an instruct model; empty for the model itself, if it is asked in chat. memory: its scope, root and path; the
    texts that it reads are in `text`.
    """

    text: str
    first: int
    end: int
    language: str
    encoding: Encoding
    most: int
    max_ms: float
    message: str = ""
    instruct: str = ""
    surroundings: Surroundings = field(default_factory=Surroundings)
    settings: Settings = field(default_factory=Settings)
    memory: ReadAlong = field(default_factory=ReadAlong)
