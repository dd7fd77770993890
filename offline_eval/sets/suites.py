"""Places of projects whose tests judge what is put there: regions that tests execute, and whose loss they notice.

Finding them needs no model: each region is taken out once, and the tests that touch it are run. What they said is kept in a cache, by the
project's content and the seed, so that no study and no resumed run asks again.

Bugs are found alike: a line of each region gets a seeded bug, and is a place where its tests notice that. To the model it does not matter
which line was taken out, the wrong or the right one, so such a place has the file as it is, and is completed and judged as any other.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NotRequired, TypedDict

from ...analysis.bugs import inject
from ...analysis.corpora.git_history import GitError
from ...analysis.morphisms.morphism import Refused
from ...analysis.oracle.environment import NoEnvironment, cached_environment, make_environment
from ...analysis.oracle.oracle import Oracle
from ...analysis.oracle.report import Verdict
from ...analysis.oracle.sources import source_of
from ...analysis.python.lines import Line, UnreadableSource
from ...analysis.python.regions import Region, deleted
from ...analysis.sandbox.isolation.jail import Jail
from ...analysis.sandbox.isolation.levels import Isolation
from ...inference.completion.task import Task
from ..errors import StudyError
from ..model import Changed
from ..pool.pool import Pool
from ..progress import Progress
from ..run import Records
from . import lines, regions
from .code import lines_of
from .commits import undone
from .projects import Project, is_fetched, unpacked

# Of each project so many regions are tried for each place that is wanted: tests notice the loss of most.
TRIES = 4
# A worker may take so long for the places of a project: its suite is run several times before it can judge.
_MAX_PROJECT_S = 4 * 3600.0
# So often the tests are asked about a place where the machine fails.
_MAX_VERDICTS = 3
# A test that says the same with the change does not test what was changed.
_NOTICED = {None: "unknown", True: "unseen", False: "seen"}


class Unjudged(StudyError):
    """The machine failed, not the code: the item is to be asked again."""


@dataclass(frozen=True, slots=True)
class Suite:
    """A project whose tests can be run. folder: its sources. cache: where the oracle, and the places found, are kept."""

    project: str
    folder: Path
    interpreter: Path
    isolation: Isolation
    cache: Path

    @property
    def id(self) -> str:
        """The project's name."""
        return self.project

    def oracle(self) -> Oracle:
        """Judges its code. Raises NotCopied and UnusableInterpreter."""
        return Oracle(self.folder, self.interpreter, Jail(self.isolation), cache=self.cache / "oracle")


@dataclass(frozen=True, slots=True)
class Items:
    """What is asked about. suites: by project, those whose tests judge the places; contents: their `Oracle.content`."""

    places: Sequence[lines.Place]
    suites: Mapping[str, Suite] = field(default_factory=dict)
    contents: Mapping[str, str] = field(default_factory=dict)

    @property
    def by_id(self) -> dict[str, lines.Place]:
        """The places by their ids."""
        return {place.id: place for place in self.places}

    @property
    def records(self) -> list[dict[str, Any]]:
        """Of items.jsonl."""
        return [place.record for place in self.places]

    @property
    def question(self) -> dict[str, str | list[str]]:
        """What of a run's question only the items tell, besides their digest."""
        if not self.contents:
            return {}
        return {
            "isolation": ", ".join(sorted({str(suite.isolation) for suite in self.suites.values()})),
            "suites": sorted(self.suites),
            "content": hashlib.sha256(json.dumps(dict(sorted(self.contents.items()))).encode()).hexdigest(),
        }

    def judged(self, name: str, place: lines.Place, text: str) -> Judged:
        """A file's text as the tests of its project judge it."""
        assert place.judged, "places of suites are judged"
        return Judged(name, self.suites[place.project], place.file, text, place.judged)


def prepared(projects: Sequence[Project], archives: Path, cache: Path, isolation: Isolation, python: Path | None) -> list[Suite]:
    """Fetch projects and make the environments that their tests need: that runs their build code, with a network.

    A project that can't have one is told and left out. Raises ProjectError.
    """
    ready, environments = [], cache / "suites" / "environments"
    with Progress("projects with an environment", len(projects), None) as progress:
        for project in projects:
            if not is_fetched(project, archives):
                progress.say(f"fetching {project.name} {project.version}")
            folder = unpacked(project, cache / "suites" / "sources" / f"{project.name}-{project.version}", archives)
            try:
                if cached_environment(folder, environments, python=python) is None:
                    progress.say(f"making an environment for the tests of {project.name} (kept for the next time)")
                interpreter = make_environment(folder, environments, python=python)
            except NoEnvironment as error:
                progress.say(f"left out: {project.name}: no environment for its tests could be made: {error}")
                continue
            ready.append(Suite(project.name, folder, interpreter, isolation, cache))
            progress.step()
    return ready


