"""The kinds of bug, and one of them put into a program at random."""

from __future__ import annotations

import importlib
import random

from ..morphisms.rule import Outcomes, Refused, Rewrite, Rule, confirmed, rewrite

KINDS = ("swapped_arguments", "wrong_name", "off_by_one", "wrong_operator", "missing_negation", "removed_guard")
LANGUAGES = ("python", "java")


def bug(kind: str, language: str) -> Rule:
    """The rule that makes such a bug. Raises ValueError, naming what there is; ImportError without the language's parser."""
    if language not in LANGUAGES:
        raise ValueError(f"no bugs for {language!r}; there are some for {', '.join(LANGUAGES)}")
    if kind not in KINDS:
        raise ValueError(f"no bug {kind!r}; there are {', '.join(KINDS)}")
    module: Rule = importlib.import_module(f".{language}.{kind}", __package__)
    return module


def inject(source: str, language: str, seed: str, *, kind: str | None = None, outcomes: Outcomes | None = None) -> Rewrite:
    """A bug of a random kind, or of the one named, at a random place.

    outcomes: as of `confirmed`; with it only a bug that changes some test's outcome is given. The same for the same source and seed.
    Raises Refused where none can be put in.
    """
    rng = random.Random(f"{seed}:bug")
    kinds = [kind] if kind is not None else rng.sample(KINDS, len(KINDS))
    for name in kinds:
        rule = bug(name, language)
        sites = rule.sites(source)
        for site in rng.sample(sites, len(sites)):
            try:
                step = rewrite(rule, source, site, rng)
            except Refused:
                continue
            if outcomes is None or confirmed(source, step.of(source), outcomes):
                return step
    told = " that a test would notice" if outcomes is not None else ""
    raise Refused(f"no place for a bug of {', '.join(kinds)}{told}")
