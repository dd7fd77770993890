"""The rules and bugs for Java, as tests use them."""

from __future__ import annotations

import random
from collections.abc import Sequence

from assay.analysis.bugs.injection import KINDS, bug
from assay.analysis.morphisms.compose import rules
from assay.analysis.morphisms.rule import Refused, Rule, Site

EQUIVALENT = rules("java", equivalent=True)
OTHER = rules("java", equivalent=False)
BUGS = [bug(kind, "java") for kind in KINDS]


def applied(source: str, among: Sequence[Rule]) -> list[tuple[str, Site, str]]:
    """(rule, site, what it makes of the source) at every site of some rules where they do not refuse."""
    made = []
    for rule in among:
        for site in rule.sites(source):
            try:
                made.append((rule.NAME, site, rule.apply(source, site, random.Random(f"{rule.NAME}{site}"))))
            except Refused:
                continue
    return made


def reason(rule: Rule, source: str, shape: str) -> str:
    """Why a rule refuses the site that begins where `shape` is first found; "" where it does not."""
    site = next(s for s in rule.sites(source) if source.startswith(shape, s.start))
    try:
        rule.apply(source, site, random.Random(0))
    except Refused as refusal:
        return str(refusal)
    return ""
