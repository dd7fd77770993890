"""The driver, on steps that take no time."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from assay.cli.main import build_parser
from training.remake import driver
from training.remake.driver import Remake, RemakeError, chosen, remake
from training.remake.evidence import BlockError, Present
from training.remake.steps import STEPS, Step

ROOT = Path(__file__).parents[3]
NOW = Present("aa", {"line": "11"})


@pytest.fixture(autouse=True)
def _now(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "present", lambda: NOW)


def step(name: str, text: str = "x", **more: Any) -> Step:
    """Adds to what it makes, so that one sees how often it was done."""
    file = name.replace("/", "-")
    return replace(Step(name, (f"printf {text} >> {file}",), 1, files=(file,)), **more)


def place(folder: Path, *steps: Step, now: Present = NOW) -> Remake:
    (folder / "tree").mkdir(exist_ok=True)
    return Remake({one.name: one for one in steps}, folder / "a work folder", folder / "tree", now)


def done(at: Remake) -> list[str]:
    return remake(at, list(at.steps.values()))


def written(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in sorted((folder / "tree").iterdir()) if path.is_file()}


def test_steps_are_done_once_and_again_only_where_what_they_are_made_of_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second, other = step("a/first"), step("a/second", needs=("a/first",)), step("b/other", code=("code",))
    at = place(tmp_path, first, second, other)
    (tmp_path / "tree" / "code").mkdir()
    (tmp_path / "tree" / "code" / "a.py").write_text("1")
    assert done(at) == []
    assert done(at) == []
    assert written(tmp_path) == {"a-first": "x", "a-second": "x", "b-other": "x"}
    # another command of the first, which the second needs
    at = place(tmp_path, step("a/first", "y"), second, other)
    assert [one.name for one in at.steps.values() if not at.is_done(one)] == ["a/first", "a/second"]
    assert done(at) == []
    assert written(tmp_path) == {"a-first": "xy", "a-second": "xx", "b-other": "x"}
    # other code
    (tmp_path / "tree" / "code" / "a.py").write_text("2")
    assert done(place(tmp_path, step("a/first", "y"), second, other)) == []
    assert written(tmp_path) == {"a-first": "xy", "a-second": "xx", "b-other": "xx"}
    # another prompt
    now = Present("aa", {"line": "22"})
    monkeypatch.setattr(driver, "present", lambda: now)
    assert done(place(tmp_path, step("a/first", "y"), second, other, now=now)) == []
    assert written(tmp_path) == {"a-first": "xyy", "a-second": "xxx", "b-other": "xxx"}


def test_what_a_step_made_is_made_again_where_it_was_changed_by_hand(tmp_path: Path) -> None:
    at = place(tmp_path, step("a/first"))
    done(at)
    (tmp_path / "tree" / "a-first").write_text("by hand")
    assert not at.is_done(at.steps["a/first"])


def test_a_step_that_fails_or_lacks_a_program_keeps_those_that_need_it_from_being_done_and_no_others(tmp_path: Path) -> None:
    failing, lacking = Step("a/fails", ("false", "touch never"), 1), step("a/lacks", programs=("no-such-program",))
    steps = (failing, step("a/second", needs=("a/fails",)), lacking, step("a/third", needs=("a/lacks",)), step("b/other"))
    assert done(place(tmp_path, *steps)) == [
        "a/fails: its commands ended with 1",
        "a/second: it needs a/fails",
        "a/lacks: it needs no-such-program",
        "a/third: it needs a/lacks",
    ]
    assert written(tmp_path) == {"b-other": "x"}


def test_commands_have_the_folders_of_steps_whatever_their_names_and_a_block_is_filled_from_them(tmp_path: Path) -> None:
    first = Step("a/first", ("""python -c "print('a  table')" > $self/out""",), 1)
    blocks = {"page.md#one": lambda at: (at["b/other"] / "copy").read_text()}
    other = Step("b/other", ("cp $a_first/out $self/copy",), 1, needs=("a/first",), blocks=blocks, tasks=())
    at = place(tmp_path, first, other)
    (tmp_path / "tree" / "page.md").write_text("<!-- remake one: begin; not measured -->\n<!-- remake one: end -->\n")
    assert done(at) == []
    filled = "<!-- remake one: begin; model aa, prompt 11 -->\n\na  table\n\n<!-- remake one: end -->\n"
    assert written(tmp_path) == {"page.md": filled}
    (tmp_path / "tree" / "page.md").write_text(filled.replace("table", "claim"))
    assert not at.is_done(other)
    at = place(tmp_path, first, replace(other, blocks={"page.md#mistyped": blocks["page.md#one"]}))
    with pytest.raises(BlockError, match=r"page\.md: there is no block 'mistyped'"):
        done(at)


def test_what_changes_under_a_step_ends_the_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    at = place(tmp_path, Step("a/changes", ("printf 2 >> code.py",), 1, code=("code.py",)), step("a/first"))
    (tmp_path / "tree" / "code.py").write_text("1")
    with pytest.raises(RemakeError, match="has changed meanwhile"):
        done(at)
    assert not at.is_done(at.steps["a/changes"])
    monkeypatch.setattr(driver, "present", lambda: Present("bb", {"line": "11"}))
    with pytest.raises(RemakeError, match="has changed meanwhile"):
        remake(at, [at.steps["a/first"]])


def test_only_chooses_groups_and_names_with_what_they_need() -> None:
    steps = {one.name: one for one in (step("a/first"), step("a/second"), step("b/other", needs=("a/second",)), step("c/last"))}
    assert [one.name for one in chosen(steps, ["b"])] == ["a/second", "b/other"]
    assert [one.name for one in chosen(steps, ["a", "c/last"])] == ["a/first", "a/second", "c/last"]
    assert len(chosen(steps, [])) == 4
    with pytest.raises(RemakeError, match="there is no step d; there are a, a/first"):
        chosen(steps, ["d"])


def test_the_steps_name_only_steps_before_them_and_code_and_folders_that_are_there() -> None:
    before: set[str] = set()
    for one in STEPS:
        assert set(one.needs) <= before, one.name
        assert all((ROOT / path).exists() for path in one.code), one.name
        named = {"self", "sources", "HOME", "XDG_CACHE_HOME", "python312", "models", *(name.replace("/", "_") for name in one.needs)}
        assert set(re.findall(r"\$\{?(\w+)", " ".join(one.commands))) <= named, one.name
        before.add(one.name)


def test_the_program_takes_the_arguments_of_each_of_its_commands() -> None:
    parser = build_parser()
    lines = [line for one in STEPS for command in one.commands for line in command.replace(" && ", "\n").splitlines()]
    commands = [shlex.split(line.partition(" > ")[0]) for line in lines if line.startswith("assay ")]
    assert len(commands) > 20
    for _, *arguments in commands:
        parser.parse_args(arguments)


KILLED = """
import sys
from pathlib import Path
from training.remake import driver
from training.remake.evidence import Present
from training.remake.steps import Step

