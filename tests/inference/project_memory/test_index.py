import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.inference.project_memory import index as index_module
from assay.inference.project_memory.index import MAX_MATCHED, Index
from assay.inference.project_memory.words import FIRST_WORD, Words, being_written, cut

LINES = st.lists(st.lists(st.sampled_from(["a", ".ab", "(b", ")", " =", " abc", "_x"]), max_size=6).map("".join), max_size=12)


def brute_force(index: Index, context: list[int], begun: str) -> dict[int, int]:
    """All places behind at least one same word, with how many are the same."""
    found = {}
    own = bool(begun)
    for place in range(1, len(index.ids)):
        word = int(index.ids[place])
        if word < FIRST_WORD or not index.words.texts[word].startswith(begun):
            continue
        matched = 0
        while matched < min(MAX_MATCHED - own, len(context)) and index.ids[place - 1 - matched] == context[-1 - matched]:
            matched += 1
        if matched + own:
            found[place] = matched + own
    return found


def asked(files: list[list[str]], line: str) -> tuple[Index, list[int], str]:
    words = Words(1)
    index = Index(words, [cut("\n".join(lines), words) for lines in files])
    complete, begun = being_written(line)
    return index, [words.get(word, -1) for word in complete], begun


@given(st.lists(LINES, min_size=1, max_size=4), LINES)
def test_the_places_are_all_that_continue_like_the_last_words(files: list[list[str]], line: list[str]) -> None:
    index, context, begun = asked(files, "".join(line))
    places = index.places(context, begun, index.words.beginning_with(begun)[0] if begun else [])
    found = dict(zip(places.at.tolist(), places.matched.tolist(), strict=True))
    expected = brute_force(index, context, begun)
    assert {place: matched for place, matched in expected.items() if matched >= min(found.values(), default=99)} == found
    if begun and any(matched > 1 for matched in expected.values()):
        assert found


def test_where_there_are_too_many_places_those_with_the_fewest_same_words_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_module, "MAX_PLACES", 4)
    index, context, begun = asked([["x = (a", *["y = (a"] * 9]], "x = (a")
    places = index.places(context, begun, index.words.beginning_with(begun)[0])
    assert places.matched.tolist() == [4]