def watched(suites: Sequence[Suite], pool: Pool, finding: Finding, tasks: Sequence[Task]) -> Items:
    """The places of each suite. One whose tests can't judge is told and left out. Raises StudyError where none can."""
    found: dict[str, Found] = {}
    progress = Progress("projects with their places", len(suites), None)

    def told() -> Iterator[Suite]:
        for suite in suites:
            progress.say(f"{suite.project}: its tests are run, whole and with each place changed, where they were not before")
            yield suite

    with progress, closing(pool.run(finding, told(), max_item_s=_MAX_PROJECT_S)) as answers:
        for each in answers:
            if each.answer is None:
                progress.say(f"left out: {each.item.project}: {each.lost}")
            elif all(place["deletion"] != "seen" for place in each.answer["places"]):
                progress.say(f"left out: {each.item.project}: its tests notice a change at none of its places")
            else:
                found[each.item.project] = each.answer
                progress.step()
    if not found:
        raise StudyError("no project has tests that can judge: the reasons are above; see assay doctor for the sandbox")
    by_name = {suite.project: suite for suite in suites if suite.project in found}
    places = [place for name, suite in by_name.items() for place in _places_of(suite, found[name], tasks, finding.seed)]
    return Items(places, by_name, {name: found[name]["content"] for name in by_name})


class FoundPlace(TypedDict):
    """A region, and whether the tests notice that it is gone: "seen", "unseen", "unknown". line: start and end of the one asked for.

    Of a bug: its kind, the wrong line, and whether the tests notice it; "unfit" where the line has no place for one.
    """

    id: str
    file: str
    function: str
    line: list[int] | None
    first_line: int
    last_line: int
    start: int
    end: int
    statement: str
    tests: int
    deletion: str
    bug: NotRequired[str]
    wrong: NotRequired[str]


@dataclass(frozen=True, slots=True)
class Finding:
    """Makes the worker's function that finds the places of a project.

    places: how many whose loss the tests notice, at most. bugs: put a bug there, instead of taking the code out. older: a folder with an
    older release of each project, in which no line that is asked for may stand. histories: a folder with a repository of each project:
    the bugs are what its commits changed (`commits`).
    """

    places: int
    seed: int
    bugs: bool = False
    older: Path | None = None
    histories: Path | None = None

    def __call__(self) -> Callable[[Suite], Found]:
        """The function."""
        return self.find

    def find(self, suite: Suite) -> Found:
        """Find the places of a project. Raises Unjudged where the machine failed."""
        with suite.oracle() as oracle:
            if trouble := oracle.baseline().trouble or oracle.coverage().trouble:
                raise Unjudged(f"{suite.project}: its tests can't judge: {trouble}")
            kept = suite.cache / "suites" / ("commits" if self.histories else "bugs" if self.bugs else "places")
            found = Records(kept / f"{oracle.content}-{self.seed}.jsonl", FoundPlace)
            found.path.parent.mkdir(parents=True, exist_ok=True)
            found.mend()
            known = {place["id"]: place for place in found.read()}
            order: list[FoundPlace] = []
            old = lines_of(self.older / suite.project) if self.older else frozenset()
            for place, tried in self._drawn(oracle, suite.project):
                if sum(each["deletion"] == "seen" for each in order) == self.places or len(order) == TRIES * self.places:
                    break
                if old and (place.line is None or oracle.source(place.file)[place.line.start : place.line.end].strip() in old):
                    continue
                if place.id not in known:
                    known[place.id] = tried()
                    found.add(known[place.id])
                if known[place.id]["deletion"] != "unfit":
                    order.append(known[place.id])
            return {"id": suite.project, "content": oracle.content, "places": order}

    def _drawn(self, oracle: Oracle, project: str) -> Iterator[tuple[regions.Place, Callable[[], FoundPlace]]]:
        """The places in their order, each with what asks the tests about it."""
        if self.histories is not None:
            try:
                for place, commit, wrong in undone(oracle, self.histories / project, self.seed):
                    yield place, partial(_with_line, oracle, place, commit, wrong)
            except GitError as error:
                raise StudyError(str(error)) from None
            return
        tried = self._with_bug if self.bugs else _without
        for place in regions.places_of(oracle, regions.regions_of(oracle, self.seed), self.seed):
            yield place, partial(tried, oracle, place)

    def _with_bug(self, oracle: Oracle, place: regions.Place) -> FoundPlace:
        """Put a bug into the line of a place."""
        source, line = oracle.source(place.file), place.line
        try:
            if line is None:
                return _found(place, "unfit")
            bug = inject(source, f"{self.seed}:{place.id}", (line.start, line.end))
        except (Refused, UnreadableSource):
            return _found(place, "unfit")
        text = bug.of(source)
        return _with_line(oracle, place, bug.morphism, text[line.start : line.end + len(text) - len(source)])


class Found(TypedDict):
    """The places of a project, in the order in which they were drawn. content: `Oracle.content`."""

    id: str
    content: str
    places: list[FoundPlace]


def _without(oracle: Oracle, place: regions.Place) -> FoundPlace:
    """Take the region of a place out."""
    text = deleted(oracle.source(place.file), place.region)
    return _found(place, _noticed(oracle, place.file, text, range(place.region.first_line, place.region.last_line + 1)))


