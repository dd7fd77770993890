"""What follows from the records of a run: programs, classes, judgements, executions and repairs. Pure functions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

from ....analysis.python.source_text import tree_or_none
from ...answers import text_id
from ...calibration.recorded.draws import Labelled, Unit
from ...sets.problem import literal
from .judgements import PROBABILITY, THOUGHT, VOTE, Judgement
from .programs import Drawn, PassShares, Program
from .readings import p_correct, program_in, value_in, verdict_in, voted, with_specification
from .tables import Executed, Repaired, Stratum
from .tracing import Pair, chosen, shown

Records = Sequence[Mapping[str, Any]]
Labels = Mapping[str, Labelled]


@dataclass(frozen=True, slots=True)
class ProblemItem:
    """A problem of a run, as far as a report needs it. plus: whether it has tests of EvalPlus."""

    id: str
    set: str
    prompt: str
    entry_point: str
    plus: bool
    test_sha256: str


@dataclass(frozen=True, slots=True)
class Execution:
    """A program and an input whose output is asked for. code: as it is shown. answer: what the right program gives."""

    id: str
    program: str
    problem: str
    stratum: Stratum
    code: str
    call: str
    value: str
    answer: str
    pass_at_1: float | None = None


def reference_id(problem: str) -> str:
    """The id of the label of the benchmark's own solution."""
    return f"{problem}:reference"


def pass_shares(label: Labelled, program: str) -> PassShares | None:
    """What the tests say of a program; None where no test could decide. An input that it does not come back from ends its test.

    A test that catches everything counts as passed though the program ended in it. Its verdict is that it fails, so it fails one test.
    """
    if label.tests_pass is None:
        return None
    if not label.tests_pass and label.inputs_right >= label.base_inputs + label.plus_inputs:
        label = replace(label, inputs_right=label.inputs_right - 1, base_right=label.base_right - 1)
    plus = (label.inputs_right - label.base_right) / label.plus_inputs if label.plus_inputs else None
    return PassShares(label.base_right / label.base_inputs, plus, tree_or_none(program) is not None, len(program))


def draws_of(items: Sequence[ProblemItem], draws: Records) -> Iterator[tuple[ProblemItem, list[str | None]]]:
    """Each problem with the program of each draw, which has the problem's docstring; None where none can be read."""
    by_id = {item.id: item for item in items}
    for record in draws:
        item = by_id[record["id"]]
        yield item, [None if text is None else with_specification(text, item.prompt, item.entry_point) for text in _programs_in(record)]


def _programs_in(record: Mapping[str, Any]) -> list[str | None]:
    return [program_in(given["text"]) for given in record["given"]]


def units_of(items: Sequence[ProblemItem], draws: Records) -> Iterator[Unit]:
    """Each distinct program once."""
    for item, texts in draws_of(items, draws):
        for text, number in Counter(text for text in texts if text is not None).items():
            yield Unit(text_id(item.id, text), item.id, text, number)


def drawn_of(items: Sequence[ProblemItem], draws: Records, labels: Labels) -> list[Drawn]:
    """The distinct texts of each problem with what the tests say; an unreadable draw is a text of its own, and passes nothing.

    A problem whose own solution fails here is left out, and so is a text without a record.
    """
    found, failing = [], failing_references(items, labels)
    for item, texts in draws_of(items, draws):
        if item.id in failing:
            continue
        for text, number in Counter(texts).items():
            index = texts.index(text)
            if text is None:
                nothing = PassShares(0.0, 0.0 if item.plus else None, parses=False)
                found.append(Drawn(item.id, index, "", number, nothing))
            elif (label := labels.get(text_id(item.id, text))) is not None:
                found.append(Drawn(item.id, index, text, number, pass_shares(label, text)))
    return found


def failing_references(items: Sequence[ProblemItem], labels: Labels) -> list[str]:
    """Problems whose own solution fails here."""
    return [item.id for item in items if (label := labels.get(reference_id(item.id))) is not None and not label.tests_pass]


def _asked_about(programs: Sequence[Program], records: Records) -> Iterator[tuple[Program, Mapping[str, Any]]]:
    """The records that are of one of these programs."""
    by_id = {program.id: program for program in programs}
    return ((by_id[record["id"]], record) for record in records if record["id"] in by_id)


def judgements_of(programs: Sequence[Program], plain: Records, reasoned: Records) -> list[Judgement]:
    """The judgements in every way that was asked for."""
    found = []
    for way, records in ((VOTE, plain), (THOUGHT, reasoned)):
        for program, record in _asked_about(programs, records):
            verdicts = [verdict_in(given["text"]) for given in record["given"]]
            found.append(Judgement(program, way, voted(verdicts), len(verdicts), verdicts.count(None)))
    for program, record in _asked_about(programs, plain):
        if "top" in record:
            p = p_correct(record["top"])
            accepted = None if p is None else 0.5 if p == 0.5 else float(p > 0.5)
            found.append(Judgement(program, PROBABILITY, accepted, 1, int(p is None), p))
    return found


def executions_of(programs: Sequence[Program], traces: Records, seed: int) -> Iterator[Execution]:
    """What is asked about each traced program."""
    for program, record in _asked_about(programs, traces):
        pairs = [Pair(*pair) for pair in record["pairs"]]
        for number, pair in enumerate(chosen(program.id, program.kind == "right", pairs, seed)):
            stratum: Stratum = "right" if program.kind == "right" else "passing" if pair.agrees else "failing"
            call = f"{record['entry_point']}({pair.arguments})"
            yield Execution(
                *(f"{program.id}@{number}", program.id, program.problem, stratum, shown(program.text), call, pair.value, pair.answer),
                program.pass_at_1,
            )


def executed_of(executions: Sequence[Execution], records: Records) -> list[Executed]:
    """What the answers are worth."""
    by_id, found = {each.id: each for each in executions}, []
    for record in records:
        if (each := by_id.get(record["id"])) is not None:
            values = [value_in(given["text"]) for given in record["given"]]
            value, answer = literal(each.value), literal(each.answer)
            right = fmean(said == value for said in values)
            confused = fmean(said == answer != value for said in values)
            found.append(Executed(each.problem, each.stratum, right, confused, len(values), values.count(None), each.pass_at_1))
    return found


def repair_units(programs: Sequence[Program], records: Records) -> Iterator[Unit]:
    """Each distinct repair once."""
    found: dict[str, Unit] = {}
    for program, record in _asked_about(programs, records):
        for text in filter(None, _programs_in(record)):
            name = text_id(program.problem, text)
            found.setdefault(name, Unit(name, program.problem, text))
    yield from found.values()


def repaired_of(programs: Sequence[Program], records: Records, labels: Labels) -> list[Repaired]:
    """What became of each counterfeit; one of which no repair has a label is left out."""
    found = []
    for program, record in _asked_about(programs, records):
        texts = _programs_in(record)
        said = (False if text is None else _passes(labels.get(text_id(program.problem, text))) for text in texts)
        if known := [each for each in said if each is not None]:
            found.append(Repaired(program.problem, fmean(known), len(texts), texts.count(None), program.pass_at_1))
    return found


def _passes(label: Labelled | None) -> bool | None:
    return None if label is None else label.tests_pass
