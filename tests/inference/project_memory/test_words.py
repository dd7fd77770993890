from hypothesis import given
from hypothesis import strategies as st

from assay.inference.project_memory.words import (
    DEEPER,
    FIRST_WORD,
    SAME,
    SHALLOWER,
    Words,
    being_written,
    cut,
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
