"""The asking of `assay calibrate repo`: places go to workers, and what comes back is kept."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from .line_completion import to_stderr
from .pool import Finished
from .progress import Progress, counted
from .repository import SHARDS, Place, records_of, remove_damaged, until, write_shard

# So many places in a row without an answer are no accident.
MOST_LOST = 10

# Places in, each with its record out, in whatever order.
Workers = Callable[[Iterator[Place]], Generator[Finished[Place, dict[str, Any]], None, None]]


class Unanswered(Exception):
    """Places got no answer that should have had one; the message says what is kept."""


def ask(run: Path, places: Iterable[Place], workers: Workers, *, wanted: int | None, most_s: float | None, write: bool) -> None:
    """Have the places answered that the run in this folder has not finished, until so many tell something or the time is up.

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
    progress = Progress("places", wanted - done if wanted else None, most_s)
    lost = in_a_row = 0
    items = until(places, shards, wanted, most_s, lambda: done)
    with closing(workers(items)) as finished:
        for each in finished:
            if each.answer is None:
                lost, in_a_row = lost + 1, in_a_row + 1
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
        to_stderr(f"{counted(lost, 'place')} without an answer, asked again by the same command")
        if not answered:
            raise Unanswered("no place has an answer: the reasons are above; see assay doctor for the sandbox")
    elif wanted is not None and done < wanted and most_s is None:
        to_stderr(f"the project has no more than {counted(done, 'place')} whose tests see that the code is gone")
