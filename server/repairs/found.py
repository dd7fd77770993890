"""What was found for lines of documents, as long as their text stays the same."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ...calibration.control_characters import escaped
from ...suggestion.repair.request import Repair, Repairs
from ...suggestion.repair.verified import Verification
from .lines import Lines

_TOKENS = re.compile(r"\w+|\s+|[^\w\s]+")
# Of either side.
_MAX_CODE = 40


def title_of(repair: Repair, verification: Verification | None = None) -> str:
    """What it changes, how likely it is to be right where that is known, and what the tests say where they were run."""
    confidence = repair.suggestion.confidence
    told = [changed(repair.old, repair.suggestion.text)]
    if repair.mends:
        told.append("mends the file")
    if confidence.probability is not None:
        told.append(confidence.text)
    if verification is not None and (tests := _tests(verification)):
        told.append(tests)
    return "  ".join(told)


def _tests(verification: Verification) -> str:
    """That they pass, and which are mended."""
    told = [verification.title] if verification.passed else []
    # where other tests fail the title says which are mended
    told += [verification.mended] if verification.mended and not (verification.passed and verification.failing) else []
    return escaped(", ".join(told))


def changed(old: str, new: str) -> str:
    """The words and signs in which two texts differ; a neighbour of them where on one side there is none."""
    before, after = _TOKENS.findall(old), _TOKENS.findall(new)
    start = _common(before, after)
    behind = min(_common(before[::-1], after[::-1]), len(before) - start, len(after) - start)
    # A side without a word says nothing: the one that stands before it, else the one behind, is told with it.
    while start and not (_has_code(before[start : len(before) - behind]) and _has_code(after[start : len(after) - behind])):
        start -= 1
    while behind and not (_has_code(before[start : len(before) - behind]) and _has_code(after[start : len(after) - behind])):
        behind -= 1
    gone, come = ("".join(tokens[start : len(tokens) - behind]) for tokens in (before, after))
    return f"{_shown(gone)} → {_shown(come)}" if come.strip() else f"remove {_shown(gone)}"


def _common(one: list[str], other: list[str]) -> int:
    return next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _has_code(tokens: list[str]) -> bool:
    return any(not token.isspace() for token in tokens)


def _shown(code: str) -> str:
    """One line of it, shortened."""
    lines = [escaped(" ".join(line.split())) for line in re.split(r"\r\n|\r|\n", code) if line.strip()]
    first = lines[0] if lines else ""
    if len(first) > _MAX_CODE or len(lines) > 1:
        first = first[: _MAX_CODE - 2].rstrip() + " …"
    return f"`{first}`"


# Of one text.
_MAX_KEPT = 16


@dataclass(frozen=True, slots=True)
class Found:
    """The repairs of some lines, the best first. Their ranges are of the document at the lines' version.

    verifications: what the tests say, by the id of a suggestion, of those that are left out because of it as well. candidates: all that
    there are, in their order without the tests. not_verified: why the tests are not known to pass with the first one; empty where they
    are, or where none were to be run. names: the ids of the model and of its prompt. logged: the ids of those that a request was logged
    with; None where none was.
    """

    lines: Lines
    repairs: Repairs
    verifications: Mapping[str, Verification] = field(default_factory=dict)
    candidates: tuple[Repair, ...] = ()
    not_verified: str = ""
    names: tuple[str, str] | None = None
    logged: frozenset[str] | None = None

    def repair(self, suggestion_id: str | None) -> Repair | None:
        """The one of an id, also if it is not shown; the best one for None; None where there is none."""
        if suggestion_id is None:
            return next(iter(self.repairs.found), None)
        return next((repair for repair in (*self.repairs.found, *self.candidates) if repair.suggestion.id == suggestion_id), None)

    def is_refused(self, suggestion_id: str) -> bool:
        """Whether it is left out because of the tests."""
        said = self.verifications.get(suggestion_id)
        return said is not None and said.passed is False and all(repair.suggestion.id != suggestion_id for repair in self.repairs.found)

    def why_not_verified(self, repair: Repair) -> str:
        """Why the tests are not known to pass with one; empty where they are, or where none were to be run."""
        said = self.verifications.get(repair.suggestion.id)
        return self.not_verified if said is None else "" if said.passed else said.why

    @property
    def nothing_better(self) -> bool:
        """Whether what stands there is to stay: no repair is likely enough, and none mends a test."""
        return self.repairs.nothing_better and not any(said.mends for said in self.verifications.values() if said.passed)

    @property
    def titled(self) -> tuple[tuple[str, Repair], ...]:
        """Each with what it is called in a menu."""
        return tuple((title_of(repair, self.verifications.get(repair.suggestion.id)), repair) for repair in self.repairs.found)

    @property
    def refused(self) -> int:
        """How many are left out because of the tests."""
        return sum(map(self.is_refused, self.verifications))

    @property
    def judged(self) -> int:
        """Of how many the tests have said something."""
        return sum(said.passed is not None for said in self.verifications.values())

    def as_json(self) -> dict[str, Any]:
        """The answer to `assay/repairs`, but for the titles."""
        told = {"version": self.lines.version, **self.repairs.as_json(), "refused_by_tests": self.refused}
        told |= {
            "nothing_better": self.nothing_better,
            "judged": self.judged,
            "not_judged": max(0, len(self.candidates) - self.judged),
            "not_verified": self.not_verified,
        }
        for each, repair in zip(told["repairs"], self.repairs.found, strict=True):
            said = self.verifications.get(repair.suggestion.id)
            each["verification"] = None if said is None else said.as_json()
        return told


class FoundRepairs:
    """The latest of them, by document and lines."""

    def __init__(self) -> None:
        self._by_lines: dict[str, OrderedDict[tuple[int, int], Found]] = {}

    def add(self, found: Found) -> None:
        """Remember what was found."""
        kept = self._by_lines.setdefault(found.lines.uri, OrderedDict())
        kept.pop((found.lines.first, found.lines.end), None)
        kept[found.lines.first, found.lines.end] = found
        while len(kept) > _MAX_KEPT:
            kept.popitem(last=False)

    def of(self, lines: Lines) -> Found | None:
        """What was found for these lines of this version, and for what is said to be wrong there, where that is known."""
        kept = self._by_lines.get(lines.uri)
        found = None if kept is None else kept.get((lines.first, lines.end))
        if found is None or lines.message not in ("", found.lines.message):
            return None
        return found if (found.lines.version, found.lines.digest) == (lines.version, lines.digest) else None

    def forget(self, uri: str) -> None:
        """The document's text is another one now, or it is closed."""
        self._by_lines.pop(uri, None)

    def clear(self) -> None:
        """What is found now may be something else."""
        self._by_lines.clear()
