"""Chooses pieces of other open files that are similar to the text around the cursor. The model sees them before the file itself.

Windows of whole lines are compared by the words they share (Jaccard's coefficient), as Copilot does with neighbouring tabs
(https://github.com/microsoft/vscode-copilot-chat, FixedWindowSizeJaccardMatcher) and Cody with open editors
(https://github.com/sourcegraph/cody, retrievers/jaccard-similarity). Any similarity is enough: GitHub found a poor match to be better
than none (https://github.blog/2023-05-17-how-github-copilot-is-getting-better-at-understanding-your-code/).
"""

from __future__ import annotations

import asyncio
import io
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count, islice

from ...suggestion.secrets import is_secret_path
from .documents import Document, Documents
from .workspace import Roots, path_of, root_of

# A screenful: about 900 characters of code. A budget of a few hundred tokens then has room for pieces of several files.
_LINES = 24
# Windows overlap by half, so that lines that belong together are in one window.
_STEP = _LINES // 2
# The pieces are chosen again when the cursor moves to another region of so many lines. Until then the prompt begins the same, so the
# model can reuse its cache.
REGION_LINES = 16
# The rest of a longer file is ignored. This is about 10,000 lines of code.
MAX_CHARACTERS = 400_000
# A longer window is not code that people write, and would take long to compare.
_MAX_WINDOW = 8_000
# How many files are searched, in the order of their paths: each costs a comparison for each of its windows.
_MAX_FILES = 20
# A word. Shorter ones (i, x, if) are in every file.
_WORD = re.compile(r"[^\W\d]\w{2,}")
# A set of words is one number, with a bit for each word by its checksum: comparing two windows takes half a microsecond. Of the 80 words of
# a window, one or two share a bit with another.
_BITS = 2048
# How many of the most similar windows are tried: more than fit into any budget.
_MAX_TRIED = 64
# Languages whose files are used together.
_FAMILIES = (
    frozenset({"javascript", "javascriptreact", "typescript", "typescriptreact", "vue", "svelte"}),
    frozenset({"c", "cpp", "objective-c", "objective-cpp", "cuda-cpp"}),
    frozenset({"java", "kotlin", "scala", "groovy"}),
)


@dataclass(frozen=True, slots=True)
class OpenText:
    """An open document.

    path: as the model sees it, relative to the workspace folder. root: the workspace folder, None for none.
    read: gives the text of this version, or the first `MAX_CHARACTERS` of it. It is called once for each version at most.
    """

    uri: str
    path: str
    root: str | None
    language: str
    version: int
    read: Callable[[], str]


@dataclass(frozen=True, slots=True)
class Window:
    """Some lines of a file. words: the set of words in them (`words_of`). size: how many words. first_line: from 0."""

    path: str
    first_line: int
    text: str
    words: int
    size: int


def windows_of(path: str, text: str) -> Iterator[Window]:
    """The windows of a file in order, made one by one in about 0.1 ms each. None has more than 8,000 characters."""
    coming, lines = io.StringIO(text, newline=""), list[str]()
    for first in count(0, _STEP):
        lines = [*lines[_STEP:], *islice(coming, _LINES if first == 0 else _STEP)]
        if first > 0 and len(lines) <= _STEP:
            return
        piece = "".join(lines)
        if len(piece) <= _MAX_WINDOW and (words := words_of(piece)):
            yield Window(path, first, piece, words, words.bit_count())


def words_of(text: str) -> int:
    """The names and words of a text, as a set of bits."""
    words = 0
    for word in set(_WORD.findall(text)):
        words |= 1 << zlib.crc32(word.encode("utf-8", "replace")) % _BITS
    return words


def may_be_shown(here: OpenText, other: OpenText) -> bool:
    """Whether a model that completes `here` may see `other`: another file of the same workspace and language that is no secret."""
    in_workspace = other.uri != here.uri and other.root is not None and other.root == here.root
    return in_workspace and not is_secret_path(other.path) and _related(here.language, other.language)


