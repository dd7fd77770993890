"""What is proposed at a line that is to be repaired, and, with what tests said, who repairs what at which rank.

A repair is verified by a part of the tests, those that are seen; the rest are held back, so that it is known how often a verified repair is
wrong all the same.
"""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, Protocol, TypedDict, TypeVar

from ...analysis.python.source_text import UnreadableSource
from ...analysis.repairs.candidates import candidates
from ...calibration.samples import Event
from ...suggestion.repair.confidence import RANKS, TASK, prompt_of
from ...suggestion.repair.localisation import TASK as FAULT
from ...suggestion.repair.propose import proposals
from ...suggestion.repair.request import Repair, Repairs, Request
from ...suggestion.repair.sources.registry import SOURCES
from ..answers import text_id
from ..errors import UsageError
from ..model import StudyModel
from ..run import Step
from ..sets.lines import without_trailing_space

By = Literal["both", "model", "rules"]
# Whose candidates are ranked among themselves. What a rule gives and the model too is of either.
BELONGS: Mapping[By, Callable[[Sequence[str]], bool]] = {
    "both": lambda _: True,
    "model": lambda sources: set(sources) != {"rules"},
    "rules": lambda sources: "rules" in sources,
}
_ALL = 1_000


class HasId(Protocol):
    """A bug: a line of a project, or a program."""

    @property
    def id(self) -> str:
        """Its name."""
        ...


Bug = TypeVar("Bug", bound=HasId)


class Candidate(TypedDict):
    """A repair. lines: of the wrong text, from 0, that `text` replaces. text_id: of the file with it. exact: whether it is the text before.

    Its rank among all is a measure. found_s: how long after the request it was there.
    """

    lines: list[int]
    text: str
    sources: list[str]
    rules: list[str]
    measures: dict[str, float]
    text_id: str
    exact: bool
    found_s: float


class Proposed(TypedDict):
    """The repairs at a line, in the order in which they are shown."""

    id: str
    candidates: list[Candidate]


def proposed(request: Request, wrong: str, right: str, place: str) -> dict[str, Any]:
    """The record of a request but for its id. wrong, right: the file as it is, and before the bug. Raises ModelError."""
    begun, cpu = time.perf_counter(), time.process_time()
    last, found = Repairs((), (), {}, None), dict[tuple[int, int, str], float]()
    for last in proposals(request, most=_ALL):
        for repair in last.found:
            found.setdefault(_key(repair), time.perf_counter() - begun)
    first_ms = 1e3 * min(found.values(), default=0.0)
    timings = {"first_ms": first_ms, "propose_ms": (time.perf_counter() - begun) * 1e3, "cpu_ms": (time.process_time() - cpu) * 1e3}
    made = [_candidate(repair, wrong, right, place) | {"found_s": round(found[_key(repair)], 3)} for repair in last.found]
    return {"candidates": made, "timings": timings}


def _key(repair: Repair) -> tuple[int, int, str]:
    """What is the same of a repair each time that it is found."""
    place = repair.suggestion.range
    return place.start.line, place.end.line, repair.suggestion.text


def of(by: By, candidates: Sequence[Candidate]) -> list[Candidate]:
    """The first `RANKS` of whom they are by."""
    return [each for each in candidates if BELONGS[by](each["sources"])][:RANKS]


def best(candidates: Sequence[Candidate]) -> list[Candidate]:
    """The first `RANKS` of all, of the model's and of the rules'."""
    kept = {id(each) for by in BELONGS for each in of(by, candidates)}
    return [each for each in candidates if id(each) in kept]


def repaired(wrong: str, candidate: Candidate) -> str:
    """The file with a candidate in it."""
    lines, (first, end) = wrong.split("\n"), candidate["lines"]
    return "\n".join((*lines[:first], *candidate["text"].split("\n"), *lines[end:]))


def distinct(candidates: Sequence[Candidate]) -> Iterator[Candidate]:
    """Those that tests are to judge: not the right text, and each text once."""
    yield from {each["text_id"]: each for each in candidates if not each["exact"]}.values()


def _candidate(repair: Repair, wrong: str, right: str, place: str) -> Candidate:
    suggestion = repair.suggestion
    made: Candidate = {
        "lines": [suggestion.range.start.line, suggestion.range.end.line + 1],
        "text": suggestion.text,
        "sources": list(repair.sources),
        "rules": list(repair.rules),
        "measures": suggestion.measures,
        "text_id": "",
        "exact": False,
        "found_s": 0.0,
    }
    after = repaired(wrong, made)
    return {**made, "text_id": text_id(place, after), "exact": without_trailing_space(after) == without_trailing_space(right)}


