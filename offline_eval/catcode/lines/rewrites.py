"""Rewrites of a line and of the code around it: found by the morphisms and the kinds of bug, confirmed by a project's tests.

    context      the code around the line, rewritten so that it does the same, in a chain: each rewrite is made on what the last one gave
    equivalent   the line, rewritten so that it does the same; a name is renamed in its whole function
    wrong        the line, rewritten so that some test fails

Rules refuse where they are not certain; how often each did, and why, is told. No model is asked.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from difflib import unified_diff
from itertools import islice
from typing import Literal, TypedDict, get_args

from ....analysis.bugs import KINDS, bug
from ....analysis.morphisms.morphism import Morphism, Refused, Rewrite, Site, rewrite
from ....analysis.morphisms.registry import morphism, morphisms
from ....analysis.python.lines import Gap, UnreadableSource
from ....analysis.text_edits import Edit
from ....inference.completion.prompt import context_at
from ....inference.completion.settings import Settings
from ....inference.completion.task import Task
from ....inference.model import Model
from ...sets.lines import FileWithGap


@dataclass(frozen=True, slots=True)
class View:
    """A text, the gap where a line's code is, and the part of the text that is shown: text[start:end]."""

    text: str
    gap: Gap
    start: int
    end: int

    @property
    def line(self) -> str:
        """The code in the gap."""
        return self.text[self.gap.start : self.gap.end]

    def with_line(self, text: str) -> View:
        """The same with another line in the gap."""
        longer = len(text) - len(self.line)
        whole = self.text[: self.gap.start] + text + self.text[self.gap.end :]
        return View(whole, Gap(self.gap.start, self.gap.start + len(text)), self.start, self.end + longer)

    def after(self, step: Edit) -> View | None:
        """The view of the rewritten text. None where it is not certain which line of that is the one in the gap, or what is shown of it."""
        text = step.of(self.text)
        same_lines = text.count("\n") == self.text.count("\n")
        start, end = (self._moved(at, step, text, same_lines=same_lines) for at in (self.start, self.end))
        gap = self._moved_gap(step, text, same_lines=same_lines)
        if start is None or end is None or gap is None or not start <= gap.start < gap.end <= end:
            return None
        return View(text, gap, start, end)

    def _moved(self, at: int, step: Edit, text: str, *, same_lines: bool) -> int | None:
        if at <= step.start:
            return at
        if at >= step.end:
            return at + len(step.text) - (step.end - step.start)
        if same_lines and self.text[at - 1] == "\n":
            return _start_of_line(text, self.text.count("\n", 0, at))
        return None

    def _moved_gap(self, step: Edit, text: str, *, same_lines: bool) -> Gap | None:
        """Where the line's code is: of the same line where the rewrite keeps their number, else where it was, with the text before it."""
        if step.end <= self.gap.start or step.start >= self.gap.end:
            longer = len(step.text) - (step.end - step.start) if step.end <= self.gap.start else 0
            gap = Gap(self.gap.start + longer, self.gap.end + longer)
            alone = not text[text.rfind("\n", 0, gap.start) + 1 : gap.start].strip() and not text[gap.end : gap.end + 1].strip("\n \t")
            return gap if alone and text[gap.start : gap.end] == self.line else None
        if not same_lines:
            return None
        start = _start_of_line(text, self.text.count("\n", 0, self.gap.start))
        line = text[start:].split("\n", 1)[0]
        return Gap(start + len(line) - len(line.lstrip()), start + len(line.rstrip()))


def _start_of_line(text: str, number: int) -> int:
    at = 0
    for _ in range(number):
        at = text.index("\n", at) + 1
    return at


def shown_around(model: Model, file: FileWithGap) -> tuple[int, int]:
    """Where the part of a file begins and ends that a model is shown around a gap."""
    at = file.cursor
    found = context_at(model, at.prefix, at.suffix, kind=at.kind, settings=file.settings).document
    return file.gap.start - len(found.prefix), file.gap.end + len(found.suffix)


def as_shown(model: Model, view: View, gap: Gap, task: Task, settings: Settings) -> FileWithGap | None:
    """What is shown of a view around a gap in its line, with budgets that hold all of it. None where the model has no room for it."""
    before, behind = view.text[view.start : gap.start], view.text[gap.end : view.end]
    wide = replace(
        settings,
        prefix_tokens=max(settings.prefix_tokens, model.count_tokens(before)),
        suffix_tokens=max(settings.suffix_tokens, model.count_tokens(behind)),
    )
    part = view.text[view.start : view.end]
    shown = FileWithGap(part, Gap(len(before), len(part) - len(behind)), task, wide)
    return shown if shown_around(model, shown) == (0, len(part)) else None


