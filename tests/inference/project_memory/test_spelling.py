from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from assay.inference.llamacpp.model import LlamaModel
from assay.inference.project_memory.spelling import Spelling


class FewTokens:
    """A vocabulary of single letters, some pairs, and line ends, whose tokenizer puts a space before each text."""

    pieces = (b"", b"a", b"b", b"ab", b" ", b" a", b")", b")\n", b")\n\n", b"\n", b"\n\n", b"(")

    @property
    def vocabulary_size(self) -> int:
        return len(self.pieces)

    def tokenize(self, text: str) -> Sequence[int]:
        return [self.pieces.index(b" "), *(self.pieces.index(letter.encode()) for letter in text if letter.encode() in self.pieces)]

    def token_bytes(self, token: int) -> bytes:
        return self.pieces[token]


def test_tokens_with_the_same_characters_before_a_line_end_are_one_event_and_control_tokens_end_lines() -> None:
    spelling = Spelling(FewTokens())
    assert spelling.event_of.tolist() == [0, 1, 2, 3, 4, 5, 6, 7, 7, 0, 0, 11]
    assert {event: tokens.tolist() for event, tokens in spelling.tokens_of.items()} == {0: [0, 9, 10], 7: [7, 8]}
    assert spelling.line_end == 0


def test_where_the_tokenizer_writes_another_text_the_longest_tokens_are_taken() -> None:
    spelling = Spelling(FewTokens())
    assert [spelling.next_event("abb)\n", at) for at in range(5)] == [3, 2, 2, 7, 0]
    assert spelling.next_event("ä", 0) is None


@given(st.sampled_from([" return", ".append", "(self", " timestamp", "=None", "\n", " =="]))
def test_the_events_of_a_word_are_its_tokens(embedded: LlamaModel, word: str) -> None:
    spelling = Spelling(embedded)
    at = 0
    for token in embedded.tokenize(word):
        assert spelling.next_event(word, at) == spelling.event_of[token]
        at += len(embedded.token_bytes(token))
    assert spelling.next_event(word, at) is None


def test_half_a_character_is_no_reason_to_fail(embedded: LlamaModel) -> None:
    assert Spelling(embedded).next_event("\ud800", 0) is not None
