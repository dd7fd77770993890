from __future__ import annotations

from assay.inference.llamacpp.model import LlamaModel
from assay.inference.project_memory.index import Index
from assay.inference.project_memory.lookup import Lookup, Numbered, Written
from assay.inference.project_memory.spelling import Spelling
from assay.inference.project_memory.words import Words, cut


def test_what_follows_a_name_with_an_underscore_at_its_end_counts_also_behind_another_sign(embedded: LlamaModel) -> None:
    words, spelling, numbers = Words(shortest=1), Spelling(embedded), Numbered()
    lookup = Lookup(Index(words, [cut("self.kind_(1)\n", words)]), spelling, [])
    seen = lookup.seen(lookup.ids(["call"]), Written("*kind", ""), numbers)
    assert (len(seen.at), len(seen.renamed)) == (0, 1)
    assert numbers.events == [spelling.next_event("*kind_(1", 5)] != [spelling.next_event("*kind_", 5)]


def test_an_index_keeps_its_own_pairs_of_words_where_a_newer_one_has_others(embedded: LlamaModel) -> None:
    words, spelling = Words(shortest=1), Spelling(embedded)
    text = "f(kind_ = 1)\n"
    older = Index(words, [cut(text, words)])

    def events() -> list[int]:
        lookup, numbers = Lookup(older, spelling, []), Numbered()
        lookup.seen(lookup.ids(["f"]), Written("(k", ""), numbers)
        return numbers.events

    before = events()
    newer = Index(words, [cut("".join(f"word{number} " for number in range(60)) + "(kin_ + 1\n", words)])
    lookup = Lookup(newer, spelling, [])
    for number in range(60):
        lookup.seen(lookup.ids([f" word{number}"]), Written("", ""), Numbered())
    assert events() == before == [spelling.next_event("(kind_ =", 2)]
