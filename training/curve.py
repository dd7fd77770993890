"""Plot the loss curve of a run, and of the branches that end in a file, where it has some.

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
from matplotlib.figure import Figure


def points(curve: Path) -> list[dict[str, float]]:
    """The lines of a loss curve."""
    return [json.loads(line) for line in curve.read_text().splitlines()]


def plot(run: Path) -> Figure:
    """Loss over tokens."""
    main = points(run / "curve.jsonl")
    tokens = [p["tokens"] / 1e6 for p in main]
    figure, axes = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
    axes.plot(tokens, [p["training"] for p in main], color="#0072B2", label="training (running mean, answers weighted)")
    axes.plot(tokens, [p["held_out"] for p in main], color="#D55E00", marker="o", markersize=3, label="held-out projects")
    for path in sorted(run.glob("decay-*.jsonl")):
        branch = points(path)
        axes.plot([p["tokens"] / 1e6 for p in branch], [p["held_out"] for p in branch], color="#009E73", marker="o", markersize=3)
        end = branch[-1]
        name = path.stem.removeprefix("decay-")
        axes.annotate(f"{name}: {end['held_out']:.3f}", (end["tokens"] / 1e6, end["held_out"]), ha="right", va="top", fontsize=8)
    axes.set(xlabel="million tokens", ylabel="loss, nats per token", xlim=(0, None))
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.25)
    axes.legend(frameon=False)
    return figure


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", type=Path, default=CACHE / "run", help="a folder with a curve.jsonl: a run's, or what elsewhere.py left")
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    if not (args.run / "curve.jsonl").is_file():
        parser.error(f"{args.run} has no curve.jsonl")
    plot(args.run).savefig(args.out, metadata={"Date": None})


if __name__ == "__main__":
    main()
