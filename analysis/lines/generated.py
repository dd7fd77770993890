"""Whether a text was written by a tool: such lines say nothing of what people write."""

from __future__ import annotations

import re

# What generators say of their files stands at the top.
_HEAD = 2_000
_MARK = re.compile(
    r"@generated\b|\bdo not (?:edit|modify)\b|\b(?:code|file|source) (?:was |is )?(?:auto(?:matically)?[- ]?)?generated\b"
    r"|\bauto-?generated\b|\bautomatically generated\b|^\W*(?:this \w+ (?:is|was) )?generated (?:by|from|with)\b",
    re.IGNORECASE | re.MULTILINE,
)
# What a compiler of TypeScript or of modules writes.
_COMPILED = re.compile(r"^//[#@] sourceMappingURL=|Object\.defineProperty\(exports, \"__esModule\"|\b__webpack_require__\b", re.MULTILINE)
_MAX_LINE = 1_000
_MAX_MEAN_LINE = 120


def looks_generated(text: str) -> bool:
    """Whether a text says that it is generated, was compiled from another language, or is minified."""
    lines = text.splitlines()
    longest = max(map(len, lines), default=0)
    mean = sum(map(len, lines)) / max(1, sum(bool(line.strip()) for line in lines))
    if longest > _MAX_LINE or mean > _MAX_MEAN_LINE:
        return True
    return _MARK.search(text[:_HEAD]) is not None or _COMPILED.search(text) is not None
