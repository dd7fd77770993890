"""The figures of benchmarks/live.py as Markdown tables, made from its records."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from replay import DIAL, Key, Played

DIALS = (0.0, 0.3, 0.5, 0.7)
RESAMPLES = 2000
# Of the time that a key has before the next: who answers few keys, from memory alone, has the best times over those.
WITHIN_MS = (10, 50, 100, 200)
_Z = 1.959964

Segments = Sequence[Played]


@dataclass(frozen=True, slots=True)
class Figure:
    """A number of one contender. `of` may be None where it has none. ratio: whether it is compared with the first contender's."""

    name: str
    of: Callable[[Segments], float | None]
    digits: int = 0
    unit: str = ""
    ratio: bool = False


def _keys(played: Segments) -> list[Key]:
    return [key for segment in played for key in segment.keys]


def _shown(played: Segments) -> list[Key]:
    return [key for key in _keys(played) if key.shown_ms is not None]


def _quantile(q: float) -> Callable[[Segments], float | None]:
    def of(played: Segments) -> float | None:
        times = [key.shown_ms for key in _shown(played) if key.shown_ms is not None]
        return float(np.quantile(times, q)) if times else None

    return of


def _waits(played: Segments) -> list[float]:
    """Of each key the ms until the first suggestion that came on the screen from then on, for this or a later key; infinite for none."""
    waits = []
    for segment in played:
        comes = math.inf
        for key in reversed(segment.keys):
            if key.shown_ms is not None:
                comes = key.pressed + key.shown_ms / 1e3
            waits.append((comes - key.pressed) * 1e3)
    return waits


def _wait(q: float) -> Callable[[Segments], float | None]:
    def of(played: Segments) -> float | None:
        ms = float(np.quantile(_waits(played), q, method="higher"))
        return ms if math.isfinite(ms) else None

    return of


def _per_key(of: Callable[[Played], float | None], scale: float = 1.0) -> Callable[[Segments], float | None]:
    def figure(played: Segments) -> float | None:
        values = [of(segment) for segment in played]
        known = [value for value in values if value is not None]
        return scale * sum(known) / len(_keys(played)) if len(known) == len(values) else None

    return figure


def _share(of: Callable[[Key], bool], among: Callable[[Segments], list[Key]]) -> Callable[[Segments], float | None]:
    def figure(played: Segments) -> float | None:
        keys = among(played)
        return 100 * sum(map(of, keys)) / len(keys) if keys else None

    return figure


def _within(ms: float) -> Callable[[Key], bool]:
    return lambda key: key.shown_ms is not None and key.shown_ms <= ms


def keystrokes_saved(played: Segments, dial: float = DIAL) -> float | None:
    """Of the characters of the text, those that an author writes by accepting who takes all that is right and shown at P >= dial.

    Each acceptance costs a key. A program that gives no probabilities shows all.
    """
    saved = 0
    for segment in played:
        at = 0
        for key in segment.keys:
            if key.saves > 1 and key.written >= at and (key.probability is None or key.probability >= dial):
                saved += key.saves - 1
                at = key.written + key.saves
    return 100 * saved / sum(segment.characters for segment in played)


def _came(played: Segments) -> float | None:
    said = sum(key.said for key in _shown(played))
    return 100 * sum(key.came for key in _shown(played)) / said if said else None


FIGURES = (
    Figure(f"keystrokes saved, shown at P ≥ {DIAL:g}", keystrokes_saved, 1, " %", ratio=True),
    Figure("… with all that is shown", lambda played: keystrokes_saved(played, 0.0), 1, " %", ratio=True),
    Figure("of the text that was shown, then written", _came, 1, " %", ratio=True),
    Figure("keys", lambda played: len(_keys(played))),
    Figure("keys for 100 characters of the text", lambda played: 100 * len(_keys(played)) / sum(s.characters for s in played), 1),
    Figure("suggestions accepted", lambda played: sum(s.accepts for s in played)),
    Figure("of the text, accepted", lambda played: 100 * sum(s.accepted for s in played) / sum(s.characters for s in played), 1, " %"),
    Figure("key to suggestion, p50", _quantile(0.5), 1, " ms", ratio=True),
    Figure("key to suggestion, p95", _quantile(0.95), 1, " ms", ratio=True),
    Figure("key to the next suggestion, whichever key it is for, p50", _wait(0.5), 1, " ms", ratio=True),
    Figure("… p95", _wait(0.95), 1, " ms", ratio=True),
    Figure("keys with a suggestion before the next", _share(lambda key: key.shown_ms is not None, _keys), 1, " %", ratio=True),
    *(Figure(f"… within {ms} ms", _share(_within(ms), _keys), 1, " %", ratio=True) for ms in WITHIN_MS),
    Figure("keys never answered", lambda played: len(_keys(played)) - len(_shown(played))),
    Figure("suggestions that were right, whole", _share(lambda key: key.exact, _shown), 1, " %"),
    Figure("… up to their first line", _share(lambda key: key.first_line, _shown), 1, " %"),
    Figure("… of all keys", _share(lambda key: key.shown_ms is not None and key.first_line, _keys), 1, " %", ratio=True),
    Figure("CPU for 1,000 keys", _per_key(lambda s: s.cpu_s, 1e3), 1, " s", ratio=True),
    Figure(
        "CPU for 1,000 characters of the text",
        lambda played: 1e3 * sum(s.cpu_s for s in played) / sum(s.characters for s in played),
        1,
        " s",
        ratio=True,
    ),
    Figure("… of editor and plugin, for 1,000 keys", _per_key(lambda s: s.client_cpu_s, 1e3), 1, " s"),
    Figure("tokens decoded for a key", _per_key(lambda s: s.work.decoded_tokens), 2, ratio=True),
    Figure("tokens of prompts read for a key", _per_key(lambda s: s.work.prompt_tokens), 1),
    Figure("requests for a key", _per_key(lambda s: s.work.requests), 2),
    Figure("… cancelled, superseded or empty", _per_key(lambda s: s.work.cancelled), 2),
    Figure("… answered and never shown", _per_key(lambda s: s.work.unused), 2),
    Figure("latest event of the author", lambda played: max((s.late_ms for s in played), default=0.0), 1, " ms"),
)


