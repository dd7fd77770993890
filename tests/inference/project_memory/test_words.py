import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.inference.project_memory import words as module
from assay.inference.project_memory.words import (
    DEEPER,
    FIRST_WORD,
    SAME,
    SHALLOWER,
    Words,
    being_written,
    cut,
    cut_of,
    pieces,
    raw_ids,
    sign_and_name,
    split,
)

CODE = st.text(st.sampled_from(list("ab_1 .(=):\n\t\"'é漢")), max_size=80)


def texts(words: Words, text: str) -> list[str | int]:
    ids = cut(text, words).ids.tolist()
    return [words.texts[word] if word >= FIRST_WORD else word for word in ids]


def test_a_word_is_a_name_with_the_sign_before_it_or_a_run_of_signs() -> None:
    assert split("self.load(path, mode='r') ==\n") == ["self", ".load", "(path", ",", " mode", "='", "r", "')", " ==", "\n"]


def test_a_line_end_says_whether_the_next_line_is_indented_more_less_or_as_much() -> None:
    assert texts(Words(1), "if a:\n    b\n\n    c\nd\n") == ["if", " a", ":", DEEPER, "b", SAME, "c", SHALLOWER, "d", SAME]


def test_lines_are_counted_with_the_blank_ones() -> None:
    found = cut("a\n\n  b\nc\n", Words(1))
    assert found.line_ends.tolist() == [1, 3, 5]
    assert found.lines.tolist() == [2, 3, 4]


@given(CODE)
def test_words_together_are_the_text(text: str) -> None:
    assert "".join(split(text)) == text


@given(CODE)
def test_each_beginning_of_a_line_ends_with_one_word_that_may_continue(line: str) -> None:
    line = line.replace("\n", "").lstrip()
    complete, begun = being_written(line)
    assert "".join([*complete, begun]) == line
    words = split(line + "x")  # whatever comes next, the complete words stay
    assert words[: len(complete)] == complete


@given(st.lists(CODE, max_size=120), st.booleans())
def test_a_text_cut_in_pieces_has_the_same_words(parts: list[str], from_the_end: bool) -> None:
    text = ("x" + "".join(parts) * 3).lstrip()
    whole, apart = Words(1), Words(1)
    found = cut_of([raw_ids(piece, apart) for piece in pieces(text, from_the_end=from_the_end)], 0, apart)
    expected = cut_of([raw_ids(text, whole)], 0, whole)
    assert [apart.texts[word] for word in found.ids] == [whole.texts[word] for word in expected.ids]
    assert np.array_equal(found.line_ends, expected.line_ends)
    assert np.array_equal(found.lines, expected.lines)


def test_pieces_before_a_change_at_the_end_stay_the_same_and_from_the_end_those_behind_one_at_the_start() -> None:
    text = "".join(f"line {number}\n" for number in range(2_000))
    assert list(pieces(text))[:-1] == list(pieces(text + "more"))[: len(list(pieces(text))) - 1]
    assert list(pieces(text, from_the_end=True))[1:] == list(pieces("more " + text, from_the_end=True))[1:]


def test_words_are_found_by_their_beginning_and_the_same_name_behind_another_sign() -> None:
    words = Words(1)
    cut("x.load_all(loading, load) == (", words)
    same, others = words.beginning_with(".load")
    assert [words.texts[word] for word in same] == [".load_all"]
    assert {words.texts[word]: text for word, text in others.items()} == {"(loading": ".loading", " load": ".load"}


@given(st.sets(st.text("ab_.( 1é", min_size=1, max_size=4)), st.integers(1, 4), st.sampled_from([1, 3]))
def test_all_words_of_a_beginning_are_found_and_no_others(texts: set[str], size: int, shortest: int) -> None:
    words, known = Words(shortest), {text for text in texts if split(text) == [text] and not text.isspace()}
    for text in known:
        assert words[text] >= FIRST_WORD
    for begun in {text[:size] for text in known}:
        named = sign_and_name(begun)
        if named is None or len(named[1]) < shortest:
            continue
        same, others = words.beginning_with(begun)
        expected = [(text, found) for text in known if (found := sign_and_name(text)) and found[1].startswith(named[1])]
        assert {words.texts[word] for word in same} == {text for text, found in expected if found[0] == named[0]}
        assert {words.texts[word]: text for word, text in others.items()} == {
            text: named[0] + found[1] for text, found in expected if found[0] != named[0]
        }


def test_of_many_names_with_one_beginning_the_same_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    words = Words(3)
    for number in range(40):
        cut(f"test_{number} .test_{number}", words)
    begun = ("test_1", "test_23", "test_9x", "test_")
    all_of_them = [words.beginning_with(each) for each in begun]
    monkeypatch.setattr(module, "_FEW", 5)
    assert [(sorted(same), others) for same, others in map(words.beginning_with, begun)] == all_of_them
    cut("test_100", words)
    assert words.texts[words.beginning_with("test_100")[0][0]] == "test_100"
    monkeypatch.setattr(module, "_MANY", 20)
    assert words.beginning_with("test_") == ([], {})


def test_where_too_little_is_known_of_a_word_only_that_word_is_found() -> None:
    words = Words(3)
    cut("os.path.ospath", words)
    assert [words.texts[word] for word in words.beginning_with("os")[0]] == ["os"]
    assert words.beginning_with("pa") == ([], {})


def test_a_sign_begins_the_words_behind_it_and_longer_runs() -> None:
    words = Words(1)
    cut("f(name) ((x))", words)
    assert {words.texts[word] for word in words.beginning_with("(")[0]} == {"(name"}
    assert {words.texts[word] for word in words.beginning_with(")")[0]} == {")", "))"}
