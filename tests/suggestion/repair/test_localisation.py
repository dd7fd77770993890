from __future__ import annotations

from pathlib import Path

import numpy as np
from msgspec import structs
from scipy.special import expit  # type: ignore[import-untyped]
from synthetic_samples import MODEL, PROMPT, sample

from assay.analysis.oracle.spectrum import Suspect
from assay.calibration.fitting.fit import fit
from assay.calibration.registry import Entry, Purpose, registry_of
from assay.suggestion.repair.localisation import TASK, located, measures_of_lines

FOUND = [Suspect("a.py", 2, 1, 0, 1.0), Suspect("a.py", 3, 1, 0, 1.0), Suspect("b.py", 9, 1, 3, 0.5)]


def test_lines_are_measured_by_spectrum_and_surprise_and_those_alike_share_their_ranks() -> None:
    measures = measures_of_lines(FOUND, {("a.py", 3): 4.0, ("b.py", 9): -1.0})
    assert [each["spectrum_rank"] for each in measures] == [1.5, 1.5, 3.0]
    assert [each["line_surprise"] for each in measures] == [0.0, 4.0, 0.0]
    assert [each["surprise_rank"] for each in measures] == [2.5, 1.0, 2.5]


def test_without_a_calibrator_lines_come_by_spectrum_and_surprise_and_have_no_number() -> None:
    purpose = Purpose("0" * 16, "1" * 16, "exact_match", TASK, "python")
    found = located(FOUND, {("a.py", 3): 4.0}, purpose, registry_of((), ()))
    assert [(each.suspect.file, each.suspect.line) for each in found] == [("a.py", 3), ("a.py", 2), ("b.py", 9)]
    assert {each.confidence.probability for each in found} == {None}


def test_a_calibrator_of_faults_gives_each_line_its_probability_and_decides_the_order() -> None:
    rng = np.random.default_rng(0)
    surprise = np.append(0.0, rng.uniform(0, 20, 799))
    wrong = rng.random(800) < expit(0.4 * surprise - 6)
    samples = [
        structs.replace(
            sample(number, project=f"p{number % 10}", line_surprise=float(surprise[number])),
            task=TASK, labels={"exact_match": bool(wrong[number])},
        )
        for number in range(800)
    ]  # fmt: skip
    entry = Entry("user", Path("fault.json"), fit(samples, "exact_match", ["line_surprise"], resamples=20).calibrator)
    purpose = Purpose(MODEL, PROMPT, "exact_match", TASK, "python")
    found = located(FOUND, {("a.py", 2): 1.0, ("b.py", 9): 15.0}, purpose, registry_of([entry], ()))
    assert (found[0].suspect.file, found[0].suspect.line) == ("b.py", 9)
    assert all(each.confidence.probability is not None for each in found)