def table(of: Mapping[str, Segments], against: str) -> str:
    """Figures of every contender, and their ratios to those of `against`, with a 95 % interval over resampled segments."""
    others = [name for name in of if name != against]
    heads = [*of, *(f"{name} / {against}" for name in others)]
    rows = [f"| | {' | '.join(heads)} |", "|:--|" + "--:|" * len(heads)]
    for figure in FIGURES:
        cells = [_number(figure, figure.of(played)) for played in of.values()]
        cells += [_ratio(figure.of, of[name], of[against]) if figure.ratio else "" for name in others]
        rows.append(f"| {figure.name} | {' | '.join(cells)} |")
    for q in (0.5, 0.95):
        cells = [""] * len(of)
        cells += [_ratio_where_both(q, of[name], of[against]) for name in others]
        rows.append(f"| p{100 * q:.0f} over the keys that both answered | {' | '.join(cells)} |")
    return "\n".join(rows)


def dial_table(played: Segments) -> str:
    """What the calibrator predicted beside what was right, for suggestions shown at P ≥ dial."""
    rows = ["| shown at P ≥ | n | promised, mean | right | 95 % (Wilson) |", "|--:|--:|--:|--:|:--|"]
    shown = _shown(played)
    with_number = [(key.probability, key.exact) for key in shown if key.probability is not None]
    for dial in DIALS:
        passed = [(p, right) for p, right in with_number if p >= dial]
        if not passed:
            rows.append(f"| {dial:g} | 0 | | | |")
            continue
        n, k = len(passed), sum(right for _, right in passed)
        low, high = wilson(k, n)
        rows.append(f"| {dial:g} | {n} | {sum(p for p, _ in passed) / n:.3f} | {k / n:.3f} | {low:.3f} to {high:.3f} |")
    return "\n".join([*rows, "", f"{len(shown) - len(with_number)} of {len(shown)} suggestions had no probability."])


def wilson(k: int, n: int) -> tuple[float, float]:
    """The 95 % interval of a share, k of n (Wilson 1927)."""
    p, z2 = k / n, _Z**2
    centre, half = (p + z2 / (2 * n)) / (1 + z2 / n), _Z * math.sqrt(p * (1 - p) / n + z2 / (4 * n * n)) / (1 + z2 / n)
    return centre - half, centre + half


def _number(figure: Figure, value: float | None) -> str:
    return "–" if value is None else f"{value:,.{figure.digits}f}{figure.unit}"


def _ratio(of: Callable[[Segments], float | None], one: Segments, other: Segments) -> str:
    def ratio(pairs: Sequence[tuple[Played, Played]]) -> float | None:
        a, b = of([pair[0] for pair in pairs]), of([pair[1] for pair in pairs])
        return a / b if a is not None and b else None

    return _with_interval(ratio, one, other)


def _ratio_where_both(q: float, one: Segments, other: Segments) -> str:
    def ratio(pairs: Sequence[tuple[Played, Played]]) -> float | None:
        times: tuple[list[float], list[float]] = ([], [])
        for a, b in pairs:
            theirs = {(key.kind, key.at, key.number): key.shown_ms for key in b.keys}
            for key in a.keys:
                if key.shown_ms is not None and (answered := theirs.get((key.kind, key.at, key.number))) is not None:
                    times[0].append(key.shown_ms)
                    times[1].append(answered)
        return float(np.quantile(times[0], q) / np.quantile(times[1], q)) if times[0] else None

    return _with_interval(ratio, one, other)


def _with_interval(ratio: Callable[[Sequence[tuple[Played, Played]]], float | None], one: Segments, other: Segments) -> str:
    pairs = list(zip(one, other, strict=True))
    value = ratio(pairs)
    if value is None:
        return "–"
    rng = np.random.default_rng(0)
    drawn = [ratio([pairs[i] for i in rng.integers(len(pairs), size=len(pairs))]) for _ in range(RESAMPLES if len(pairs) > 1 else 0)]
    known = [r for r in drawn if r is not None]
    return f"{value:.2f} ({np.quantile(known, 0.025):.2f} to {np.quantile(known, 0.975):.2f})" if known else f"{value:.2f}"