def _with_line(oracle: Oracle, place: regions.Place, kind: str, wrong: str) -> FoundPlace:
    """Put another line in the place of one."""
    source, line = oracle.source(place.file), place.line
    assert line is not None, "a line is there to be another one"
    number = _number(source, line.start)
    noticed = _noticed(oracle, place.file, source[: line.start] + wrong + source[line.end :], range(number, number + 1))
    return {**_found(place, noticed), "bug": kind, "wrong": wrong}


def _noticed(oracle: Oracle, file: str, text: str, lines: range) -> str:
    """What the tests say. Raises Unjudged where the machine fails each time."""
    for _ in range(_MAX_VERDICTS - 1):
        with suppress(Unjudged):  # a whole project would be left out
            return _NOTICED[verdict_of(oracle, file, text, lines).label]
    return _NOTICED[verdict_of(oracle, file, text, lines).label]


def _number(text: str, start: int) -> int:
    return text.count("\n", 0, start) + 1


def _found(place: regions.Place, noticed: str) -> FoundPlace:
    region, line = place.region, place.line
    return {
        "id": place.id,
        "file": place.file,
        "function": region.function,
        "line": [line.start, line.end] if line else None,
        "first_line": region.first_line,
        "last_line": region.last_line,
        "start": region.start,
        "end": region.end,
        "statement": region.statement,
        "tests": place.tests,
        "deletion": noticed,
    }


def _places_of(suite: Suite, found: Found, tasks: Sequence[Task], seed: int) -> Iterator[lines.Place]:
    """The places whose loss the tests notice, with the gaps that can be asked for."""
    for each in found["places"]:
        if each["deletion"] != "seen":
            continue
        region = Region(each["function"], each["start"], each["end"], each["first_line"], each["last_line"], each["statement"])
        line = Line(each["function"], *each["line"]) if each["line"] else None
        text = source_of(suite.folder, each["file"])
        gaps = regions.gaps_of(text, regions.Place(each["id"], each["file"], region, line, each["tests"]), tasks, seed)
        if gaps:
            number = _number(text, line.start if line else region.start)
            bug = (each["bug"], each["wrong"]) if "bug" in each else None
            # the path has a folder of the project's name before it, as in a distribution
            yield lines.Place(
                suite.project, f"{suite.project}/{each['file']}", text, each["function"], number, tuple(gaps.items()),
                (number, number) if bug else (region.first_line, region.last_line), bug,
            )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Judged:
    """A file of a project with a text in the place of what stands there. lines: those whose tests judge it, from first to last."""

    id: str
    suite: Suite
    file: str
    text: str
    lines: tuple[int, int]

    @property
    def region(self) -> range:
        """Those lines."""
        return range(self.lines[0], self.lines[1] + 1)


class Label(TypedDict):
    """What the tests said. tests: how many were run. way: how."""

    id: str
    tests_pass: bool | None
    why: str
    tests: int
    way: str


def label_of(judge: Judge, judged: Judged) -> dict[str, Any]:
    """The label of a text. Raises Unjudged where the machine failed, and Changed where the project is another than it was."""
    said = verdict_of(judge.oracle(judged.suite), judged.file, judged.text, judged.region)
    return {"id": judged.id, "tests_pass": said.label, "why": said.reason, "tests": said.tests, "way": said.way}


@dataclass(frozen=True, slots=True)
class Judging:
    """Makes the worker's function that asks projects' tests; travels to the worker.

    contents: `Oracle.content` of each project when its places were found. ask: gives the record of an item.
    """

    contents: Mapping[str, str]
    ask: Callable[[Judge, Any], dict[str, Any]] = label_of

    def __call__(self) -> Judge:
        """The function."""
        return Judge(self.contents, self.ask)


class Judge:
    """Asks projects' tests about items; holds the oracle of the project that was asked about last."""

    def __init__(self, contents: Mapping[str, str], ask: Callable[[Judge, Any], dict[str, Any]]) -> None:
        self._contents, self._ask = contents, ask
        self._last: tuple[Suite, Oracle] | None = None

    def __call__(self, item: Any) -> dict[str, Any]:
        """The record of an item. Raises Unjudged where the machine failed, and Changed where the project is another than it was."""
        begun = time.perf_counter()
        record = self._ask(self, item)
        return {**record, "timings": {"tests_ms": (time.perf_counter() - begun) * 1e3}}

    def close(self) -> None:
        """Put the oracle away."""
        if self._last is not None:
            self._last[1].close()
            self._last = None

    def oracle(self, suite: Suite) -> Oracle:
        """The oracle of a project. Raises Changed where that is another than it was."""
        if self._last is None or self._last[0] != suite:
            self.close()
            oracle = suite.oracle()
            if oracle.content != self._contents[suite.project]:
                oracle.close()
                raise Changed(f"{suite.folder} is not what it was when the run began: delete that folder, and begin anew elsewhere")
            self._last = suite, oracle
        return self._last[1]


def verdict_of(oracle: Oracle, file: str, text: str, lines: range | None = None) -> Verdict:
    """What the tests say, as of `Oracle.verdict`. Raises Unjudged where the machine failed."""
    found = oracle.verdict(file, text, lines)
    if found.infrastructure:
        raise Unjudged(found.reason)
    return found
