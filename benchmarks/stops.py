"""What the stops of the dial show while somebody types, and how much of it is right: the table of docs/dial.md, "Three stops".

    python benchmarks/stops.py --code FOLDER… [--older FOLDER] [--model FILE.gguf] [--characters 300]

Each folder is a project that no calibrator was fitted to. An author (benchmarks/typing_trace.py) writes a piece of one file of each back,
beside `assay serve` with everything shown. Each key waits for its answer, and nothing is accepted, so that neither the machine nor what is
shown decides what is written. What a stop shows is found afterwards, from the thresholds that the server takes for it. With --older, a
folder with an older release of each project, most lines of a piece are newer: a model that was published in between has not seen them.

*A suggestion* came by itself, and is one from when it appears until another takes its place, however many keys are typed along it. A stop
shows it if it does so at any of these keys. *Right*: the author wrote exactly that, up to the end of the line. Intervals take projects as
independent. Prints Markdown. Linux only.
"""

from __future__ import annotations

import asyncio
import math
import random
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import harness
import numpy as np
from assay_lsp import assay_server
from live import write_file
from replay import Buffer, Key, Session
from typing_trace import MAX_LINES, MIN_LINES, SPEEDS, Author, Invoke, Segment, cut

from assay.calibration.fitting.folds import numbered
from assay.calibration.metrics.intervals import rate_interval
from assay.calibration.monitoring.stops import TARGETS, threshold_of
from assay.calibration.registry import load_registry
from assay.inference.opening import EMBEDDED
from assay.offline_eval.errors import StudyError, UsageError
from assay.offline_eval.sets.code import Folder, check_older, folders_at, lines_of, own_code
from assay.offline_eval.sets.projects import SourceFile, is_test

# Of the lines of a piece that say something, those that must be newer; of a file so many pieces are tried.
NEWER, MIN_SAID, TRIES = 0.6, 7, 6


def segment_of(project: Folder, known: frozenset[str], characters: int, seed: int) -> Segment | None:
    """A piece of a file whose length is nearest to one that is drawn, of those that have one."""
    rng = random.Random(f"{seed}:{project.name}")
    drawn = rng.uniform(math.log(MIN_LINES), math.log(MAX_LINES))
    files = [
        SourceFile(project.name, path, text)
        for path, text in own_code(project, Path())
        if path.endswith(".py") and not is_test(path) and MIN_LINES <= text.count("\n") <= MAX_LINES
    ]
    for file in sorted(files, key=lambda file: (abs(math.log(file.text.count("\n")) - drawn), file.path)):
        for _ in range(TRIES):
            segment = cut(file, characters, rng)
            if segment is not None and _is_newer(segment.truth, known):
                return segment
    return None


def _is_newer(truth: str, known: frozenset[str]) -> bool:
    lines = [line.strip() for line in truth.split("\n") if len(line.strip()) >= MIN_SAID]
    return not known or (bool(lines) and sum(line not in known for line in lines) >= NEWER * len(lines))


@dataclass(frozen=True, slots=True)
class Shown:
    """A suggestion, with the keys at which it was on the screen."""

    project: str
    keys: tuple[Key, ...]
    right: bool

    def keys_above(self, thresholds: dict[str, float]) -> list[Key]:
        """Those at which a stop with these thresholds by calibrator shows it."""
        return [key for key in self.keys if key.probability is None or key.probability >= thresholds.get(key.calibrator or "", 0.0)]


def suggestions_of(project: str, keys: Sequence[Key]) -> list[Shown]:
    """The suggestions that came by themselves, each once."""
    seen = [key for key in keys if key.shown_ms is not None]
    runs = (tuple(run) for _, run in groupby(seen, key=lambda key: (key.line, key.whole)))
    return [Shown(project, run, any(key.exact for key in run)) for run in runs]


