"""Read another variable of the same function than the one that was meant.

Precondition: another local variable of the same function, comprehensions' left out, is bound by that place of the text. Random: which.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from ..morphisms.morphism import Refused, Site
from ..morphisms.text_edits import Edit
from ..python.syntax.parsed import Parsed
from ..python.syntax.scopes import Occurrence, Variable, scopes

EXAMPLE = ("def f(low, high):\n    return high\n", "def f(low, high):\n    return low\n")


def places(parsed: Parsed) -> Iterator[tuple[Site, tuple[Variable, Occurrence]]]:
    """Each place that reads a function's variable; what: its name."""
    for variable in scopes(parsed).variables:
        for occurrence in variable.occurrences if variable.scope.kind == "function" else ():
            if occurrence.how == "read":
                yield Site(*parsed.spans[occurrence.node], variable.name), (variable, occurrence)


def edits(parsed: Parsed, read: tuple[Variable, Occurrence], rng: random.Random) -> list[Edit]:
    """Put another variable's name there. Raises Refused."""
    variable, (start, end) = read[0], parsed.spans[read[1].node]
    others = {
        other.name
        for other in scopes(parsed).variables
        if other.scope is variable.scope and other is not variable and any(parsed.spans[b.node][1] <= start for b in other.bindings)
    }
    if not others:
        raise Refused(f"the function has no other variable by then than {variable.name}")
    return [Edit(start, end, rng.choice(sorted(others)))]
