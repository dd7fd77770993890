"""The driver of every study: items → answers → labels → samples → figures → report.

    items     what is asked about: frozen, drawn by a seed, made without a model
    steps     what workers make of items, one step after another: answers need a model, labels a sandbox or a project's tests
    samples   one file per task, which calibrators are fitted to
    figures   and report: from the run alone, so that they can be made again at any time

A finished item has a line in its step's file and is never done again. One whose worker died or failed is lost: the next run with the same
question does it last. A run that is killed anywhere is resumed by the same command, and its files are byte for byte those of a run that was
not killed, timings.jsonl aside.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from ..calibration.samples import EVENTS, Sample, write_samples
from ..inference.opening import ModelChoice
from .answers import Answer
from .errors import StudyError
from .plan import tell_study
from .pool.interface import PoolError, Start
from .pool.pool import MOST_WAITING, Pool
from .progress import Progress, counted, tell_if_stopped, to_stderr
from .run import GENERATIONS, Question, Records, Run, Step, digest_of, lines_of

# So many items in a row without a record are no accident; of those that wait for a server all may be under way when it fails.
MAX_LOST_IN_A_ROW = 10


class Item(Protocol):
    """What a worker gets at once. id: the same for the same item in every run."""

    @property
    def id(self) -> str:
        """Its name."""
        ...


AnyItem = TypeVar("AnyItem", bound=Item)


class Unanswered(StudyError):
    """Items got no record that should have had one; the message says what is kept."""


@dataclass(frozen=True, slots=True)
class Work(Generic[AnyItem]):
    """What there is to do in a step.

    items: taken as workers come free. start: makes the function that does one, in the worker; its record may have the key "timings", which
    goes into timings.jsonl. wanted: how many records must count (`Step.counts`) until the work is done; None: all. max_s: no item is begun
    later, by the clock. max_item_s: as the pool's. none_left: what people are told where there are fewer than wanted. waits: for a server.
    """

    step: Step
    items: Iterable[AnyItem]
    start: Start[AnyItem, Any]
    pool: Pool
    wanted: int | None = None
    max_s: float | None = None
    max_item_s: float | None = None
    none_left: str = "there are no more than {places}"
    waits: bool = False
    clock: Callable[[], float] = time.monotonic


# A step's work, made when its turn comes: labels are of the answers before them.
Making = Callable[[], Work[Any]]
Plan = Sequence[Making]


def all_of(step: Step, items: Iterable[Any], start: Start[Any, Any], pool: Pool, **more: Any) -> Work[Any]:
    """The work of asking about all of these items. more: as of `Work`."""
    found = list(items)
    return Work(step, found, start, pool, len(found), **more)


def chosen(plan: Mapping[str, Making | Plan], steps: Sequence[str]) -> Plan:
    """The work of these steps, by their names in --steps; of all where none is named."""
    wanted = [made for name, made in plan.items() if not steps or name in steps]
    return [each for made in wanted for each in (made if isinstance(made, Sequence) else (made,))]


@dataclass(frozen=True, slots=True)
class Results:
    """What a report is made from: the answers by id, the samples by file (`samples_of`) and where these were written."""

    answers: Sequence[Any]
    samples: Mapping[str, Sequence[Sample]]
    paths: Sequence[Path]


class Report(Protocol):
    """Writes the report of a run, and prints what was made on stdout. Raises RunError for a run that lacks what it needs."""

    def __call__(self, run: Run, results: Results, *, as_json: bool) -> None:
        """Write it."""
        ...


class Compare(Protocol):
    """Writes report/ into `out`, on any number of runs. Raises StudyError where the runs are not of the same items."""

    def __call__(self, runs: Sequence[Run], out: Path, *, as_json: bool) -> None:
        """Write it."""
        ...


def no_answers(run: Run) -> list[Any]:  # noqa: ARG001 - the driver gives it
    """Of a study whose answers are no suggestions of an editor, or come without log-probabilities: then there is no sample."""
    return []


@dataclass(frozen=True, slots=True)
class Study:
    """A study as the driver sees it.

    name: in run.toml and in the registry. needed: the texts of its question that other studies do not have, as `Run.question`'s. answers:
    what its samples are made of, answers with their labels; raises RunError. addable: parts of the question that a run may get later, with
    a step of their own. compare: where it compares any number of runs, those of the studies in `compared`, its own among them.
    """

    name: str
    steps: Sequence[Step]
    needed: Sequence[str]
    report: Report
    answers: Callable[[Run], list[Any]] = no_answers
    compare: Compare | None = None
    compared: Collection[str] = ()
    addable: Collection[str] = ()

    def lost(self, run: Run) -> int:
        """How many items of a run have no record."""
        return sum(len(run.lost(step)) for step in self.steps)


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyOptions:
    """What the user wants of any study. limit: at most so many items. steps: to do, all where none is named. dry_run: only say the plan."""

    out: Path = field(kw_only=False)
    choice: ModelChoice = field(default_factory=ModelChoice)
    limit: int | None = None
    seed: int = 0
    pool: Pool = field(default_factory=Pool)
    steps: Sequence[str] = ()
    as_json: bool = False
    dry_run: bool = False

    def wants(self, step: str) -> bool:
        """Whether a step is to be done."""
        return not self.steps or step in self.steps

    @property
    def waits(self) -> bool:
        """Whether a server is asked."""
        return bool(self.choice.servers)

    @property
    def limited(self) -> dict[str, int]:
        """The limit in a run's question."""
        return {"limit": self.limit} if self.limit else {}


