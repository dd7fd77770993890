from collections.abc import Iterator
from dataclasses import replace

import pytest

from assay.inference.llamacpp.model import LlamaModel
from assay.inference.model import Prompt
from assay.inference.opening import EMBEDDED
from assay.inference.project_memory.memory import ProjectMemory
from assay.inference.stopping.stop import LINE

FILE = "def collect(archive):\n    for quux in archive.unusual_members():\n        yield quux.weird_name\n\n\n"
BEFORE = FILE + "def print_all(archive):\n    for quux in archive.un"


@pytest.fixture(scope="module")
def model() -> Iterator[LlamaModel]:
    with LlamaModel(EMBEDDED, threads=1) as opened:
        yield opened


@pytest.fixture(scope="module")
def remembering(model: LlamaModel) -> Prompt:
    memory = ProjectMemory(model, model.fingerprint.id)
    return replace(model.fim("def print_all(archive):\n    for quux in archive.un", "\n"), memory=memory.at(BEFORE, "\n"))


def test_a_memory_writes_what_stands_far_above(model: LlamaModel, remembering: Prompt) -> None:
    alone = model.generate(replace(remembering, memory=None), stop=LINE, max_tokens=24)
    mixed = model.generate(remembering, stop=LINE, max_tokens=24)
    assert alone.text != "usual_members():"
    assert mixed.text == "usual_members():"
    assert [(source.path, source.line) for source in mixed.sources] == [(None, 2)]
    assert alone.sources == ()


def test_log_probabilities_are_those_of_the_mixture(model: LlamaModel, remembering: Prompt) -> None:
    mixed = model.generate(remembering, stop=LINE, max_tokens=24)
    alone = model.score(remembering, model.tokenize(remembering.held + mixed.text))
    assert sum(token.logprob for token in mixed.tokens) > sum(alone)
    for token in mixed.tokens:
        assert token.logprob <= 0
        assert token.best_other_logprob is not None
        assert token.best_other_logprob <= token.logprob


def test_the_first_alternative_is_the_generation_and_each_has_its_own_memory(model: LlamaModel, remembering: Prompt) -> None:
    one = model.generate(remembering, stop=LINE, max_tokens=24)
    several = model.alternatives(remembering, 4, stop=LINE, max_tokens=24)
    assert several[0].text == one.text
    assert [source.line for source in several[0].sources] == [source.line for source in one.sources] == [2]
    assert [token.logprob for token in several[0].tokens] == pytest.approx([token.logprob for token in one.tokens], abs=0.02)
    assert len({each.text for each in several}) == 4
    assert several[-1].sources == () or several[-1].sources != one.sources


def test_drawn_alternatives_are_those_drawn_one_by_one(model: LlamaModel, remembering: Prompt) -> None:
    several = model.alternatives(remembering, 3, stop=LINE, max_tokens=12, temperature=0.7, seed=5)
    alone = [model.generate(remembering, stop=LINE, max_tokens=12, temperature=0.7, seed=5 + number) for number in range(3)]
    assert [each.text for each in several] == [each.text for each in alone]
