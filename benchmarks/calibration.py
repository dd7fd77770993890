"""Compare our maps with those of scikit-learn, uqlm and netcal: how near they are to the truth at each n, and their speed.

    python benchmarks/calibration.py [--worlds 200] [--seed 0]

Every library is fitted to the same samples of the same worlds and judged against the known truth: by the expected skill score on new
samples, and by the mean |q - p| between the true and the predicted probability. Speed is measured at a million samples. netcal is left out
where it is not installed (pip install netcal). uqlm's fit is one line of scikit-learn and is run as that line, because its package needs an
LLM framework.
"""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Callable

import harness
import numpy as np
from numpy.typing import NDArray
from sklearn.calibration import _SigmoidCalibration  # type: ignore[import-untyped]
from sklearn.isotonic import IsotonicRegression  # type: ignore[import-untyped]
from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]

from assay.calibration.arrays import Floats, sigmoid
from assay.calibration.fitting.model_selection import Selection, fit_map, select_map
from assay.calibration.maps.platt import fit_platt
from assay.calibration.measures.registry import enter

Labels = NDArray[np.bool_]
# log-probabilities (n,) to the true probabilities (n,) of a world
Truth = Callable[[Floats], Floats]
# fitted to log-probabilities and labels; gives probabilities for others
Fit = Callable[[Floats, Labels], Callable[[Floats], Floats]]

SIZES = (25, 50, 100, 200, 500, 1000, 5000)
NEW = 20_000
FEATURE = ("total_logprob",)


def _total(rng: np.random.Generator, n: int) -> Floats:
    """Sums of log-probabilities of lines: median 1.6 nats, one in ten beyond 7."""
    return -rng.lognormal(0.5, 1.2, n)


def _long(rng: np.random.Generator, n: int) -> Floats:
    """Sums over whole functions: 43 % of exp(sum) are below 1e-6."""
    return -0.35 * rng.lognormal(np.log(60), 0.8, n) / 1.6


def _narrow(rng: np.random.Generator, n: int) -> Floats:
    """Mean token log-probabilities: nearly all of exp(mean) lie between 0.8 and 1."""
    return -np.exp(rng.normal(-2.5, 0.7, n))


WORLDS: dict[str, tuple[Callable[[np.random.Generator, int], Floats], Truth]] = {
    "lines: log odds linear in logit p_tot": (_total, lambda s: sigmoid(-0.2 + 0.6 * enter("total_logprob", s))),
    "functions: linear in log p_tot, far below 1e-6": (_long, lambda s: sigmoid(1.5 + 0.12 * enter("total_logprob", s))),
    "narrow: linear in logit p_avg": (_narrow, lambda s: sigmoid(-2.9 + 1.2 * enter("mean_logprob", s))),
    "bent: no line in log odds": (_total, lambda s: 0.05 + 0.6 * sigmoid(3 + 3 * enter("total_logprob", s))),
}


def _ours(kind: str | None) -> Fit:
    def fitted(s: Floats, y: Labels) -> Callable[[Floats], Floats]:
        x, n = enter("total_logprob", s)[:, None], len(y)
        choice = select_map(x, y, np.arange(n), FEATURE) if kind is None else Selection(kind, 1, 0.0, ())
        made = fit_map(choice, x, y, FEATURE)
        return lambda new: np.clip(sigmoid(made.log_odds(enter("total_logprob", new)[:, None])), 1 / (n + 2), 1 - 1 / (n + 2))

    return fitted


def _sklearn_sigmoid(s: Floats, y: Labels) -> Callable[[Floats], Floats]:
    if y.all() or not y.any():
        return lambda new: np.full(len(new), float(y[0]))
    made = _SigmoidCalibration().fit(np.exp(s), y)
    return lambda new: np.asarray(made.predict(np.exp(new)))


def _sklearn_isotonic(s: Floats, y: Labels) -> Callable[[Floats], Floats]:
    made = IsotonicRegression(out_of_bounds="clip").fit(np.exp(s), y)
    return lambda new: np.asarray(made.predict(np.exp(new)))


def _uqlm(s: Floats, y: Labels) -> Callable[[Floats], Floats]:
    if y.all() or not y.any():
        return lambda new: np.full(len(new), float(y[0]))
    made = LogisticRegression().fit(np.exp(s)[:, None], y)
    return lambda new: np.asarray(made.predict_proba(np.exp(new)[:, None])[:, 1])