# The works of a run by step, or in their order.
Works = Callable[[Run], Mapping[str, Making | Plan] | Plan]


def carry_out(
    study: Study,
    options: StudyOptions,
    question: Question,
    items: Iterable[Any],
    works: Works,
    *told: str,
    plan: Callable[[], Mapping[str, Any]] = dict,
) -> Run:
    """Begin a run or go on with it, and do its steps. items: their records, which it freezes. told: to people, once it has begun.

    A dry run prints its plan alone, and gives a run that is not there: the question, how many items there are, where they are known by
    then, and what only `plan` knows, such as at most how many of what ("most_…") and how long that takes.

    Raises RunError, and what `conduct` raises.
    """
    lines = lines_of(items)
    if options.dry_run:
        known = {"items": len(lines)} if lines else {}
        tell_study(question, options.out, {**known, **plan()}, *(told if lines else ()), as_json=options.as_json)
        return Run(options.out)
    run = Run.begin(options.out, {**question, "items": digest_of(lines)}, study.addable)
    run.keep_items(lines)
    for line in told:
        to_stderr(line)
    found = works(run)
    conduct(study, run, chosen(found, options.steps) if isinstance(found, Mapping) else found, as_json=options.as_json)
    return run


def conduct(study: Study, run: Run, plan: Plan, *, as_json: bool) -> None:
    """Do in each step what the run has not finished, then write samples and report of what it has.

    Raises RunError, PoolError, Unanswered and OSError, the two in the middle once the report is written, if there is a record to report on.
    """
    failure = None
    with tell_if_stopped(lambda: stopped(study, run)):
        for work in plan:
            failure = do(run, work()) or failure
            if isinstance(failure, PoolError):
                break
        if failure and not has_records(study, run):
            raise failure
        finish(study, run, as_json=as_json)
    if failure:
        raise failure


def has_records(study: Study, run: Run) -> bool:
    """Whether a step of a run has a record. Raises RunError for a damaged one."""
    return any(run.records(step).read() for step in study.steps)


def do(run: Run, work: Work[Any]) -> PoolError | Unanswered | None:
    """Do what the run has not finished of a step. Returns why that ended early.

    Raises RunError where another process works on the run.
    """
    run.keep_wanted(work.step, work.wanted)
    records = run.records(work.step)
    try:
        with run.locked():
            _do(run, work, records)
    except (PoolError, Unanswered) as error:
        return error
    run.keep_wanted(work.step, None)
    return None


def stopped(study: Study, run: Run) -> str:
    """What a user is told who stops a run."""
    done = _done(study, run)
    return (
        f"stopped{done and f' after {done}'}; what is finished is kept in {run.folder}. The same command goes on "
        f"from there, and `assay eval report {run.folder}` reports on what there is"
    )


def how_far(study: Study, run: Run) -> str:
    """What a user is told who has a run reported on, which may have been killed. Raises RunError for a damaged one."""
    for step in study.steps:
        done, wanted = count_done(run, step), run.wanted(step)
        if wanted is not None and done < wanted:
            are = "is" if done == 1 else "are"
            return f"{done:,} of {counted(wanted, step.unit)} {are} done; the same command as before goes on"
    text = _done(study, run)
    if not text:
        return "the report is made again: this study has nothing else to do"
    return f"{text} {'is' if text.startswith('1 ') and ',' not in text else 'are'} done"


def count_done(run: Run, step: Step) -> int:
    """How many records of a step count. Raises RunError for a damaged one."""
    return sum(step.counts(record) for record in run.records(step).read())


def _done(study: Study, run: Run) -> str:
    begun = [step for step in study.steps if run.records(step).path.exists()] or study.steps[:1]
    return ", ".join(counted(count_done(run, step), step.unit) for step in begun)


