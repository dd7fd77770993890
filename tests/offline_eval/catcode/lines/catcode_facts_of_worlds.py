"""Facts of worlds in which it is known how far a line's log-probability falls."""

from __future__ import annotations

from typing import Any

import numpy as np
from msgspec.structs import replace as changed
from synthetic_samples import sample

from assay.calibration.samples import Sample


def world(meaning: float, places: int = 200, projects: int = 10, seed: int = 0) -> tuple[list[Any], list[Sample]]:
    """Places whose line falls by about 2 where it is rewritten, by `meaning` more where tests then fail, and hardly in rewritten code."""
    rng = np.random.default_rng(seed)
    facts, samples = [], []
    for number in range(places):
        plain = -float(rng.exponential(3)) - 0.1
        right = bool(rng.random() < np.exp(plain / 3))

        def variant(arm: str, fall: float, steps: int = 1, kind: str = "right", start: float = plain) -> dict[str, Any]:
            rule = {"context": "unused_statement", "equivalent": "rename_variable", "wrong": "wrong_name"}[arm]
            measures = {"total_logprob": min(-0.01, start - fall)}
            return {"arm": arm, "rules": [rule] * steps, "line": "x = 2", "kind": kind, "diff": ["-x = 1", "+x = 2"], "measures": measures}

        variants = [
            *(variant("context", float(rng.normal(0, 0.1)), steps) for steps in (1, 2, 3)),
            variant("equivalent", 2 + float(rng.normal(0, 1))),
            variant("wrong", 2 + meaning + float(rng.normal(0, 1)), kind="counterfeit" if number % 2 else "other"),
        ]
        tried = [
            {"arm": "context", "rule": "unused_statement", "outcome": "made", "why": ""},
            {"arm": "context", "rule": "rename_variable", "outcome": "contradicted" if number == 0 else "refused", "why": "it may"},
        ]
        made = sample(number, label=right, project=f"p{number % projects}", total_logprob=plain)
        samples.append(changed(made, labels={"exact_match": right, "tests_pass": right, "kept": None}))
        own = {"total_logprob": plain}
        line = {"code": "truth", "text": "x = 1", "exact": True, "plain": own, "identity": own, "variants": variants, "tried": tried}
        again = {"rules": ["unused_statement"] * 3, "text": "x = 1", "measures": own, "exact": right, "passes": right}
        facts.append({"id": made.id, "project": f"p{number % projects}", "file": "f.py", "lines": [line], "regenerated": again})
    return facts, samples
