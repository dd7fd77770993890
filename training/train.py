"""Train the embedded model, in one file from top to bottom.

    python -m training.train --preset cpu --minutes 95

Goes on from --run where it stopped, and draws other rows then than at first. Muon for the matrices inside the layers, AdamW for the rest.
The learning rate is constant, then falls linearly to zero over the last 45 % of the budget. The budget is in minutes, because on a shared
machine that is what is known beforehand.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer
from torch import Tensor

from .data import Row, Rows, load
from .model import Llama, Shape
from .paths import CACHE, there
from .shipped import read


@dataclass(frozen=True, slots=True)
class Preset:
    shape: Shape
    rows: int  # a step's rows of shape.context tokens
    muon_rate: float
    adam_rate: float


PRESETS = {
    "cpu": Preset(Shape(8192, 256, 8, 4, 2, 704, 1024), rows=8, muon_rate=0.02, adam_rate=4e-3),
    "gpu": Preset(Shape(16384, 512, 8, 8, 4, 1408, 2048), rows=64, muon_rate=0.02, adam_rate=3e-3),
    "toy": Preset(Shape(8192, 64, 2, 2, 1, 128, 256), rows=4, muon_rate=0.02, adam_rate=4e-3),
}
WARM_UP_STEPS = 40
DECAY = 0.45  # of the budget
VALIDATION_ROWS = 48
MINUTES_BETWEEN_CHECKPOINTS = 4.0


def rate(step: int, progress: float) -> float:
    """The learning rate as a share of its peak: linear warm-up, constant, linear fall to zero at progress 1."""
    return min(1.0, (step + 1) / WARM_UP_STEPS, max(0.0, (1.0 - progress) / DECAY))


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


def optimizers_of(model: Llama, preset: Preset) -> list[torch.optim.Optimizer]:
    matrices = [p for n, p in model.named_parameters() if n.startswith("layers") and p.ndim == 2]
    others = [p for n, p in model.named_parameters() if not (n.startswith("layers") and p.ndim == 2)]
    return [
        torch.optim.Muon(matrices, lr=preset.muon_rate, momentum=0.95, weight_decay=0.01),
        torch.optim.AdamW(others, lr=preset.adam_rate, betas=(0.9, 0.95), weight_decay=0.0),
    ]


@dataclass(slots=True)
class Run:
    """What is trained, how far it has come, and what of it is saved in `folder`. spent: seconds."""

    folder: Path
    preset: Preset
    tokenizer: Tokenizer
    model: Llama
    optimizers: list[torch.optim.Optimizer]
    step: int = 0
    spent: float = 0.0

    @classmethod
    def opened(cls, folder: Path, name: str, tokenizer: Path, start: Path | None, device: torch.device) -> Run:
        """The run in a folder, as it was saved; a new one, of the weights and the tokenizer of `start` where it is named.

        Raises ValueError for weights of another shape than the preset's.
        """
        weights, found = None, None
        if (folder / "tokenizer.json").exists():
            cut = Tokenizer.from_file(str(folder / "tokenizer.json"))
        elif start:
            weights, found, cut = read(start)
        else:
            cut = Tokenizer.from_file(str(tokenizer))
        preset = replace(PRESETS[name], shape=replace(PRESETS[name].shape, vocabulary=cut.get_vocab_size()))
        model = Llama(preset.shape).to(device)
        run = cls(folder, preset, cut, model, optimizers_of(model, preset))
        if (folder / "checkpoint.pt").exists():
            found = Shape(**json.loads((folder / "shape.json").read_text()))
        if found and found != preset.shape:
            raise ValueError(f"{start or folder} is {found}, the preset {name} is {preset.shape}; another --run begins anew")
        if weights:
            model.load_state_dict({name: torch.from_numpy(w) for name, w in weights.items()})
        if (folder / "checkpoint.pt").exists():
            state = torch.load(folder / "checkpoint.pt", map_location=device, weights_only=True)
            model.load_state_dict(state["model"])
            for o, s in zip(run.optimizers, state["optimizers"], strict=True):
                o.load_state_dict(s)
            run.step, run.spent = state["step"], state["spent"]
        return run

    def save(self) -> None:
        """Write what it goes on from and what is exported. Each file is whole or unchanged, wherever this is interrupted."""
        self.folder.mkdir(parents=True, exist_ok=True)
        temporary = self.folder / "tmp"
        weights = {k: v.contiguous() for k, v in self.model.state_dict().items()}
        state = {"model": weights, "optimizers": [o.state_dict() for o in self.optimizers], "step": self.step, "spent": self.spent}
        for name, write in (
            ("tokenizer.json", lambda path: self.tokenizer.save(str(path))),
            ("shape.json", lambda path: path.write_text(json.dumps(asdict(self.model.shape), indent=1) + "\n")),
            ("checkpoint.pt", lambda path: torch.save(state, path)),
            ("weights.safetensors", lambda path: save_file(weights, path)),
        ):
            write(temporary)
            temporary.rename(self.folder / name)

    def record(self, training: float, held: float) -> None:
        """Append a line to the loss curve (nats per token), and save."""
        self.save()
        tokens = self.step * self.preset.rows * self.preset.shape.context
        found = {"training": round(training, 4), "held_out": round(held, 4)}
        line = {"step": self.step, "tokens": tokens, "minutes": round(self.spent / 60, 2), **found}
        with (self.folder / "curve.jsonl").open("a") as f:
            f.write(json.dumps(line) + "\n")
        print(line, flush=True)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--preset", choices=PRESETS, default="cpu", help="(default: %(default)s)")
    parser.add_argument("--minutes", type=float, required=True, help="training time over all resumed runs together")
    parser.add_argument(
        "--corpus", type=there, default=str(CACHE / "corpus.jsonl"), help="validation.jsonl and tokenizer.json stand beside it"
    )
    parser.add_argument("--run", type=Path, default=CACHE / "run", help="where checkpoints go, and where a run goes on from its last one")
    parser.add_argument("--start", type=there, help="a GGUF that export.py wrote, to go on from with its weights and its tokenizer")
    parser.add_argument("--rate", type=float, default=1.0, help="share of the preset's learning rates, below 1 where --start goes on")
    parser.add_argument("--no-compile", action="store_true", help="start at once, without a C++ compiler, and train slower")
    return parser.parse_args()


def main() -> None:
    args = arguments()
    budget = args.minutes * 60
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    autocast = torch.autocast(device.type, dtype=torch.bfloat16)  # 3 times as fast as float32 where the CPU has AVX-512 BF16
    torch.manual_seed(0)
    try:
        run = Run.opened(args.run, args.preset, args.corpus.with_name("tokenizer.json"), args.start, device)
    except ValueError as error:
        sys.exit(str(error))
    if run.spent >= budget:
        print(f"nothing to do: all of the {args.minutes:g} minutes are spent; more --minutes continue", flush=True)
        return
    # A resumed run draws other rows than the first: the seed moves with the step.
    batches = Rows(load(args.corpus), run.tokenizer, run.preset.shape.context, seed=1 + run.step).batches(run.preset.rows)
    held_out = Rows(load(args.corpus.with_name("validation.jsonl")), run.tokenizer, run.preset.shape.context, seed=0)
    validation_rows = [held_out.row() for _ in range(VALIDATION_ROWS)]
    loss_of = run.model.loss if args.no_compile else torch.compile(run.model.loss)
    peaks = [args.rate * run.preset.muon_rate, args.rate * run.preset.adam_rate]

    mean: Tensor | None = None  # of the loss; read only where it is shown, because reading waits for the GPU
    last_save, begun = time.monotonic(), time.monotonic() - run.spent
    while run.spent < budget:
        for o, peak in zip(run.optimizers, peaks, strict=True):
            for group in o.param_groups:
                group["lr"] = peak * rate(run.step, run.spent / budget)
        x, y, w = next(batches)
        with autocast:
            loss = loss_of(x.to(device), y.to(device), w.to(device))
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(run.model.parameters(), 1.0)
        for o in run.optimizers:
            o.step()
            o.zero_grad(set_to_none=True)
        run.step += 1
        run.spent = time.monotonic() - begun
        mean = loss.detach() if mean is None else 0.95 * mean + 0.05 * loss.detach()
        if run.step % 20 == 0:
            print(f"step {run.step:6d}  {run.spent / 60:6.1f} min  loss {mean.item():.3f}", flush=True)
        if run.spent >= budget or time.monotonic() - last_save > MINUTES_BETWEEN_CHECKPOINTS * 60:
            last_save = time.monotonic()
            run.record(mean.item(), validate(run.model, validation_rows, autocast))


if __name__ == "__main__":
    main()
