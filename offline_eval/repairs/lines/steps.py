"""The steps at lines of projects: draw and bug, propose, label, locate, search and loop.

Wrong lines are made by rules and drawn from the model, of which the tests notice each. A place has at most one bug of each source: by a
rule (`analysis.bugs`), and a counterfeit that the model drew for that very line. A place of a git history has the line from before a
commit instead. Then there are repairs at each bug and, as a control, at
the right line; how much the lines that failing tests run surprise the model; and mutants.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, TypedDict

from ....analysis.bugs import inject
from ....analysis.morphisms.morphism import Refused
from ....analysis.oracle.changes import changed_lines, with_statements
from ....analysis.oracle.oracle import Oracle
from ....analysis.oracle.sources import source_of
from ....analysis.oracle.spectrum import Suspect, suspects
from ....analysis.python.lines import Gap, UnreadableSource
from ....inference.completion.settings import Sampling
from ....inference.project_memory.memory import Memory
from ....suggestion.repair.asking import Asking
from ....suggestion.repair.localisation import MAX_LINES, surprises_of
from ....suggestion.repair.request import Failure, request_for
from ...asked_line import OpenModel
from ...counterfeit.classes import Outcomes, class_of
from ...counterfeit.lines.draw import gap_id, seed_of
from ...counterfeit.lines.label import ChangedTest, reason_of
from ...run import Step
from ...sets.lines import FileWithGap, Place
from ...sets.suites import Items, Judge, Judged, Suite, Unjudged, verdict_of
from ..candidates import Proposed, Trial, best, distinct, proposed, repaired, tried, turn_of

Lines = Mapping[str, Mapping[int, Collection[str]]]


class Spectrum(TypedDict):
    """The lines that a test which fails for a bug runs.

    suspects: the first `MAX_LINES`, each file, line, failing and passing tests and Ochiai's coefficient. lines: how many there are.
    wrong: the numbers of the lines of the bug's statement. above, alike: how many lines are more suspicious than that statement, and how
    many as much, itself included; both 0 where no test was seen to run it.
    """

    suspects: list[tuple[str, int, int, int, float]]
    lines: int
    wrong: list[int]
    above: int
    alike: int


def spectrum_at(oracle: Oracle, place: Place, text: str, failing: Collection[str], known: Collection[str]) -> Spectrum:
    """The spectrum of one of the tests that fail for a bug at a place, as `assay why` is asked about one.

    The lines of that test are those that it runs with the bug; it may fail early. Those of the tests that pass are known of the project
    without it.

    text: the file with the bug, line by line that of the place. known: the tests of which it is known whether they fail. The others that
    run the line, and the others that fail, count neither way.
    """
    one = min(failing, key=lambda test: hashlib.sha256(test.encode()).digest())
    file, region = place.file, with_statements(place.text, range(place.line, place.line + 1))
    coverage = oracle.coverage()
    others = (coverage.touching(file, region) - frozenset(known)) | frozenset(failing)
    found = suspects(with_lines_of(one, coverage.tests, oracle.coverage_with(one, file, text).tests), [one], without=others)
    own = max((each.ochiai for each in found if each.file == file and each.line in region), default=None)
    return {
        "suspects": [(each.file, each.line, each.failing, each.passing, each.ochiai) for each in found[:MAX_LINES]],
        "lines": len(found),
        "wrong": [each.line for each in found if each.file == file and each.line in region],
        "above": 0 if own is None else sum(each.ochiai > own for each in found),
        "alike": 0 if own is None else sum(each.ochiai == own for each in found),
    }


def with_lines_of(test: str, tests: Lines, own: Lines) -> dict[str, dict[int, frozenset[str]]]:
    """The tests that run each line, by file, with the lines of one test as `own` has them; as they were where it has none of that test."""
    if not own:
        return {file: {line: frozenset(running) for line, running in by_line.items()} for file, by_line in tests.items()}
    without = {file: {line: frozenset(running) - {test} for line, running in by_line.items()} for file, by_line in tests.items()}
    for file, by_line in own.items():
        lines = without.setdefault(file, {})
        for line in by_line:
            lines[line] = lines.get(line, frozenset()) | {test}
    return without


Source = Literal["rule", "model", "commit"]
TEMPERATURE = 0.6
# Of the model's draws for a line; and so many wrong lines of each source are tried until the tests notice one.
DRAWS, TRIES = 8, 3


class Drawn(TypedDict):
    """The distinct wrong lines that the model drew at a place: each as the editor would insert it."""

    id: str
    texts: list[str]


class Bug(TypedDict):
    """A wrong line. source: who made it. kind: the rule's, or "counterfeit". code: the line without its indentation.

    changed: the tests that notice it. kept, known: as in `Outcomes`. spectrum: of these tests.
    """

    source: str
    kind: str
    code: str
    changed: list[ChangedTest]
    kept: int
    known: int
    spectrum: Spectrum


class Bugs(TypedDict):
    """The bugs at a place. tried: how many wrong lines the tests were asked about."""

    id: str
    bugs: list[Bug]
    tried: int


DRAWN = Step("drawn", "place", Drawn)
BUGS = Step("bugs", "place", Bugs)


def with_code(place: Place, code: str) -> str:
    """The file with other code in the line of a place."""
    return place.with_text(place.gap("line"), code)


def draw(asked: OpenModel[int], place: Place) -> dict[str, Any]:
    """What the model draws in the place of a line; `asked.wanted` is the seed. Raises what `Model.generate` raises."""
    shown = FileWithGap(place.text, place.gap("line"), "line", asked.settings)
    how = Sampling(TEMPERATURE, seed=seed_of(asked.wanted, gap_id(place.id, "line")))
    made = shown.draws(asked.model, DRAWS, how, asked.memory_at(shown, place))
    texts = dict.fromkeys(one.inserted.rstrip() for one in made if one.inserted is not None and not shown.is_exact(one.inserted))
    return {"texts": list(texts)}


@dataclass(frozen=True, slots=True)
class Wrong:
    """A place with the lines that the model drew there."""

    place: Place
    drawn: tuple[str, ...]
    suite: Suite

    @property
    def id(self) -> str:
        """The place's."""
        return self.place.id


