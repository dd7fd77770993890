"""The fingerprints that evidence must name to count: those of the embedded model, and of how it is asked at present."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from assay.inference.opening import ModelChoice
from assay.offline_eval.model import model_of
from assay.offline_eval.sets.regions import TASKS

_NAMED = re.compile(r"model (\w+), prompt (\w+(?: \w+)*)")


@dataclass(frozen=True, slots=True)
class Present:
    """model: the embedded model's fingerprint. prompts: that of prompt and decoder, by task."""

    model: str
    prompts: Mapping[str, str]

    def named(self, *tasks: str) -> str:
        """What evidence on these tasks says that it is of. No tasks: all."""
        return f"model {self.model}, prompt {' '.join(dict.fromkeys(self.prompts[task] for task in tasks or self.prompts))}"

    def holds(self, named: str) -> bool:
        """Whether what evidence says that it is of, is present."""
        found = _NAMED.fullmatch(named)
        return found is not None and found[1] == self.model and set(found[2].split()) <= set(self.prompts.values())


def present() -> Present:
    """What holds now, by opening the embedded model as a study does."""
    found = model_of(ModelChoice(), TASKS)
    return Present(found.id, {str(task): prompt for task, prompt in found.prompts.items()})
