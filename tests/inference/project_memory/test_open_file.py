import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.inference.project_memory import open_file
from assay.inference.project_memory.index import Index
from assay.inference.project_memory.open_file import OpenFile
from assay.inference.project_memory.words import FIRST_WORD

LINES = st.lists(st.sampled_from(["def f(a):\n", "    return a\n", "\n", "x = f(1)\n", "\ty = 2\n"]), max_size=400).map("".join)


def texts(index: Index) -> list[str | int]:
    return [index.words.texts[word] if word >= FIRST_WORD else word for word in index.ids.tolist()]


@given(LINES, LINES, st.lists(st.tuples(st.integers(0, 400), st.text("ab(\n ", max_size=5)), max_size=6))
def test_the_index_of_an_edited_file_is_as_one_made_anew(before: str, after: str, edits: list[tuple[int, str]]) -> None:
    opened = OpenFile()
    for back, typed in edits:
        kept = len(before) - min(back, len(before))
        before, after = before[:kept] + typed, before[kept:][:back] + after
        now, anew = opened.index(before, after), OpenFile().index(before, after)
        assert texts(now) == texts(anew)
        assert [cut.lines.tolist() for cut in now.cuts] == [cut.lines.tolist() for cut in anew.cuts]


def test_the_word_that_is_being_written_is_no_word_of_the_file() -> None:
    index = OpenFile().index("first = second\nthird = sec", ".fourth\n")
    assert texts(index)[1:-1] == ["first", " =", " second", 1, "third", " =", 0, ".fourth", 1]


def test_words_of_earlier_versions_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(open_file, "_MIN_WORDS", 200)
    opened = OpenFile()
    for number in range(300):
        index = opened.index(f"word_{number} = {number}x ", "")
    assert len(index.words) < 250
