"""The pytest plugin: selects and orders the tests, decides when to stop, and records each test that ran.

Its request (see channel.py):

    nonce        what every record begins with
    root         the project's folder
    select       ids of the tests to run, all when null; without: ids of those that are not run all the same
    seed         an order at random, the collected one when null
    expected     outcome by test id: stop at the first that differs; a test that is not named never does
    allowance    CPU seconds by test id: the process is killed at a test that takes more
    watch        record which lines each test touches

Ids are printable: `channel.printable` of pytest's.

Records: `collected` (ids, files that have test functions, errors), `begun` and `test` for each test, `touched` for each fixture that
several tests share, `ended`. A failed test says `why`, and whether it `crashed` (crash.py). A watched test or
fixture is `fresh` where some of the lines that it runs may not have been seen: it started a process, imported a file of the project again,
or traced lines itself.
"""

from __future__ import annotations

import contextlib
import os
import random
import re
import sys
import tempfile
import time
from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from . import canary
from .channel import Channel, printable
from .child_watch import collect, watch_children
from .crash import is_crash
from .limit import allow, cpu_used
from .line_watch import Lines, LineWatch

# Of the reports on one test, the one that is furthest from a pass is its outcome.
_SEVERITY = ("passed", "skipped", "xfailed", "xpassed", "failed", "error")
_STARTS_PROCESS = frozenset({"subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.system", "os.exec"})
# Events by which a test replaces the watch or its callbacks.
_WATCHES = frozenset({"sys.settrace", "sys.setprofile", "sys.monitoring.register_callback"})
# Modules that may do so: the watch itself, and threading, which passes it on to threads.
_OWN_WATCH = (LineWatch.__module__, "threading")
_MAX_REASON = 400
# Where pytest says that an error was raised: "shop.py:3: in <module>", or of code that does not parse 'File "shop.py", line 3'.
_PLACE = re.compile(r'^(?:E\s+File "(?P<unparsed>.+)", line (?P<at>\d+)|(?P<file>\S.*?):(?P<line>\d+): in )', re.MULTILINE)
# Options that name what pytest and its plugins write, by their names in the parsed command line.
_OUTPUTS = frozenset(
    {"basetemp", "xmlpath", "log_file", "report_log", "resultlog", "htmlpath", "json_report_file", "allure_report_dir", "csvpath"}
    | {"benchmark_json", "benchmark_storage", "md_report_output", "tap_outdir", "testmon_datafile"}
)
# Others are told by what they name, where there is no such file.
_OUTPUT_ENDINGS = (".xml", ".html", ".json", ".log", ".csv", ".md", ".svg", ".tap", ".txt", ".jsonl")


def _reason(longrepr: object, root: str) -> str:
    """The last line that pytest marks as the error in its text on a failure, with paths in the project as seen from its root."""
    said = str(longrepr).strip().splitlines()
    errors = [line for line in said if line.startswith("E ")] or said[-1:] or ["no reason given"]
    return errors[-1].removeprefix("E ").strip().replace(f"{root}{os.sep}", "")[:_MAX_REASON]


def _place(longrepr: object, root: str) -> str:
    """The file and line, with a colon behind, of the error in pytest's text on it; empty where it is not in the project."""
    for found in reversed(list(_PLACE.finditer(str(longrepr)))):
        file = (found["unparsed"] or found["file"]).removeprefix(f"{root}{os.sep}")
        if not Path(file).is_absolute():
            return f"{file}:{found['at'] or found['line']}: "
    return ""


def outcome_of(report: pytest.TestReport) -> str:
    """The outcome, in one word, that the report of one phase (setup, call, teardown) gives."""
    if hasattr(report, "wasxfail"):
        return "xpassed" if report.passed else "xfailed"
    if report.failed:
        return "failed" if report.when == "call" else "error"
    return report.outcome


