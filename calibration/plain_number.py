"""Numbers as people write them, never as 1e+02."""

from __future__ import annotations

import math

# Smaller or larger ones have too many zeros to be read.
_PLAIN = (1e-6, 1e15)


def plain(value: float, digits: int = 2) -> str:
    """The number to so many digits, all of those before the point.

    >>> [plain(value) for value in (0.0123, 3.5, 9.96, 99.6, -250.4, 1_200_000, 0, 0.00001)]
    ['0.012', '3.5', '10', '100', '-250', '1,200,000', '0', '0.00001']
    >>> plain(0.5, digits=6), plain(60.0, digits=6), plain(123456.7, digits=3)
    ('0.5', '60', '123,457')
    """
    if value == 0 or not _PLAIN[0] <= abs(value) < _PLAIN[1]:
        return f"{value:.{digits}g}"
    text = f"{value:,.{max(0, digits - 1 - math.floor(math.log10(abs(value))))}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