# What calibrators of these samples are fitted to, by task. Of 20 projects each can be held out only for 18 measures or fewer.
FEATURES: Mapping[str, tuple[str, ...]] = {
    TASK: (
        "agreement", "logprob_gain", "edit_size", "rank", "old_logprob", "source_agreement", "draw_agreement", "by_rule", "surprise",
        "line_surprise", "mean_logprob", "min_logprob", "by_chat", "edit_logprob", "edit_min_logprob",
        "stay_agreement", "stay_draws",
    ),
    FAULT: ("ochiai", "line_surprise", "spectrum_rank", "surprise_rank"),
}  # fmt: skip


def answer_of(
    name: str, about: dict[str, Any], made: Mapping[str, Any], labels: Mapping[str, Any] | None, *, arm: str = ""
) -> dict[str, Any]:
    """The repairs of a line with their labels.

    about: project, file and so on. labels: by the text's id; None where there are no tests. arm: of a control.

    A repair without a score has no number in the editor, and is no sample.
    """
    found = [_generation(name, each, labels) for each in of("both", made["candidates"]) if "logprob_gain" in each["measures"]]
    return {**about, "id": name, "generations": [{**each, "arm": arm} for each in found] if arm else found}


def sample_id(name: str, candidate: Candidate) -> str:
    """LINE:RANK."""
    return f"{name}:{candidate['measures']['rank']:.0f}"


def passes(candidate: Candidate, labels: Mapping[str, Any] | None) -> bool | None:
    """Whether a candidate passes the tests; None where that is unknown. labels: by the text's id; None where there are no tests."""
    if labels is None:
        return None
    if candidate["exact"]:
        return True
    label = labels.get(candidate["text_id"])
    return None if label is None else label["tests_pass"]


def _generation(name: str, each: Candidate, labels: Mapping[str, Any] | None) -> dict[str, Any]:
    return {
        "id": sample_id(name, each),
        "task": TASK,
        "text": each["text"],
        "inserted": each["text"],
        "measures": each["measures"],
        "labels": {"exact_match": each["exact"], "tests_pass": passes(each, labels)},
        "sources": each["sources"],
        "rank": int(each["measures"]["rank"]),
    }


@dataclass(frozen=True, slots=True)
class Attempt:
    """A line that was to be repaired.

    group: what is independent of others: its project, or its program. source, kind: of its bug. failing: the tests that fail for it.
    known: how many tests of it are known. labels: of the best candidates' texts, by `text_id`; None where there are no tests. search, loop:
    what testing all candidates, and mutants, made of it; None where that is not done.
    """

    id: str
    group: str
    source: str
    kind: str
    candidates: Sequence[Candidate]
    failing: Sequence[str]
    known: int
    labels: Mapping[str, Any] | None
    search: Mapping[str, Any] | None = None
    loop: Mapping[str, Any] | None = None

    def ranked(self, by: By) -> list[Candidate]:
        """The candidates of a source, the best first."""
        return of(by, self.candidates)

    def is_right(self, candidate: Candidate, event: Event) -> bool | None:
        """Whether the event happens; None where the tests did not tell."""
        return candidate["exact"] if event == "exact_match" else passes(candidate, self.labels)


def repaired_within(attempt: Attempt, candidates: Sequence[Candidate], event: Event, most: int) -> bool | None:
    """Whether one of the first candidates is right; None where only an unknown one may be."""
    said = [attempt.is_right(each, event) for each in candidates[:most]]
    return True if True in said else None if None in said else False


def turn_of(test: str, bug: str, seed: int) -> int:
    """What puts the tests of a bug in a random order: those that fail are seen in it, the first one always."""
    return int.from_bytes(hashlib.sha256(f"{seed}:{bug}:{test}".encode()).digest()[:8])


def seen_tests(attempt: Attempt, seed: int) -> Callable[[str], bool]:
    """Whether a test is among those that are seen: of those that fail for the bug half, and one at least; of the others about half."""

    def number(test: str) -> int:
        return turn_of(test, attempt.id, seed)

    failing = sorted(attempt.failing, key=number)
    kept, held = set(failing[: math.ceil(len(failing) / 2)]), set(failing)
    return lambda test: test in kept if test in held else number(test) % 2 == 0


