"""Read another variable of the same function than the one that was meant.

Precondition: another local variable of the same function, comprehensions' left out, is bound by that place of the text. Random: which.
"""

from __future__ import annotations

import random

from ...morphisms.morphism import Refused, Site
from ...morphisms.text_edits import Edit, edited
from ...python.syntax.parsed import Parsed, parse
from ...python.syntax.scopes import Occurrence, Variable, scopes

NAME = "wrong_name"
EQUIVALENT = False
EXAMPLE = ("def f(low, high):\n    return high\n", "def f(low, high):\n    return low\n")


def sites(source: str) -> list[Site]:
    """One for each place that reads a function's variable; what: its name. Raises UnreadableSource."""
    parsed = parse(source)
    return sorted((Site(*parsed.spans[o.node], v.name) for v, o in _reads(parsed)), key=lambda s: s.start)


def apply(source: str, site: Site, rng: random.Random) -> str:
    """The source with another variable's name there. Raises Refused."""
    parsed = parse(source)
    found = next(((v, o) for v, o in _reads(parsed) if parsed.spans[o.node] == (site.start, site.end)), None)
    if found is None:
        raise Refused("no variable is read here")
    variable, _ = found
    others = {
        other.name
        for other in scopes(parsed).variables
        if other.scope is variable.scope and other is not variable and any(parsed.spans[b.node][1] <= site.start for b in other.bindings)
    }
    if not others:
        raise Refused(f"the function has no other variable by then than {variable.name}")
    return edited(source, [Edit(site.start, site.end, rng.choice(sorted(others)))])


def _reads(parsed: Parsed) -> list[tuple[Variable, Occurrence]]:
    local = [v for v in scopes(parsed).variables if v.scope.kind == "function"]
    return [(v, o) for v in local for o in v.occurrences if o.how == "read"]
