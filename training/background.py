"""Train the embedded model in the background, for machines without a GPU: python -m training.background start

    start     begin at the shipped file, or go on where the run stopped
    status    how far it is, how fast, and how good
    pause     leave the processor alone for --minutes, for a measurement
    resume    end a pause
    ship      ask for a file of so many million tokens, its learning rate falling to zero at the end
    stop      save and end

It runs where nothing else wants the core (SCHED_IDLE), saves every four minutes, and may be killed at any moment. Its folder is outside of
the repository; folder.py says what is in it.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes.util
import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from . import schedule
from .folder import add_options, exported, paused_until, runs, seen, wanted, write_text
from .paths import CACHE

ROOT = Path(__file__).parent.parent
FOLDER = CACHE / "background"
ENVIRONMENT = {"THP_MEM_ALLOC_ENABLE": "1", "OMP_NUM_THREADS": "1", "TORCHINDUCTOR_COMPILE_THREADS": "1"}
# Freed memory is kept: given back and taken anew, its pages cost more time than the arithmetic.
GLIBC = {"MALLOC_MMAP_THRESHOLD_": str(8 << 30), "MALLOC_TRIM_THRESHOLD_": str(16 << 30)}
JEMALLOC = {"MALLOC_CONF": "thp:always,narenas:2,dirty_decay_ms:10000,muzzy_decay_ms:10000,oversize_threshold:0"}
MAX_WAIT = 300.0  # seconds until a run has paused or ended: beside busy programs a step takes long


def allocator() -> dict[str, str]:
    """The environment for the allocator. With jemalloc, of the system or of Ray, threads do not wait for each other."""
    found = ctypes.util.find_library("jemalloc")
    ray = importlib.util.find_spec("ray")
    for folder in (ray.submodule_search_locations or ()) if ray and not found else ():
        if (own := Path(folder) / "core" / "libjemalloc.so").is_file():
            found = str(own)
    return {**JEMALLOC, "LD_PRELOAD": found} if found else GLIBC


def state_of(folder: Path) -> dict[str, Any] | None:
    """What a run last told; None where no process runs."""
    if not runs(folder):
        return None
    path = folder / "status.json"
    state: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    return state


def process(state: dict[str, Any]) -> str:
    """The process of a run, as a remark; "" before it has told."""
    return f" (process {state['pid']})" if "pid" in state else ""


def start(folder: Path, options: Sequence[str]) -> str:
    """Start the process, which other commands then find. options: worker.py's. Returns what to tell. Exits where it ends at once."""
    folder.mkdir(parents=True, exist_ok=True)
    if (state := state_of(folder)) is not None:
        return f"it runs already{process(state)}"
    environment = {**os.environ, **ENVIRONMENT, **allocator(), "TORCHINDUCTOR_CACHE_DIR": str(folder / "compiled")}
    (folder / "status.json").unlink(missing_ok=True)
    with (folder / "log.txt").open("ab") as log:
        command = [sys.executable, "-u", "-m", "training.worker", str(folder), *options]
        begun = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
        )
    while not state_of(folder):
        if begun.poll() is not None:
            sys.exit(f"the run has ended at once; {folder / 'log.txt'} says why")
        time.sleep(0.1)
    return f"started (process {begun.pid}); it loads for a minute. What it says: {folder / 'log.txt'}"


