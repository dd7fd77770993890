"""Train the embedded model, in one file from top to bottom.

    python -m training.train --preset cpu --minutes 80

Resumes from --run where it stopped. Muon for the matrices inside the layers, AdamW for the rest. The learning rate is constant, then falls
linearly to zero over the last 45 % of the budget. The budget is in minutes, because on a shared machine that is what is known beforehand.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import sys
import time
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path

import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer
from torch import Tensor
from torch.utils.data import DataLoader

from .data import Batches, Row, Rows, load
from .model import Llama, Shape
from .paths import CACHE, there


@dataclass(frozen=True, slots=True)
class Preset:
    shape: Shape
    rows: int  # a step's rows of shape.context tokens
    muon_rate: float
    adam_rate: float


PRESETS = {
    "cpu": Preset(Shape(8192, 256, 8, 4, 2, 704, 1024), rows=8, muon_rate=0.02, adam_rate=4e-3),
    "gpu": Preset(Shape(16384, 512, 8, 8, 4, 1408, 2048), rows=64, muon_rate=0.02, adam_rate=3e-3),
    "dry-run": Preset(Shape(8192, 64, 2, 2, 1, 128, 256), rows=4, muon_rate=0.02, adam_rate=4e-3),
}
WARM_UP_STEPS = 40
DECAY = 0.45  # of the budget
VALIDATION_ROWS = 48
MINUTES_BETWEEN_CHECKPOINTS = 4.0


def rate(step: int, progress: float) -> float:
    """The learning rate as a share of its peak: linear warm-up, constant, linear fall to zero at progress 1."""
    return min(1.0, (step + 1) / WARM_UP_STEPS, max(0.0, (1.0 - progress) / DECAY))


def held_out_texts() -> list[str]:
    """Files of the projects that nothing is trained on, shuffled, to validate the loss on. Exits where they are missing."""
    from assay.offline_eval.sets.projects import ProjectError

    from .corpus import held_out_files

    try:
        texts = [file.text for file in held_out_files()]
    except ProjectError as error:
        sys.exit(str(error))
    random.Random(0).shuffle(texts)
    return texts


def rows_to_validate(texts: Path | None, tokenizer: Tokenizer, preset: Preset) -> list[Row]:
    """Rows to validate the loss on, of a corpus file or of the held-out projects."""
    rows = Rows(load(texts) if texts else held_out_texts(), tokenizer, preset.shape.context, seed=0)
    return [rows.row() for _ in range(VALIDATION_ROWS)]


@torch.no_grad()
def validate(model: Llama, rows: list[Row], autocast: torch.autocast) -> float:
    """The mean −log p per token over held-out rows, in nats."""
    device = model.embed_tokens.weight.device
    tokens, weights = torch.tensor([r.tokens for r in rows], device=device), torch.tensor([r.weights for r in rows], device=device)
    model.eval()
    with autocast:
        parts = zip(torch.split(tokens, 8), torch.split(weights, 8), strict=True)
        losses = [model.loss(t[:, :-1], t[:, 1:], w[:, 1:]).item() for t, w in parts]
    model.train()
    return sum(losses) / len(losses)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--preset", choices=PRESETS, default="cpu", help="(default: %(default)s)")
    parser.add_argument("--minutes", type=float, required=True, help="training time over all resumed runs together")
    parser.add_argument("--corpus", type=there, default=str(CACHE / "corpus.jsonl"))
    parser.add_argument("--tokenizer", type=there, default=str(CACHE / "tokenizer.json"))
    parser.add_argument("--validation", type=there, help="texts to validate on, as a corpus file (default: the held-out projects' files)")
    parser.add_argument("--run", type=Path, default=CACHE / "run", help="where checkpoints go, and where a run goes on from its last one")
    parser.add_argument("--start", type=there, help="a GGUF that export.py wrote, to go on from (its tokenizer: training.shipped)")
    parser.add_argument("--rate", type=float, default=1.0, help="share of the preset's learning rates, below 1 where --start goes on")
    parser.add_argument("--call-minutes", type=float, default=math.inf, help="end this run after so long, to be gone on with by another")
    parser.add_argument("--workers", type=int, default=0, help="processes that prepare rows; 0: this one (default: %(default)s)")
    parser.add_argument("--no-compile", action="store_true", help="start at once, without a C++ compiler, and train slower")
    return parser.parse_args()


def optimizers_of(model: Llama, preset: Preset) -> list[torch.optim.Optimizer]:
    matrices = [p for n, p in model.named_parameters() if n.startswith("layers") and p.ndim == 2]
    others = [p for n, p in model.named_parameters() if not (n.startswith("layers") and p.ndim == 2)]
    return [
        torch.optim.Muon(matrices, lr=preset.muon_rate, momentum=0.95, weight_decay=0.01),
        torch.optim.AdamW(others, lr=preset.adam_rate, betas=(0.9, 0.95), weight_decay=0.0),
    ]


def start_from(gguf: Path, model: Llama) -> None:
    """Load the weights of a GGUF. Raises ValueError for another model."""
    from .shipped import read  # needs gguf

    weights, shape, _ = read(gguf)
    if shape != model.shape:
        raise ValueError(f"{gguf} is {shape}, the preset with this tokenizer {model.shape}; its own tokenizer: training.shipped")
    model.load_state_dict({name: torch.from_numpy(w) for name, w in weights.items()})


def resume_from(run: Path, model: Llama, optimizers: list[torch.optim.Optimizer]) -> tuple[int, float, int]:
    """Load a run's checkpoint. Returns its steps, its seconds, and the step at which its optimisers began.

    Raises ValueError for another model's.
    """
    shape = Shape(**json.loads((run / "shape.json").read_text()))
    if shape != model.shape:
        raise ValueError(f"{run} holds {shape}, the preset with this tokenizer is {model.shape}; another --run begins anew")
    state = torch.load(run / "checkpoint.pt", map_location=model.embed_tokens.weight.device, weights_only=True)
    model.load_state_dict(state["model"])
    if "optimizers" not in state:  # weights out of pieces.py
        return state["step"], state["spent"], state["step"]
    for o, s in zip(optimizers, state["optimizers"], strict=True):
        o.load_state_dict(s)
    return state["step"], state["spent"], 0


def save(run: Path, model: Llama, optimizers: list[torch.optim.Optimizer], step: int, spent: float) -> None:
    """Write what a run resumes from and what is exported. Each file is whole or unchanged, wherever this is interrupted."""
    (run / "shape.tmp").write_text(json.dumps(asdict(model.shape), indent=1) + "\n")
    (run / "shape.tmp").rename(run / "shape.json")
    state = {"model": model.state_dict(), "optimizers": [o.state_dict() for o in optimizers], "step": step, "spent": spent}
    torch.save(state, run / "checkpoint.tmp")
    (run / "checkpoint.tmp").rename(run / "checkpoint.pt")
    save_file({k: v.contiguous() for k, v in model.state_dict().items()}, run / "weights.safetensors.tmp")
    (run / "weights.safetensors.tmp").rename(run / "weights.safetensors")


def record(run: Path, step: int, preset: Preset, spent: float, training: float, held: float) -> None:
    """Append a line to the loss curve (nats per token)."""
    tokens = step * preset.rows * preset.shape.context
    line = {"step": step, "tokens": tokens, "minutes": round(spent / 60, 2), "training": round(training, 4), "held_out": round(held, 4)}
    with (run / "curve.jsonl").open("a") as f:
        f.write(json.dumps(line) + "\n")
    print(line, flush=True)


def main() -> None:
    args = arguments()
    budget, call_end = args.minutes * 60, time.monotonic() + args.call_minutes * 60
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    autocast = torch.autocast(device.type, dtype=torch.bfloat16)  # 3 times as fast as float32 where the CPU has AVX-512 BF16
    args.run.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(0)

    tokenizer, preset = Tokenizer.from_file(str(args.tokenizer)), PRESETS[args.preset]
    preset = replace(preset, shape=replace(preset.shape, vocabulary=tokenizer.get_vocab_size()))
    model = Llama(preset.shape).to(device)
    optimizers = optimizers_of(model, preset)
    peaks = [args.rate * preset.muon_rate, args.rate * preset.adam_rate]
    step, spent, warm_up_from = 0, 0.0, 0  # warm_up_from: the step at which the optimisers began
    try:
        if (args.run / "checkpoint.pt").exists():
            step, spent, warm_up_from = resume_from(args.run, model, optimizers)
            print(f"resumes from step {step}, {spent / 60:.1f} minutes spent", flush=True)
        elif args.start:
            start_from(args.start, model)
    except ValueError as error:
        sys.exit(str(error))
    if spent >= budget:
        print(f"nothing to do: all of the {args.minutes:g} minutes are spent; more --minutes continue", flush=True)
        return

    # A resumed run draws other rows than the first: the seed moves with the step.
    rows = partial(Rows, load(args.corpus), tokenizer, preset.shape.context)
    pinned = device.type == "cuda"  # so that copies to the GPU wait for nothing
    batches = iter(DataLoader(Batches(rows, 1 + step, preset.rows), batch_size=None, num_workers=args.workers, pin_memory=pinned))
    validation_rows = rows_to_validate(args.validation, tokenizer, preset)
    loss_of = model.loss if args.no_compile else torch.compile(model.loss)

    mean: Tensor | None = None  # of the loss; read only where it is shown, because reading waits for the GPU
    last_save, begun = time.monotonic(), time.monotonic() - spent
    while (spent := time.monotonic() - begun) < budget and time.monotonic() < call_end:
        for o, peak in zip(optimizers, peaks, strict=True):
            for group in o.param_groups:
                group["lr"] = peak * rate(step - warm_up_from, spent / budget)
        x, y, w = next(batches)
        with autocast:
            loss = loss_of(*(part.to(device, non_blocking=True) for part in (x, y, w)))
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for o in optimizers:
            o.step()
            o.zero_grad(set_to_none=True)
        step += 1
        mean = loss.detach() if mean is None else 0.95 * mean + 0.05 * loss.detach()
        if step % 20 == 0:
            tokens = step * preset.rows * preset.shape.context
            print(f"step {step:6d}  {tokens / 1e6:8.2f}M tokens  {spent / 60:6.1f} min  loss {mean.item():.3f}", flush=True)
        if time.monotonic() - last_save > MINUTES_BETWEEN_CHECKPOINTS * 60:
            last_save = time.monotonic()
            record(args.run, step, preset, spent, mean.item(), validate(model, validation_rows, autocast))
            save(args.run, model, optimizers, step, spent)
    if mean is None:
        print(f"no step: the call's {args.call_minutes:g} minutes went by while the data was loaded", flush=True)
        return
    record(args.run, step, preset, spent, mean.item(), validate(model, validation_rows, autocast))
    save(args.run, model, optimizers, step, spent)


if __name__ == "__main__":
    main()
