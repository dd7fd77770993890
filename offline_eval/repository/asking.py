"""The asking of `assay calibrate repo`: places go to workers, and what comes back is kept."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from ...calibration.atomic_write import write_atomically
from ..line_completion.study import to_stderr
from ..pool import Finished
from ..progress import Progress, counted
from .study import SHARDS, Place, records_of, remove_damaged, until, write_shard

# So many places in a row without an answer are no accident.
MOST_LOST = 10
# In the run's folder: which have none.
LOST = "lost.json"

# Places in, each with its record out, in whatever order.
Workers = Callable[[Iterator[Place]], Generator[Finished[Place, dict[str, Any]], None, None]]


class Unanswered(Exception):
    """Places got no answer that should have had one; the message says what is kept."""


def ask(run: Path, places: Iterable[Place], workers: Workers, *, wanted: int | None, most_s: float | None, write: bool) -> None:
    """Have the places answered that the run in this folder has not finished, until so many tell something or the time is up.

    Places that a run before lost are asked last, and do not count to those in a row that end this one: what always fails ends no run twice.
    write: the workers do not keep what they finish, so it is written here. Raises Unanswered, and what the workers raise.
    """
    shards = run / SHARDS
    for path in remove_damaged(shards):
        to_stderr(f"note: {path} was damaged; its place is asked again")
    kept = list(records_of(run))
    answered, done = len(kept), sum(record["deletion"] == "seen" for record in kept)
    if wanted is not None and done >= wanted:
        to_stderr(f"{counted(done, 'place')} done already")
        return
    if done:
        to_stderr(f"{done:,} of {counted(wanted, 'place')} are done already" if wanted else f"{counted(done, 'place')} done already")
    progress = Progress("places", wanted, most_s, before=done)
    lost_before = _lost(run)
    lost, in_a_row = set[str](), 0
    items = until(_last(places, lost_before), shards, wanted, most_s, lambda: done)
    with closing(workers(items)) as finished:
        for each in finished:
            if each.answer is None:
                lost.add(each.item.id)
                _keep_lost(run, lost_before | lost)
                in_a_row += each.item.id not in lost_before
                progress.say(f"{each.item.id} has no answer: {each.lost}")
                if in_a_row == MOST_LOST:
                    raise Unanswered(f"{MOST_LOST} places in a row have no answer; what is finished is kept, and the same command goes on")
                continue
            answered, in_a_row = answered + 1, 0
            if write:
                write_shard(shards, each.answer)
            told = each.answer["deletion"] == "seen"
            done += told
            progress.step(int(told))
    progress.end()
    if lost:
        to_stderr(f"{counted(len(lost), 'place')} without an answer, asked again by the same command, after all others")
        if not answered:
            raise Unanswered("no place has an answer: the reasons are above; see assay doctor for the sandbox")
    elif wanted is not None and done < wanted and most_s is None:
        to_stderr(f"the project has no more than {counted(done, 'place')} whose tests see that the code is gone")


def done_of(run: Path) -> int:
    """How many places the run in this folder has finished that tell something. Raises RunError for a damaged one."""
    return sum(record["deletion"] == "seen" for record in records_of(run))


def _last(places: Iterable[Place], put_off: set[str]) -> Iterator[Place]:
    """The places, those with these ids behind all others."""
    later = []
    for place in places:
        if place.id in put_off:
            later.append(place)
        else:
            yield place
    yield from later


def _lost(run: Path) -> set[str]:
    """The ids of places that got no answer, now or in a run before; none where that can't be read: they are asked in their order then."""
    try:
        found = json.loads((run / LOST).read_bytes())
    except (OSError, ValueError, RecursionError):
        return set()
    return {name for name in found if isinstance(name, str)} if isinstance(found, list) else set()


def _keep_lost(run: Path, lost: set[str]) -> None:
    with write_atomically(run / LOST) as out:
        out.write(json.dumps(sorted(lost)).encode())
