"""Numbers as people write them, never as 1e+02."""

from __future__ import annotations

import math

# Smaller or larger ones have too many zeros to be read.
_PLAIN = (1e-6, 1e15)


def plain(value: float, digits: int = 2) -> str:
    """The number to so many digits, all of those before the point: "0.012", "3.5", "108", "1,200,000"."""
    if value == 0 or not _PLAIN[0] <= abs(value) < _PLAIN[1]:
        return f"{value:.{digits}g}"
    text = f"{value:,.{max(0, digits - 1 - math.floor(math.log10(abs(value))))}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