def shuffled(ids: Sequence[str], seed: int) -> list[str]:
    """The ids in a random order that keeps the tests of a file together, and in it those of a class."""
    rng = random.Random(seed)
    rank: dict[tuple[str, ...], float] = {}

    def key(test: str) -> list[float]:
        parts = tuple(test.split("::"))
        return [rank.setdefault(parts[: i + 1], rng.random()) for i in range(len(parts))]

    return sorted(ids, key=key)


class OraclePlugin:
    """The hooks of one pytest session."""

    def __init__(self, channel: Channel) -> None:
        request = channel.request
        self._channel = channel
        self._select: list[str] | None = request["select"]
        self._without = set(request["without"])
        self._seed: int | None = request["seed"]
        self._expected: dict[str, str] = request["expected"]
        self._allowance: dict[str, float] = request["allowance"]
        self._watch = LineWatch(request["root"]) if request["watch"] else None
        self._children = watch_children(request["root"]) if request["watch"] else None
        self._errors: dict[str, str] = {}
        self._canaries: list[pytest.Item] = []
        self._outcomes: dict[str, str] = {}
        self._running: str | None = None
        self._unseen = False
        self._why = ""
        self._crashed = False
        self._root: str = request["root"]
        self._modules: list[str] = []
        sys.addaudithook(self._audit)

    def _audit(self, event: str, _arguments: Any) -> None:
        if event in _STARTS_PROCESS or (event in _WATCHES and sys._getframe(1).f_globals.get("__name__") not in _OWN_WATCH):
            self._unseen = True

    @pytest.hookimpl(tryfirst=True)
    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Record why a file can't be collected."""
        if report.failed:
            self._errors[printable(report.nodeid)] = _place(report.longrepr, self._root) + _reason(report.longrepr, self._root)

    @pytest.hookimpl(tryfirst=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        """Send to a folder that can be written what pytest and its plugins write, since the project's can't."""
        folder = Path(tempfile.mkdtemp(prefix="pytest-outputs-"))
        with contextlib.suppress(ValueError):  # its plugin may be switched off
            config.option.log_file = getattr(config.option, "log_file", None) or config.getini("log_file") or None
        for name, value in vars(config.option).items():
            if isinstance(value, str | Path) and str(value) and (name in _OUTPUTS or _is_output(name, config.rootpath / value)):
                place = folder / name / Path(value).name
                place.parent.mkdir()
                setattr(config.option, name, type(value)(place))

    @pytest.hookimpl(tryfirst=True)
    def pytest_internalerror(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """Record what ended pytest itself, such as an error in a plugin, or `pytest.exit`."""
        if isinstance(excinfo.value, pytest.Session.Interrupted):
            return  # it was told to stop at a test
        inside = [each for each in excinfo.traceback if str(each.path).startswith(f"{self._root}{os.sep}")]
        last = (inside or list(excinfo.traceback))[-1]
        reason = f"{excinfo.exconly(tryshort=True).splitlines()[-1][:_MAX_REASON]} ({last.path}:{last.lineno + 1})"
        self._channel.send("broke", reason=reason.replace(f"{self._root}{os.sep}", ""))

    pytest_keyboard_interrupt = pytest_internalerror

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_collection_modifyitems(self, session: pytest.Session, items: list[pytest.Item]) -> Iterator[None]:
        """Select and order the tests, after all other plugins."""
        yield
        by_id = {printable(item.nodeid): item for item in items}
        self._modules = sorted({item.nodeid.split("::")[0] for item in items if isinstance(item, pytest.Function)})
        self._channel.send("collected", ids=list(by_id), modules=list(map(printable, self._modules)), errors=self._errors)
        wanted = set(by_id if self._select is None else self._select) - self._without
        by_id = {test: item for test, item in by_id.items() if test in wanted}
        ids = list(by_id) if self._seed is None else shuffled(list(by_id), self._seed)
        module = pytest.Module.from_parent(session, path=Path(canary.__file__))
        self._canaries = [
            pytest.Function.from_parent(module, name=call.__name__, callobj=call) for call in (canary.canary_first, canary.canary_last)
        ]
        items[:] = [self._canaries[0], *(by_id[test] for test in ids), self._canaries[1]]

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, None]:
        """Run one test and record it."""
        test = self._running = printable(item.nodeid)
        self._channel.send("begun", id=test)
        self._unseen, self._why, self._crashed = False, "", False
        lines: Lines = {}
        if self._watch:
            self._watch.again = False
            self._watch.enter(lines)
        cpu, wall = cpu_used(), time.monotonic()
        allow(self._allowance.get(test))
        done = yield
        if done.excinfo is not None:
            return  # the test ended the whole session: it has no outcome
        allow(None)
        cpu, wall = cpu_used() - cpu, time.monotonic() - wall
        self._running = None
        outcome = self._outcomes.get(test, "missing")
        told: dict[str, Any] = {"id": test, "outcome": outcome, "cpu_s": round(cpu, 4), "wall_s": round(wall, 4)}
        if self._why:
            told |= {"why": self._why, "crashed": self._crashed}
        if item in self._canaries:
            self._channel.send("canary", **told)
            return
        if self._watch:
            self._watch.leave()
            if self._children is not None:
                collect(self._children, lines)
            told |= {"lines": _listed(lines), "fresh": self._unseen or self._watch.again}
        self._channel.send("test", **told)
        if self._expected.get(test, outcome) != outcome:
            item.session.shouldstop = "an outcome differs"

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, None]:
        """See where the error of a phase came from. Unittest's own are put into the call while its report is made."""
        done = yield
        if printable(item.nodeid) == self._running and call.excinfo is not None and done.excinfo is None and done.get_result().failed:
            self._crashed = self._crashed or is_crash(call.excinfo.value, self._root, self._modules)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take the outcome of one phase of a test into account."""
        outcome = outcome_of(report)
        test = printable(report.nodeid)
        self._outcomes[test] = max(self._outcomes.get(test, "passed"), outcome, key=_SEVERITY.index)
        if outcome in ("failed", "error") and test == self._running:
            self._why = self._why or _reason(report.longrepr, self._root)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_fixture_setup(self, request: Any) -> Iterator[None]:
        """Record the lines of a fixture that several tests share; they count for all tests in its scope."""
        if self._watch is None or request.scope == "function":
            yield
            return
        lines: Lines = {}
        outer, self._unseen, self._watch.again = self._unseen or self._watch.again, False, False
        self._watch.enter(lines)
        yield
        self._watch.leave()
        fresh = self._unseen or self._watch.again
        self._channel.send("touched", scope=printable(request.node.nodeid), lines=_listed(lines), fresh=fresh)
        self._unseen = outer or fresh

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_sessionfinish(self, exitstatus: int) -> Iterator[None]:
        """Record the end, and end the process."""
        yield
        if self._watch:
            self._channel.send("imported", lines=_listed(self._watch.imported))
        self._channel.send("ended", status=int(exitstatus), cpu_s=round(cpu_used(), 4))
        # the project's threads and exit handlers are not waited for: they may hang
        os._exit(0)


def _is_output(option: str, path: Path) -> bool:
    return path.suffix in _OUTPUT_ENDINGS and not path.exists() and option not in ("keyword", "markexpr")


def _listed(lines: Lines) -> dict[str, list[int]]:
    return {printable(file): sorted(numbers) for file, numbers in lines.items()}


def pytest_addoption(pluginmanager: pytest.PytestPluginManager) -> None:
    """Called once by pytest for `-p assay_oracle.plugin`.

    No option is added. This is the only hook that comes before output is captured and before a conftest.py is imported, which could read
    the nonce, write into the records, or import the project unwatched.
    """
    pluginmanager.register(OraclePlugin(Channel()), "assay_oracle")
