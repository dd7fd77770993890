"""What an answer says of two programs: the same (True) or not (False). Pure functions; None where it can't be read."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ....inference.asking.asker import last_block
from ...counterfeit.problems.readings import p_of_first

# One word, perhaps with marks around it, or with a reason behind a full stop or on a line of its own.
_WORD = re.compile(r"[\s*`'\"(]*(true|false)[*`'\")]*(?:\s*|\s*[.,:;!\n].*)", re.IGNORECASE | re.DOTALL)


def answer_in(text: str) -> float | None:
    """1 for True and 0 for False, in the last complete answer tag, or of the whole text where no tag is opened."""
    found = _WORD.fullmatch(_answer(text) or "")
    return None if found is None else float(found[1].casefold() == "true")


def counts_in_paper(text: str) -> bool:
    """Whether the paper's own code counts the answer: it is nothing but the word, so that `False.`, which its prompt asks for, is not."""
    return (_answer(text) or "").strip().casefold() in ("true", "false")


def p_true(top: Sequence[tuple[str, float]]) -> float | None:
    """P(True) over P(True) + P(False), from the likeliest first tokens (text, log p) of the answer."""
    return p_of_first(top, ("true", "false"))


def _answer(text: str) -> str | None:
    block = last_block(text, "ANSWER")
    return text if block is None and "[ANSWER]" not in text else block