now = Present("aa", {"line": "11"})
driver.present = lambda: now
folder = Path(sys.argv[1])
slow = "if [ -e slow ]; then printf x >> slow; else printf x > slow; sleep 3; fi"
steps = [Step("a/first", ("printf x >> first",), 1, files=("first",)), Step("a/slow", (slow,), 1, files=("slow",), needs=("a/first",))]
at = driver.Remake({one.name: one for one in steps}, folder / "work", folder / "tree", now)
sys.exit(len(driver.remake(at, steps)))
"""


def until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.slow
def test_a_call_that_is_killed_is_gone_on_with(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    command = [sys.executable, "-c", KILLED, str(tmp_path)]
    killed = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL, start_new_session=True)
    until(lambda: (tmp_path / "tree" / "slow").exists())
    os.killpg(killed.pid, signal.SIGKILL)
    assert killed.wait(60) != 0
    ran = list[subprocess.CompletedProcess[str]]()

    def again() -> bool:
        ran.append(subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=100, check=False))
        return ran[-1].returncode == 0

    until(again)  # what a killed call has started holds the lock until it ends
    assert all("another call is at work" in one.stderr for one in ran[:-1])
    assert "1 of 2: a/first: done already" in ran[-1].stderr
    assert (tmp_path / "tree" / "first").read_text() == "x"
    assert (tmp_path / "tree" / "slow").read_text() == "xx"


@pytest.mark.slow
def test_a_dry_run_says_what_is_owed_and_how_long_it_takes(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "training.remake", "--dry-run", "--only", "tests_pass"]
    ran = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=100, check=False, env={**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    )
    assert ran.returncode == 0, ran.stderr
    *steps, together = ran.stdout.splitlines()
    names = ("complete", "arms", "counterfeit", "catcode", "fit")
    assert [line.split()[0] for line in steps] == [f"tests_pass/{name}" for name in names]
    assert together.split()[:3] == ["together", "3", "h"]
