import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.inference.llamacpp.model import LlamaModel
from assay.inference.project_memory.memory import ProjectMemory
from assay.inference.project_memory.mixture import Row
from assay.inference.project_memory.project import project_of
from assay.inference.project_memory.spelling import Spelling
from assay.inference.project_memory.weights import Extent, shipped_weights
from assay.inference.project_memory.words import DEEPER, FIRST_WORD, SAME, SHALLOWER, Words, being_written, cut, sign_and_name, split

FILE = '''import json
from pathlib import Path


def load_settings(path: Path) -> dict:
    """Read the settings."""
    with path.open(encoding="utf-8") as file:
        settings = json.load(file)
    return settings


def save_settings(path: Path, settings: dict) -> None:
    with path.open("w", encoding="utf-8") as file:
        json.dump(settings, file)


naïve = ["漢字", "größer"]
'''
OTHER = "class Registry:\n    def register_handler(self, handler_name):\n        self.handlers[handler_name] = handler_name\n"
SCOPES: tuple[Extent, ...] = ("file", "project")


@pytest.fixture(scope="module")
def remembers(embedded: LlamaModel) -> ProjectMemory:
    memory = ProjectMemory(embedded, shipped_weights().for_model(embedded.fingerprint.id))
    memory.project = project_of([("app.py", FILE), ("registry.py", OTHER)])
    return memory


def row(seed: int, size: int = 8200) -> Row:
    return np.random.default_rng(seed).normal(0, 3, size).astype(np.float32)


def logprob_of_text(memory: ProjectMemory, model: LlamaModel, before: str, after: str, text: str) -> tuple[float, float]:
    """log p of a text by a model that finds all tokens equally likely, without and with the memory."""
    reader = memory.at(before, after, "app.py").reader("")
    total = 0.0
    for token in (tokens := model.tokenize(text)):
        total += float(reader.mix(np.zeros(8200, np.float32))[token])
        reader.take(token)
    return -len(tokens) * math.log(8200), total


@given(st.integers(0, len(FILE)), st.integers(0, 20), st.sampled_from(SCOPES), st.integers(0, 9))
def test_mixtures_sum_to_one(embedded: LlamaModel, remembers: ProjectMemory, at: int, written: int, scope: Extent, seed: int) -> None:
    reader = remembers.at(FILE[:at], FILE[at:], "app.py", scope).reader("")
    for token in embedded.tokenize(FILE[at:])[:written]:
        reader.take(token)
    masked = row(seed)
    masked[::2] = -np.inf
    for given_row in (row(seed), masked):
        mixed = reader.mix(given_row)
        assert np.array_equal(np.isneginf(mixed), np.isneginf(given_row)), "what can't be written stays impossible"
        assert np.exp(mixed, dtype=np.float64).sum() == pytest.approx(1, abs=1e-4)


@given(st.sampled_from([line for line in FILE.splitlines() if line.strip()]), st.integers(1, 30), st.sampled_from(SCOPES))
def test_following_a_line_begins_behind_it(embedded: LlamaModel, remembers: ProjectMemory, line: str, count: int, scope: Extent) -> None:
    before, after = FILE[: FILE.index(line)] + line[: len(line) - len(line.lstrip())], FILE[FILE.index(line) :]
    tokens = embedded.tokenize(line.lstrip())[:count]
    memory = remembers.at(before, after, "app.py", scope)
    following = memory.reader("")
    written = b""
    for token in tokens:
        following.mix(row(0))
        following.take(token)
        written += embedded.token_bytes(token)
    try:
        text = written.decode()
    except UnicodeDecodeError:
        return
    beginning = type(following)(following._lookups, following._spelling, following._gains, before + text)
    assert np.array_equal(following.mix(row(1)), beginning.mix(row(1)))


def test_a_text_of_the_file_becomes_more_likely_and_the_models_row_stays(embedded: LlamaModel, remembers: ProjectMemory) -> None:
    before, after = FILE + "\n\ndef load_more(path):\n    with path.", "\n"
    alone, mixed = logprob_of_text(remembers, embedded, before, after, 'open(encoding="utf-8") as file:\n')
    assert mixed > alone + 30
    deeper = FILE + "\n\nfor path in paths:\n    if path:", "", "\n        with path.open(encoding"
    alone, mixed = logprob_of_text(remembers, embedded, *deeper)
    assert mixed > alone + 20, "at any indentation"
    logits = row(0)
    kept = logits.copy()
    remembers.at(before, after, "app.py").reader("").mix(logits)
    assert np.array_equal(logits, kept)


