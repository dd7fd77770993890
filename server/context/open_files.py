"""Pieces of the other open files that are most like the text around the cursor, for a model to see in front of the file itself.

Windows of whole lines are compared by the words they share (Jaccard's coefficient), as Copilot does with neighbouring tabs
(https://github.com/microsoft/vscode-copilot-chat, FixedWindowSizeJaccardMatcher) and Cody with open editors
(https://github.com/sourcegraph/cody, retrievers/jaccard-similarity). The least likeness is enough: GitHub found a poor match to be better
than none (https://github.blog/2023-05-17-how-github-copilot-is-getting-better-at-understanding-your-code/).
"""

from __future__ import annotations

import io
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count, islice

from .secrets import is_secret_path

# A screenful: about 900 characters of code, so that a budget of a few hundred tokens holds pieces of more than one file.
_LINES = 24
# Each line is in two windows, so that whatever stands together is in one.
_STEP = _LINES // 2
# Lines between the places where a cursor makes us choose anew: a model reads on from its cache as long as what stands in front is the same.
REGION_LINES = 16
# Of a longer file the rest is not to be looked at: some 10,000 lines of code.
MAX_CHARACTERS = 400_000
# What is longer is no code that people write, and takes long to look at.
_LONGEST = 8_000
# Files looked at, the first by path: each costs a comparison for each of its windows.
_MAX_FILES = 20
# A word; what is shorter (i, x, if) is in every file.
_WORD = re.compile(r"[^\W\d]\w{2,}")
# Words are compared as bits of one number, each at a place by its checksum: half a microsecond for two windows. Of 80 words in a window
# one or two share their bit with another.
_BITS = 2048
# The windows that are tried, the most alike first: more than any budget holds.
_TRIED = 64
# Languages whose files use one another.
_FAMILIES = (
    frozenset({"javascript", "javascriptreact", "typescript", "typescriptreact", "vue", "svelte"}),
    frozenset({"c", "cpp", "objective-c", "objective-cpp", "cuda-cpp"}),
    frozenset({"java", "kotlin", "scala", "groovy"}),
)


@dataclass(frozen=True, slots=True)
class OpenText:
    """An open document. path: as a model is told it, relative to its workspace; root: the workspace folder that it is in, None for none.

    read: gives its text as it is in this version, or the first `MAX_CHARACTERS` of it; asked for only when the version was not
    seen before.
    """

    uri: str
    path: str
    root: str | None
    language: str
    version: int
    read: Callable[[], str]


@dataclass(frozen=True, slots=True)
class Cursor:
    """Where a suggestion is asked for. around: the text there, some dozen lines before and behind; line: the cursor's, from 0."""

    document: OpenText
    line: int
    around: str


@dataclass(frozen=True, slots=True)
class Window:
    """Some lines of a file, the words in them (`words_of`), and how many those are. first_line counts from 0."""

    path: str
    first_line: int
    text: str
    words: int
    size: int


@dataclass(frozen=True, slots=True)
class Snippet:
    """A piece of another file. first_line counts from 0; similarity is from 0 to 1, to the text around the cursor."""

    path: str
    first_line: int
    text: str
    similarity: float


def windows_of(path: str, text: str) -> Iterator[Window]:
    """A file's windows, in order; each is made when it is asked for, in about 0.1 ms. None has more than 8,000 characters."""
    coming, lines = io.StringIO(text, newline=""), list[str]()
    for first in count(0, _STEP):
        lines = [*lines[_STEP:], *islice(coming, _LINES if first == 0 else _STEP)]
        if first > 0 and len(lines) <= _STEP:
            return
        piece = "".join(lines)
        if len(piece) <= _LONGEST and (words := words_of(piece)):
            yield Window(path, first, piece, words, words.bit_count())


def words_of(text: str) -> int:
    """The names and words of a text, as a set of bits."""
    words = 0
    for word in set(_WORD.findall(text)):
        words |= 1 << zlib.crc32(word.encode("utf-8", "replace")) % _BITS
    return words


