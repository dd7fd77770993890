from dataclasses import replace

import numpy as np
import pytest

from assay.inference.llamacpp.model import LlamaModel
from assay.inference.project_memory.evidence import Evidence, feature_counts
from assay.inference.project_memory.fitting import Forced, Step, fit, nats
from assay.inference.project_memory.memory import ProjectMemory
from assay.inference.stopping.stop import NONE

FILE = "def load(path):\n    with path.open() as file:\n        return json.load(file)\n\n\n"


def steps(count: int, seed: int) -> list[Step]:
    """Tokens that came as the first feature says, though the model finds all equally likely."""
    random = np.random.default_rng(seed)
    of_candidate, of_state = feature_counts(1)
    found = []
    for _ in range(count):
        features = random.normal(size=(of_candidate, 4)).astype(np.float32)
        scores = np.exp(2 * features[0])
        event = int(random.choice(4, p=scores / scores.sum()))
        state = random.normal(size=of_state).astype(np.float32)
        found.append(Step(event, np.log(0.1), Evidence(np.arange(4), np.full(4, np.log(0.1), np.float32), features, state)))
    return found


@pytest.mark.slow
def test_a_fit_finds_what_says_which_token_comes() -> None:
    gains = fit(steps(1_500, 0))
    unseen = steps(500, 1)
    assert nats(unseen, None).mean() == pytest.approx(np.log(10))
    assert nats(unseen, gains).mean() < 1.25


def test_a_fit_is_the_same_each_time() -> None:
    assert np.array_equal(fit(steps(100, 0)).outer, fit(steps(100, 0)).outer)


def test_nothing_seen_is_refused() -> None:
    with pytest.raises(ValueError, match="nothing was seen before"):
        fit([Step(1, -1.0, None)])


def test_a_model_is_made_to_write_a_text_while_its_distributions_are_recorded(embedded: LlamaModel, memory: ProjectMemory) -> None:
    before = FILE + "def load_other(path):\n    with path.op"
    prompt = embedded.fim(before, "\n")
    tokens = embedded.tokenize(prompt.held + "en() as file:\n")
    forced = Forced([memory.at(before, "\n", scope="file")], memory.spelling, tokens)
    made = embedded.generate(replace(prompt, memory=forced), stop=NONE, max_tokens=64, on_token=lambda *_: forced.is_done)
    assert made.text == "en() as file:\n"
    (recorded,) = forced.steps
    assert [step.event for step in recorded] == memory.spelling.event_of[tokens].tolist()
    assert sum(step.evidence is not None and step.event in step.evidence.events for step in recorded) > len(tokens) / 2
    assert all(step.logprob < 0 for step in recorded)
