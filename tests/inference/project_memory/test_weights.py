import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay.inference.llamacpp.model import LlamaModel
from assay.inference.project_memory.evidence import Evidence, feature_counts
from assay.inference.project_memory.fitting import Forced, Step, fit, nats
from assay.inference.project_memory.memory import ProjectMemory
from assay.inference.project_memory.weights import DAMPED, SHIPPED, Gains, UnreadableWeights, read_weights, shipped_weights
from assay.inference.stopping.stop import NONE


def gains(sources: int, seed: int = 0) -> Gains:
    random = np.random.default_rng(seed)
    of_candidate, of_state = (random.normal(size=(3, count)).astype(np.float32) for count in feature_counts(sources))
    return Gains(of_candidate, of_state, np.ones(3, np.float32), random.normal(size=3).astype(np.float32), 0.25)


def evidence(sources: int) -> Evidence:
    random = np.random.default_rng(1)
    of_candidate, of_state = feature_counts(sources)
    features = random.normal(size=(of_candidate, 5)).astype(np.float32)
    return Evidence(np.arange(5), np.zeros(5, np.float32), features, random.normal(size=of_state).astype(np.float32))


def test_weights_written_are_those_read(tmp_path: Path) -> None:
    weights = replace(shipped_weights(), gains={"file": gains(1), "project": gains(2)})
    (tmp_path / "weights.json").write_text(weights.as_json())
    read = read_weights(tmp_path / "weights.json")
    assert (read.version, read.model, read.fitted_on) == (weights.version, weights.model, weights.fitted_on)
    assert read.gains["project"].of(evidence(2)) == pytest.approx(gains(2).of(evidence(2)), rel=1e-3, abs=1e-3)


def test_the_shipped_weights_are_of_the_shipped_model(embedded: LlamaModel) -> None:
    assert shipped_weights().model == embedded.fingerprint.id
    assert shipped_weights().for_model(embedded.fingerprint.id) is shipped_weights()


def test_weights_of_another_model_count_less_and_have_another_version() -> None:
    other = shipped_weights().for_model("another")
    assert other.version != shipped_weights().version
    assert other.gains["file"].of(evidence(1)) == pytest.approx(DAMPED * shipped_weights().gains["file"].of(evidence(1)), rel=1e-4)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda document: document | {"schema": "assay/memory-weights/0"}, "the schema is 'assay/memory-weights/0'"),
        (lambda document: document | {"more": 1}, "unknown fields: more"),
        (lambda document: {key: value for key, value in document.items() if key != "file"}, "KeyError"),
        (lambda document: document | {"file": document["project"]}, "the network has shapes"),
        (lambda document: document | {"file": document["file"] | {"bias": float("nan")}}, "not finite"),
        (lambda document: [document], "these are no weights"),
    ],
)
def test_a_file_that_holds_no_weights_is_refused_with_the_reason(tmp_path: Path, change: Callable[[Any], Any], reason: str) -> None:
    path = tmp_path / "weights.json"
    path.write_text(json.dumps(change(json.loads(SHIPPED.read_text()))))
    with pytest.raises(UnreadableWeights, match=f"weights.json: .*{reason}"):
        read_weights(path)


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