def may_be_shown(here: OpenText, other: OpenText) -> bool:
    """Whether a model that completes `here` may see `other`: another file of its workspace and language, no secret."""
    in_workspace = other.uri != here.uri and other.root is not None and other.root == here.root
    return in_workspace and not is_secret_path(other.path) and _related(here.language, other.language)


def chosen(words: int, windows: Sequence[Window], budget_characters: int) -> tuple[Snippet, ...]:
    """The windows most like these words that the budget holds and that share no lines, by path and line.

    The order says nothing of likeness, so that a piece that comes or goes leaves those in front of it where they were.
    """
    if not words:
        return ()
    size = words.bit_count()
    shared = [(words & window.words).bit_count() for window in windows]
    similarities = [both / (size + window.size - both) for both, window in zip(shared, windows, strict=True)]
    taken: list[tuple[float, Window]] = []
    for index in sorted(range(len(windows)), key=similarities.__getitem__, reverse=True)[:_TRIED]:
        window, similarity = windows[index], similarities[index]
        if similarity == 0:
            break
        if len(window.text) <= budget_characters and not any(_overlap(window, other) for _, other in taken):
            taken.append((similarity, window))
            budget_characters -= len(window.text)
    taken.sort(key=lambda found: (found[1].path, found[1].first_line))
    return tuple(Snippet(window.path, window.first_line, window.text, similarity) for similarity, window in taken)


class OpenFiles:
    """The windows of the open files, kept for each version of each; cheap at each key, for what is dear is done in steps by `index`."""

    def __init__(self) -> None:
        self._indexed: dict[str, tuple[int, tuple[Window, ...]]] = {}
        self._indexing: tuple[OpenText, Iterator[Window], list[Window]] | None = None
        self._last: tuple[tuple[object, ...], tuple[Snippet, ...]] | None = None

    def index(self, here: OpenText, others: Sequence[OpenText]) -> bool:
        """Look at one more window of a file that may be shown beside `here`; false where nothing is left to do. At most 1 ms.

        To be called again and again while nobody waits. What is not indexed yet is not chosen from; of a file that has changed since,
        `snippets` takes what it was.
        """
        left = next((other for other in _candidates(here, others) if self._version(other) != other.version), None)
        if left is None:
            self._indexing = None
            return False
        if self._indexing is None or (self._indexing[0].uri, self._indexing[0].version) != (left.uri, left.version):
            self._indexing = (left, windows_of(left.path, left.read()), [])
        _, coming, found = self._indexing
        if (window := next(coming, None)) is not None:
            found.append(window)
        else:
            self._indexed[left.uri] = (left.version, tuple(found))
            self._indexing = None
        return True

    def snippets(self, cursor: Cursor, others: Sequence[OpenText], budget_characters: int) -> tuple[Snippet, ...]:
        """What is `chosen` for the place; the same as before while the cursor stays in its region and the files stay what they are."""
        if budget_characters < 1:
            return ()
        here = cursor.document
        seen = [other for other in _candidates(here, others) if other.uri in self._indexed]
        key = (here.uri, cursor.line // REGION_LINES, budget_characters, *((other.uri, self._version(other)) for other in seen))
        if self._last is None or self._last[0] != key:
            windows = [window for other in seen for window in self._indexed[other.uri][1]]
            self._last = (key, chosen(words_of(cursor.around), windows, budget_characters))
        return self._last[1]

    def forget(self, uri: str) -> None:
        """The editor closed a document."""
        self._indexed.pop(uri, None)

    def _version(self, other: OpenText) -> int | None:
        return self._indexed[other.uri][0] if other.uri in self._indexed else None


def _candidates(here: OpenText, others: Sequence[OpenText]) -> list[OpenText]:
    return sorted((other for other in others if may_be_shown(here, other)), key=lambda other: other.path)[:_MAX_FILES]


def _related(one: str, other: str) -> bool:
    return one == other or any(one in family and other in family for family in _FAMILIES)


def _overlap(one: Window, other: Window) -> bool:
    return one.path == other.path and abs(one.first_line - other.first_line) < _LINES
