"""The fingerprints that evidence must name to count: those of the embedded model, and of how it is asked at present."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from assay.inference.opening import ModelChoice
from assay.offline_eval.model import model_of
from assay.offline_eval.repairs.model import sources_of
from assay.offline_eval.sets.regions import TASKS
from assay.suggestion.repair.confidence import TASK as REPAIR
from assay.suggestion.repair.confidence import prompt_of
from assay.suggestion.repair.localisation import TASK as FAULT

_OF_REPAIRS = (REPAIR, FAULT)
_NAMED = re.compile(r"model (\w+), prompt (\w+(?: \w+)*)")


@dataclass(frozen=True, slots=True)
class Present:
    """model: the embedded model's fingerprint. prompts: that of prompt and decoder, by task. repairs: of how repairs are made."""

    model: str
    prompts: Mapping[str, str]
    repairs: str = ""

    def prompt_of(self, task: str) -> str | None:
        """The fingerprint of a task of calibrators."""
        return self.repairs if task in _OF_REPAIRS else self.prompts.get(task)

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
    prompts = {str(task): prompt for task, prompt in found.prompts.items()}
    return Present(found.id, prompts, prompt_of(prompts["line"], sources_of(found)))
