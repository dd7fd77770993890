"""The step "pairs": rewrite a program by rules that a seed draws, and keep the pairs that its tests confirm. No model is asked.

As in the paper (Lin et al. 2024, arXiv 2403.01784, section 4.1) at most two rules that keep what a program does and two that change it
are drawn for each program, with one output each. Unlike there every pair is run: equivalent programs pass the program's tests, and one that
is not equivalent compiles and fails them.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, TypedDict

from ....analysis.corpora.benchmarks import Language
from ....analysis.morphisms.morphism import Morphism, Refused, chain, rewrite_somewhere
from ....analysis.morphisms.registry import morphisms
from ....analysis.python.source_text import UnreadableSource
from ....analysis.sandbox.isolation.jail import DEFAULT_LIMITS
from ....analysis.sandbox.judging.result import ProgramOutcome, Result
from ...run import Step
from ...sets.judging import Sandboxes
from ...sets.programs import Program
from ...sets.suites import Unjudged
from .pair import CodePair, DrawnPrograms, Kind, distinct_programs

# A program that the clock ended, and not its own CPU time, may be one that the machine had no time for: that decides nothing of a pair.
MIN_SHARE = 0.5


def compiles(result: Result) -> bool:
    """Whether a program of Java came past the compiler, whose messages begin with the name of the file."""
    return not (result.outcome is ProgramOutcome.FAILED and result.reason.startswith("Program.java:"))


# Rules of each class that are drawn for a program, as in the paper.
MAX_RULES = 2
# The length of the longest chain.
MAX_CHAIN = 3
# Places that a rule is tried at until the tests see a difference.
MAX_SITES = 3
# Programs of a problem that are run until two right and two wrong ones are found.
MAX_RUN = 16
# Of each kind, from one problem.
MAX_OF_KIND = 2
# What in the reason of a refusal is about one program alone: what is quoted, the rule's own name, and a variable's.
_OF_ONE_PROGRAM = (
    (r"'[^']*'|\"[^\"]*\"", "…"),
    (r"^\w+ (?=finds no|changes nothing)", ""),
    (r"^\w+(?= (?:is (?:never|assigned|bound|changed|declared|a parameter)|may be mangled|stands in)|, which the)", "a name"),
    (r"\b\d+\b", "N"),
)


class Refusal(TypedDict):
    """A rule that gave no pair. rule: "" where the whole program gave none."""

    rule: str
    reason: str


class Built(TypedDict):
    """What came of a program, or of the programs drawn for a problem. outcome: of the program itself. checks: programs that were run."""

    id: str
    set: str
    language: Language
    outcome: str
    checks: int
    pairs: list[dict[str, Any]]
    refusals: list[Refusal]


MADE = Step("made", "program", Built)


@dataclass(slots=True)
class _Making:
    """What is being made of one program."""

    program: Program
    check: Callable[[str], Result]
    pairs: list[CodePair] = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)

    def refuse(self, rule: str, reason: str) -> None:
        self.refusals.append({"rule": rule, "reason": reason})

    def add(self, kind: Kind, rules: Sequence[str], first: str, second: str, outcome: str = "passed") -> None:
        program = self.program
        name = ":".join((program.id, kind, *rules))
        self.pairs.append(
            CodePair(name, program.set, program.language, program.problem, kind, tuple(rules), first, second, ("passed", outcome))
        )


def built(seed: int, sandboxes: Sandboxes, item: Program | DrawnPrograms) -> dict[str, Any]:
    """The record of a program, or of the programs that were drawn for a problem. Raises Unjudged where the machine failed."""
    before = sandboxes.checks

    def check(source: str) -> Result:
        result = sandboxes.check(item.language, source, item.test, item.entry_point)
        if result.outcome is ProgramOutcome.TIMED_OUT and result.cpu_s < MIN_SHARE * DEFAULT_LIMITS.cpu_s:
            raise Unjudged(f"{result.reason}, of which it ran {result.cpu_s:.1f} s: the machine is too busy, or the program waits")
        return result

    outcome, refusals = "", list[Refusal]()
    if isinstance(item, Program):
        made = _Making(item, check)
        outcome = _of_program(made, seed)
        pairs, refusals = made.pairs, made.refusals
    else:
        pairs = list(_of_drawn(item, check, seed))
    found = {"id": item.id, "set": item.set, "language": item.language, "outcome": outcome, "checks": sandboxes.checks - before}
    return {**found, "pairs": [asdict(pair) for pair in pairs], "refusals": refusals}


def _of_program(made: _Making, seed: int) -> str:
    program = made.program
    result = made.check(program.source)
    if not result.label:
        why = "the program does not compile" if not compiles(result) else f"the program's own test: {result.outcome}"
        made.refuse("", why)
        return str(result.outcome)
    try:
        _variants(made, seed)
        _chains(made, seed)
        _changed(made, seed)
        made.add("identity", (), program.source, program.source)
    except (UnreadableSource, RecursionError) as error:
        made.pairs.clear()
        made.refuse("", f"can't be rewritten: {_general(str(error))}")
    return str(result.outcome)


def _shuffled(language: Language, name: str, *, equivalent: bool) -> list[Morphism]:
    found = morphisms(language, equivalent=equivalent)
    return random.Random(name).sample(found, len(found))


def _variants(made: _Making, seed: int) -> None:
    """1-eq: the source and each of two variants. 2-eq: both variants."""
    program, kept = made.program, list[tuple[str, str]]()
    for rule in _shuffled(program.language, f"{seed}:{program.id}:eq", equivalent=True):
        try:
            variant = rewrite_somewhere(rule, program.source, random.Random(f"{seed}:{program.id}:{rule.name}")).of(program.source)
        except Refused as refusal:
            made.refuse(rule.name, _general(str(refusal)))
            continue
        if len(kept) < MAX_RULES and _confirmed(made, rule.name, variant):
            kept.append((rule.name, variant))
            made.add("1-eq", (rule.name,), program.source, variant)
    if len(kept) == MAX_RULES and kept[0][1] != kept[1][1]:
        made.add("2-eq", [name for name, _ in kept], kept[0][1], kept[1][1])


def _chains(made: _Making, seed: int) -> None:
    """2-eq-chain and 3-eq-chain: the source and what two or three rewrites, one after another, make of it."""
    program, after, rules = made.program, made.program.source, list[str]()
    kinds: dict[int, Kind] = {2: "2-eq-chain", 3: "3-eq-chain"}
    for step in chain(after, morphisms(program.language, equivalent=True), f"{seed}:{program.id}", MAX_CHAIN):
        after = step.of(after)
        rules.append(step.morphism)
        if len(rules) in kinds:
            if not _confirmed(made, rules[-1], after):
                return
            made.add(kinds[len(rules)], rules, program.source, after)


def _changed(made: _Making, seed: int) -> None:
    """1-neq: the source and a variant that its tests tell from it."""
    program, kept = made.program, 0
    for rule in _shuffled(program.language, f"{seed}:{program.id}:neq", equivalent=False):
        tried, reason = set[str](), ""
        for site in range(MAX_SITES if kept < MAX_RULES else 0):
            try:
                rng = random.Random(f"{seed}:{program.id}:{rule.name}:{site}")
                variant = rewrite_somewhere(rule, program.source, rng).of(program.source)
            except Refused as refusal:
                reason = _general(str(refusal))
                break
            if variant in tried:
                continue
            tried.add(variant)
            result = made.check(variant)
            if result.label is False and compiles(result):
                made.add("1-neq", (rule.name,), program.source, variant, str(result.outcome))
                kept, reason = kept + 1, ""
                break
            reason = "it does not compile" if not compiles(result) else "no test differs" if result.label else str(result.outcome)
        if reason:
            made.refuse(rule.name, reason)


def _confirmed(made: _Making, rule: str, variant: str) -> bool:
    """Whether a variant passes the program's tests, too."""
    result = made.check(variant)
    if not result.label:
        made.refuse(rule, "it does not compile" if not compiles(result) else f"the tests see a difference: {result.outcome}")
    return bool(result.label)


