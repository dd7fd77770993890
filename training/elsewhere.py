"""Train on another machine: bare but for torch, tokenizers, safetensors and numpy, lent for some minutes at a time, without a network.

    here    python -m training.elsewhere pack --guesses .cache/guesses.jsonl --megabytes 300
    there   python -m training.elsewhere train --minutes 27 --call-minutes 9 --out OUT
    here    python -m training.pieces join OUT .cache/run-gpu

`pack` writes all that the other machine needs to .cache/packed. `train` is the same command as often as it takes; export.py exports what
`join` leaves.

`train` unpacks what it finds in --packed and is not there yet, makes the items, trains for as long as the call has, and leaves weights
(pieces of at most 16 MiB) and the loss curve in OUT. A call goes on where the last one stopped: from the run folder where the machine still
has it, else from weights in --packed (`pack --weights OUT`). Where not all fits in one call, `train --call-minutes 0` only unpacks.
"""

from __future__ import annotations

import argparse
import json
import lzma
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from .paths import CACHE
from .pieces import WEIGHTS, join, join_weights, split, split_weights

LEAVE_MINUTES = 0.5  # of a call, to write what it leaves behind
TEXTS = ("corpus.jsonl", "validation.jsonl", "guesses.jsonl", "tokenizer.json")
VALIDATION_FILES = 300


def sampled(corpus: Path, megabytes: float) -> bytes:
    """Files of the corpus, evenly, about so much of it."""
    share, taken, kept = megabytes * 1e6 / corpus.stat().st_size, 0.0, []
    with corpus.open("rb") as f:
        for line in f:
            taken += share
            if taken >= 1:
                kept.append(line)
                taken -= 1
    return b"".join(kept)


def pack(args: argparse.Namespace) -> None:
    """Corpus, validation texts, guesses and tokenizer, compressed, in pieces; and weights to go on from."""
    if args.validation:
        validation = args.validation.read_bytes()
    else:
        from .train import held_out_texts  # torch takes its time

        validation = "".join(json.dumps({"text": text}) + "\n" for text in held_out_texts()[:VALIDATION_FILES]).encode()
    texts = {
        "corpus.jsonl": sampled(args.corpus, args.megabytes),
        "validation.jsonl": validation,
        "tokenizer.json": args.tokenizer.read_bytes(),
    }
    if args.guesses:
        texts["guesses.jsonl"] = args.guesses.read_bytes()
    shutil.rmtree(args.packed, ignore_errors=True)
    for name, data in texts.items():
        split(lzma.compress(data, preset=args.effort), args.packed, f"{name}.xz")
    if args.weights:
        for piece in args.weights.glob(f"{WEIGHTS}.*"):
            shutil.copy(piece, args.packed)
    size = sum(path.stat().st_size for path in args.packed.iterdir())
    print(f"{args.packed}: {size / 2**20:.1f} MiB, of the corpus {len(texts['corpus.jsonl']) / 1e6:.0f} MB")


def train(args: argparse.Namespace) -> None:
    """One call: what is missing is unpacked and made, then train.py has the time that is left."""
    begun = time.monotonic()
    args.run.mkdir(parents=True, exist_ok=True)
    for name in TEXTS:
        if not (args.run / name).exists() and (args.packed / f"{name}.xz.json").exists():
            temporary = args.run / f"{name}.tmp"  # a call may be cut off anywhere
            temporary.write_bytes(lzma.decompress(join(args.packed, f"{name}.xz")))
            temporary.rename(args.run / name)
    if not (args.run / "checkpoint.pt").exists() and (args.packed / f"{WEIGHTS}.json").exists():
        join_weights(args.packed, args.run)
    if args.call_minutes <= 0:
        return
    workers = str(args.workers)
    if not (args.run / "tasks.jsonl").exists():
        guesses = ["--guesses", str(args.run / "guesses.jsonl")] if (args.run / "guesses.jsonl").exists() else []
        made = ["--items", str(args.items), "--workers", workers, "--out", f"{args.run}/tasks.jsonl"]
        call("training.tasks", "--corpus", f"{args.run}/corpus.jsonl", *guesses, *made)
    left = args.call_minutes - LEAVE_MINUTES - (time.monotonic() - begun) / 60
    paths = [text for name in ("corpus", "validation", "tasks") for text in (f"--{name}", f"{args.run}/{name}.jsonl")]
    call(
        "training.train", "--preset", args.preset, "--run", str(args.run), *paths, "--tokenizer", f"{args.run}/tokenizer.json",
        "--minutes", str(args.minutes), "--call-minutes", str(left), "--workers", workers, *(["--no-compile"] if args.no_compile else []),
    )  # fmt: skip
    split_weights(args.run / "checkpoint.pt", args.out)
    shutil.copy(args.run / "curve.jsonl", args.out)


def call(module: str, *arguments: str) -> None:
    subprocess.run([sys.executable, "-u", "-m", module, *arguments], check=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    here = commands.add_parser("pack")
    here.add_argument("--corpus", type=Path, default=CACHE / "corpus.jsonl")
    here.add_argument("--tokenizer", type=Path, default=CACHE / "tokenizer.json")
    here.add_argument("--validation", type=Path, help="texts to validate on (default: some of the held-out projects' files)")
    here.add_argument("--guesses", type=Path, help="what guesses.py wrote; without it nothing is learned of judging")
    here.add_argument("--megabytes", type=float, default=300, help="of the corpus; they take about a seventh (default: %(default)s)")
    here.add_argument("--weights", type=Path, help="pieces of an earlier run, to go on from")
    here.add_argument("--effort", type=int, choices=range(10), default=9, help="of the compression (default: %(default)s)")
    there = commands.add_parser("train")
    there.add_argument("--preset", default="gpu")
    there.add_argument("--run", type=Path, default=CACHE / "run-gpu")
    there.add_argument("--out", type=Path, required=True)
    there.add_argument("--minutes", type=float, required=True, help="training time over all calls together")
    there.add_argument("--call-minutes", type=float, required=True, help="time of this call; 0 only unpacks")
    there.add_argument("--items", type=int, default=200_000, help="to make of the corpus for the tasks (default: %(default)s)")
    there.add_argument("--workers", type=int, default=max(1, (os.cpu_count() or 2) // 2))
    there.add_argument("--no-compile", action="store_true")
    for command in (here, there):
        command.add_argument("--packed", type=Path, default=CACHE / "packed")
    args = parser.parse_args()
    pack(args) if args.command == "pack" else train(args)


if __name__ == "__main__":
    main()