def broken(seed: int, judge: Judge, wrong: Wrong) -> dict[str, Any]:
    """The bugs at a place that its tests notice. Raises Unjudged where the machine failed, and Changed."""
    bugs, tried = list[Bug](), 0
    made: list[tuple[Source, list[tuple[str, str]]]]
    if wrong.place.bug:
        kind, line = wrong.place.bug
        made = [("commit", [(kind, line.strip())])]
    else:
        made = [("rule", by_rules(wrong.place, seed)), ("model", [("counterfeit", text) for text in wrong.drawn])]
    for source, codes in made:
        known = {bug["code"] for bug in bugs}
        for kind, code in [each for each in codes if each[1] not in known][:TRIES]:
            tried += 1
            if found := _bug(seed, judge.oracle(wrong.suite), wrong.place, source, kind, code):
                bugs.append(found)
                break
    return {"id": wrong.id, "bugs": bugs, "tried": tried}


def _bug(seed: int, oracle: Oracle, place: Place, source: str, kind: str, code: str) -> Bug | None:
    """The bug, if the tests notice it, and some do not where the model made it."""
    text = with_code(place, code)
    profile = oracle.profile(place.file, text, range(place.line, place.line + 1), seed=seed)
    if profile.infrastructure:
        raise Unjudged(profile.reason)
    changed = [test for test in profile.tests if test.change == "changed"]
    known = {test.test for test in profile.tests if test.change != "unknown"}
    outcomes = Outcomes(profile.tests_pass, profile.error, len(known) - len(changed), len(known))
    if not changed or (source == "model" and class_of(outcomes) != "counterfeit"):
        return None
    return {
        "source": source,
        "kind": kind,
        "code": code,
        "changed": [{"test": one.test, "error": one.error, "why": reason_of(one.why)} for one in changed],
        "kept": outcomes.kept,
        "known": outcomes.known,
        "spectrum": spectrum_at(oracle, place, text, [one.test for one in changed], known),
    }


def by_rules(place: Place, seed: int) -> list[tuple[str, str]]:
    """Kind and code of wrong lines that rules make of a place's line, each another one."""
    gap, found = place.gap("line"), dict[str, str]()
    start, end = place.text.rfind("\n", 0, gap.start) + 1, place.text.find("\n", gap.end)
    line = (start, end if end >= 0 else len(place.text))
    for number in range(TRIES):
        try:
            bug = inject(place.text, f"{seed}:{place.id}:{number}", line)
        except (Refused, UnreadableSource):
            break
        text = bug.of(place.text)
        found.setdefault(text[start : line[1] + len(text) - len(place.text)].strip(), bug.morphism)
    return [(kind, code) for code, kind in found.items()]


def wrong_of(places: Sequence[Place], drawn: Mapping[str, Any], suites: Mapping[str, Suite]) -> Iterator[Wrong]:
    """The places that have a bug, or were drawn at."""
    for place in places:
        if place.bug or place.id in drawn:
            yield Wrong(place, () if place.bug else tuple(drawn[place.id]["texts"]), suites[place.project])


PROPOSED = Step("proposed", "line", Proposed)
CONTROL = "control"
# At right lines only the first ones are judged.
MAX_CONTROLS = 3


def line_id(place: str, bug: Bug | None) -> str:
    """PLACE:SOURCE, of the bug; PLACE:control."""
    return f"{place}:{bug['source'] if bug else CONTROL}"


