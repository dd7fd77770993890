"""Token budgets of a prompt and of the generated text, and the fingerprint that calibrators are matched by."""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import asdict, dataclass
from functools import lru_cache

from ..model import Layout
from .task import Kind


@dataclass(frozen=True, slots=True)
class Sampling:
    """At temperature 0 the most likely token, else one drawn from the likeliest `top_p` of the distribution at that temperature.

    seed: of the first of several draws; number i has seed + i. Raises ValueError for a temperature below 0 or a top_p outside of (0, 1].
    """

    temperature: float = 0.0
    top_p: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.temperature < math.inf or not 0 < self.top_p <= 1:
            raise ValueError(f"temperature {self.temperature}, top_p {self.top_p}: at least 0, in (0, 1]")

    @property
    def decoding(self) -> str:
        """What decides which texts come, for a fingerprint: not the seed, and of greedy decoding nothing else."""
        return f"T={float(self.temperature)} top_p={float(self.top_p)}" if self.temperature else "greedy"


GREEDY = Sampling()


# Part of every fingerprint. Raise a kind's number whenever the prompt changes, or how a text of this kind is cut. Hiding some texts is no
# such change: the others keep their text and their measures.
VERSIONS: dict[Kind, int] = {"line": 3, "block": 4, "function": 3}
# As VERSIONS, of a layout alone.
_LAYOUT_VERSIONS: dict[Layout, str] = {"anchored": "anchored 2"}
# BOS and the three fill-in-the-middle tokens.
CONTROL_TOKENS = 4


@dataclass(frozen=True, slots=True)
class Settings:
    """Token budgets of the prompt and of the generated text.

    For a model with a smaller context all parts of the prompt are cut in proportion.

    Attributes
        prefix_tokens, suffix_tokens: for the text before and after the cursor.
        head_tokens: a part of the prefix's budget, for the file's first lines where the prefix is cut.
        extra_tokens: for other files, besides the prefix's and the suffix's. This and head_tokens are 0 because the embedded model gains
            nothing from them (docs/context.md).
        line_tokens, block_tokens, function_tokens: for the generated text, by its kind.
    """

    prefix_tokens: int = 560
    suffix_tokens: int = 240
    head_tokens: int = 0
    extra_tokens: int = 0
    line_tokens: int = 64
    block_tokens: int = 160
    function_tokens: int = 256

    @property
    def shown_tokens(self) -> int:
        """The budget of the whole prompt."""
        return self.prefix_tokens + self.suffix_tokens + self.extra_tokens

    def fits(self, context_length: int, kind: Kind = "line") -> bool:
        """Whether a model's context holds the whole prompt and text of this kind."""
        new = max(self.line_tokens, self.block_tokens)
        if kind == "function":
            new = max(new, self.function_tokens)
        return context_length >= self.shown_tokens + new + CONTROL_TOKENS

    def fingerprint(
        self,
        layout: Layout,
        context_length: int,
        kind: Kind = "line",
        *,
        heals: bool = True,
        memory: str = "",
        sampling: Sampling = GREEDY,
    ) -> str:
        """16 hex digits over all that decides the prompt, the decoding and the cut of the text. A calibrator holds for one fingerprint.

        The context's length counts only where the budgets don't fit into it, function_tokens only for functions.

        heals: whether the model is held to what stands before the cursor (`Capabilities.heals`).
        memory: the fingerprint of the project memory that is mixed in (`Generation.memory`); empty for none.
        sampling: how the tokens are chosen; its seed does not count.
        """
        return _fingerprint(self, layout, context_length, kind, heals, memory, sampling.decoding)


# Asked for at each keystroke.
@lru_cache
def _fingerprint(settings: Settings, layout: Layout, context_length: int, kind: Kind, heals: bool, memory: str, decoding: str) -> str:
    # A budget of 0 is left out, so that calibrators from before the option existed still hold.
    budgets = {name: tokens for name, tokens in asdict(settings).items() if tokens or name not in ("head_tokens", "extra_tokens")}
    if kind != "function":
        del budgets["function_tokens"]
    if not heals:  # greedy decoding is not named then, so that calibrators from before sampling still hold
        decoding = "unhealed" if decoding == GREEDY.decoding else f"unhealed {decoding}"
    decides = {**budgets, "layout": _LAYOUT_VERSIONS.get(layout, layout), "decoding": decoding, "version": VERSIONS[kind]}
    if memory:
        decides["memory"] = memory
    if not settings.fits(context_length, kind):
        decides["context_length"] = context_length
    return hashlib.sha256(json.dumps(decides, sort_keys=True).encode()).hexdigest()[:16]
