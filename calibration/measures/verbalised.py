"""Verbalised probabilities: the number in a model's answer when it is asked for a percentage.

A number counts only if the text says that it is a probability. Nothing is guessed: if a careful reader could not say which number is meant,
or of what, there is none, and the model is asked once more (reflective.py).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

# What people mean by a phrase. For seventeen phrases it is the median answer of 123 people (W. Fagen-Ulmschneider, "Perception of
# Probability Words", survey-results.csv of github.com/wadefagen/datasets, d588d8f; "very" is read as their "highly"); certain, impossible
# and almost certainly not as S. Kent fixed them ("Words of Estimative Probability", Studies in Intelligence 8(4), 1964).
PHRASES = {
    "certain": 1.0,
    "almost certain": 0.95,
    "almost certainly": 0.95,
    "highly likely": 0.9,
    "very likely": 0.9,
    "very good chance": 0.8,
    "probable": 0.7,
    "probably": 0.7,
    "likely": 0.7,
    "better than even": 0.6,
    "about even": 0.5,
    "probably not": 0.25,
    "unlikely": 0.2,
    "little chance": 0.1,
    "chances are slight": 0.1,
    "improbable": 0.1,
    "almost certainly not": 0.07,
    "highly unlikely": 0.05,
    "very unlikely": 0.05,
    "almost no chance": 0.02,
    "impossible": 0.0,
}

_NUMBER = r"(?<![\w.,])(?:\d+(?:[.,]\d+)*|\.\d+)(?!(?!per|pct)\w)"
_PERCENT = r"\s?(?:%|per\s?cent\b|pct\b)"
_STATED = re.compile(
    rf"(?P<low>{_NUMBER})(?:{_PERCENT})?\s?(?:-|to|and)\s?(?P<high>{_NUMBER})(?P<range_percent>{_PERCENT})?"
    rf"|(?<!/)(?P<part>{_NUMBER})\s?(?:/|out of|in)\s?(?P<whole>{_NUMBER})(?!/)"
    rf"|(?P<one>{_NUMBER})(?P<percent>{_PERCENT})?"
)
_CUE = r"\b(?:probability|likelihood|chances?|confidence|confident|certainty|percentage|estimate|sure|p(?:\(\w+\))?(?=\s?=))(?!\w)"
_FILLER = (
    r"(?:about|approximately|around|at|be|being|between|code|completion|correct|i|i'd|is|it|its|my|nearly|of|right|roughly|say|some|that|the"
    r"|this|was|would)\b"
)
_CUE_BEFORE = re.compile(rf"{_CUE}[\s:=~(\[-]*(?:{_FILLER}[\s:=~(]*)*$")
_CUE_BEHIND = re.compile(rf"[\s)]*{_CUE}")
_ALONE_BEFORE = re.compile(rf"\W*(?:(?:answer|maybe|perhaps|{_FILLER})\W*)*")
_ALONE_BEHIND = re.compile(r"\s?(?:[.!)]*$|(?:[,;] |\(|because\b)\D*$)")
_COUNTED = r"(?:bug|case|character|column|error|function|line|mistake|python|second|step|test|time|token|version)s?\b"
_COUNTED_BEFORE = re.compile(rf"\b{_COUNTED}[\s:]*$")
_COUNTED_BEHIND = re.compile(rf"\s?(?:of (?!being\b|the time\b)|(?:\w+ )?{_COUNTED})")
_MINUS = re.compile(r"(?:^|[\s(:=~])-$")
_BOUND = re.compile(r"(?:<|>|≤|≥|\b(?:than|at least|at most|over|under|above|below|up to|not)|n't)=?\s?$")
_BEING_WRONG = re.compile(r"\b(?:wrong|incorrect|errors?|mistakes?|fails?|failure|false|buggy|bugs?)\b")
_PHRASE = re.compile(rf"\b(?:{'|'.join(sorted(PHRASES, key=len, reverse=True))})\b")
_BENT = re.compile(
    r"(?:\b(?:as|equally|extremely|fairly|hardly|how|least|less|more|most|not|pretty|quite|rather|reasonably|relatively|somewhat)|n't) $"
)
_PLAIN = str.maketrans({**dict.fromkeys("‐‑‒–—−", "-"), "’": "'", **dict.fromkeys('*_`\\{}$"', " ")})


@dataclass(frozen=True, slots=True)
class _Claim:
    """One stated probability. low and high differ only for a range."""

    low: Decimal
    high: Decimal


def probability_in(answer: str) -> float:
    """The probability that an answer states, in [0, 1]. Of a range, its middle.

    It reads percentages (80%, 80.00 %, 80 percent, 70-80%), shares (8/10, 8 out of 10), and a number that stands alone or is called a
    probability (0.8, "the probability is about 80"). Without any number it reads the phrases of `PHRASES`.

    Raises ValueError, with the reason, if no probability is stated or several differ, if it is negative or above 100 %, for a lone 1 (one
    percent, or certainty?), and if the answer speaks of being wrong (80 % of what?).
    """
    text = " ".join(unicodedata.normalize("NFKC", answer).translate(_PLAIN).lower().split())
    claims = list(_numbers(text)) or list(_phrases(text))
    if not claims:
        raise ValueError("no probability is stated")
    if _BEING_WRONG.search(text):
        raise ValueError("it speaks of being wrong, so it can't be told what the number is the probability of")
    points = {claim.low for claim in claims if claim.low == claim.high}
    ranges = {(claim.low, claim.high) for claim in claims if claim.low < claim.high}
    if len(points) == 1:
        (point,) = points
        if all(low <= point <= high for low, high in ranges):
            return float(point)
    elif not points and len(ranges) == 1:
        ((low, high),) = ranges
        return float((low + high) / 2)
    raise ValueError(f"{len(claims)} probabilities are stated, and they differ")


def _numbers(text: str) -> Iterator[_Claim]:
    for found in _STATED.finditer(text):
        before, behind = text[: found.start()], text[found.end() :]
        values = [_value(found[name]) for name in ("low", "high", "part", "whole", "one") if found[name]]
        in_percent = found["range_percent"] or found["percent"]
        if None in values or _COUNTED_BEFORE.search(before) or _COUNTED_BEHIND.match(behind):
            continue
        if not (in_percent or found["part"] or _called_a_probability(before, behind)):
            continue
        said = found[0][:20]
        if _MINUS.search(before):
            raise ValueError(f"-{said} is negative")
        if _BOUND.search(before):
            raise ValueError(f"{said} is only a bound, or denied")
        numbers = [value for value in values if value is not None]
        shares = [_share(*numbers)] if found["part"] else [_of_lone(value, bool(in_percent)) for value in numbers]
        if max(shares) > 1:
            raise ValueError(f"{said} is more than certain")
        if min(shares) > 0 or max(shares) < 1:  # else it is the scale itself
            yield _Claim(min(shares), max(shares))


def _value(number: str) -> Decimal | None:
    """None for a version, an address or a list."""
    if re.fullmatch(r"\d*\.?\d+", number):
        return Decimal(number)
    if re.fullmatch(r"\d+,\d{1,2}", number):
        return Decimal(number.replace(",", "."))
    if re.fullmatch(r"\d{1,3}(?:,\d{3})+", number):
        return Decimal(number.replace(",", ""))
    return None


def _share(part: Decimal, whole: Decimal) -> Decimal:
    if part == whole == 50:  # odds, not a share
        return part / 100
    if whole == 0:
        raise ValueError("a share of nothing")
    return part / whole


def _of_lone(value: Decimal, in_percent: bool) -> Decimal:
    """Without a unit a number below 1 is a probability and one above 1 a percentage."""
    if value == 1 and not in_percent:
        raise ValueError("a lone 1 may be one percent or certainty")
    return value / 100 if in_percent or value > 1 else value


def _called_a_probability(before: str, behind: str) -> bool:
    if _CUE_BEFORE.search(before) or _CUE_BEHIND.match(behind):
        return True
    return bool(_ALONE_BEFORE.fullmatch(before) and _ALONE_BEHIND.match(behind))


def _phrases(text: str) -> Iterator[_Claim]:
    for found in _PHRASE.finditer(text):
        if not _BENT.search(text[: found.start()]):
            meant = Decimal(str(PHRASES[found[0]]))
            yield _Claim(meant, meant)
