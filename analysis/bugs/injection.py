"""Put a bug into a program: a random kind at a random place."""

from __future__ import annotations

import random

from ..morphisms.morphism import Outcomes, Refused, Rewrite, outcomes_differ, rewrite
from .registry import KINDS, bug


def inject(
    source: str, language: str, seed: str, *, kind: str | None = None, outcomes: Outcomes | None = None, line: tuple[int, int] | None = None
) -> Rewrite:
    """Put a bug at a random place, of a random kind or of the one named. The same source and seed give the same bug.

    Parameters:
        outcomes: runs tests. With it only a bug that changes some test's outcome is given.
        line: source[start:end], without the newline. With it only a bug that makes one other line of it is given.

    Raises: Refused where no bug fits.
    """
    rng = random.Random(f"{seed}:bug")
    kinds = [kind] if kind is not None else rng.sample(KINDS, len(KINDS))
    for name in kinds:
        morphism = bug(name, language)
        sites = [site for site in morphism.sites(source) if line is None or (site.start < line[1] and line[0] < site.end)]
        for site in rng.sample(sites, len(sites)):
            try:
                step = rewrite(morphism, source, site, rng)
            except Refused:
                continue
            if line is not None and not (line[0] <= step.start and step.end <= line[1] and "\n" not in step.text):
                continue
            if outcomes is None or outcomes_differ(source, step.of(source), outcomes):
                return step
    told = " that a test would notice" if outcomes is not None else ""
    raise Refused(f"no place for a bug of {', '.join(kinds)}{told}")
