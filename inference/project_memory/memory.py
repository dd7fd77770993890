"""What a memory is asked for at a cursor, and what it says afterwards of where a text was seen before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .lookup import Lookup
from .open_file import OpenFile
from .project import Project
from .reader import TAIL, Reader
from .spelling import Spelling, Vocabulary
from .weights import Extent, Gains, Weights
from .words import split

# Open files of which the words are kept.
_MAX_OPEN_FILES = 8
# Of the text behind the cursor's line so many characters are looked at.
_NEXT_LINE = 400


@dataclass(frozen=True)
class Memory:
    """The memory at one cursor; it never changes, and readers of several generations share it.

    Attributes
        scope: what it holds: the open file, or the project with it.
        fingerprint: of the weights, whatever the scope: a probability is as true of a file alone as of a whole project, as measured in
            docs/calibration.md.
    """

    scope: Extent
    fingerprint: str
    _before: str
    _lookups: tuple[Lookup, ...]
    _spelling: Spelling
    _gains: Gains

    def reader(self, held: str) -> Reader:
        """A reader for one generation. held: what the prompt holds back of the text before the cursor."""
        return Reader(self._lookups, self._spelling, self._gains, self._before.removesuffix(held), held)


class ProjectMemory:
    """Makes the memory of each request. For one thread; what it makes is for all.

    Parameters
        weights: those for the model whose vocabulary it is.

    Attributes
        spelling: of the vocabulary.
        project: the other files; None while there are none, or where they are too many.
    """

    def __init__(self, vocabulary: Vocabulary, weights: Weights) -> None:
        self.project: Project | None = None
        self.spelling = Spelling(vocabulary)
        self._weights, self._version = weights, weights.version
        self._open: dict[str, OpenFile] = {}

    def at(self, before: str, after: str, path: str = "", scope: Extent = "project") -> Memory:
        r"""The memory at a cursor: what stands before and behind it in the open file. Lines end with `\n`."""
        project = self.project if scope == "project" else None
        next_words = _first_words(after)
        opened = self._open.pop(path, None) or OpenFile()
        self._open[path] = opened
        while len(self._open) > _MAX_OPEN_FILES:
            del self._open[next(iter(self._open))]
        lookups = [Lookup(opened.index(before, after), self.spelling, next_words, first_lines=(-before.count("\n"), 0))]
        scope = "file"
        if project is not None and (others := project.others(path, before + after)).any():
            lookups.append(Lookup(project.index, self.spelling, next_words, allowed=others, paths=project.paths))
            scope = "project"
        gains = self._weights.gains[scope]
        return Memory(scope, self._version, before[-2 * TAIL :], tuple(lookups), self.spelling, gains)

    def forget(self) -> None:
        """Drop the words of the files that were open. What is then made of a text depends on nothing asked before, to the last digit."""
        self._open.clear()


def _first_words(after: str) -> Sequence[str]:
    """The words of the first line behind the cursor's that is not blank."""
    _, _, behind = after.partition("\n")
    line, _, _ = behind[:_NEXT_LINE].strip().partition("\n")
    return split(line)
