import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.inference.llamacpp.model import LlamaModel
from assay.inference.project_memory import project as project_module
from assay.inference.project_memory.index import MAX_MATCHED, Index
from assay.inference.project_memory.lookup import Lookup, Numbered, Written
from assay.inference.project_memory.project import Copies, Project, ProjectFiles, ProjectTooLarge, project_of, shingles_of
from assay.inference.project_memory.spelling import Spelling
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


def code(seed: int, lines: int = 40) -> str:
    random = np.random.default_rng(seed)
    return "".join(f"value_{number} = {number} + {seed}\n" for number in random.integers(0, 10**6, lines))


def test_a_file_most_of_which_stands_in_another_is_a_near_copy_either_way() -> None:
    text = code(1)
    edited = text.replace("value_", "name_", 5)
    bundle = code(2, 400) + text + code(3, 400)
    indented = "\n\n".join("    " + line for line in text.splitlines())
    copies = Copies([shingles_of(each) for each in (text, edited, bundle, indented, "\n".join(sorted(text.splitlines())), code(4), "")])
    for one in (text, bundle):
        assert copies.of(shingles_of(one)).tolist() == [True] * 4 + [False] * 3
    assert not copies.of(shingles_of("")).any()


def test_what_many_files_share_or_begin_with_makes_no_copies() -> None:
    licence = code(0, 30)
    copies = Copies([shingles_of(licence + code(seed, 10)) for seed in range(1, 30)])
    assert not copies.of(shingles_of(licence + code(99, 4))).any()
    header = code(0, 12)
    copies = Copies([shingles_of(header + code(seed, 60)) for seed in range(1, 11)])
    assert not copies.of(shingles_of(header)).any()
    assert Copies([shingles_of(header)]).of(shingles_of(header)).all()


TEXTS = st.lists(st.sampled_from(["a = b\n", "if a:\n", "    b(c)\n", "\n", "c.b(a)\r\n", "  a_b"]), max_size=8).map("".join)
CHANGES = st.lists(st.tuples(st.sampled_from(["x.py", "y.py", "z.py"]), st.none() | TEXTS), max_size=12)


def places(project: Project, line: str) -> set[tuple[str, int, int]]:
    index = project.index
    complete, begun = being_written(line)
    context = [index.words.get(word, -1) for word in complete]
    found = index.places(context, begun, index.words.beginning_with(begun)[0] if begun else [])
    texts, lines = zip(*map(index.line_of, found.at.tolist()), strict=True) if len(found.at) else ((), ())
    return set(zip((project.paths[text] for text in texts), lines, found.matched.tolist(), strict=True))


@given(CHANGES)
def test_a_project_after_changes_is_as_one_made_anew(changes: list[tuple[str, str | None]]) -> None:
    files, changed = dict[str, str](), ProjectFiles()
    for path, text in changes:
        if text is None:
            files.pop(path, None)
            changed.remove(path)
        else:
            files[path] = text
            changed.add(path, text)
    now, anew = changed.project(), project_of(files.items())
    changed.add("later.py", "a = b\n")
    assert sorted(now.paths) == sorted(anew.paths)
    for line in ("a", "a = b", "b(c)", "c.b", "(a"):
        assert places(now, line) == places(anew, line)


def test_a_project_that_is_too_large_is_refused_with_its_size_and_stays_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(project_module, "MAX_WORDS", 20)
    files = ProjectFiles()
    files.add("x.py", "a = b\n" * 4)
    with pytest.raises(ProjectTooLarge, match=r"with y\.py the project has 32 words.*at most 20"):
        files.add("y.py", "a = b\n" * 4)
    assert files.project().paths == ("x.py",)


def test_the_file_itself_and_its_near_copies_are_not_others() -> None:
    text = "".join(f"value_{number} = {number * 7}\n" for number in range(30))
    project = project_of([("a.py", text), ("backup/a.py", text + "# old\n"), ("b.py", "import a\n")])
    assert project.others("a.py", text).tolist() == [False, False, True]
    assert project.others("new.py", "import b\n").tolist() == [True, True, True]
