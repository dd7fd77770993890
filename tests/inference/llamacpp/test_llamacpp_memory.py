import threading
from dataclasses import replace

import pytest

from assay.inference.llamacpp import session
from assay.inference.llamacpp.model import LlamaModel
from assay.inference.model import Prompt
from assay.inference.project_memory.memory import ProjectMemory
from assay.inference.project_memory.reader import Reader
from assay.inference.project_memory.weights import shipped_weights
from assay.inference.stopping.stop import LINE

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
    scores = embedded.score(remembering, embedded.tokenize(remembering.held + mixed.text))
    assert sum(token.logprob for token in mixed.tokens) > sum(scores), "these are the mixture's"
    assert all((token.best_other_logprob or 0) <= token.logprob <= 0 for token in mixed.tokens)


def test_the_first_alternative_is_the_generation_and_each_has_its_own_memory(embedded: LlamaModel, remembering: Prompt) -> None:
    one = embedded.generate(remembering, stop=LINE, max_tokens=24)
    several = embedded.alternatives(remembering, 4, stop=LINE, max_tokens=24)
    assert several[0].text == one.text
    assert [source.line for source in several[0].sources] == [source.line for source in one.sources] != []
    assert [token.logprob for token in several[0].tokens] == pytest.approx([token.logprob for token in one.tokens], abs=0.02)
    assert len({each.text for each in several}) == 4
    assert several[-1].sources == () or several[-1].sources != one.sources
    drawn = embedded.alternatives(remembering, 2, stop=LINE, max_tokens=12, temperature=0.7, seed=5)
    assert drawn[1].text == embedded.generate(remembering, stop=LINE, max_tokens=12, temperature=0.7, seed=6).text


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
        several = embedded.alternatives(remembering, 3, stop=LINE, max_tokens=24)
        made.append([each.tokens for each in several])
        assert any(name != threading.main_thread().name for name in looked) == leaves_a_core
    assert made[0] == made[1]