@dataclass(frozen=True, slots=True)
class Line:
    """The line of a place that is to be repaired. suite: whose tests judge it. bug: None at a right one, the control."""

    place: Place
    suite: Suite
    bug: Bug | None = None

    @property
    def id(self) -> str:
        """That of `line_id`."""
        return line_id(self.place.id, self.bug)

    @property
    def text(self) -> str:
        """The file as it is shown."""
        return with_code(self.place, self.bug["code"]) if self.bug else self.place.text


def lines_of(items: Items, bugs: Mapping[str, Any]) -> Iterator[Line]:
    """The bugs of each place, and its right line. bugs: the records of the step, by place."""
    for place in items.places:
        if place.id in bugs:
            yield from (Line(place, items.suites[place.project], bug) for bug in (*bugs[place.id]["bugs"], None))


def propose_at(asked: OpenModel[int], line: Line) -> dict[str, Any]:
    """The record of a line. Raises ModelError."""
    place, settings = line.place, asked.settings

    def remember(before: str, after: str) -> Memory | None:
        return asked.memory_at(FileWithGap(before + after, Gap(len(before), len(before)), "line", settings), place)

    failure = failure_of(line.id, line.bug["changed"], asked.wanted) if line.bug else None
    request = request_for(
        Asking(asked.model, settings, remember=remember), line.text, place.line - 1, place.line,
        language="python", asker=asked.asker, failure=failure,
    )  # fmt: skip
    return proposed(request, line.text, place.text, place.id)


def failure_of(bug: str, changed: Sequence[ChangedTest], seed: int) -> Failure | None:
    """What a developer would see of one of the tests that fail for a bug: of one that is not held back (`candidates.seen_tests`)."""
    failing = [test for test in changed if test["error"] is not None]
    first = min(failing, key=lambda test: turn_of(test["test"], bug, seed), default=None)
    return None if first is None else Failure(first["test"], message=first["why"])


def texts_of(lines: Iterator[Line], made: Mapping[str, Any]) -> Iterator[Judged]:
    """Each distinct text that tests are to judge."""
    known = set[str]()
    for line in lines:
        found = made[line.id]["candidates"] if line.id in made else []
        for each in distinct(best(found) if line.bug else found[:MAX_CONTROLS]):
            if each["text_id"] not in known:
                known.add(each["text_id"])
                place, text = line.place, repaired(line.text, each)
                region = changed_lines(place.text, text)
                yield Judged(each["text_id"], line.suite, place.file, text, (region.start, region.stop - 1))


class Located(TypedDict):
    """The surprise of each suspect of a bug, in their order; null where the model can't say."""

    id: str
    surprises: list[float | None]


LOCATED = Step("located", "bug", Located)


def failing_of(items: Items, bugs: Mapping[str, Any], seed: int) -> Iterator[Line]:
    """One bug of each place, drawn by the seed: the lines that its tests run are almost the same for the other."""
    places = items.by_id
    for name, record in bugs.items():
        if record["bugs"] and name in places:
            place = places[name]
            yield Line(place, items.suites[place.project], random.Random(f"{seed}:{name}:locate").choice(record["bugs"]))


def locate(asked: OpenModel[int], line: Line) -> dict[str, Any]:
    """The record of a bug but for its id. Raises ModelError."""
    assert line.bug, "the control is no failure"
    place, settings = line.place, asked.settings
    found = [Suspect(*each) for each in line.bug["spectrum"]["suspects"]]

    @cache
    def lines_of_file(file: str) -> tuple[str, ...]:
        return tuple((line.text if file == place.file else source_of(line.suite.folder, file)).split("\n"))

    def asking_of(file: str) -> Asking:
        def remember(before: str, after: str) -> Memory | None:
            shown = FileWithGap(before + after, Gap(len(before), len(before)), "line", settings)
            return asked.memory.at(shown, place.project, file)

        return Asking(asked.model, settings, remember=remember)

    told = surprises_of(found, lines_of_file, asking_of)
    return {"surprises": [told.get((each.file, each.line)) for each in found]}


def searched_of(lines: Iterator[Line], made: Mapping[str, Any]) -> Iterator[Trial[Line]]:
    """Each bug with all that was proposed there."""
    return (Trial(line, made[line.id]["candidates"]) for line in lines if line.bug and line.id in made)


def try_all(judge: Judge, trial: Trial[Line]) -> dict[str, Any]:
    """The record of a bug. Raises Unjudged where the machine failed, and Changed where the project is another than it was."""
    line, oracle = trial.bug, judge.oracle(trial.bug.suite)
    place = line.place
    oracle.coverage()  # is no part of the time of a bug

    def test(text: str) -> tuple[bool | None, int]:
        if text == place.text:  # needs no run: its tests are those of the line
            return True, len(oracle.covered(place.file).get(place.line, ()))
        verdict = verdict_of(oracle, place.file, text, changed_lines(place.text, text))
        return verdict.label, verdict.tests

    texts = trial.texts(line.text, place.line)
    return {"id": trial.id, **tried(texts, place.text, test)}
