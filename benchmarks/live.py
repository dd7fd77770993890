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
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import harness
from assay_lsp import assay_server
from live_figures import dial_table, figures_table
from llama_server import HOW_TO_BUILD, is_built
from llama_vim import LlamaVim, llama_server, own_order
from replay import Contender, Played, play
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


def main() -> None:
    parser = harness.parser_of(__doc__)
    parser.add_argument("--sources", type=Path, required=True, help="folder of the source distributions")
    parser.add_argument("--model", type=Path, default=EMBEDDED, help="a GGUF file (the embedded model)")
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
    if not arguments.model.is_file():
        parser.error(f"{arguments.model}: no such model file")
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