def _do(run: Run, work: Work[Any], records: Records) -> None:
    step, unit = work.step, work.step.unit
    for number in records.mend():
        to_stderr(f"note: line {number} of {records.path} was damaged and is left out; an item without a line is asked again")
    kept = records.read()
    finished, done = {record["id"] for record in kept}, sum(step.counts(record) for record in kept)
    if work.wanted is not None and done >= work.wanted:
        records.sort()
        to_stderr(f"{counted(done, unit)} done already")
        return
    if done:
        are = "is" if done == 1 else "are"
        to_stderr(f"{done:,} of {counted(work.wanted, unit)} {are} done already" if work.wanted else f"{counted(done, unit)} done already")
    progress = Progress(f"{unit}s", work.wanted, work.max_s, before=done, clock=work.clock)
    lost_before, lost, in_a_row = run.lost(step), set[str](), 0
    begun, most_lost = work.clock(), MAX_LOST_IN_A_ROW + (MOST_WAITING if work.waits and not work.pool.workers else 0)

    def left() -> Iterator[Item]:
        for item in _lost_last(work.items, lost_before):
            late = work.max_s is not None and work.clock() - begun >= work.max_s
            if late or (work.wanted is not None and done >= work.wanted):
                return
            if item.id not in finished:
                yield item

    with progress, closing(work.pool.run(work.start, left(), max_item_s=work.max_item_s, waits=work.waits)) as answers:
        for each in answers:
            if each.answer is None:
                lost.add(each.item.id)
                run.keep_lost(step, lost_before | lost)
                in_a_row += each.item.id not in lost_before
                progress.say(f"{each.item.id} has no answer: {each.lost}")
                if in_a_row == most_lost:
                    raise Unanswered(f"{most_lost} {unit}s in a row have no answer; what is finished is kept, and the same command goes on")
                continue
            if timings := each.answer.pop("timings", None):
                run.add_timings(step, each.item.id, timings)
            records.add(each.answer)
            finished.add(each.item.id)
            in_a_row = 0
            counts = step.counts(each.answer)
            done += counts
            progress.step(int(counts))
    records.sort()
    if lost_before or lost:
        run.keep_lost(step, (lost_before | lost) - finished)
    if lost:
        to_stderr(f"{counted(len(lost), unit)} without an answer; the same command asks there again, after all others")
        if not finished:
            raise Unanswered(
                f"the step {step.name} failed, for no {unit} has an answer: the reasons are above; see assay doctor for the sandbox"
            )
        if len(lost - lost_before) > len(finished) - len(kept):
            raise Unanswered(f"{counted(len(lost), unit)} without an answer, most of those asked: the reasons are above")
    elif work.wanted is not None and done < work.wanted and work.max_s is None:
        to_stderr(work.none_left.format(places=counted(done, unit)))


def _lost_last(items: Iterable[AnyItem], lost: set[str]) -> Iterator[AnyItem]:
    """The items, those with these ids after all others: what always fails ends no run twice."""
    later = []
    for item in items:
        if item.id in lost:
            later.append(item)
        else:
            yield item
    yield from later


def finish(study: Study, run: Run, *, as_json: bool) -> None:
    """Write what comes of a run's records: generations.jsonl, samples and report. Raises RunError and SampleError."""
    question = run.question(study.needed)
    answers = study.answers(run)
    if answers:
        run.write_lines(GENERATIONS, (_without(answer, "id", "generations") | one for answer in answers for one in answer["generations"]))
    samples = samples_of(question, answers)
    paths = []
    for name, found in sorted(samples.items()):
        paths.append(run.folder / "samples" / f"{name}.jsonl")
        write_samples(paths[-1], found)
    study.report(run, Results(answers, samples, paths), as_json=as_json)


def _without(record: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in record.items() if name not in names}


def samples_of(question: Mapping[str, Any], answers: Sequence[Answer]) -> dict[str, list[Sample]]:
    """The samples by file: TASK, or TASK-ARM for an arm, whose samples have the ids of those without it, so that they can be paired, or
    TASK-STREAM for texts that were drawn at a temperature.

    What the editor would hide makes none: a calibrator answers for what is shown.
    """
    found: dict[str, list[Sample]] = {}
    for answer in answers:
        for one in answer["generations"]:
            if one["inserted"] is None:
                continue
            file = "-".join(one[name] for name in ("task", "arm", "stream") if name in one)
            prompt = "prompt_sampled" if "stream" in one else "prompt_block" if one["task"] == "block" else "prompt"
            found.setdefault(file, []).append(
                Sample(
                    id=one["id"],
                    model=question["model"],
                    prompt=question[prompt],
                    task=one["task"],
                    language=answer.get("language", "python"),
                    project=answer["project"],
                    file=answer["file"],
                    seed=question["seed"],
                    measures=one["measures"],
                    labels={**dict.fromkeys(EVENTS), **one["labels"]},
                    text_sha256=hashlib.sha256(one["inserted"].encode(errors="surrogatepass")).hexdigest(),
                    model_name=question["model_name"],
                    kin=question.get("kin", ""),
                    asked=one.get("asked", {}),
                    fallbacks=tuple(one.get("fallbacks", ())),
                    rank=one.get("rank", 1),
                    alternatives=question.get("alternatives", 1),
                )
            )
    return found