def is_verified(attempt: Attempt, candidate: Candidate, seen: Callable[[str], bool]) -> bool | None:
    """Whether a candidate passes the tests that are seen; None where that is unknown."""
    if candidate["exact"]:
        return True
    label = None if attempt.labels is None else attempt.labels.get(candidate["text_id"])
    if label is None or label["error"] == "unparsed":
        return None if label is None else False
    if not label["changed"] and label["tests_pass"] is not True:
        return None  # what decides was not among the tests that are known by name
    told = [test["error"] for test in label["changed"] if seen(test["test"])]
    return False if any(told) else None if None in told else True


def first_verified(attempt: Attempt, candidates: Sequence[Candidate], seen: Callable[[str], bool]) -> int | None:
    """The number, from 0, of the first candidate that passes the tests that are seen; None where none does."""
    return next((number for number, each in enumerate(candidates) if is_verified(attempt, each, seen)), None)


def require_scores(model: StudyModel) -> StudyModel:
    """The model. Raises UsageError for one that can't score repairs."""
    if not model.replays:
        raise UsageError(f"{model.name} does not say how likely a given text is, by which repairs are ordered: name a model's file")
    return model


def question_of_repairs(model: StudyModel) -> dict[str, Any]:
    """What of a run's question tells how repairs are asked for."""
    sources = sources_of(model)
    return {"prompt": prompt_of(model.prompts["line"], sources), "sources": sources, "alternatives": RANKS}


def sources_of(model: StudyModel) -> list[str]:
    """The sources that are asked for repairs of Python: what this model can do."""
    can = {"instruct": model.chats, "fix_task": model.mends}
    return [source.name for source in SOURCES if can.get(source.name, True)]


MAX_TRIED = 60
# A bug that is not repaired in this time is not repaired. Candidates are tested as they are found.
MAX_S = 60.0


class Tested(TypedDict):
    """What became of a bug. tried: how many candidates were tested, until one passed, there were no more, or `MAX_S` were over.

    tests: that were run. passed: whether one did. exact: whether that is the text before the bug. gave_up: whether the time was up.
    """

    id: str
    tried: int
    tests: int
    passed: bool
    exact: bool
    gave_up: bool


SEARCHED, LOOPED = Step("searched", "bug", Tested), Step("looped", "bug", Tested)


@dataclass(frozen=True, slots=True)
class Trial(Generic[Bug]):
    """A bug with the candidates that are tested for it, in their order; None for its mutants."""

    bug: Bug
    candidates: Sequence[Candidate] | None = None

    @property
    def id(self) -> str:
        """The bug's."""
        return self.bug.id

    def texts(self, wrong: str, line: int) -> list[tuple[float, str]]:
        """What is tested, and from when on it is there. wrong: the file with the bug, which is in this line, from 1."""
        if self.candidates is None:
            return [(0.0, text) for text in mutants(wrong, line)]
        return [(each["found_s"], repaired(wrong, each)) for each in self.candidates]


def mutants(wrong: str, line: int) -> list[str]:
    """The file with each candidate of the rules for a line, from 1, in the order of the document."""
    start = sum(len(each) + 1 for each in wrong.split("\n")[: line - 1])
    try:
        return [each.of(wrong) for each in candidates(wrong, "python", (start, start), most=MAX_TRIED)]
    except UnreadableSource:
        return []


def tried(
    texts: Sequence[tuple[float, str]], right: str, test: Callable[[str], tuple[bool | None, int]], max_s: float = MAX_S
) -> dict[str, Any]:
    """The record of a bug, but for its id: the first text that is there is tested, and again, until one passes or the time is up.

    texts: from when on each is there, in seconds. test: whether a text passes, and how many tests were run for it.
    """
    left, now = list(texts), 0.0
    count, tests, passed, exact, gave_up = 0, 0, False, False, False
    while left and not passed and not gave_up:
        now = max(now, min(at for at, _ in left))
        _, text = left.pop(next(number for number, (at, _) in enumerate(left) if at <= now))
        if gave_up := now > max_s:
            break
        begun = time.perf_counter()
        verdict, ran = test(text)
        now += time.perf_counter() - begun
        count, tests, gave_up = count + 1, tests + ran, now > max_s
        passed = verdict is True and not gave_up
        exact = passed and without_trailing_space(text) == without_trailing_space(right)
    return {"tried": count, "tests": tests, "passed": passed, "exact": exact, "gave_up": gave_up}