def status(folder: Path) -> str:
    """How far a run is, in lines."""
    state = state_of(folder)
    path = folder / "status.json"
    checkpoint = folder / "checkpoint.pt"
    if state is None and not path.exists() and not checkpoint.exists():
        return "no run has begun; python -m training.background start"
    known = state if state is not None else json.loads(path.read_text()) if path.exists() else {}
    now = time.time()
    pause = max(0.0, paused_until(folder) - now)
    lines = [
        "does not run; python -m training.background start goes on" if state is None
        else f"runs{process(known)}: {known.get('doing', 'starts')}"
        + (f", paused for {pause / 60:.0f} more minutes" if pause else "")
    ]  # fmt: skip
    if "loss" in known:
        lines += [
            f"{known['tokens'] / schedule.MILLION:.2f}M further tokens",
            f"{known['speed']:,} tokens/s of late, {known['speed_per_core']:,} in a second of one core's time",
            f"loss {known['loss']:.3f} nats per token" + (f", held out {known['held_out']:.3f}" if "held_out" in known else ""),
            f"told {now - known['at']:.0f} s ago",
        ]
    if checkpoint.exists():
        newest = max(path.stat().st_mtime for path in (checkpoint, *folder.glob("decay-*.pt")))
        lines.append(f"saved {(now - newest) / 60:.1f} minutes ago")
    if files := exported(folder):
        lines.append("made: " + ", ".join(path.name for path in files))
    if more := wanted(folder):
        lines.append("to be made: " + ", ".join(f"export-{m}M.gguf" for m in more))
    return "\n".join(lines)


def pause(folder: Path, minutes: float) -> str:
    """Pause a run and wait until it is idle."""
    folder.mkdir(parents=True, exist_ok=True)
    write_text(folder / "paused", str(time.time() + 60 * minutes))
    begun = time.monotonic()
    while (state := state_of(folder)) is not None and not state.get("paused"):
        if time.monotonic() - begun > MAX_WAIT:
            sys.exit("it has not come to a halt; `status` says what it does")
        time.sleep(0.2)
    return f"paused for {minutes:g} minutes" + ("" if state else " (it does not run)")


def resume(folder: Path) -> str:
    """End a pause."""
    (folder / "paused").unlink(missing_ok=True)
    return "goes on" if state_of(folder) is not None else "not paused any more; it does not run: python -m training.background start"


def ship(folder: Path, millions: int) -> str:
    """Ask for a file. Exits where the run is too far for it."""
    tokens = seen(folder)
    if (folder / f"export-{millions}M.gguf").exists():
        return f"{folder / f'export-{millions}M.gguf'} is made"
    if (soonest := schedule.least(tokens)) > millions:
        sys.exit(f"the run has seen {tokens / schedule.MILLION:.1f}M further tokens: the next file can be one of {soonest}M")
    folder.mkdir(parents=True, exist_ok=True)
    write_text(folder / "wanted.json", json.dumps(sorted({*wanted(folder), millions})))
    return f"export-{millions}M.gguf branches off at {schedule.branch_point(millions) / schedule.MILLION:.1f}M further tokens"


def stop(folder: Path) -> str:
    """Have a run save and end, and wait until it has."""
    state = state_of(folder)
    if state is None:
        return "it does not run"
    begun = time.monotonic()
    while (state := state_of(folder)) is not None:
        if "pid" in state:  # else it has only just begun
            with contextlib.suppress(OSError):
                Path(f"/proc/{state['pid']}/autogroup").write_text("0")  # beside busy programs its last step would take minutes
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(state["pid"]), signal.SIGTERM)
        if time.monotonic() - begun > MAX_WAIT:
            sys.exit("it has not ended yet; `status` says what it does")
        time.sleep(0.2)
    return "stopped"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=FOLDER, help="the run's (default: %(default)s)")
    commands = parser.add_subparsers(dest="command", required=True)
    add_options(commands.add_parser("start"))
    commands.add_parser("status")
    commands.add_parser("pause").add_argument("--minutes", type=float, default=30.0, help="then it goes on (default: %(default)s)")
    commands.add_parser("resume")
    commands.add_parser("ship").add_argument("millions", type=int, help="of further tokens, those of the falling rate among them")
    commands.add_parser("stop")
    args = parser.parse_args()
    folder: Path = args.folder
    match args.command:
        case "start":
            given = {"--start": args.start, "--corpus": args.corpus, "--validation": args.validation}
            options = [text for name, path in given.items() if path for text in (name, str(path.absolute()))]
            options += ["--nice", str(args.nice)]
            print(start(folder, [*options, *(["--no-compile"] if args.no_compile else [])]))
        case "pause":
            print(pause(folder, args.minutes))
        case "ship":
            print(ship(folder, args.millions))
        case command:
            print({"status": status, "resume": resume, "stop": stop}[command](folder))


if __name__ == "__main__":
    main()
