"""The driver, on steps that take no time."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from assay.cli.main import build_parser
from training.remake.driver import RemakeError, owed, remake, wanted
from training.remake.present import Present
from training.remake.steps import FULL, STEPS, TRIAL, Step
from training.remake.workplace import Workplace

ROOT = Path(__file__).parents[3]
NOW = Present("aa", {"line": "11"})
# Each adds a line to what it makes, so that one sees how often it was done.
ADD = """python -c "import sys; open(sys.argv[1], 'a').write(sys.argv[2])" {{tree}}/{name} {text}"""


def step(name: str, text: str = "x", **more: object) -> Step:
    file = name.replace("/", "-")
    return replace(Step(name, (ADD.format(name=file, text=text),), makes=(file,)), **more)  # type: ignore[arg-type]


def place(folder: Path, *steps: Step, now: Present = NOW) -> Workplace:
    (folder / "tree").mkdir(exist_ok=True)
    return Workplace(folder / "work", folder / "tree", now, {one.name: one for one in steps}, {"size": "1"})


def done(at: Workplace, lacking: dict[str, str] | None = None) -> list[str]:
    return remake(at, list(at.steps.values()), lacking or {}, lambda: at.now)


def written(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in sorted((folder / "tree").iterdir())}


@pytest.mark.slow
def test_steps_are_done_once_and_again_only_where_what_they_are_made_of_changes(tmp_path: Path) -> None:
    first, second, other = step("a/first"), step("a/second", needs=("a/first",)), step("b/other")
    at = place(tmp_path, first, second, other)
    assert done(at) == []
    assert done(at) == []
    assert written(tmp_path) == {"a-first": "x", "a-second": "x", "b-other": "x"}
    # another command of the first, which the second needs
    at = place(tmp_path, step("a/first", "y"), second, other)
    assert [one.step.name for one in owed(at, list(at.steps.values()), {})] == ["a/first", "a/second"]
    assert done(at) == []
    assert written(tmp_path) == {"a-first": "xy", "a-second": "xx", "b-other": "x"}
    # another prompt
    assert done(replace(at, now=Present("aa", {"line": "22"}))) == []
    assert written(tmp_path) == {"a-first": "xyy", "a-second": "xxx", "b-other": "xx"}


def test_the_code_that_a_step_runs_decides_too(tmp_path: Path) -> None:
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "a.py").write_text("1")
    at = place(tmp_path, step("a/first", code=(str(tmp_path / "code"),)))
    assert done(at) == []
    (tmp_path / "code" / "a.py").write_text("2")
    at = replace(at)
    (late,) = owed(at, list(at.steps.values()), {})
    assert late.why == "other code"
    assert done(at) == []
    assert written(tmp_path) == {"a-first": "xx"}


def test_what_a_step_made_is_made_again_where_it_was_changed_by_hand(tmp_path: Path) -> None:
    at = place(tmp_path, step("a/first"))
    done(at)
    (tmp_path / "tree" / "a-first").write_text("by hand")
    assert [one.why for one in owed(at, list(at.steps.values()), {})] == ["what it made is not there as it was"]


def test_a_step_that_fails_keeps_those_that_need_it_from_being_done_and_no_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    failing = Step("a/fails", ('python -c "import sys; print(41 + 1); sys.exit(3)"',))
    at = place(tmp_path, failing, step("a/second", needs=("a/fails",)), step("b/other"))
    failed = done(at)
    assert [line.partition(":")[0] for line in failed] == ["a/fails", "a/second"]
    assert "ended with 3" in failed[0]
    assert written(tmp_path) == {"b-other": "x"}
    said = capsys.readouterr().err
    assert "\n42\n" in said
    assert " 42\n" in (tmp_path / "work" / "remake.log").read_text(), "the log has what the commands say"


def test_a_step_whose_program_is_missing_is_left_out_with_the_reason(tmp_path: Path) -> None:
    at = place(tmp_path, step("a/first", programs=("node",)), step("b/other"))
    assert owed(at, list(at.steps.values()), {"node": "node and npm"})[0].lacks == "node and npm"
    assert done(at, {"node": "node and npm"}) == ["a/first: it needs node and npm"]
    assert written(tmp_path) == {"b-other": "x"}


def test_what_a_command_prints_is_kept_whole_or_not_at_all(tmp_path: Path) -> None:
    prints = """python -c "print('a table'); import sys; print('for people', file=sys.stderr); sys.exit({code})" > {{self}}/table.md"""
    at = place(tmp_path, Step("a/prints", (prints.format(code=0),)), Step("b/fails", (prints.format(code=1),)))
    done(at)
    good, bad = (at.folder(one) / "table.md" for one in at.steps.values())
    assert good.read_text() == "a table\n"
    assert not bad.exists()


def test_the_next_estimate_is_the_time_that_was_measured(tmp_path: Path) -> None:
    slow = Step("a/slow", ('python -c "import time; time.sleep(0.3)" {size}',), minutes=7, because="a guess")
    other = step("b/other")
    at = place(tmp_path, slow, other)
    (before,) = owed(at, [slow], {})
    assert (before.seconds, before.why) == (7 * 60, "never made here")
    assert "a guess" in before.because
    done(at)
    at = replace(at, sizes={"size": "2"})
    (after,) = owed(at, [slow, other], {})
    assert 0.3 <= after.seconds < 60
    assert after.why == "other sizes"
    assert after.because.startswith("it took ")


def test_a_changed_model_ends_the_work(tmp_path: Path) -> None:
    at = place(tmp_path, step("a/first"))
    with pytest.raises(RemakeError, match="has changed meanwhile"):
        remake(at, list(at.steps.values()), {}, lambda: Present("bb", {"line": "11"}))
    assert not at.is_done(at.steps["a/first"])


def test_code_that_changes_under_a_step_ends_the_work(tmp_path: Path) -> None:
    (tmp_path / "code.py").write_text("1")
    changes = f"""python -c "open('{tmp_path / "code.py"}', 'a').write('2')" """
    at = place(tmp_path, Step("a/changes", (changes,), code=(str(tmp_path / "code.py"),)))
    with pytest.raises(RemakeError, match="has changed meanwhile"):
        done(at)
    assert not replace(at).is_done(at.steps["a/changes"])


def test_only_chooses_groups_and_names_with_what_they_need() -> None:
    steps = {one.name: one for one in (step("a/first"), step("a/second"), step("b/other", needs=("a/second",)), step("c/last"))}
    assert [one.name for one in wanted(steps, ["b"])] == ["a/second", "b/other"]
    assert [one.name for one in wanted(steps, ["a", "c/last"])] == ["a/first", "a/second", "c/last"]
    assert len(wanted(steps, [])) == 4
    with pytest.raises(RemakeError, match="there is no step d; there are a, a/first"):
        wanted(steps, ["d"])


def test_the_steps_name_only_steps_before_them_and_code_that_is_there() -> None:
    before: set[str] = set()
    for one in STEPS:
        assert set(one.needs) <= before, one.name
        assert all((ROOT / path).exists() for path in one.code), one.name
        before.add(one.name)


KILLED = """
import sys
from pathlib import Path
from assay.cli.main import build_parser
from training.remake.driver import remake
from training.remake.present import Present
from training.remake.steps import Step
from training.remake.workplace import Workplace