def test_a_text_of_another_file_is_seen_with_the_project_alone(embedded: LlamaModel, remembers: ProjectMemory) -> None:
    before = "from registry import Registry\n\nregistry = Registry()\nregistry.regis"
    token = embedded.tokenize(".register_handler")[1:]
    said = {}
    for scope in SCOPES:
        reader = remembers.at(before, "\n", "main.py", scope).reader("")
        said[scope] = float(reader.mix(np.zeros(8200, np.float32))[embedded.tokenize("ter_handler")[0]])
    assert token
    assert said["project"] > said["file"] + 3


def test_the_first_tokens_are_of_words_that_begin_as_what_is_held_back(embedded: LlamaModel, remembers: ProjectMemory) -> None:
    before = FILE + "\n\nsettings = load_se"
    held = "_se"
    reader = remembers.at(before, "\n", "app.py").reader(held)
    mixed = reader.mix(np.zeros(8200, np.float32))
    best = embedded.token_bytes(int(mixed.argmax()))
    assert b"_settings".startswith(best)
    assert len(best) > 1


def test_the_sources_are_the_lines_that_the_text_stands_in(embedded: LlamaModel, remembers: ProjectMemory, memory: ProjectMemory) -> None:
    reader = remembers.at("\n\ndef other(self, handler_name):\n    self", "\n", "new.py").reader("")
    for token in embedded.tokenize(".handlers[handler_name]"):
        reader.mix(np.zeros(8200, np.float32))
        reader.take(token)
    (source,) = reader.sources()
    assert (source.path, source.line) == ("registry.py", 3)
    assert 0.5 <= source.part <= 1
    reader = remembers.at(FILE, "\ud800\n", "app.py").reader("")
    for token in embedded.tokenize("zyx = 999 @ qqq 漢字\ud800größer"):
        reader.mix(row(0))
        reader.take(token)
    assert reader.sources() == (), "it was never seen"
    # In the open file they are counted from the cursor's.
    unique = "transform = collect_everything(argument)\n"
    for before, after, line in ((unique + "x = 1\n", "", -2), ("x = 1\n", "\n\n" + unique, 2)):
        reader = memory.at(before + "transform = ", after, "a.py").reader("")
        for token in embedded.tokenize("collect_everything(argument)"):
            reader.mix(np.zeros(8200, np.float32))
            reader.take(token)
        assert [(source.path, source.line) for source in reader.sources()] == [(None, line)]


@pytest.mark.parametrize("indentation", ["\t", "   "])
def test_a_word_follows_odd_indentation_without_a_space(embedded: LlamaModel, memory: ProjectMemory, indentation: str) -> None:
    before = f"func a() {{\n{indentation}zarquon := 1\n}}\n\nfunc b() {{"
    reader = memory.at(before, "", "app.go").reader("")
    for token in embedded.tokenize("\n" + indentation):
        reader.take(token)
    logprobs = reader.mix(np.zeros(8200, np.float32))
    behind, with_space = (embedded.tokenize(text)[0] for text in ("zarquon", " zarquon"))
    assert logprobs[behind] > logprobs[with_space] + 1


def test_a_fingerprint_tells_weights_apart_and_not_scopes(embedded: LlamaModel, remembers: ProjectMemory) -> None:
    damped = ProjectMemory(embedded, shipped_weights().for_model("another model"))
    (mine,) = {remembers.at("", "", scope=scope).fingerprint for scope in SCOPES}
    assert mine != damped.at("", "").fingerprint


def test_a_project_without_other_files_counts_as_the_open_file_alone(memory: ProjectMemory) -> None:
    for files in ([], [("app.py", FILE)], [("copy.py", FILE)]):
        memory.project = project_of(files)
        assert memory.at(FILE, "", "app.py").scope == "file"
    memory.project = project_of([("app.py", FILE), ("registry.py", OTHER)])
    assert memory.at(FILE, "", "app.py").scope == "project"


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


def test_tokens_with_the_same_characters_before_a_line_end_are_one_event_and_the_longest_are_taken() -> None:
    spelling = Spelling(FewTokens())
    assert spelling.event_of.tolist() == [0, 1, 2, 3, 4, 5, 6, 7, 7, 0, 0, 11]
    assert {event: tokens.tolist() for event, tokens in spelling.tokens_of.items()} == {0: [0, 9, 10], 7: [7, 8]}
    assert spelling.line_end == 0
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


CODE = st.text(st.sampled_from(list("ab_1 .(=):\n\t\"'é漢")), max_size=80)


def texts(words: Words, text: str) -> list[str | int]:
    ids = cut(text, words).ids.tolist()
    return [words.texts[word] if word >= FIRST_WORD else word for word in ids]


def test_a_word_is_a_name_with_the_sign_before_it_a_run_of_signs_or_a_line_end_with_its_indentation() -> None:
    assert split("self.load(path, mode='r') ==\n") == ["self", ".load", "(path", ",", " mode", "='", "r", "')", " ==", "\n"]
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
