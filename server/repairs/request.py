"""One request for repairs of some lines of a document, as the model's process is asked it."""

from __future__ import annotations

from dataclasses import dataclass, field

from ...inference.completion.prompt import Surroundings
from ...inference.completion.settings import Settings
from ...suggestion.positions import Encoding
from ..requests.request import ReadAlong


@dataclass(frozen=True, slots=True)
class RepairRequest:
    """lines[first:end] of a text are to be repaired, or it is asked how much they surprise.

    text: the document's, unsaved; of a notebook's cell that of all cells of its language. encoding: what the columns of ranges count.
    most: how many repairs are given. max_ms: of the model's work. message: what another tool says is wrong there, empty where none does.
    instruct: the address of an instruct model, empty for none. memory: its scope, root and path; the texts that it reads are in `text`.
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
