"""Split a file into pieces of at most 16 MiB and join them again, for machines that take no larger files; also trained weights.

    python -m training.pieces split RUN/checkpoint.pt weights →  weights/bf16.safetensors.000 …, and .json: size and SHA-256
    python -m training.pieces join weights RUN →  what train.py resumes from and export.py exports

Weights travel in bfloat16, half of their size in training, without the optimisers' state: a run that resumes from them warms up again.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from dataclasses import asdict
from pathlib import Path

import torch
from safetensors.torch import load, save, save_file

from .model import Shape
from .paths import there

MAX_PIECE_BYTES = 16 << 20
WEIGHTS = "bf16.safetensors"


def split(data: bytes, folder: Path, name: str, most: int = MAX_PIECE_BYTES) -> None:
    """Write `data` as NAME.000, NAME.001 … and NAME.json. Older pieces of that name are removed."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob(f"{name}.*"):
        old.unlink()
    pieces = range(0, max(1, len(data)), most)
    for number, start in enumerate(pieces):
        (folder / f"{name}.{number:03d}").write_bytes(data[start : start + most])
    about = {"pieces": len(pieces), "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    (folder / f"{name}.json").write_text(json.dumps(about) + "\n")


def join(folder: Path, name: str) -> bytes:
    """The data that `split` was given. Raises ValueError where pieces are missing or were changed."""
    if not (folder / f"{name}.json").exists():
        raise ValueError(f"{folder}: {name}.json is missing, which is written last: copy all pieces again")
    about = json.loads((folder / f"{name}.json").read_text())
    paths = [folder / f"{name}.{number:03d}" for number in range(about["pieces"])]
    if missing := [path.name for path in paths if not path.exists()]:
        raise ValueError(f"{folder}: {', '.join(missing)} of {about['pieces']} pieces are missing; copy them again")
    data = b"".join(path.read_bytes() for path in paths)
    if hashlib.sha256(data).hexdigest() != about["sha256"]:
        raise ValueError(f"{folder}: the pieces of {name} are not those of one file; copy all of them again")
    return data


def split_weights(checkpoint: Path, folder: Path, most: int = MAX_PIECE_BYTES) -> None:
    """Split a checkpoint of train.py. Its step and its shape travel inside."""
    state = torch.load(checkpoint, map_location="cpu", weights_only=True)
    shape = Shape(**json.loads((checkpoint.parent / "shape.json").read_text()))
    about = {"step": str(state["step"]), "spent": str(state["spent"]), "shape": json.dumps(asdict(shape))}
    split(save({k: v.to(torch.bfloat16).contiguous() for k, v in state["model"].items()}, about), folder, WEIGHTS, most)


def join_weights(folder: Path, run: Path) -> None:
    """The inverse: a checkpoint without optimisers, the weights in float32, and their shape. Raises ValueError as `join` does."""
    data = join(folder, WEIGHTS)
    header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])["__metadata__"]
    weights = {k: v.to(torch.float32) for k, v in load(data).items()}
    shape = Shape(**json.loads(header["shape"]))
    run.mkdir(parents=True, exist_ok=True)
    save_file(weights, run / "weights.safetensors")
    (run / "shape.json").write_text(json.dumps(asdict(shape), indent=1) + "\n")
    # The checkpoint comes last and whole, because a run resumes from it.
    torch.save({"model": weights, "step": int(header["step"]), "spent": float(header["spent"])}, run / "checkpoint.tmp")
    (run / "checkpoint.tmp").rename(run / "checkpoint.pt")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    cut = commands.add_parser("split")
    cut.add_argument("checkpoint", type=there, help="of training.train; shape.json stands beside it")
    cut.add_argument("folder", type=Path, help="where the pieces go")
    put = commands.add_parser("join")
    put.add_argument("folder", type=Path, help="where the pieces are")
    put.add_argument("run", type=Path, help="a run folder, whose checkpoint is replaced")
    args = parser.parse_args()
    if args.command == "split":
        split_weights(args.checkpoint, args.folder)
    else:
        try:
            join_weights(args.folder, args.run)
        except ValueError as error:
            sys.exit(str(error))


if __name__ == "__main__":
    main()
