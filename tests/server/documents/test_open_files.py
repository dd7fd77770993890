from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.server.documents.open_files import REGION_LINES, OpenFiles, OpenText, Window, chosen, windows_of, words_of

SHAPES = "class Circle:\n    def area(self, radius):\n        return PI * radius ** 2\n\n\n"
SERVER = "def listen(socket, address):\n    socket.bind(address)\n    socket.accept()\n\n\n"
LINES = st.lists(st.sampled_from(["alpha beta", "gamma", "", "    delta alpha", "epsilon zeta eta", "é ü"]), max_size=120).map("\n".join)


def opened(path: str, text: str, **others: object) -> OpenText:
    document = OpenText(f"file:///w/{path}", path, "file:///w", "python", 1, lambda: text)
    return replace(document, **others)  # type: ignore[arg-type]


def indexed(here: OpenText, *others: OpenText) -> OpenFiles:
    files = OpenFiles()
    while files.index(here, others):
        pass
    return files


def ask(here: OpenText, around: str, *others: OpenText) -> list[str]:
    files = indexed(here, *others)
    return [piece.path for piece in files.pieces(here, 0, around, others, 2000)]


HERE = opened("here.py", "")
FILLER = "".join(f"value_{number} = other_{number}\n" for number in range(40))


def test_the_piece_most_like_the_text_around_the_cursor_is_chosen() -> None:
    shapes, server = opened("shapes.py", FILLER + SHAPES + FILLER), opened("server.py", FILLER + SERVER + FILLER)
    (one,) = indexed(HERE, shapes, server).pieces(HERE, 3, "def area(radius):\n    return PI", [shapes, server], 700)
    assert one.path == "shapes.py"
    assert "return PI * radius" in one.text
    assert one.text in shapes.read()
    assert shapes.read().split("\n")[one.first_line] == one.text.split("\n")[0]


@pytest.mark.parametrize(
    "other",
    [
        opened("here.py", SHAPES),
        opened("a.py", SHAPES, root="file:///elsewhere"),
        opened("a.py", SHAPES, root=None),
        opened("a.js", SHAPES, language="javascript"),
        opened("secrets.py", SHAPES),
        opened(".env", SHAPES),
    ],
    ids=["itself", "another workspace", "no workspace", "another language", "secrets", "environment"],
)
def test_a_model_never_sees(other: OpenText) -> None:
    assert ask(HERE, SHAPES, other) == []
    assert ask(HERE, SHAPES, opened("a.py", SHAPES)) == ["a.py"]


def test_languages_that_use_one_another_are_shown_to_each_other() -> None:
    here = replace(HERE, language="typescriptreact")
    assert ask(here, SHAPES, opened("a.ts", SHAPES, language="typescript"), opened("b.py", SHAPES)) == ["a.ts"]


def test_the_choice_stays_while_the_cursor_is_in_its_region() -> None:
    shapes, server = opened("shapes.py", SHAPES), opened("server.py", SERVER)
    files = indexed(HERE, shapes, server)

    def at(line: int, around: str) -> tuple[Window, ...]:
        return files.pieces(HERE, line, around, [shapes, server], len(SHAPES))

    before = at(0, SHAPES)
    assert [piece.path for piece in before] == ["shapes.py"]
    assert at(REGION_LINES - 1, SERVER) is before
    assert [piece.path for piece in at(REGION_LINES, SERVER)] == ["server.py"]


def test_a_file_that_changed_is_read_again_and_others_are_not() -> None:
    asked: list[str] = []

    def telling(name: str, text: str) -> Callable[[], str]:
        return lambda: asked.append(name) or text  # type: ignore[func-returns-value]

    one, two = opened("one.py", "", read=telling("one", SHAPES)), opened("two.py", "", read=telling("two", SHAPES))
    files = indexed(HERE, one, two)
    changed = replace(two, version=2, read=telling("two again", SERVER))
    assert [s.text for s in files.pieces(HERE, 0, SERVER + SHAPES, [one, changed], 2000)] == [SHAPES, SHAPES]
    while files.index(HERE, [one, changed]):
        pass
    assert asked == ["one", "two", "two again"]
    assert [s.text for s in files.pieces(HERE, 0, SERVER + SHAPES, [one, changed], 2000)] == [SHAPES, SERVER]


def test_a_file_that_was_closed_is_gone() -> None:
    other = opened("a.py", SHAPES)
    files = indexed(HERE, other)
    assert files.pieces(HERE, 0, SHAPES, [other], 0) == (), "no budget"
    assert files.pieces(HERE, 0, "völlig anders", [other], 2000) == (), "nothing alike"
    files.forget(other.uri)
    assert files.pieces(HERE, 0, SHAPES, [other], 2000) == ()
    assert files.index(HERE, [other])


@given(st.lists(LINES, max_size=4), LINES, st.integers(0, 4000))
def test_pieces_fit_the_budget_and_share_no_line(texts: list[str], around: str, budget: int) -> None:
    windows: list[Window] = [window for number, text in enumerate(texts) for window in windows_of(f"{number}.py", text)]
    found = chosen(words_of(around), windows, budget)
    assert sum(len(snippet.text) for snippet in found) <= budget
    taken = [(s.path, line) for s in found for line in range(s.first_line, s.first_line + len(s.text.splitlines()))]
    assert len(taken) == len(set(taken))
    assert [(s.path, s.first_line) for s in found] == sorted((s.path, s.first_line) for s in found)


def test_a_line_that_nobody_wrote_is_in_no_window() -> None:
    text = SHAPES + "alpha " * 10_000 + "\n" + FILLER
    assert all("alpha" not in window.text for window in windows_of("a.py", text))
    assert any("other_39" in window.text for window in windows_of("a.py", text))


@given(LINES)
def test_each_line_with_a_word_is_in_a_window(text: str) -> None:
    windows = list(windows_of("a.py", text))
    lines = text.split("\n")
    covered = {line for window in windows for line in range(window.first_line, window.first_line + len(window.text.split("\n")))}
    assert covered >= {number for number, line in enumerate(lines) if words_of(line)}
