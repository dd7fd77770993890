"""How a repair is called in a menu: "`<` → `<=`  ◆ likely 61-78 % passes tests", "✔ 12 tests pass (0.4 s)". Pure."""

from __future__ import annotations

import re

from ...calibration.control_characters import escaped
from ...suggestion.repair.request import Repair
from ...suggestion.repair.verified import Verification

_TOKENS = re.compile(r"\w+|\s+|[^\w\s]+")
# Of either side.
_MAX_CODE = 40


def title_of(repair: Repair, verification: Verification | None = None) -> str:
    """What it changes, how likely it is to be right where that is known, and what the tests say where they were run."""
    confidence = repair.suggestion.confidence
    told = [changed(repair.old, repair.suggestion.text)]
    if repair.mends:
        told.append("mends the file")
    if confidence.probability is not None:
        told.append(confidence.text)
    if verification is not None and (tests := _tests(verification)):
        told.append(tests)
    return "  ".join(told)


def _tests(verification: Verification) -> str:
    """That they pass, and which are mended."""
    told = [verification.title] if verification.passed else []
    # where other tests fail the title says which are mended
    told += [verification.mended] if verification.mended and not (verification.passed and verification.failing) else []
    return escaped(", ".join(told))


def changed(old: str, new: str) -> str:
    """The words and signs in which two texts differ; a neighbour of them where on one side there is none."""
    before, after = _TOKENS.findall(old), _TOKENS.findall(new)
    start = _common(before, after)
    behind = min(_common(before[::-1], after[::-1]), len(before) - start, len(after) - start)
    # A side without a word says nothing: the one that stands before it, else the one behind, is told with it.
    while start and not (_has_code(before[start : len(before) - behind]) and _has_code(after[start : len(after) - behind])):
        start -= 1
    while behind and not (_has_code(before[start : len(before) - behind]) and _has_code(after[start : len(after) - behind])):
        behind -= 1
    gone, come = ("".join(tokens[start : len(tokens) - behind]) for tokens in (before, after))
    return f"{_shown(gone)} → {_shown(come)}" if come.strip() else f"remove {_shown(gone)}"


def _common(one: list[str], other: list[str]) -> int:
    return next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _has_code(tokens: list[str]) -> bool:
    return any(not token.isspace() for token in tokens)


def _shown(code: str) -> str:
    """One line of it, shortened."""
    lines = [escaped(" ".join(line.split())) for line in re.split(r"\r\n|\r|\n", code) if line.strip()]
    first = lines[0] if lines else ""
    if len(first) > _MAX_CODE or len(lines) > 1:
        first = first[: _MAX_CODE - 2].rstrip() + " …"
    return f"`{first}`"