def _netcal(name: str) -> Fit:
    from netcal import binning, scaling  # type: ignore[import-untyped]

    def fitted(s: Floats, y: Labels) -> Callable[[Floats], Floats]:
        made = {
            "logistic": scaling.LogisticCalibration,
            "beta": scaling.BetaCalibration,
            "temperature": scaling.TemperatureScaling,
            "isotonic": binning.IsotonicRegression,
            "histogram": lambda: binning.HistogramBinning(bins=10),
        }[name]()
        made.fit(np.exp(s), y.astype(int))
        return lambda new: np.asarray(made.transform(np.exp(new))).ravel()

    return fitted


def maps() -> dict[str, Fit]:
    """Every map that is compared, by name."""
    found: dict[str, Fit] = {"**Assay, selected**": _ours(None)}
    kinds: tuple[str, ...] = ("platt", "beta", "venn_abers", "isotonic", "histogram", "temperature", "base_rate")
    found |= {f"Assay, {kind}": _ours(kind) for kind in kinds}
    found |= {
        "scikit-learn, sigmoid (on the probability)": _sklearn_sigmoid,
        "scikit-learn, isotonic": _sklearn_isotonic,
        "uqlm, platt (LogisticRegression, C = 1, on the score)": _uqlm,
        "uqlm, isotonic": _sklearn_isotonic,
    }
    if importlib.util.find_spec("netcal"):
        found |= {f"netcal, {name}": _netcal(name) for name in ("logistic", "beta", "temperature", "isotonic", "histogram")}
    return found


def errors(worlds: int, seed: int) -> None:
    """Print, for each world, the expected skill score on new samples and mean |q - p|, by map and n."""
    fits = maps()
    for title, (draw, truth) in WORLDS.items():
        new = draw(np.random.default_rng(seed + 10_000), NEW)
        q = truth(new)
        reference = q.mean() * (1 - q.mean())
        oracle = 1 - (q * (1 - q)).mean() / reference
        print(f"\n### {title}: base rate {q.mean():.2f}, the truth's own skill score {oracle:.3f}\n")
        rows = []
        for name, fit in fits.items():
            cells, sure = [], 0.0
            for n in SIZES:
                found = []
                for world in range(worlds):
                    rng = np.random.default_rng((seed, world, n))
                    s = draw(rng, n)
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        p = fit(s, rng.random(n) < truth(s))(new)
                    found.append((1 - ((p - q) ** 2 + q * (1 - q)).mean() / reference, np.abs(p - q).mean()))
                    if n == 100:
                        sure = max(sure, float(((p == 0) | (p == 1)).mean()))
                skill, off = np.mean(found, axis=0)
                cells.append(f"{skill:.3f} ({off:.3f})")
            rows.append([name, *cells, f"{100 * sure:.0f} %"])
        print(harness.table(["map", *(f"n = {n:,}" for n in SIZES), "says 0 or 1, n = 100"], rows), flush=True)
    print(f"\nSkill score (mean |q - p|), means over {worlds} worlds; 0 or 1: the most in any world.")


def speed(seed: int, n: int = 1_000_000, rounds: int = 5) -> None:
    """Print the time of a Platt fit to n samples, ours and scikit-learn's, in turns."""
    rng = np.random.default_rng(seed)
    x = rng.normal(-2, 3, n)
    y = rng.random(n) < sigmoid(-0.5 + 0.7 * x)
    ways: dict[str, Callable[[], object]] = {
        "Assay": lambda: fit_platt(x[:, None], y),
        "scikit-learn's sigmoid calibration": lambda: _SigmoidCalibration().fit(x, y),
        "scikit-learn's LogisticRegression, C = inf": lambda: LogisticRegression(C=np.inf).fit(x[:, None], y),
    }
    took: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(rounds):
        for name in harness.in_turn(ways, number):
            took[name].append(harness.milliseconds(ways[name]) / 1e3)
    print(f"### Platt on {n:,} samples, {rounds} rounds in turns\n")
    rows = [
        [name, harness.spread(theirs, ".3f"), harness.spread([a / b for a, b in zip(took["Assay"], theirs, strict=True)])]
        for name, theirs in took.items()
    ]
    print(harness.table(["median (lowest to highest)", "seconds", "ours / theirs"], rows), flush=True)


def main() -> None:
    parser = harness.parser_of(__doc__)
    parser.add_argument("--worlds", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    speed(arguments.seed)
    errors(arguments.worlds, arguments.seed)


if __name__ == "__main__":
    main()