Arm = Literal["context", "equivalent", "wrong"]
ARMS: tuple[Arm, ...] = get_args(Arm)
# What became of a rule at a line.
Outcome = Literal["made", "no place", "refused", "elsewhere", "at import", "contradicted", "not noticed", "unknown"]
Class = Literal["right", "counterfeit", "other"]

# Rewrites that keep the number of lines, and so tell which one is the line.
ON_LINE = ("reorder_condition", "boolean_exchange", "rename_variable")
_BY_NAME = ("boolean_exchange", "rename_variable")
WRONG = ("modify_condition", *KINDS)
MAX_CHAIN = 3
MAX_WRONG = 3
# So many that the tests do not confirm are enough.
MAX_UNCONFIRMED = 2
MAX_SITES = 6
# The variable that a line means may have its name from a comprehension behind it, too.
_MAX_OF_NAME = 2
_MAX_WHY = 160
_MAX_DIFF = 12
_NAME = re.compile(r"[^\W\d]\w*")


class StepRecord(TypedDict):
    """One rewrite: text[start:end] became another text."""

    rule: str
    start: int
    end: int
    text: str


class Variant(TypedDict):
    """A rewrite that the tests confirmed: the steps from the file with the line to it, the line in it, and its class.

    diff: the lines that it takes out ("-…") and puts in ("+…"), for people: the first of them.
    """

    arm: Arm
    steps: list[StepRecord]
    line: str
    kind: Class
    diff: list[str]


# What the tests say of the rewrite of an arm: its class, and why. None where they can't tell.
Judge = Callable[[Arm, View], tuple[Class | None, str]]


def view_of(view: View, steps: Sequence[StepRecord]) -> View:
    """The view of a variant. Raises ValueError where the steps are not those of this text."""
    for step in steps:
        after = view.after(Edit(step["start"], step["end"], step["text"]))
        if after is None:
            raise ValueError(f"the rewrite {step['rule']} is not one of this text")
        view = after
    return view


