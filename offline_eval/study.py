"""The driver of every study: items → answers → labels → samples → figures → report.

    items     what is asked about: frozen, drawn by a seed, made without a model (each study's `items.py`)
    answers   what a model makes of an item, by a pool of workers; only this step needs a model (each study's `answers.py`)
    labels    what became of each generation, kept with the answer; only this step may need a sandbox
    samples   one file per task, which calibrators are fitted to
    figures   and report: from the run alone, so that they can be made again at any time (each study's `report.py`)

A finished item has a line in the run's answers.jsonl and is never asked again. One whose worker died or failed is lost: the next run with
the same question asks it last. A run that is killed anywhere is resumed by the same command.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from ..calibration.samples import EVENTS, Sample, write_samples
from .errors import StudyError
from .pool.choice import Pool
from .pool.interface import PoolError, Start
from .progress import Progress, counted, tell_if_stopped, to_stderr
from .run import ANSWERS, GENERATIONS, LABELS, Answer, Run

# So many items in a row without an answer are no accident.
MAX_LOST_IN_A_ROW = 10


class Item(Protocol):
    """What a worker gets at once. id: the same for the same item in every run."""

    @property
    def id(self) -> str:
        """Its name."""
        ...


AnyItem = TypeVar("AnyItem", bound=Item)


class Unanswered(StudyError):
    """Items got no answer that should have had one; the message says what is kept."""


@dataclass(frozen=True, slots=True)
class Work(Generic[AnyItem]):
    """What there is to answer.

    items: taken as workers come free. start: makes the function that answers one, in the worker. wanted: how many answers must count
    (`Study.counts`) until the work is done; None: all. max_s: no item is begun later. max_item_s: as the pool's. none_left: what people
    are told where there are fewer than wanted.
    """

    items: Iterable[AnyItem]
    start: Start[AnyItem, Any]
    wanted: int | None = None
    max_s: float | None = None
    max_item_s: float | None = None
    none_left: str = "there are no more than {places}"


@dataclass(frozen=True, slots=True)
class Results:
    """What a report is made from: the answers by id, the samples by task and where these were written."""

    answers: Sequence[Any]
    samples: Mapping[str, Sequence[Sample]]
    paths: Sequence[Path]


class Study(Protocol):
    """A study as the driver sees it.

    name: in run.toml and in the registry. answer: the fields of its answers. needed: as `Run.question`'s.
    """

    @property
    def name(self) -> str:
        """Its name."""
        ...

    @property
    def answer(self) -> type[Any]:
        """The type of its answers."""
        ...

    @property
    def needed(self) -> Sequence[str]:
        """The texts of its question that other studies do not have."""
        ...

    def counts(self, answer: Any) -> bool:
        """Whether an answer is one of those wanted; others are kept, too, and tell nothing."""
        ...

    def report(self, run: Run, results: Results, *, as_json: bool) -> None:
        """Write the report, and print what was made on stdout. Raises RunError for a run that lacks what it needs."""
        ...


def conduct(study: Study, run: Run, work: Work[Any], pool: Pool, *, as_json: bool) -> None:
    """Answer what the run has not finished, then write samples and report of what it has.

    Raises RunError, PoolError, Unanswered and OSError, the two in the middle once the report is written.
    """
    with tell_if_stopped(lambda: stopped(run, count_done(study, run))):
        failure = answer_all(study, run, work, pool)
        finish(study, run, as_json=as_json)
    if failure:
        raise failure


def answer_all(study: Study, run: Run, work: Work[Any], pool: Pool) -> PoolError | Unanswered | None:
    """Have the items answered that the run has not finished. Returns why that ended early, where answers are there to report on.

    Raises what it would return where the run has no answer at all.
    """
    run.keep_wanted(work.wanted)
    try:
        _answer_all(study, run, work, pool)
    except (PoolError, Unanswered) as error:
        if not run.answers(study.answer):
            raise
        return error
    run.keep_wanted(None)
    return None


def stopped(run: Run, done: int) -> str:
    """What a user is told who stops a run. done: `count_done`."""
    return (
        f"stopped after {counted(done, 'place')}; what is finished is kept in {run.folder}. The same command goes on "
        f"from there, and `assay eval report {run.folder}` reports on what there is"
    )


def how_far(study: Study, run: Run) -> str:
    """What a user is told who has a run reported on, which may have been killed. Raises RunError for a damaged one."""
    done, wanted = count_done(study, run), run.wanted()
    if wanted is None or done >= wanted:
        return f"{counted(done, 'place')} {'is' if done == 1 else 'are'} done"
    return f"{done:,} of {counted(wanted, 'place')} {'is' if done == 1 else 'are'} done; the same command as before goes on"


def count_done(study: Study, run: Run) -> int:
    """How many answers of a run count. Raises RunError for a damaged one."""
    return sum(study.counts(answer) for answer in run.answers(study.answer))


def _answer_all(study: Study, run: Run, work: Work[Any], pool: Pool) -> None:
    for number in run.drop_damaged(study.answer):
        to_stderr(f"note: line {number} of {run.folder / ANSWERS} was damaged; its item is asked again")
    kept = run.answers(study.answer)
    finished, done = {answer["id"] for answer in kept}, sum(study.counts(answer) for answer in kept)
    if work.wanted is not None and done >= work.wanted:
        to_stderr(f"{counted(done, 'place')} done already")
        return
    if done:
        to_stderr(
            f"{done:,} of {counted(work.wanted, 'place')} are done already" if work.wanted else f"{counted(done, 'place')} done already"
        )
    progress = Progress("places", work.wanted, work.max_s, before=done)
    lost_before, lost, in_a_row = run.lost(), set[str](), 0
    begun = time.monotonic()

    def left() -> Iterator[Item]:
        for item in _lost_last(work.items, lost_before):
            late = work.max_s is not None and time.monotonic() - begun >= work.max_s
            if late or (work.wanted is not None and done >= work.wanted):
                return
            if item.id not in finished:
                yield item

    with closing(pool.run(work.start, left(), max_item_s=work.max_item_s)) as answers:
        for each in answers:
            if each.answer is None:
                lost.add(each.item.id)
                run.keep_lost(lost_before | lost)
                in_a_row += each.item.id not in lost_before
                progress.say(f"{each.item.id} has no answer: {each.lost}")
                if in_a_row == MAX_LOST_IN_A_ROW:
                    raise Unanswered(
                        f"{MAX_LOST_IN_A_ROW} places in a row have no answer; what is finished is kept, and the same command goes on"
                    )
                continue
            run.keep(each.answer)
            finished.add(each.item.id)
            in_a_row = 0
            counts = study.counts(each.answer)
            done += counts
            progress.step(int(counts))
    progress.end()
    if lost_before or lost:
        run.keep_lost((lost_before | lost) - finished)
    if lost:
        to_stderr(f"{counted(len(lost), 'place')} without an answer; the same command asks there again, after all others")
        if not finished:
            raise Unanswered("no place has an answer: the reasons are above; see assay doctor for the sandbox")
    elif work.wanted is not None and done < work.wanted and work.max_s is None:
        to_stderr(work.none_left.format(places=counted(done, "place")))


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
    """Write what comes of a run's answers: generations.jsonl, labels.jsonl, samples and report. Raises RunError and SampleError."""
    question = run.question(study.needed)
    answers = run.answers(study.answer)
    made = [(answer, generation) for answer in answers for generation in answer["generations"]]
    run.write_lines(GENERATIONS, (_without(answer, "id", "generations") | _without(one, "labels") for answer, one in made))
    run.write_lines(LABELS, ({"id": one["id"], **one["labels"]} for _, one in made))
    samples = samples_of(question, answers)
    paths = []
    for task, found in sorted(samples.items()):
        paths.append(run.folder / "samples" / f"{task}.jsonl")
        write_samples(paths[-1], found)
    study.report(run, Results(answers, samples, paths), as_json=as_json)


def _without(record: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in record.items() if name not in names}


def samples_of(question: Mapping[str, Any], answers: Sequence[Answer]) -> dict[str, list[Sample]]:
    """The samples by task. What the editor would hide makes none: a calibrator answers for what is shown."""
    found: dict[str, list[Sample]] = {}
    for answer in answers:
        for one in answer["generations"]:
            if one["inserted"] is None:
                continue
            found.setdefault(one["task"], []).append(
                Sample(
                    id=one["id"],
                    model=question["model"],
                    prompt=question["prompt_block" if one["task"] == "block" else "prompt"],
                    task=one["task"],
                    language="python",
                    project=answer["project"],
                    file=answer["file"],
                    seed=question["seed"],
                    measures=one["measures"],
                    labels={**dict.fromkeys(EVENTS), **one["labels"]},
                    text_sha256=hashlib.sha256(one["inserted"].encode(errors="surrogatepass")).hexdigest(),
                    model_name=question["model_name"],
                    asked=one.get("asked", {}),
                    fallbacks=tuple(one.get("fallbacks", ())),
                    rank=one.get("rank", 1),
                    alternatives=question.get("alternatives", 1),
                )
            )
    return found