def chosen(words: int, windows: Sequence[Window], budget_characters: int) -> tuple[Window, ...]:
    """The most similar windows that fit into the budget and don't overlap, sorted by path and line.

    They are not sorted by similarity: then a piece that comes or goes would move the others in the prompt.
    """
    if not words:
        return ()
    size = words.bit_count()
    shared = [(words & window.words).bit_count() for window in windows]
    similarities = [both / (size + window.size - both) for both, window in zip(shared, windows, strict=True)]
    taken: list[Window] = []
    for index in sorted(range(len(windows)), key=similarities.__getitem__, reverse=True)[:_MAX_TRIED]:
        window = windows[index]
        if similarities[index] == 0:
            break
        if len(window.text) <= budget_characters and not any(_overlap(window, other) for other in taken):
            taken.append(window)
            budget_characters -= len(window.text)
    return tuple(sorted(taken, key=lambda found: (found.path, found.first_line)))


class OpenFiles:
    """The windows of the open files, cached by version. `index` makes them in small steps, so that a keystroke costs little."""

    def __init__(self) -> None:
        self._indexed: dict[str, tuple[int, tuple[Window, ...]]] = {}
        self._indexing: tuple[OpenText, Iterator[Window], list[Window]] | None = None
        self._last: tuple[tuple[object, ...], tuple[Window, ...]] | None = None

    def index(self, here: OpenText, others: Sequence[OpenText]) -> bool:
        """Make one more window of a file that may be shown beside `here`. Returns false if nothing is left to do. Takes at most 1 ms.

        Call it repeatedly while the server is idle. `pieces` uses only what is indexed; a changed file counts as it was.
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

    def pieces(self, here: OpenText, line: int, around: str, others: Sequence[OpenText], budget_characters: int) -> tuple[Window, ...]:
        """The pieces for a line (from 0) of a document, and some dozen lines around it.

        They stay the same while the cursor stays in its region and no file is changed.
        """
        if budget_characters < 1:
            return ()
        seen = [other for other in _candidates(here, others) if other.uri in self._indexed]
        key = (here.uri, line // REGION_LINES, budget_characters, *((other.uri, self._version(other)) for other in seen))
        if self._last is None or self._last[0] != key:
            windows = [window for other in seen for window in self._indexed[other.uri][1]]
            self._last = (key, chosen(words_of(around), windows, budget_characters))
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


# The pause between two steps of at most 1 ms, so that messages are handled first.
_STEP_S = 0.01
# How many characters around the cursor are compared with other files: some dozen lines.
_AROUND = 1_500


class OtherFiles:
    """Finds pieces of the open documents of one editor, in small steps while the server is idle."""

    def __init__(self, documents: Documents, roots: Callable[[], Roots]) -> None:
        self._documents = documents
        self._roots = roots
        self._files = OpenFiles()
        self._timer: asyncio.TimerHandle | None = None

    def path(self, document: Document) -> str:
        """The path that the model sees: relative to the workspace folder, or only the name. Empty if the document is no file."""
        path, root = path_of(document.uri), root_of(document.uri, self._roots())
        if path is None:
            return ""
        return path.relative_to(root).as_posix() if root is not None else path.name

    def pieces(self, document: Document, line: int, prefix: str, suffix: str, budget_characters: int) -> tuple[tuple[str, str], ...]:
        """The pieces of other open documents that are most similar to the text around the cursor, as (path, text)."""
        here, others = self._text(document), [self._text(other) for other in self._documents]
        around = prefix[-_AROUND:] + suffix[: _AROUND // 3]
        found = self._files.pieces(here, line, around, others, budget_characters)
        self._index_later(here)
        return tuple((piece.path, piece.text) for piece in found)

    def forget(self, uri: str) -> None:
        """The editor closed a document."""
        self._files.forget(uri)

    def close(self) -> None:
        """Stop the search."""
        if self._timer is not None:
            self._timer.cancel()

    def _text(self, document: Document) -> OpenText:
        root = root_of(document.uri, self._roots())
        return OpenText(
            document.uri,
            self.path(document),
            None if root is None else str(root),
            document.language,
            document.version,
            lambda: document.head(MAX_CHARACTERS),
        )

    def _index_later(self, here: OpenText) -> None:
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_STEP_S, self._index, here)

    def _index(self, here: OpenText) -> None:
        self._timer = None
        if self._files.index(here, [self._text(other) for other in self._documents]):
            self._index_later(here)
