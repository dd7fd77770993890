"""Train on another machine that has torch, tokenizers, safetensors and numpy, is lent for minutes at a time, and has no network.

    here    python -m training.elsewhere pack --megabytes 300
    there   python -m training.elsewhere train --minutes 27 --call-minutes 9.5 --out OUT
    here    python -m training.pieces join OUT RUN

`pack` writes all that the other machine needs to a folder. `train` is the same command as often as needed. export.py exports what
`join` leaves.

`train` unpacks what is missing from --packed, trains until the call's time is over, and leaves weights (pieces of at most
16 MiB) and the loss curve in OUT. The next call resumes: from the run folder where the machine still has it, else from weights in --packed
(`pack --weights OUT`). Where one call is too short, `train --call-minutes 0` only unpacks.
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

from .paths import CACHE, there
from .pieces import WEIGHTS, join, join_weights, split, split_weights

LEAVE_MINUTES = 0.5  # of a call, to write what it leaves behind
TEXTS = ("corpus.jsonl", "validation.jsonl", "tokenizer.json", "curve.jsonl")
VALIDATION_FILES = 300


def sampled(corpus: Path, megabytes: float) -> bytes:
    """About so many megabytes of the corpus, files drawn evenly."""
    share, taken, kept = megabytes * 1e6 / corpus.stat().st_size, 0.0, []
    with corpus.open("rb") as f:
        for line in f:
            taken += share
            if taken >= 1:
                kept.append(line)
                taken -= 1
    return b"".join(kept)


def pack(args: argparse.Namespace) -> None:
    """Write corpus, validation texts and tokenizer, compressed and in pieces.

    The weights to resume from, with their loss curve, are added where there are any.
    """
    if args.validation:
        validation = args.validation.read_bytes()
    else:
        from .train import held_out_texts  # torch takes its time

        validation = "".join(json.dumps({"text": text}) + "\n" for text in held_out_texts()[:VALIDATION_FILES]).encode()
    weights = join(args.weights, WEIGHTS) if args.weights else None
    texts = {
        "corpus.jsonl": sampled(args.corpus, args.megabytes),
        "validation.jsonl": validation,
        "tokenizer.json": args.tokenizer.read_bytes(),
    }
    if args.weights and (args.weights / "curve.jsonl").exists():
        texts["curve.jsonl"] = (args.weights / "curve.jsonl").read_bytes()
    for name in (*(f"{text}.xz" for text in TEXTS), WEIGHTS):
        for old in args.packed.glob(f"{name}.*"):
            old.unlink()
    for name, data in texts.items():
        split(lzma.compress(data, preset=args.effort), args.packed, f"{name}.xz")
    if weights is not None:
        split(weights, args.packed, WEIGHTS)
    size = sum(path.stat().st_size for path in args.packed.iterdir())
    print(f"{args.packed}: {size / 2**20:.1f} MiB, of the corpus {len(texts['corpus.jsonl']) / 1e6:.0f} MB")


def train(args: argparse.Namespace) -> None:
    """Run one call: unpack what is missing, then train for the time that is left. Raises ValueError where that is impossible."""
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
    if missing := [name for name in ("corpus.jsonl", "validation.jsonl", "tokenizer.json") if not (args.run / name).exists()]:
        raise ValueError(f"neither {args.run} nor {args.packed} has {', '.join(missing)}: bring what `pack` made")
    left = args.call_minutes - LEAVE_MINUTES - (time.monotonic() - begun) / 60
    if left <= 0:
        raise ValueError(f"all is unpacked, but no time is left of {args.call_minutes:g} minutes: call again")
    given = [text for name in ("corpus", "validation") for text in (f"--{name}", f"{args.run}/{name}.jsonl")]
    given += ["--workers", str(args.workers), *(["--no-compile"] if args.no_compile else [])]
    call(
        "training.train", "--preset", args.preset, "--run", str(args.run), *given, "--tokenizer", f"{args.run}/tokenizer.json",
        "--minutes", str(args.minutes), "--call-minutes", str(left),
    )  # fmt: skip
    if not (args.run / "checkpoint.pt").exists():
        raise ValueError(f"no step was made in {args.call_minutes:g} minutes: call again, with more of them")
    split_weights(args.run / "checkpoint.pt", args.out)
    if (args.run / "curve.jsonl").exists():
        shutil.copy(args.run / "curve.jsonl", args.out)


def call(module: str, *arguments: str) -> None:
    subprocess.run([sys.executable, "-u", "-m", module, *arguments], check=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    here = commands.add_parser("pack", help="here: what the other machine needs, in pieces")
    here.add_argument("--corpus", type=there, default=str(CACHE / "corpus.jsonl"))
    here.add_argument("--tokenizer", type=there, default=str(CACHE / "tokenizer.json"))
    here.add_argument("--validation", type=there, help="texts to validate on (default: some of the held-out projects' files)")
    here.add_argument("--megabytes", type=float, default=300, help="of the corpus; they take about a seventh (default: %(default)s)")
    here.add_argument("--weights", type=Path, help="OUT of an earlier call, to go on from")
    here.add_argument("--effort", type=int, choices=range(10), default=9, help="of the compression (default: %(default)s)")
    away = commands.add_parser("train", help="there: one call")
    away.add_argument("--preset", choices=("cpu", "gpu", "dry-run"), default="gpu", help="of train.py (default: %(default)s)")
    away.add_argument("--run", type=Path, default=CACHE / "run-gpu", help="what this machine keeps between calls")
    away.add_argument("--out", type=Path, required=True, help="where the weights' pieces and the loss curve are left")
    away.add_argument("--minutes", type=float, required=True, help="training time over all calls together")
    away.add_argument("--call-minutes", type=float, required=True, help="time of this call; 0 only unpacks")
    away.add_argument("--workers", type=int, default=max(1, (os.cpu_count() or 2) // 2), help="(default: half of the cores)")
    away.add_argument("--no-compile", action="store_true", help="as train.py takes it")
    for command in (here, away):
        command.add_argument("--packed", type=Path, default=CACHE / "packed", help="folder of what is packed")
    args = parser.parse_args()
    try:
        pack(args) if args.command == "pack" else train(args)
    except ValueError as error:
        sys.exit(str(error))
    except subprocess.CalledProcessError as error:
        sys.exit(error.returncode)  # the program has said why


if __name__ == "__main__":
    main()