folder = Path(sys.argv[1])
first = "python -c \\"import sys; open(sys.argv[1], 'a').write('x')\\" {tree}/first"
steps = [Step("a/first", (first,), makes=("first",)), Step("a/slow", ("python {tree}/slow.py",), makes=("slow",), needs=("a/first",))]
now = Present("aa", {"line": "11"})
place = Workplace(folder / "work", folder / "tree", now, {one.name: one for one in steps}, {})
sys.exit(len(remake(place, steps, {}, lambda: now)))
"""
# Sleeps the first time that it is started.
SLOW = "import time; from pathlib import Path; f = Path(__file__).with_name('slow'); n = len(f.read_text()) if f.exists() else 0\n"
SLOW += "f.write_text('x' * (n + 1)); time.sleep(0 if n else 60)\n"


def until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_call_that_is_killed_is_gone_on_with(tmp_path: Path, number: signal.Signals) -> None:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "slow.py").write_text(SLOW)
    command = [sys.executable, "-c", KILLED, str(tmp_path)]
    killed = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL, start_new_session=True)
    until(lambda: (tmp_path / "tree" / "slow").exists())
    os.killpg(killed.pid, number)
    assert killed.wait(60) != 0
    again = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=100, check=False)
    assert again.returncode == 0, again.stderr
    assert "1 of 2: a/first: done already" in again.stderr
    assert (tmp_path / "tree" / "first").read_text() == "x"
    assert (tmp_path / "tree" / "slow").read_text() == "xx"


def at_work(folder: Path, sizes: dict[str, str]) -> Workplace:
    machine = {"workers": "2", "python312": "python3.12", "f16": "--against f16.gguf", "exported": "run"}
    return Workplace(folder / "work", folder / "tree", NOW, {one.name: one for one in STEPS}, sizes, machine)


@pytest.mark.parametrize("sizes", [FULL, TRIAL], ids=["full", "trial"])
def test_every_name_in_a_command_has_a_value(tmp_path: Path, sizes: dict[str, str]) -> None:
    at = at_work(tmp_path, sizes)
    for one in STEPS:
        for command in at.commands(one):
            assert not [part for part in command.argv if "{" in part or part == ">"], one.name


@pytest.mark.parametrize("sizes", [FULL, TRIAL], ids=["full", "trial"])
def test_the_program_takes_the_arguments_of_each_of_its_commands(tmp_path: Path, sizes: dict[str, str]) -> None:
    at, parser = at_work(tmp_path, sizes), build_parser()
    commands = [command.argv for one in STEPS for command in at.commands(one) if command.argv[1:3] == ("-m", "assay")]
    assert commands
    for _, _, _, *arguments in commands:
        parser.parse_args(arguments)


def remade(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "training.remake", *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=100, check=False)


@pytest.mark.slow
def test_a_dry_run_says_what_is_owed_and_how_long_it_takes_and_writes_no_evidence(tmp_path: Path) -> None:
    ran = remade("--dry-run", "--only", "tests_pass", "--out", tmp_path)
    assert ran.returncode == 0, ran.stderr
    *steps, together = ran.stdout.splitlines()
    names = ["complete", "arms", "counterfeit", "catcode", "fit"]
    assert [line.split()[0] for line in steps] == [f"tests_pass/{name}" for name in names]
    assert "never made here; estimated for two quiet cores: " in steps[0]
    assert together.split()[:3] == ["together", "3", "h"]
    assert (tmp_path / "tree" / "docs" / "calibration.md").read_bytes() == (ROOT / "docs" / "calibration.md").read_bytes()


def test_a_trial_never_writes_to_the_repository() -> None:
    ran = remade("--trial")
    assert ran.returncode == 2
    assert "--trial makes no evidence, so it needs --out FOLDER" in ran.stderr
