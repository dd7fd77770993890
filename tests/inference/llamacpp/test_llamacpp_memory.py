import threading
import time
from dataclasses import replace
from typing import Any

import pytest

from assay.inference.errors import ComputationFailed
from assay.inference.llamacpp import session
from assay.inference.llamacpp.model import LlamaModel
from assay.inference.model import Prompt, StopReason
from assay.inference.project_memory.memory import ProjectMemory
from assay.inference.project_memory.reader import Reader
from assay.inference.project_memory.weights import shipped_weights
from assay.inference.stopping.continuation import Continuation
from assay.inference.stopping.stop import LINE

MAIN = threading.main_thread().name
FILE = "def collect(archive):\n    for quux in archive.unusual_members():\n        yield quux.weird_name\n\n\n"
BEFORE = FILE + "def print_all(archive):\n    for quux in archive.un"


@pytest.fixture(scope="module")
def remembering(embedded: LlamaModel) -> Prompt:
    memory = ProjectMemory(embedded, shipped_weights().for_model(embedded.fingerprint.id))
    return replace(embedded.fim("def print_all(archive):\n    for quux in archive.un", "\n"), memory=memory.at(BEFORE, "\n"))


def test_a_memory_writes_what_stands_far_above(embedded: LlamaModel, remembering: Prompt) -> None:
    alone = embedded.generate(replace(remembering, memory=None), stop=LINE, max_tokens=24)
    mixed = embedded.generate(remembering, stop=LINE, max_tokens=24)
    assert alone.text != "usual_members():"
    assert mixed.text == "usual_members():"
    assert [(source.path, source.line) for source in mixed.sources] == [(None, 1 - BEFORE.count("\n"))]
    assert alone.sources == ()


def test_log_probabilities_are_those_of_the_mixture(embedded: LlamaModel, remembering: Prompt) -> None:
    mixed = embedded.generate(remembering, stop=LINE, max_tokens=24)
    alone = embedded.score(remembering, embedded.tokenize(remembering.held + mixed.text))
    assert sum(token.logprob for token in mixed.tokens) > sum(alone)
    for token in mixed.tokens:
        assert token.logprob <= 0
        assert token.best_other_logprob is not None
        assert token.best_other_logprob <= token.logprob


def test_the_first_alternative_is_the_generation_and_each_has_its_own_memory(embedded: LlamaModel, remembering: Prompt) -> None:
    one = embedded.generate(remembering, stop=LINE, max_tokens=24)
    several = embedded.alternatives(remembering, 4, stop=LINE, max_tokens=24)
    assert several[0].text == one.text
    assert [source.line for source in several[0].sources] == [source.line for source in one.sources] != []
    assert [token.logprob for token in several[0].tokens] == pytest.approx([token.logprob for token in one.tokens], abs=0.02)
    assert len({each.text for each in several}) == 4
    assert several[-1].sources == () or several[-1].sources != one.sources


def test_drawn_alternatives_are_those_drawn_one_by_one(embedded: LlamaModel, remembering: Prompt) -> None:
    several = embedded.alternatives(remembering, 3, stop=LINE, max_tokens=12, temperature=0.7, seed=5)
    alone = [embedded.generate(remembering, stop=LINE, max_tokens=12, temperature=0.7, seed=5 + number) for number in range(3)]
    assert [each.text for each in several] == [each.text for each in alone]


def test_looking_up_beside_the_model_changes_nothing(embedded: LlamaModel, remembering: Prompt, monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[str] = []
    look_ahead = Reader.look_ahead

    def noted(reader: Reader) -> None:
        looked.append(threading.current_thread().name)
        look_ahead(reader)

    monkeypatch.setattr(Reader, "look_ahead", noted)
    made = []
    for leaves_a_core in (False, True):
        monkeypatch.setattr(session.Session, "leaves_a_core", leaves_a_core)
        one, several = (
            embedded.generate(remembering, stop=LINE, max_tokens=24),
            embedded.alternatives(remembering, 3, stop=LINE, max_tokens=24),
        )
        made.append([each.tokens for each in (one, *several)])
        own, others = [name for name in looked if name == MAIN], [name for name in looked if name != MAIN]
        assert (len(own), len(others)) == ((2, len(looked) - 2) if leaves_a_core else (len(looked), 0))
        looked.clear()
    assert made[0] == made[1]


def test_no_lookup_outlives_a_decode_that_fails(embedded: LlamaModel, remembering: Prompt, monkeypatch: pytest.MonkeyPatch) -> None:
    ended: list[bool] = []
    look_ahead = Reader.look_ahead

    def slow(reader: Reader) -> None:
        time.sleep(0.05)
        look_ahead(reader)
        ended.append(True)

    def fails(*_: object) -> bool:
        raise ComputationFailed(embedded.path, "llama.cpp", "no")

    def fails_behind_the_prompt(continuation: Continuation, *arguments: Any) -> StopReason | None:
        monkeypatch.setattr(session.Session, "decode", fails)
        return None

    monkeypatch.setattr(session.Session, "leaves_a_core", True)
    monkeypatch.setattr(Reader, "look_ahead", slow)
    monkeypatch.setattr(Continuation, "add", fails_behind_the_prompt)
    with pytest.raises(ComputationFailed):
        embedded.generate(remembering, stop=LINE, max_tokens=24)
    assert ended
