"""Assay beside llama.vim and llama-server: the same author writes the same code with each, in real time, on the same GGUF file.

    python benchmarks/live.py --sources FOLDER [--model FILE.gguf] [--files 6] [--characters 120] [--speed brisk]

FOLDER holds source distributions of the projects in offline_eval/sets/projects.toml, which no model of Assay was trained on; nothing is
fetched. Each file stands in the folder of its project, a workspace folder of its own. Of each the lines of some functions are taken out,
and an author (benchmarks/typing_trace.py) writes the first of them again. Each file is written with every contender in turn, in another
order from file to file:

    Assay           `assay serve`, asked by an editor at every key (benchmarks/assay_lsp.py)
    llama.vim       what llama.vim asks of llama-server (benchmarks/llama_vim.py)

*Key to suggestion* is from a key to the moment when a suggestion that fits the text is on the screen, over the keys for which one came
before the next event. Who answers few keys, from memory alone, is fast by that: see it beside the share of keys that were answered in a
given time, and over the keys that both answered. Nothing helps the programs: an editor that itself keeps a suggestion which typing agrees
with is not simulated. Intervals of ratios are over files. Each suggests as much as it does by default, llama.vim several lines: compare
what was right up to the first line. Prints Markdown. Linux only.
"""

from __future__ import annotations

import asyncio
import math
import os
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import harness
import numpy as np
from assay_lsp import assay_server
from llama_server import HOW_TO_BUILD, is_built
from llama_vim import LlamaVim, llama_server, own_order
from replay import DIAL, Contender, Key, Played, play
from typing_trace import SPEEDS, Author, NoSources, Segment, segments

from assay.inference.opening import EMBEDDED
from assay.offline_eval.sets.projects import ProjectError, measured_projects, own_code, path_in_project

# What a contender's first requests cost is that of its start: it writes this many characters before anything is measured.
WARM_UP = 40


async def contenders(stack: AsyncExitStack, model: Path, threads: int, folders: Sequence[Path]) -> list[Contender]:
    """All contenders, started and ready, with these workspace folders."""
    options: dict[str, Any] = {"modelOptions": {"threads": threads}}
    address, process = stack.enter_context(llama_server(model, threads))
    prompts = stack.enter_context(own_order(model))
    assay = await stack.enter_async_context(assay_server("Assay", model, folders, options))
    return [assay, LlamaVim("llama.vim", address, process, prompts)]


