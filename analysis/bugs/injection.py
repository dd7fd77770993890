"""Put a bug into a line of a program: a random kind at a random place."""

from __future__ import annotations

import random

from ..morphisms.morphism import Refused, Rewrite, rewrite
from .registry import KINDS, bug


def inject(source: str, seed: str, line: tuple[int, int], *, kind: str | None = None) -> Rewrite:
    """Put a bug of a random kind, or of the one named, at a random place of a line, so that it makes one other line of it.

    line: source[start:end], without the newline. The same source, seed and line give the same bug. Raises Refused where no bug fits.
    """
    rng = random.Random(f"{seed}:bug")
    for name in [kind] if kind is not None else rng.sample(KINDS, len(KINDS)):
        morphism = bug(name)
        sites = [site for site in morphism.sites(source) if site.start < line[1] and line[0] < site.end]
        for site in rng.sample(sites, len(sites)):
            try:
                step = rewrite(morphism, source, site, rng)
            except Refused:
                continue
            if line[0] <= step.start and step.end <= line[1] and "\n" not in step.text:
                return step
    raise Refused("no place for a bug in this line")
