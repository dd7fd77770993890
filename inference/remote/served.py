"""What is known of a server and its model."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from ..completion.fim_families import Family, family_named, family_of
from ..completion.settings import GREEDY, Sampling
from ..model import Fingerprint
from .formats import Holding
from .tokenizer import Kind, ServerTokenizer

Scoring = Literal["steps", "prompt_logprobs", "echo"]


@dataclass(frozen=True, slots=True)
class Served:
    """What a server says of its model, and what it can do.

    Attributes
        vocabulary: how many tokens there are, None where it does not say.
        top: how many log-probabilities it reports at each place, 0 for none.
        ids: whether it takes token ids as a prompt.
        shaped: whether its log-probabilities are those at the temperature, not the model's own.
        infill: whether it lays fill-in-the-middle prompts out itself, by /infill.
        suffix: whether it lays them out by the model's template, from a prompt and a `suffix`, and only so.
        family: of the model's prompts, where the server's list of tokens or its template says it.
        scoring: how it scores a given text, None where it can't.
        holding: how it is held to a text that must come next, so that log-probabilities are among what agrees with it; None where it can't.
        ends: spellings of the tokens that end a text.
        extras: fields of every request.
        metadata: what the fingerprint is made of.
        warnings: what the user must be told.
    """

    kind: Kind | Literal["openai", "ollama", "lm-studio"]
    model: str
    runtime: str
    context_length: int | None
    parameters: int = 0
    quantisation: str = "unknown"
    vocabulary: int | None = None
    top: int = 0
    ids: bool = False
    shaped: bool = False
    infill: bool = False
    suffix: bool = False
    family: Family | None = None
    scoring: Scoring | None = None
    holding: Holding | None = None
    ends: tuple[str, ...] = ()
    extras: Mapping[str, Any] = field(default_factory=dict)
    metadata: Mapping[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    def family_with(self, tokenizer: ServerTokenizer | None) -> Family | None:
        """The family of the vocabulary; where that can't be looked into, of the name. None where the server lays prompts out."""
        if self.kind == "ollama":
            return self.family
        return family_named(self.model) if tokenizer is None else family_of(tokenizer.control, self.model)

    def request(
        self, prompt: str | Sequence[int], top: int | None, sampling: Sampling = GREEDY, *, max_tokens: int = 1, **more: Any
    ) -> dict[str, Any]:
        """A body for `/v1/completions`. top: how many log-probabilities, None for none. more: further fields, in place of the usual."""
        asked = prompt if isinstance(prompt, str) else list(prompt)
        body = {"model": self.model, "prompt": asked, "max_tokens": max_tokens, "temperature": sampling.temperature, "stream": False}
        drawn = {"top_p": sampling.top_p, "seed": sampling.seed} if sampling.temperature > 0 else {}
        return {**body, **drawn, **({} if top is None else {"logprobs": top}), **self.extras, **more}

    @property
    def fingerprint(self) -> Fingerprint:
        """What the server says of the model. Instead of hashes of weights and tokenizer it has "served:" and a hash of that."""
        said = json.dumps({"kind": self.kind, "model": self.model, **self.metadata}, sort_keys=True, default=str)
        digest = hashlib.sha256(said.encode()).hexdigest()
        return Fingerprint(
            name=self.model,
            architecture="unknown",
            parameters=self.parameters,
            quantisation=self.quantisation,
            weights=f"served:{digest}",
            tokenizer=f"served:{digest}",
            runtime=self.runtime,
        )


def number(value: object) -> int | None:
    """A whole number above 0 that a server tells, else None."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None