def _general(reason: str) -> str:
    """The first reason of a refusal without the names and numbers of one program, so that equal reasons can be counted."""
    first = re.sub(r"^line [\d ]+: ", "", reason.partition("; ")[0])
    for pattern, instead in _OF_ONE_PROGRAM:
        first = re.sub(pattern, instead, first)
    return first[:120]


def _of_drawn(item: DrawnPrograms, check: Callable[[str], Result], seed: int) -> Iterator[CodePair]:
    """The pairs of programs that were drawn for one problem."""
    found: dict[bool, list[tuple[str, str]]] = {True: [], False: []}
    run = 0
    for source, told in distinct_programs(item, seed):
        if len(found[True]) >= MAX_OF_KIND and len(found[False]) >= MAX_OF_KIND:
            break
        label, outcome = told, "as published"
        if told is None:
            if run == MAX_RUN:
                break
            run += 1
            result = check(source)
            label, outcome = result.label, str(result.outcome)
        if label is not None and len(found[label]) < MAX_OF_KIND:
            found[label].append((source, outcome))
    right, wrong = found[True], found[False]
    made: list[tuple[Kind, tuple[str, str], tuple[str, str]]] = []
    if len(right) > 1:
        made.append(("global-eq", right[0], right[1]))
    made += [("global-neq", right[number % len(right)], each) for number, each in enumerate(wrong if right else [])]
    for number, (kind, (first, before), (second, after)) in enumerate(made):
        yield CodePair(f"{item.id}:{kind}:{number}", item.set, item.language, item.problem, kind, (), first, second, (before, after))
