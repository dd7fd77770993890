"""Plot the loss curve of a run.

python -m training.curve --out loss.svg
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import matplotlib

from .paths import CACHE

matplotlib.use("svg")
import matplotlib.pyplot as plt


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", type=Path, default=CACHE / "run", help="a folder with a curve.jsonl: a run's, or what elsewhere.py left")
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    if not (args.run / "curve.jsonl").is_file():
        parser.error(f"{args.run} has no curve.jsonl")
    points = [json.loads(line) for line in (args.run / "curve.jsonl").read_text().splitlines()]
    tokens = [p["tokens"] / 1e6 for p in points]
    figure, axes = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
    axes.plot(tokens, [p["training"] for p in points], color="#0072B2", label="training (running mean, answers weighted)")
    axes.plot(tokens, [p["held_out"] for p in points], color="#D55E00", marker="o", markersize=3, label="held-out projects")
    axes.set(xlabel="million tokens", ylabel="loss, nats per token", xlim=(0, None))
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.25)
    axes.legend(frameon=False)
    figure.savefig(args.out, metadata={"Date": None})


if __name__ == "__main__":
    main()
