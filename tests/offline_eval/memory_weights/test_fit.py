from __future__ import annotations

import numpy as np
import pytest

from assay.inference.project_memory import fitting
from assay.inference.project_memory.evidence import Evidence, feature_counts
from assay.inference.project_memory.fitting import Step
from assay.inference.project_memory.weights import SOURCES
from assay.offline_eval.errors import StudyError
from assay.offline_eval.memory_weights.fit import check_enough, fitted, table
from assay.offline_eval.memory_weights.recording import Recorded


@pytest.fixture(autouse=True)
def few_iterations(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fitting, "_MAX_ITERATIONS", 25)


def recorded(seed: int, *, telling: bool = True) -> Recorded:
    """Tokens that came as the first feature says, or as nothing does."""
    random = np.random.default_rng(seed)
    steps: dict[str, list[Step]] = {}
    for scope, sources in SOURCES.items():
        of_candidate, of_state = feature_counts(sources)
        steps[scope] = []
        for _ in range(100):
            features = random.normal(size=(of_candidate, 4)).astype(np.float32)
            event = int(features[0].argmax()) if telling else int(random.integers(4))
            state = random.normal(size=of_state).astype(np.float32)
            logprobs = np.full(4, np.log(0.25), np.float32)
            steps[scope].append(Step(event, np.log(0.25), Evidence(np.arange(4), logprobs, features, state)))
    return Recorded(f"p{seed}", 100, {scope: steps[scope] for scope in SOURCES})


def test_weights_are_judged_on_projects_that_they_were_not_fitted_on() -> None:
    found = fitted([recorded(seed) for seed in range(3)], "0" * 16)
    alone = found.judged.alone
    assert alone.value == pytest.approx(np.log(4))
    for scope in SOURCES:
        mixed, less = found.judged.mixed[scope], found.judged.less[scope]
        assert less.value == pytest.approx(alone.value - mixed.value)
        assert 0 < less.low < less.value < less.high
    assert found.weights.fitted_on["tokens"] == 300
    assert "n = 300 tokens of 300 places in 3 projects" in table(found)


def test_a_memory_that_says_nothing_of_other_projects_is_refused() -> None:
    with pytest.raises(StudyError, match="less likely: nothing is written"):
        fitted([recorded(seed, telling=False) for seed in range(3)], "0" * 16)


def test_too_few_projects_or_places_are_refused_with_their_number() -> None:
    check_enough([40, 30, 30])
    for few in ([400, 400], [30, 30, 30]):
        with pytest.raises(StudyError, match=f"{sum(few)} places in {len(few)} projects"):
            check_enough(few)
