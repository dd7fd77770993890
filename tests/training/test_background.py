"""The background run, with a model of a few thousand parameters."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import torch

from assay.inference.llamacpp.model import LlamaModel
from training import schedule
from training.background import main, ship, start, state_of, status
from training.data import load
from training.export import write_gguf
from training.folder import only_run, paused_until, runs, seen, wanted, write_text
from training.model import Llama, Shape
from training.tokenizer import train
from training.worker import Run, Stopped

ROOT = Path(__file__).parents[2]
SHAPE = Shape(vocabulary=600, width=32, layers=1, heads=2, kv_heads=1, hidden=32, context=64)


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A model to start with and its texts."""
    folder = tmp_path_factory.mktemp("given")
    corpus = folder / "corpus.jsonl"
    corpus.write_text("".join(json.dumps({"text": f.read_text()}) + "\n" for f in sorted((ROOT / "examples").glob("*.py"))))
    tokenizer = train(iter(load(corpus)), SHAPE.vocabulary)
    torch.manual_seed(0)
    weights = {name: w.detach().numpy() for name, w in Llama(SHAPE).state_dict().items()}
    write_gguf(folder / "start.gguf", weights, SHAPE, json.loads(tokenizer.to_str()), "f32")
    return {"start": folder / "start.gguf", "corpus": corpus, "validation": corpus}


@pytest.fixture
def run_of(tmp_path: Path, given: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], Run]]:
    monkeypatch.setattr(schedule, "MILLION", 5000)
    monkeypatch.setattr("training.worker.VALIDATION_ROWS", 2)
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield lambda: Run(tmp_path, given["start"], given["corpus"], given["validation"], threads=2, compiled=False)
    torch.set_num_threads(before)


def go_until(run: Run, done: Callable[[], bool]) -> None:
    """Train until something is so, and save."""

    def watch() -> None:
        while not done():
            time.sleep(0.01)
        run.stop()

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    with pytest.raises(Stopped):
        run.go()
    watcher.join()


@pytest.mark.slow
def test_a_file_to_ship_is_made_in_a_branch_that_survives_being_stopped_and_the_run_goes_on_from_where_it_began(
    tmp_path: Path, run_of: Callable[[], Run]
) -> None:
    write_text(tmp_path / "wanted.json", "[2]")
    first = run_of()
    go_until(first, lambda: (tmp_path / "decay-2M.pt").exists() and first.progress.tokens > 7600)
    assert 7000 <= seen(tmp_path) < 7600  # where the branch began
    assert first.progress.tokens < 10_000
    second = run_of()
    go_until(second, lambda: (tmp_path / "export-2M.gguf").exists() and second.state["doing"] == "trains" and second.progress.tokens > 7600)
    assert 7600 < second.progress.tokens < 10_000
    assert not (tmp_path / "decay-2M.pt").exists()
    assert wanted(tmp_path) == []
    branch = [json.loads(line) for line in (tmp_path / "decay-2M.jsonl").read_text().splitlines()]
    assert 10_000 <= branch[-1]["tokens"] < 10_600
    with LlamaModel(tmp_path / "export-2M.gguf", threads=1) as model:
        assert model.capabilities.fim
    assert {path.name for path in (tmp_path / "export-2M").iterdir()} == {"weights.safetensors", "shape.json", "tokenizer.json", "f16.gguf"}


def test_a_run_begins_at_the_weights_of_its_file_and_refuses_a_checkpoint_of_another_model(
    tmp_path: Path, run_of: Callable[[], Run], given: dict[str, Path]
) -> None:
    run = run_of()
    torch.manual_seed(0)
    assert all(torch.equal(a, b) for a, b in zip(Llama(SHAPE).state_dict().values(), run.model.state_dict().values(), strict=True))
    go_until(run, lambda: run.progress.step > 2)
    again = run_of()
    again.resume(tmp_path / "checkpoint.pt")
    assert again.progress == run.progress
    again.model = Llama(Shape(vocabulary=600, width=64, layers=1, heads=2, kv_heads=1, hidden=32, context=64))
    with pytest.raises(ValueError, match="another --folder begins anew"):
        again.resume(tmp_path / "checkpoint.pt")


def test_a_paused_run_makes_no_step_until_the_pause_is_over(tmp_path: Path, run_of: Callable[[], Run]) -> None:
    run = run_of()
    write_text(tmp_path / "paused", str(time.time() + 1.0))
    begun = time.time()
    go_until(run, lambda: run.progress.step > 0)
    assert time.time() - begun >= 1.0
    assert paused_until(tmp_path) == 0.0


def test_a_file_that_the_run_is_too_far_for_is_refused_with_the_next_that_can_be(tmp_path: Path) -> None:
    (tmp_path / "checkpoint.json").write_text('{"tokens": 28000000}\n')
    with pytest.raises(SystemExit, match=r"has seen 28\.0M further tokens: the next file can be one of 32M"):
        ship(tmp_path, 30)
    assert ship(tmp_path, 60) == "export-60M.gguf branches off at 42.0M further tokens"
    assert wanted(tmp_path) == [60]
    assert "to be made: export-60M.gguf" in status(tmp_path) or "no run has begun" in status(tmp_path)