@dataclass(slots=True)
class Rewriting:
    """Rewrites of one view. variants, tried: what was found so far, the second as `catcode_facts.Tried`.

    at_import: whether a rewrite changes code that runs at import.
    """

    view: View
    seed: str
    judge: Judge
    at_import: Callable[[View], bool]
    variants: list[Variant] = field(default_factory=list)
    tried: list[dict[str, str]] = field(default_factory=list)

    def find(self, arms: Sequence[Arm]) -> None:
        """Find the rewrites of these arms. A source that the morphisms can't read has none."""
        finders = {"context": self._context, "equivalent": self._equivalent, "wrong": self._wrong}
        for arm in arms:
            try:
                finders[arm](random.Random(f"{self.seed}:{arm}"))
            except UnreadableSource as error:
                self._tell(arm, "all", "refused", str(error))

    def _context(self, rng: random.Random) -> None:
        view, steps, used, seen, failed = self.view, list[StepRecord](), list[str](), {self.view.text}, 0
        while len(steps) < MAX_CHAIN:
            rules = morphisms("python", equivalent=True)
            for rule in sorted(rng.sample(rules, len(rules)), key=lambda one: used.count(one.name)):
                found = self._first(
                    "context", rule, view, _inside(rule, view, rng), rng,
                    lambda after: after.line == self.view.line and after.text not in seen,
                )  # fmt: skip
                if found is None:
                    continue
                step, after = found
                if self._confirmed("context", rule.name, after, wanted=("right",)) is not None:
                    break
                failed += 1
                if failed == MAX_UNCONFIRMED:
                    return
            else:
                return
            view = after
            seen.add(view.text)
            used.append(rule.name)
            steps.append(_record(step))
            self._keep("context", steps, view, "right")

    def _equivalent(self, rng: random.Random) -> None:
        for name in ON_LINE:
            rule = morphism(name, "python")
            sites = _by_name(rule, self.view, rng) if name in _BY_NAME else _on_line(rule, self.view, rng)
            found = self._first("equivalent", rule, self.view, sites, rng, lambda after: after.line != self.view.line)
            if found and self._confirmed("equivalent", name, found[1], wanted=("right",)):
                self._keep("equivalent", [_record(found[0])], found[1], "right")

    def _wrong(self, rng: random.Random) -> None:
        known, judged = {self.view.line}, 0
        for name in rng.sample(WRONG, len(WRONG)):
            rule = bug(name) if name in KINDS else morphism(name, "python")
            found = self._first(
                "wrong", rule, self.view, _on_line(rule, self.view, rng), rng,
                lambda after: after.line not in known and after == self.view.with_line(after.line),
            )  # fmt: skip
            if found is None:
                continue
            known.add(found[1].line)
            judged += 1
            if kind := self._confirmed("wrong", name, found[1], wanted=("counterfeit", "other")):
                self._keep("wrong", [_record(found[0])], found[1], kind)
            if judged == MAX_WRONG + MAX_UNCONFIRMED or sum(one["arm"] == "wrong" for one in self.variants) == MAX_WRONG:
                return

    def _first(
        self, arm: Arm, rule: Morphism, view: View, sites: Sequence[Site], rng: random.Random, fits: Callable[[View], bool]
    ) -> tuple[Rewrite, View] | None:
        """The first rewrite that is of this arm. Where there is none it is told why."""
        outcome: Outcome = "no place"
        why = ""
        for site in sites[:MAX_SITES]:
            try:
                step = rewrite(rule, view.text, site, rng)
            except Refused as refusal:
                outcome, why = "refused", str(refusal)
                continue
            after = view.after(step)
            if after is None or not fits(after):
                outcome, why = "elsewhere", ""
            elif arm != "wrong" and self.at_import(after):
                outcome, why = "at import", ""
            else:
                return step, after
        self._tell(arm, rule.name, outcome, why)
        return None

    def _confirmed(self, arm: Arm, rule: str, view: View, wanted: Sequence[Class]) -> Class | None:
        """The class that the tests give, where it is a wanted one."""
        kind, why = self.judge(arm, view)
        if kind in wanted:
            self._tell(arm, rule, "made")
            return kind
        self._tell(arm, rule, "unknown" if kind is None else "not noticed" if arm == "wrong" else "contradicted", why)
        return None

    def _keep(self, arm: Arm, steps: Sequence[StepRecord], view: View, kind: Class) -> None:
        diff = _diff(self.view.text, view.text)
        self.variants.append({"arm": arm, "steps": list(steps), "line": view.line, "kind": kind, "diff": diff})

    def _tell(self, arm: str, rule: str, outcome: Outcome, why: str = "") -> None:
        self.tried.append({"arm": arm, "rule": rule, "outcome": outcome, "why": why[:_MAX_WHY]})


def _diff(before: str, after: str) -> list[str]:
    lines = unified_diff(before.split("\n"), after.split("\n"), n=0, lineterm="")
    changed = (line[:_MAX_WHY] for line in lines if line[0] in "+-" and not line.startswith(("+++", "---")))
    return list(islice(changed, _MAX_DIFF))


def _record(step: Rewrite) -> StepRecord:
    return {"rule": step.morphism, "start": step.start, "end": step.end, "text": step.text}


def _inside(rule: Morphism, view: View, rng: random.Random) -> list[Site]:
    """The sites that the model is shown, in random order."""
    return _shuffled((site for site in rule.sites(view.text) if view.start <= site.start and site.end <= view.end), rng)


def _on_line(rule: Morphism, view: View, rng: random.Random) -> list[Site]:
    """The sites on the line, in random order."""
    return _shuffled((site for site in rule.sites(view.text) if site.start < view.gap.end and view.gap.start < site.end), rng)


def _by_name(rule: Morphism, view: View, rng: random.Random) -> list[Site]:
    """The sites about names on the line that begin before the line ends: of each name the last first; the names in random order."""
    known: dict[str, list[Site]] = {}
    for site in reversed(rule.sites(view.text)):
        if site.start < view.gap.end:
            known.setdefault(site.what, []).append(site)
    names = sorted(known.keys() & set(_NAME.findall(view.line)))
    return [site for name in rng.sample(names, len(names)) for site in known[name][:_MAX_OF_NAME]]


def _shuffled(sites: Iterator[Site], rng: random.Random) -> list[Site]:
    found = list(sites)
    return rng.sample(found, len(found))
