from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from assay.inference.healing.healing import SortedVocabulary

pieces = st.lists(st.binary(max_size=4).map(lambda piece: bytes(byte % 3 + 253 * (byte % 2) for byte in piece)), max_size=30)
texts = st.binary(max_size=6).map(lambda piece: bytes(byte % 3 + 253 * (byte % 2) for byte in piece))


@given(pieces, texts)
def test_tokens_agree_that_can_be_the_next_of_a_text_that_begins_so(vocabulary: list[bytes], held: bytes) -> None:
    by_bytes = SortedVocabulary(vocabulary)

    def possible(rest: bytes) -> set[int]:
        found = set()
        for token, piece in enumerate(vocabulary):
            if piece and (piece.startswith(rest) or (rest.startswith(piece) and possible(rest[len(piece) :]))):
                found.add(token)
        return found

    if held:
        assert set(by_bytes.agreeing(held).tolist()) == possible(held)
        assert len(by_bytes.agreeing(held)) == len(set(by_bytes.agreeing(held).tolist()))
        assert by_bytes.can_spell(held) == bool(possible(held))
