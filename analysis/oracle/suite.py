"""Run a project's test suite, or some of its tests, in the jail with the plugin, within limits."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..sandbox.isolation.jail import CompletedRun, Jail, Mount
from ..sandbox.isolation.limits import Limits
from ..sandbox.isolation.running_jail import ENDED_BY
from ..sandbox.isolation.tree import entries_below
from .baseline import Baseline
from .copying import NotCopied, ProjectCopy
from .interpreter import Interpreter
from .jailed.assay_oracle.channel import printable
from .report import ProcessEnd, Report, read_report

PLUGIN = Path(__file__).parent / "jailed"

_COMPILE = "import sys; compile(sys.stdin.buffer.read(), 'text', 'exec', dont_inherit=True)"
# Of a run with each test's lines, of a large suite.
_RECORDS_BYTES = 1 << 27
_SIGNALS: dict[int, str] = {
    signal.SIGKILL: "killed",
    signal.SIGSEGV: "crashed (segmentation fault)",
    signal.SIGABRT: "aborted",
    signal.SIGXCPU: "took too much CPU time",
    signal.SIGXFSZ: "wrote too large a file",
}


# The limits of a test run; its seconds are those of the whole suite, before its times are known.
SUITE_LIMITS = Limits(1800, 3600, memory_bytes=4 << 30, processes=256, output_bytes=_RECORDS_BYTES, file_bytes=1 << 28)


@dataclass(frozen=True, slots=True)
class Suite:
    """A project's test suite, ready to run.

    copied: the project's copy. place: the folder with the copy and the plugin. interpreter, jail: what runs it. allowed: its limits.
    ignore_options: run without the project's own `addopts`, which need plugins that this Python does not have.
    """

    copied: ProjectCopy
    place: Path
    interpreter: Interpreter
    jail: Jail
    allowed: Limits = SUITE_LIMITS
    ignore_options: bool = False

    def command(self, paths: Sequence[str] = ()) -> list[str]:
        """The command that starts pytest, on all tests or on those of some files."""
        options = ["-p", "assay_oracle.plugin", "--rootdir", str(self.copied.folder), "--continue-on-collection-errors", "--maxfail=0"]
        options += ["-o", "cache_dir=/tmp/pytest-cache", "-q", "--tb=short"]
        installed = self.interpreter.plugins
        if self.ignore_options:
            options += ["-o", "addopts="]
        if "xdist" in installed:
            options += ["-n0"]
        if "pytest_cov" in installed:
            options += ["--no-cov"]
        if "randomly" in installed or "pytest_randomly" in installed:
            options += ["-p", "no:randomly"]
        if "hypothesispytest" in installed:
            options += ["--hypothesis-seed=0"]
        return [str(self.interpreter.path), "-m", "pytest", *options, *paths]

    def mounts(self) -> list[Mount]:
        """What the jail shows, all of it read-only: the copy and the plugin, the interpreter, large files."""
        return [*(Mount(path, path) for path in (self.place, *self.copied.linked)), *self.interpreter.mounts]

    def environment(self) -> dict[str, str]:
        """The variables of the run: the copy takes precedence over an installed project; nothing varies from run to run."""
        path = [str(self.place / "jailed"), *map(str, source_roots(self.copied.folder))]
        binaries = f"{self.interpreter.path.parent}:/usr/local/bin:/usr/bin:/bin"
        return {
            "PATH": binaries,
            "PYTHONPATH": ":".join(path),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONHASHSEED": "0",
            "HYPOTHESIS_STORAGE_DIRECTORY": "/tmp/hypothesis",
            "TZ": "UTC",
        }

    def run(
        self,
        *,
        select: Sequence[str] | None = None,
        without: Sequence[str] = (),
        seed: int | None = None,
        expected: Mapping[str, str] | None = None,
        times: Baseline | None = None,
        watch: bool = False,
        whole: bool = False,
    ) -> tuple[Report, ProcessEnd, CompletedRun]:
        """Run tests in a fresh process.

        Parameters (the others as in the plugin's request):
            select: the tests to run, by id; None runs all.
            times: the baseline with the tests' times; None where they are not known yet.
            whole: collect all files, as the baseline did, not only those of the tests.

        Returns: the report, how the process ended, and the run of the jail.
        """
        chosen = list(select if select is not None else (times.cpu_s if times else ()))
        cpu, wall = times.bounds(chosen) if times else (self.allowed.cpu_s, self.allowed.wall_s)
        nonce = secrets.token_hex(16)
        fields: dict[str, Any] = {"nonce": nonce, "root": str(self.copied.folder), "select": select, "without": list(without), "seed": seed}
        fields |= {"expected": dict(expected or {}), "allowance": times.allowance(chosen) if times else {}, "watch": watch}
        files = list(dict.fromkeys(test.partition("::")[0] for test in select)) if select is not None and not whole else []
        # The ids are the tests' own word. One of another form than FILE::TEST, as some plugins make them, is found among all.
        files = files if self.copied.files.issuperset(files) else []
        ran = self.jail.run(
            self.command(files),
            cwd=self.copied.folder,
            mounts=self.mounts(),
            environment=self.environment(),
            limits=replace(self.allowed, cpu_s=cpu, wall_s=wall),
            stdin=json.dumps(fields).encode() + b"\n",
        )
        report, end = read_report(ran.stdout, nonce.encode(), watched=watch, asked=select, without=without), ended(ran)
        if not report.ended and len(ran.stdout) >= _RECORDS_BYTES:
            report.flood = report.flood or f"it wrote more than {_RECORDS_BYTES >> 20} MiB of records of its tests"
        if report.flood:
            end = ProcessEnd(False, report.flood)
        why = end.why if report.broke is None or not end.by_itself else f"pytest ends: {report.broke}"
        return report, replace(end, why=why.replace(f"{self.copied.folder}{os.sep}", "")), ran

    def uncompilable(self, text: str) -> str:
        """Why the project's Python can't compile a text, in its own words; empty where it can."""
        limits = Limits(cpu_s=30, wall_s=120)
        ran = self.jail.run(
            [str(self.interpreter.path), "-I", "-c", _COMPILE],
            cwd=Path("/"),
            mounts=self.interpreter.mounts,
            limits=limits,
            stdin=text.encode(),
        )
        if ran.ending == "exited" and ran.status == 0:
            return ""
        return (ran.stderr.decode(errors="replace").strip().splitlines() or [ran.reason or ran.ending])[-1]


def install_plugin(place: Path) -> None:
    """Copy the plugin's sources, and nothing else, to where the jail shows them.

    `place` holds the copy of a project, too. It is opened to others only as root, since jailed programs run as another user then.
    """
    target = place / "jailed" / "assay_oracle"
    target.mkdir(parents=True)
    for source in sorted((PLUGIN / "assay_oracle").glob("*.py")):
        shutil.copyfile(source, target / source.name)
        (target / source.name).chmod(0o644)
    for folder in (target.parent, target, *((place,) if os.geteuid() == 0 else ())):
        folder.chmod(0o755)


def compile_sources(suite: Suite) -> None:
    """Compile the copy to byte code that is checked against its source by hash.

    Runs can't write byte code, and would compile everything each time. Only the project's interpreter is run here, not its code. The
    interpreter may be any program and can write to the copy. So links that it makes are not followed.

    Raises: NotCopied where it has made a link.
    """
    folders = [suite.copied.folder, suite.place / "jailed"]
    command = [str(suite.interpreter.path), "-I", "-S", "-m", "compileall", "-q", "--invalidation-mode", "checked-hash"]
    mounts = [*(Mount(folder, folder, writable=True) for folder in folders), *suite.interpreter.mounts]
    before = _no_files(suite.place)
    limits = replace(suite.allowed, cpu_s=300, wall_s=600)
    suite.jail.run([*command, *map(str, folders)], cwd=suite.copied.folder, mounts=mounts, limits=limits)
    if _no_files(suite.place) != before:
        raise NotCopied(f"{suite.interpreter.path} put links into the copy while it compiled the sources: it is no Python to be trusted")
    # the next jail may run as another user, who has to be able to read the files
    for entry in entries_below(suite.place):
        path = Path(entry.path)
        if "__pycache__" in (path.name, path.parent.name) and not path.is_symlink():
            path.chmod(0o755 if path.is_dir() else 0o644)


def _no_files(place: Path) -> dict[str, str]:
    """The links below a folder, with where they lead, and what else is neither a file nor a folder, such as a pipe."""
    found = (entry for entry in entries_below(place) if not (entry.is_file(follow_symlinks=False) or entry.is_dir(follow_symlinks=False)))
    return {entry.path: os.readlink(entry.path) if entry.is_symlink() else "" for entry in found}  # noqa: PTH115


def source_roots(folder: Path) -> list[Path]:
    """The folders that a project's packages are imported from: its root, and src or lib where there is one."""
    return [path for path in (folder / "src", folder / "lib", folder) if path.is_dir()]


def ended(ran: CompletedRun) -> ProcessEnd:
    """How a jailed process ended, in words."""
    if ran.ending == "infrastructure":
        return ProcessEnd(False, f"the sandbox failed: {ran.reason}", infrastructure=True)
    if ran.ending == "timed_out":
        return ProcessEnd(False, ran.reason or "took too long", doubtful=ran.cpu_s < ran.wall_s / 4)
    if ran.ending == "out_of_memory":
        return ProcessEnd(False, ran.reason or "took too much memory")
    if ran.ending == "signalled":
        if not ran.reason.startswith(ENDED_BY):
            return ProcessEnd(False, ran.reason)
        why = _SIGNALS.get(ran.status, f"killed by signal {ran.status}")
        return ProcessEnd(False, why, doubtful=ran.status == signal.SIGKILL)
    return ProcessEnd(True, "" if ran.status == 0 else last_words(ran))


def last_words(ran: CompletedRun) -> str:
    """Pytest's last message on why it did not run, or its exit status."""
    said = [printable(line.strip()) for line in ran.stderr.decode(errors="replace").splitlines() if line.strip()]
    # a warning is told with the line that gave it
    said = [line for line in said if "Warning: " not in line and not line.startswith("warnings.warn(")]
    where = [line.rstrip(".") for line in said if line.startswith("ImportError while loading conftest")]
    errors = [line.removeprefix("E ").strip() for line in said if "error: " in line.lower() and "usage: " not in line] or said[-1:]
    return ": ".join([*where[:1], *(errors[-1:] if where else errors[:1])]) or f"pytest ended with status {ran.status}"
