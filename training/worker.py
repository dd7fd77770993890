"""The process of the background run: trains at idle priority, saves, makes the files that are asked for. background.py starts it."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import sys
import time
from collections import deque
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file

from . import schedule
from .data import WORKER_SEEDS, Row, Rows, load
from .export import write_gguf
from .folder import add_options, copy_whole, only_run, paused_until, wanted, write_text
from .model import Llama
from .shipped import read
from .steps import Steps
from .train import PRESETS, held_out_texts

ROWS = 8  # of a step
RATE = 0.5  # of the preset's learning rates
MAIN = "checkpoint.pt"
SECONDS_BETWEEN_CHECKPOINTS = 240.0
STEPS_BETWEEN_RECORDS = 100  # and not a time: beside busy programs little else would be done
VALIDATION_ROWS = 48
SPEED_STEPS = 50  # that the speed is told of


class Stopped(Exception):
    """Somebody asked the run to end."""


def yield_to_others(nice: int) -> None:
    """Let this process run only where nothing else wants the core, and let it be the first to end where memory is short.

    nice: of the session's group.
    """
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    # Where Linux groups processes by session, a group competes as a whole; and a process may always offer itself up.
    for path, value in (("/proc/self/autogroup", str(nice)), ("/proc/self/oom_score_adj", "800")):
        with contextlib.suppress(OSError):
            Path(path).write_text(value)


@dataclass(slots=True)
class Progress:
    """How far a run has come. step, tokens: since the file that it began with. seconds: of training, pauses left out."""

    step: int = 0
    tokens: int = 0
    seconds: float = 0.0


class Run:
    """A run with its folder: the model, its optimisers and its data."""

    def __init__(self, folder: Path, start: Path, corpus: Path, validation: Path | None, *, threads: int, compiled: bool = True) -> None:
        """Load everything.

        Parameters:
            start: the GGUF to begin with; where there is a checkpoint, only its shape and tokenizer count.
            validation: texts to validate on, as a corpus file; None for the held-out projects' files.
        Raises:
            ValueError: `start` is no file of ours, or not the one that the run began with.
        """
        self.folder = folder
        self.stopping = False
        self.state: dict[str, Any] = {"pid": os.getpid(), "paused": False, "doing": "loads the corpus"}
        weights, shape, tokenizer = read(start)
        self.tell()
        self.start, self.shape, self.tokenizer = start, shape, tokenizer
        self.model = Llama(shape)
        self.model.load_state_dict({name: torch.from_numpy(w) for name, w in weights.items()})
        self.steps = Steps(self.model, self._optimizers(threads), threads, compiled=compiled)
        self.progress = Progress()
        self.texts = load(corpus)
        self.rows: list[Rows] = []
        self.validation = self._validation(validation)
        self.recent: deque[tuple[float, float]] = deque(maxlen=SPEED_STEPS)  # seconds and processor's seconds of the last steps

    def _optimizers(self, threads: int) -> list[torch.optim.Optimizer]:
        preset = PRESETS["cpu"]
        matrices = [p for n, p in self.model.named_parameters() if n.startswith("layers") and p.ndim == 2]
        others = [p for n, p in self.model.named_parameters() if not (n.startswith("layers") and p.ndim == 2)]
        muon = RATE * preset.muon_rate
        return [
            *(torch.optim.Muon(matrices[i::threads], lr=muon, momentum=0.95, weight_decay=0.01) for i in range(threads)),
            torch.optim.AdamW(others, lr=RATE * preset.adam_rate, betas=(0.9, 0.95), weight_decay=0.0),
        ]

    def _validation(self, texts: Path | None) -> list[Row]:
        """Rows that are not trained on, the same for the whole run."""
        path = self.folder / "validation.json"
        if not path.exists():
            rows = Rows(load(texts) if texts else held_out_texts(), self.tokenizer, self.shape.context, seed=0)
            write_text(path, json.dumps([asdict(rows.row()) for _ in range(VALIDATION_ROWS)]))
        return [Row(**row) for row in json.loads(path.read_text())]

    def tell(self, **state: Any) -> None:
        """Write down what `status` prints."""
        self.state |= state
        write_text(self.folder / "status.json", json.dumps({**self.state, "at": time.time()}))

    def stop(self) -> None:
        """Have the run save and end."""
        self.stopping = True

    def wait(self) -> None:
        """Return once the run is not paused, or is to end."""
        if paused_until(self.folder):
            self.tell(paused=True)
            while paused_until(self.folder) and not self.stopping:
                time.sleep(0.2)
            self.tell(paused=False)

    def save(self, path: Path) -> None:
        """Write what the run resumes from, whole or not at all."""
        state = {
            "model": self.model.state_dict(),
            "optimizers": [o.state_dict() for o in self.steps.optimizers],
            "progress": asdict(self.progress),
        }
        temporary = path.with_suffix(".tmp")
        torch.save(state, temporary)
        temporary.replace(path)
        write_text(path.with_suffix(".json"), json.dumps(asdict(self.progress)) + "\n")

    def resume(self, path: Path) -> None:
        """Load what `save` wrote, if it is there."""
        if path.exists():
            state = torch.load(path, weights_only=True)
            try:
                self.model.load_state_dict(state["model"])
            except RuntimeError as error:
                raise ValueError(f"{path} holds another model than {self.start}; another --folder begins anew") from error
            for optimizer, theirs in zip(self.steps.optimizers, state["optimizers"], strict=True):
                optimizer.load_state_dict(theirs)
            self.progress = Progress(**state["progress"])
        # Resumed, it draws other rows than before: the seed moves with the step.
        seeds = [1 + self.progress.step + thread * WORKER_SEEDS for thread in range(self.steps.threads)]
        self.rows = [Rows(self.texts, self.tokenizer, self.shape.context, seed) for seed in seeds]

    def advance(self, checkpoint: Path, curve: Path, rate: Callable[[Progress], float], done: Callable[[], bool]) -> None:
        """Train until it is done, and save. Raises Stopped once it has saved where the run is to end."""
        progress, mean, saved = self.progress, 0.0, time.monotonic()
        begun_at = progress.step

        def draw(thread: int) -> Row:
            return self.rows[thread].row()

        while not self.stopping and not done():
            self.wait()
            begun, spent = time.monotonic(), time.process_time()
            loss = self.steps.step(draw, ROWS, rate(progress))
            seconds, spent = time.monotonic() - begun, time.process_time() - spent
            self.recent.append((seconds, spent))
            mean = 0.98 * mean + 0.02 * loss if mean else loss
            progress.step += 1
            progress.tokens += ROWS * self.shape.context
            progress.seconds += seconds
            tokens = len(self.recent) * ROWS * self.shape.context
            self.tell(
                tokens=progress.tokens,
                loss=round(mean, 4),
                rate=round(rate(progress), 4),
                speed=round(tokens / sum(s for s, _ in self.recent)),
                speed_per_core=round(tokens / sum(s for _, s in self.recent)),
            )
            if progress.step % STEPS_BETWEEN_RECORDS == 0:
                self.record(curve, mean)
            if time.monotonic() - saved > SECONDS_BETWEEN_CHECKPOINTS:
                self.save(checkpoint)
                saved = time.monotonic()
        if progress.step > begun_at:
            self.save(checkpoint)
        if self.stopping:
            raise Stopped
        if progress.step > begun_at:
            self.record(curve, mean)

    def record(self, curve: Path, mean: float) -> None:
        """Append a line to a loss curve (nats per token)."""
        held_out = self.steps.validate(self.validation)
        minutes = round(self.progress.seconds / 60, 2)
        line = {"step": self.progress.step, "tokens": self.progress.tokens, "minutes": minutes, "training": round(mean, 4)}
        with curve.open("a") as f:
            f.write(json.dumps({**line, "held_out": round(held_out, 4)}) + "\n")
        self.tell(held_out=round(held_out, 4))

    def export(self, millions: int) -> None:
        """Write the model's files: the one to ship last, since it says that all is done."""
        folder = self.folder / f"export-{millions}M"
        folder.mkdir(exist_ok=True)
        weights = {name: w.contiguous() for name, w in self.model.state_dict().items()}
        save_file(weights, folder / "weights.safetensors")
        write_text(folder / "shape.json", json.dumps(asdict(self.shape), indent=1) + "\n")
        self.tokenizer.save(str(folder / "tokenizer.json"))
        document = json.loads(self.tokenizer.to_str())
        arrays = {name: w.numpy() for name, w in weights.items()}
        write_gguf(folder / "f16.gguf", arrays, self.shape, document, "f16")
        write_gguf(self.folder / f"export-{millions}M.gguf", arrays, self.shape, document, "q8_0")

    def decay(self, millions: int) -> None:
        """Make a file to ship in a branch of its own, off the main run as it stands. Raises Stopped.

        A file that was asked for too late is left out: the run is so near its end that the rate has no time to fall.
        """
        checkpoint, curve = self.folder / f"decay-{millions}M.pt", self.folder / f"decay-{millions}M.jsonl"
        if not checkpoint.exists():
            if (soonest := schedule.least(self.progress.tokens)) > millions:
                print(f"export-{millions}M.gguf can not be made any more: the next file can be one of {soonest}M")
                write_text(self.folder / "wanted.json", json.dumps([m for m in wanted(self.folder) if m != millions]))
                return
            copy_whole(self.folder / MAIN, checkpoint)
        begun, end = self.progress.tokens, millions * schedule.MILLION
        self.tell(doing=f"makes export-{millions}M.gguf")
        self.resume(checkpoint)
        self.advance(checkpoint, curve, lambda p: schedule.decayed_rate(p.tokens, begun, end), lambda: self.progress.tokens >= end)
        self.export(millions)
        checkpoint.unlink()
        checkpoint.with_suffix(".json").unlink(missing_ok=True)

    def go(self) -> None:
        """Train until somebody ends it. Raises Stopped."""
        if not (first := self.folder / "export-0M.gguf").exists():
            copy_whole(self.start, first)
        main = self.folder / MAIN

        def next_file() -> int | None:
            return schedule.due(self.progress.tokens, wanted(self.folder))

        while True:
            self.resume(main)
            self.tell(doing="trains", tokens=self.progress.tokens)
            self.advance(main, self.folder / "curve.jsonl", lambda p: schedule.constant_rate(p.step), lambda: next_file() is not None)
            if millions := next_file():
                self.decay(millions)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    add_options(parser)
    args = parser.parse_args()
    with only_run(args.folder) as alone:
        if not alone:
            sys.exit(f"another process trains in {args.folder}")
        yield_to_others(args.nice)
        torch.set_num_threads(1)
        threads = len(os.sched_getaffinity(0))
        try:
            run = Run(args.folder, args.start, args.corpus, args.validation, threads=threads, compiled=not args.no_compile)
            run.resume(args.folder / MAIN)
        except ValueError as error:
            sys.exit(str(error))
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: run.stop())
        with contextlib.suppress(Stopped):
            run.go()
        run.tell(doing="stopped")


if __name__ == "__main__":
    main()
