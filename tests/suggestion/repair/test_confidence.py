"""The numbers beside repairs: by calibrators of the task `repair` alone, and only where these are fitted on the like."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from msgspec import structs
from scipy.special import expit  # type: ignore[import-untyped]
from synthetic_samples import sample

from assay.calibration.fitting.fit import fit
from assay.calibration.registry import Entry, Registry, registry_of
from assay.inference.model import StopReason
from assay.suggestion.repair.asking import Asking
from assay.suggestion.repair.candidate import Candidate, Change
from assay.suggestion.repair.confidence import RANKS, TASK, prompt_of, purpose_of, with_confidence
from assay.suggestion.repair.propose import propose
from assay.suggestion.repair.request import Repairs, Request, request_for
from assay.suggestion.repair.sources.registry import Source

CODE = """def clamp(value, low, high):
    if value < low:
        return low
    if value < high:
        return high
    return value
"""
LINES = ("    if value > high:", "    if value >= high:", "    if high < value < low:")
SOURCES = [Source("one", lambda _: [Candidate(Change(3, 4, (line,)), "one") for line in LINES])]


@pytest.fixture(scope="module")
def request_at_line(asking: Asking) -> Request:
    return request_for(asking, CODE, 3, 4, language="python")


@pytest.fixture(scope="module")
def found(request_at_line: Request) -> Repairs:
    return propose(request_at_line, sources=SOURCES)


@pytest.fixture(scope="module")
def registry(request_at_line: Request) -> Registry:
    """With one calibrator, by which repairs that change more are likelier to pass."""
    purpose, rng = purpose_of(request_at_line, "tests_pass", sources=SOURCES), np.random.default_rng(0)
    size = rng.integers(1, 60, 800)
    passes = rng.random(800) < expit(0.1 * size - 3)
    samples = [
        structs.replace(
            sample(number, project=f"p{number % 10}", edit_size=float(size[number])),
            model=purpose.model, prompt=purpose.prompt, task=TASK, labels={"tests_pass": bool(passes[number])},
            rank=1 + number % RANKS, alternatives=RANKS,
        )
        for number in range(800)
    ]  # fmt: skip
    made = fit(samples, "tests_pass", ["edit_size"], kind="platt", resamples=20).calibrator
    # what speaks against a repair in code speaks for it here, which a guard of fitting refuses
    return registry_of([Entry("user", Path("repair.json"), replace(made, status="informative"))], ())


def test_repairs_have_probabilities_and_the_likeliest_comes_first(request_at_line: Request, found: Repairs, registry: Registry) -> None:
    told = with_confidence(found, purpose_of(request_at_line, "tests_pass", sources=SOURCES), registry).found
    probabilities = [each.suggestion.confidence.probability for each in told]
    assert None not in probabilities
    assert probabilities == sorted(probabilities, key=lambda p: -(p or 0))
    sizes = [each.suggestion.measures["edit_size"] for each in told]
    assert sizes == sorted(sizes, reverse=True) != [each.suggestion.measures["edit_size"] for each in found.found]


def test_without_a_calibrator_and_behind_the_first_there_is_no_number(request_at_line: Request, found: Repairs, registry: Registry) -> None:
    for event, has in (("exact_match", registry), ("tests_pass", registry_of((), ()))):
        told = with_confidence(found, purpose_of(request_at_line, event, sources=SOURCES), has).found  # type: ignore[arg-type]
        assert [each.suggestion.text for each in told] == [each.suggestion.text for each in found.found]
        assert {each.suggestion.confidence.status for each in told} == {"uncalibrated"}
        assert all(each.suggestion.confidence.reason for each in told)
    behind = replace(found.found[0].suggestion, measures={**found.found[0].suggestion.measures, "rank": RANKS + 1.0})
    purpose = purpose_of(request_at_line, "tests_pass", sources=SOURCES)
    (told,) = with_confidence(replace(found, found=(replace(found.found[0], suggestion=behind),)), purpose, registry).found
    assert "fitted on the first 8, and this is number 9" in told.suggestion.confidence.reason


@pytest.mark.parametrize(
    ("unlike", "reason"),
    [({"lines": 2}, "single lines"), ({"parses": False}, "files that parse"), ({"stopped_by": StopReason.TIME}, "the time was up")],
)
def test_others_have_no_number(
    request_at_line: Request, found: Repairs, registry: Registry, unlike: dict[str, object], reason: str
) -> None:
    other = replace(found, **unlike)  # type: ignore[arg-type]
    told = with_confidence(other, purpose_of(request_at_line, "tests_pass", sources=SOURCES), registry).found
    assert all(reason in each.suggestion.confidence.reason for each in told)
    assert all(each.suggestion.confidence.probability is None for each in told)


def test_other_sources_and_other_prompts_need_other_calibrators(request_at_line: Request) -> None:
    assert prompt_of("a" * 16, ["line", "rules"]) == prompt_of("a" * 16, ["rules", "line"])
    assert len({prompt_of("a" * 16, ["line"]), prompt_of("b" * 16, ["line"]), prompt_of("a" * 16, ["line", "rules"])}) == 3
    assert propose(request_for(request_at_line.asking, CODE, 2, 4, language="python"), sources=SOURCES).lines == 2
    asked = purpose_of(request_at_line, "tests_pass")
    assert purpose_of(replace(request_at_line, language="plaintext"), "tests_pass").prompt != asked.prompt
