"""The morphisms for Java, as tests use them."""

from __future__ import annotations

import random
from collections.abc import Sequence

from assay.analysis.morphisms.morphism import Morphism, Refused, Site
from assay.analysis.morphisms.registry import morphisms

EQUIVALENT = morphisms("java", equivalent=True)
OTHER = morphisms("java", equivalent=False)


def applied(source: str, among: Sequence[Morphism]) -> list[tuple[str, Site, str]]:
    """(morphism, site, what it makes of the source) at every site of some morphisms where they do not refuse."""
    made = []
    for one in among:
        for site in one.sites(source):
            try:
                made.append((one.name, site, one.apply(source, site, random.Random(f"{one.name}{site}"))))
            except Refused:
                continue
    return made


def reason(one: Morphism, source: str, shape: str) -> str:
    """Why a morphism refuses the site that begins where `shape` is first found; "" where it does not."""
    site = next(s for s in one.sites(source) if source.startswith(shape, s.start))
    try:
        one.apply(source, site, random.Random(0))
    except Refused as refusal:
        return str(refusal)
    return ""