def test_who_asks_whether_a_run_goes_on_is_not_taken_for_one(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(lambda _: runs(tmp_path), range(2_000))) == {False}
    with only_run(tmp_path) as alone:
        assert alone
        assert runs(tmp_path)


@pytest.mark.slow
def test_a_file_that_was_asked_for_too_late_is_left_out_and_the_run_goes_on(
    tmp_path: Path, run_of: Callable[[], Run], capsys: pytest.CaptureFixture[str]
) -> None:
    first = run_of()
    go_until(first, lambda: first.progress.tokens > 4600)
    write_text(tmp_path / "wanted.json", "[1, 5]")
    second = run_of()
    go_until(second, lambda: second.progress.tokens > 6000)
    assert "export-1M.gguf can not be made any more: the next file can be one of 2M" in capsys.readouterr().out
    assert wanted(tmp_path) == [5]
    assert not (tmp_path / "decay-1M.pt").exists()


def test_a_missing_corpus_is_named_with_the_command_that_makes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["background", "--folder", str(tmp_path), "start", "--corpus", str(tmp_path / "corpus.jsonl")])
    with pytest.raises(SystemExit):
        main()
    assert "python -m training.corpus build makes it" in capsys.readouterr().err


@pytest.mark.slow
def test_a_run_is_started_once_paused_killed_resumed_and_stopped_and_yields_to_all_others(tmp_path: Path, given: dict[str, Path]) -> None:
    def command(*arguments: str) -> str:
        asked = [sys.executable, "-m", "training.background", "--folder", str(tmp_path), *arguments]
        return subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()

    def until(done: Callable[[], bool]) -> None:
        for _ in range(1200):
            if done():
                return
            time.sleep(0.1)
        raise AssertionError(status(tmp_path) + (tmp_path / "log.txt").read_text())

    def tokens() -> int:
        return int((state_of(tmp_path) or {}).get("tokens", 0))

    start = ("start", *(text for name, path in given.items() for text in (f"--{name}", str(path))), "--no-compile", "--nice", "0")
    assert command("status").startswith("no run has begun")
    assert command(*start).startswith("started")
    try:
        assert command("pause", "--minutes", "5") == "paused for 5 minutes"
        assert command("resume") == "goes on"
        until(lambda: tokens() > 0)
        assert command(*start).startswith("it runs already (process ")
        state = state_of(tmp_path)
        assert state is not None
        process = int(state["pid"])
        assert os.sched_getscheduler(process) == os.SCHED_IDLE
        assert {os.sched_getscheduler(int(task.name)) for task in Path(f"/proc/{process}/task").iterdir()} == {os.SCHED_IDLE}
        assert os.getsid(process) == process
        assert command("pause", "--minutes", "5") == "paused for 5 minutes"
        there = tokens()
        time.sleep(0.5)
        assert tokens() == there
        assert "paused for 5 more minutes" in command("status")
        assert command("resume") == "goes on"
        until(lambda: tokens() > there)
        assert command("stop") == "stopped"
        saved = tokens_saved(tmp_path)
        assert saved > there
        assert "does not run" in command("status")
        command(*start)
        until(lambda: tokens() > saved)
    finally:
        if state := state_of(tmp_path):
            os.kill(int(state["pid"]), signal.SIGKILL)
    until(lambda: state_of(tmp_path) is None)
    assert tokens_saved(tmp_path) == saved
    command(*start)
    until(lambda: tokens() > saved)
    assert command("stop") == "stopped"
    assert tokens_saved(tmp_path) > saved


@pytest.mark.slow
def test_a_run_that_can_not_begin_says_so_at_once(tmp_path: Path, given: dict[str, Path]) -> None:
    no_model = tmp_path / "model.gguf"
    no_model.write_bytes(b"no model")
    (tmp_path / "checkpoint.pt").write_bytes(b"")
    with pytest.raises(SystemExit, match="ended at once"):
        start(tmp_path, ["--start", str(no_model), "--corpus", str(given["corpus"]), "--validation", str(given["validation"])])
    assert "model.gguf" in (tmp_path / "log.txt").read_text()
    assert status(tmp_path).startswith("does not run")


def tokens_saved(folder: Path) -> int:
    return int(torch.load(folder / "checkpoint.pt", weights_only=True)["progress"]["tokens"])


def test_whatever_is_written_is_whole_or_as_before(tmp_path: Path) -> None:
    path = tmp_path / "status.json"
    text, done = "x" * 100_000, threading.Event()
    write_text(path, text)

    def write() -> None:
        while not done.is_set():
            write_text(path, random.choice("xy") * 100_000)

    writer = threading.Thread(target=write)
    writer.start()
    assert all(len(set(path.read_text())) == 1 and path.stat().st_size == 100_000 for _ in range(200))
    done.set()
    writer.join()