async def written(segment: Segment, project: Folder, model: Path, threads: int, seed: int) -> list[Key]:
    """The keys that the author of a segment types, with what was on the screen after each."""
    author = Author(segment.truth, SPEEDS["normal"], f"{seed}:{segment.project}:{segment.path}")
    options = {"modelOptions": {"threads": threads}, "explore": 0, "delay": 0, "maxMs": 60_000}
    with tempfile.TemporaryDirectory(prefix="assay-stops-") as folder:
        for path, text in own_code(project, Path()):
            (Path(folder) / path).parent.mkdir(parents=True, exist_ok=True)
            (Path(folder) / path).write_text(text, encoding="utf-8")
        file = write_file(Path(folder) / segment.path, segment)
        async with assay_server("Assay", model, [Path(folder)], options) as server:
            buffer = Buffer(segment.before + author.truth[: author.start] + segment.after)
            buffer.go(segment.before.count("\n"), author.start)
            await server.open(file, buffer)
            session, at = Session(author, server, buffer), author.start
            while at < len(author.truth):
                step = author.step(at)
                for event in (event for event in step.events if not isinstance(event, Invoke)):
                    session.do(event)
                    await server.answered()
                    session.look(accepting=False)
                at = step.to
            await server.rest()
    assert buffer.text == segment.before + segment.truth + segment.after, "what was written is not what was meant"
    return session.keys


def stops_table(found: Sequence[Shown], keys: int) -> str:
    """What each stop shows and hides."""
    calibrators = {entry.calibrator.id: entry.calibrator for entry in load_registry().entries}
    right = [one for one in found if one.right]
    rows = []
    for stop in sorted(TARGETS, key=TARGETS.__getitem__):
        thresholds = {name: threshold_of(calibrator, stop).show_above for name, calibrator in calibrators.items()}
        shown = [(one, above) for one in found if (above := one.keys_above(thresholds))]
        hidden = [(one.project, not one.keys_above(thresholds)) for one in right]
        at_keys = [(one.project, one.right) for one, above in shown for _ in above]
        of_shown = [(one.project, one.right) for one, _ in shown]
        rows.append([stop, f"{100 * len(shown) / keys:.1f}", _share(of_shown), _share(hidden), _share(at_keys)])
    head = ["stop", "suggestions per 100 keys", "right", "right ones that are hidden", "keys with one on the screen, right"]
    return harness.table(head, rows)


def _share(of: Sequence[tuple[str, bool]]) -> str:
    interval = rate_interval(np.array([yes for _, yes in of]), numbered([project for project, _ in of])) if of else None
    if interval is None:
        return ""
    return f"{100 * interval.value:.1f} % ({100 * interval.low:.1f} to {100 * interval.high:.1f}), n = {len(of):,}"


def main() -> None:
    parser = harness.parser_of(__doc__)
    parser.add_argument("--code", type=Path, nargs="+", required=True, help="the folder of each project")
    parser.add_argument("--older", type=Path, help="folder with an older release of each, by the project's name")
    parser.add_argument("--model", type=harness.model_file, default=EMBEDDED, help="a GGUF file (the embedded model)")
    parser.add_argument("--characters", type=int, default=300, help="to write in each project, at least (default: %(default)s)")
    parser.add_argument("--threads", type=int, default=2, help="of the model (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="of the pieces, the author and the slips (default: %(default)s)")
    arguments = parser.parse_args()
    try:
        projects = folders_at(arguments.code)
        check_older(projects, arguments.older)
    except (StudyError, UsageError) as error:
        sys.exit(str(error))
    found, keys = list[Shown](), 0
    with harness.own_data_folder():
        for project in projects:
            known = lines_of(arguments.older / project.name) if arguments.older else frozenset()
            if (segment := segment_of(project, known, arguments.characters, arguments.seed)) is None:
                print(f"{project.name}: no piece to write", file=sys.stderr)
                continue
            typed = asyncio.run(written(segment, project, arguments.model, arguments.threads, arguments.seed))
            found += suggestions_of(project.name, typed)
            keys += len(typed)
            print(f"{project.name} {segment.path}", file=sys.stderr, flush=True)
        if not keys:
            sys.exit("no folder has a piece to write")
        said = f"{arguments.model.name}; {len({one.project for one in found})} projects, {keys:,} keys\n"
        print(harness.described("llama-cpp-python"), said, stops_table(found, keys), sep="\n")


if __name__ == "__main__":
    main()
