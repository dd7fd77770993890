import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay.inference.llamacpp.model import LlamaModel
from assay.inference.project_memory.evidence import Evidence, feature_counts
from assay.inference.project_memory.weights import DAMPED, SHIPPED, Gains, UnreadableWeights, read_weights, shipped_weights


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


def test_weights_of_another_model_count_less_and_have_another_version(embedded: LlamaModel) -> None:
    assert shipped_weights().for_model(embedded.fingerprint.id) is shipped_weights()
    other = shipped_weights().for_model("another")
    assert other.version != shipped_weights().version
    assert other.gains["file"].of(evidence(1)) == pytest.approx(DAMPED * shipped_weights().gains["file"].of(evidence(1)), rel=1e-4)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda document: document | {"schema": "assay/memory-weights/0"}, "the schema is 'assay/memory-weights/0'"),
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