async def compare(found: Sequence[Segment], sources: Path, key_ms: float, model: Path, threads: int, seed: int) -> dict[str, list[Played]]:
    """The result of each segment with each contender. sources: folder of the source distributions."""
    with tempfile.TemporaryDirectory(prefix="assay-live-") as folder:
        root = Path(folder)
        for segment in found:
            unpack(root / segment.project, segment, sources)
        async with AsyncExitStack() as stack:
            programs = await contenders(stack, model, threads, [root / project for project in dict.fromkeys(s.project for s in found)])
            for program in programs:
                short = Author(found[0].truth[:WARM_UP].rstrip(), SPEEDS["fast"], "warm-up")
                await play(replace(found[0], truth=short.truth), short, program, write_file(root / "warm_up.py", found[0]))
            played: dict[str, list[Played]] = {program.name: [] for program in programs}
            for number, segment in enumerate(found):
                author = Author(segment.truth, key_ms, f"{seed}:{segment.project}:{segment.path}")
                file = write_file(root / segment.project / path_in_project(segment.path), segment)
                for program in harness.in_turn(programs, number):
                    began = time.monotonic()
                    played[program.name].append(await play(segment, author, program, file))
                    print(f"{segment.path} {program.name}: {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
    return played


def unpack(folder: Path, segment: Segment, sources: Path) -> None:
    """The code of a segment's project as an author would have it open: without the segment."""
    (project,) = (project for project in measured_projects() if project.name == segment.project)
    for path, text in own_code(project, sources):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    write_file(folder / path_in_project(segment.path), segment)


def write_file(file: Path, segment: Segment) -> Path:
    file.write_text(segment.before + segment.after, encoding="utf-8")
    return file


DIALS = (0.0, 0.3, 0.5, 0.7)
# Of the time that a key has before the next: who answers few keys, from memory alone, has the best times over those.
WITHIN_MS = (50, 200)

Segments = Sequence[Played]
Of = Callable[[Segments], float | None]


@dataclass(frozen=True, slots=True)
class Figure:
    """A number of one contender. `of` may be None where it has none. ratio: whether it is compared with the first contender's."""

    name: str
    of: Of
    digits: int = 1
    unit: str = " %"
    ratio: bool = True


def _keys(played: Segments) -> list[Key]:
    return [key for segment in played for key in segment.keys]


def _shown(played: Segments) -> list[Key]:
    return [key for key in _keys(played) if key.shown_ms is not None]


def _characters(played: Segments) -> int:
    return sum(segment.characters for segment in played)


def _quantile(q: float) -> Of:
    def of(played: Segments) -> float | None:
        times = [key.shown_ms for key in _shown(played) if key.shown_ms is not None]
        return float(np.quantile(times, q)) if times else None

    return of


def _wait(played: Segments) -> float | None:
    """The median over keys of the ms until the first suggestion that came from then on, for this or a later key."""
    waits = []
    for segment in played:
        comes = math.inf
        for key in reversed(segment.keys):
            if key.shown_ms is not None:
                comes = key.pressed + key.shown_ms / 1e3
            waits.append((comes - key.pressed) * 1e3)
    ms = float(np.quantile(waits, 0.5, method="higher"))
    return ms if math.isfinite(ms) else None


def _share(of: Callable[[Key], bool], among: Callable[[Segments], list[Key]] = _keys) -> Of:
    def figure(played: Segments) -> float | None:
        keys = among(played)
        return 100 * sum(map(of, keys)) / len(keys) if keys else None

    return figure


def _within(ms: float) -> Callable[[Key], bool]:
    return lambda key: key.shown_ms is not None and key.shown_ms <= ms


def keystrokes_saved(played: Segments, dial: float = DIAL) -> float | None:
    """Of the characters of the text, those that an author writes by accepting who takes all that is right and shown at P >= dial.

    Each acceptance costs a key. A program that gives no probabilities shows all.
    """
    saved = 0
    for segment in played:
        at = 0
        for key in segment.keys:
            if key.saves > 1 and key.written >= at and (key.probability is None or key.probability >= dial):
                saved += key.saves - 1
                at = key.written + key.saves
    return 100 * saved / _characters(played)


def _came(played: Segments) -> float | None:
    said = sum(key.said for key in _shown(played))
    return 100 * sum(key.came for key in _shown(played)) / said if said else None


def _cpu(played: Segments) -> float:
    return 1e3 * sum(segment.cpu_s for segment in played) / _characters(played)


FIGURES = (
    Figure(f"keystrokes saved, shown at P ≥ {DIAL:g}", keystrokes_saved),
    Figure("… with all that is shown", lambda played: keystrokes_saved(played, 0.0)),
    Figure("of the text that was shown, then written", _came),
    Figure("keys", lambda played: len(_keys(played)), 0, "", ratio=False),
    Figure("key to suggestion, p50", _quantile(0.5), unit=" ms"),
    Figure("key to suggestion, p95", _quantile(0.95), unit=" ms"),
    Figure("key to the next suggestion, whichever key it is for, p50", _wait, unit=" ms"),
    Figure("keys with a suggestion before the next", _share(lambda key: key.shown_ms is not None)),
    *(Figure(f"… within {ms} ms", _share(_within(ms))) for ms in WITHIN_MS),
    Figure("suggestions that were right, whole", _share(lambda key: key.exact, _shown), ratio=False),
    Figure("… up to their first line, of all keys", _share(lambda key: key.shown_ms is not None and key.first_line)),
    Figure("CPU for 1,000 characters of the text", _cpu, unit=" s"),
    Figure("latest event of the author", lambda played: max((s.late_ms for s in played), default=0.0), unit=" ms", ratio=False),
)


def figures_table(of: Mapping[str, Segments], against: str) -> str:
    """Figures of every contender, and their ratios to those of `against`, with a 95 % interval over resampled segments."""
    others = [name for name in of if name != against]
    rows = []
    for figure in FIGURES:
        cells = [_number(figure, figure.of(played)) for played in of.values()]
        cells += [_ratio(figure.of, of[name], of[against]) if figure.ratio else "" for name in others]
        rows.append([figure.name, *cells])
    return harness.table(["", *of, *(f"{name} / {against}" for name in others)], rows)


def dial_table(played: Segments) -> str:
    """What the calibrator predicted beside what was right, for suggestions shown at P ≥ dial."""
    with_number = [(key.probability, key.exact) for key in _shown(played) if key.probability is not None]
    rows = []
    for dial in DIALS:
        passed = [(p, right) for p, right in with_number if p >= dial]
        promised = f"{100 * sum(p for p, _ in passed) / len(passed):.1f} %" if passed else ""
        rows.append([f"{dial:g}", promised, harness.share(sum(right for _, right in passed), len(passed))])
    made = harness.table(["shown at P ≥", "promised, mean", "right, 95 %"], rows)
    return f"{made}\n\n{len(_shown(played)) - len(with_number)} of {len(_shown(played))} suggestions had no probability."


def _number(figure: Figure, value: float | None) -> str:
    return "–" if value is None else f"{value:,.{figure.digits}f}{figure.unit}"


def _ratio(of: Of, one: Segments, other: Segments) -> str:
    def ratio(pairs: Sequence[tuple[Played, Played]]) -> float | None:
        a, b = of([pair[0] for pair in pairs]), of([pair[1] for pair in pairs])
        return a / b if a is not None and b else None

    return harness.resampled_ratio(ratio, list(zip(one, other, strict=True)))


def main() -> None:
    parser = harness.parser_of(__doc__)
    parser.add_argument("--sources", type=Path, required=True, help="folder of the source distributions")
    parser.add_argument("--model", type=harness.model_file, default=EMBEDDED, help="a GGUF file (the embedded model)")
    parser.add_argument("--files", type=int, default=6, help="(default: %(default)s)")
    parser.add_argument("--characters", type=int, default=120, help="to write of each file, at least (default: %(default)s)")
    parser.add_argument("--speed", choices=SPEEDS, default="brisk", help="(default: %(default)s)")
    parser.add_argument("--threads", type=int, default=2, help="of each model (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="of the files, the author and the slips (default: %(default)s)")
    arguments = parser.parse_args()
    if not Path("/proc/self/stat").is_file():
        sys.exit("Processor time is read from /proc, which this system does not have.")
    if not is_built():
        sys.exit(HOW_TO_BUILD)
    try:
        found = segments(arguments.sources, arguments.files, arguments.characters, arguments.seed)
    except (NoSources, ProjectError) as error:
        sys.exit(str(error))
    key_ms = SPEEDS[arguments.speed]
    began, busy, own = time.monotonic(), harness.busy_seconds(), sum(os.times()[:4])
    with harness.own_data_folder():
        played = asyncio.run(compare(found, arguments.sources, key_ms, arguments.model, arguments.threads, arguments.seed))
    spent = time.monotonic() - began
    others = harness.busy_seconds() - busy - (sum(os.times()[:4]) - own)
    lengths = sorted(segment.lines for segment in found)
    print(harness.described("llama-cpp-python"))
    print(
        f"{arguments.model.name}, {arguments.threads} threads; {len(found)} files of {lengths[0]:,} to {lengths[-1]:,} lines "
        f"of {len({segment.project for segment in found})} projects; {sum(len(segment.truth) for segment in found):,} characters "
        f"written with each, {key_ms:.0f} ms from key to key in the mean\n"
    )
    print(figures_table(played, "llama.vim"), dial_table(played["Assay"]), sep="\n\n")
    print(f"\n{spent:.0f} s, in which other programs kept {others / spent:.2f} processors busy.")


if __name__ == "__main__":
    main()
