"""The figures of benchmarks/live.py as Markdown tables, made from its records."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from harness import resampled_ratio, share, table
from replay import DIAL, Key, Played

DIALS = (0.0, 0.3, 0.5, 0.7)
# Of the time that a key has before the next: who answers few keys, from memory alone, has the best times over those.
WITHIN_MS = (50, 200)

Segments = Sequence[Played]
Of = Callable[[Segments], float | None]


@dataclass(frozen=True, slots=True)
class Figure:
    """A number of one contender. `of` may be None where it has none. ratio: whether it is compared with the first contender's."""

    name: str
    of: Of
    digits: int = 1
    unit: str = " %"
    ratio: bool = True


def _keys(played: Segments) -> list[Key]:
    return [key for segment in played for key in segment.keys]


def _shown(played: Segments) -> list[Key]:
    return [key for key in _keys(played) if key.shown_ms is not None]


def _characters(played: Segments) -> int:
    return sum(segment.characters for segment in played)


def _quantile(q: float) -> Of:
    def of(played: Segments) -> float | None:
        times = [key.shown_ms for key in _shown(played) if key.shown_ms is not None]
        return float(np.quantile(times, q)) if times else None

    return of


def _wait(played: Segments) -> float | None:
    """The median over keys of the ms until the first suggestion that came from then on, for this or a later key."""
    waits = []
    for segment in played:
        comes = math.inf
        for key in reversed(segment.keys):
            if key.shown_ms is not None:
                comes = key.pressed + key.shown_ms / 1e3
            waits.append((comes - key.pressed) * 1e3)
    ms = float(np.quantile(waits, 0.5, method="higher"))
    return ms if math.isfinite(ms) else None


def _share(of: Callable[[Key], bool], among: Callable[[Segments], list[Key]] = _keys) -> Of:
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
    return 100 * saved / _characters(played)


def _came(played: Segments) -> float | None:
    said = sum(key.said for key in _shown(played))
    return 100 * sum(key.came for key in _shown(played)) / said if said else None


def _cpu(played: Segments) -> float:
    return 1e3 * sum(segment.cpu_s for segment in played) / _characters(played)


FIGURES = (
    Figure(f"keystrokes saved, shown at P ≥ {DIAL:g}", keystrokes_saved),
    Figure("… with all that is shown", lambda played: keystrokes_saved(played, 0.0)),
    Figure("of the text that was shown, then written", _came),
    Figure("keys", lambda played: len(_keys(played)), 0, "", ratio=False),
    Figure("key to suggestion, p50", _quantile(0.5), unit=" ms"),
    Figure("key to suggestion, p95", _quantile(0.95), unit=" ms"),
    Figure("key to the next suggestion, whichever key it is for, p50", _wait, unit=" ms"),
    Figure("keys with a suggestion before the next", _share(lambda key: key.shown_ms is not None)),
    *(Figure(f"… within {ms} ms", _share(_within(ms))) for ms in WITHIN_MS),
    Figure("suggestions that were right, whole", _share(lambda key: key.exact, _shown), ratio=False),
    Figure("… up to their first line, of all keys", _share(lambda key: key.shown_ms is not None and key.first_line)),
    Figure("CPU for 1,000 characters of the text", _cpu, unit=" s"),
    Figure("latest event of the author", lambda played: max((s.late_ms for s in played), default=0.0), unit=" ms", ratio=False),
)


def figures_table(of: Mapping[str, Segments], against: str) -> str:
    """Figures of every contender, and their ratios to those of `against`, with a 95 % interval over resampled segments."""
    others = [name for name in of if name != against]
    rows = []
    for figure in FIGURES:
        cells = [_number(figure, figure.of(played)) for played in of.values()]
        cells += [_ratio(figure.of, of[name], of[against]) if figure.ratio else "" for name in others]
        rows.append([figure.name, *cells])
    return table(["", *of, *(f"{name} / {against}" for name in others)], rows)


def dial_table(played: Segments) -> str:
    """What the calibrator predicted beside what was right, for suggestions shown at P ≥ dial."""
    with_number = [(key.probability, key.exact) for key in _shown(played) if key.probability is not None]
    rows = []
    for dial in DIALS:
        passed = [(p, right) for p, right in with_number if p >= dial]
        promised = f"{100 * sum(p for p, _ in passed) / len(passed):.1f} %" if passed else ""
        rows.append([f"{dial:g}", promised, share(sum(right for _, right in passed), len(passed))])
    made = table(["shown at P ≥", "promised, mean", "right, 95 %"], rows)
    return f"{made}\n\n{len(_shown(played)) - len(with_number)} of {len(_shown(played))} suggestions had no probability."


def _number(figure: Figure, value: float | None) -> str:
    return "–" if value is None else f"{value:,.{figure.digits}f}{figure.unit}"


def _ratio(of: Of, one: Segments, other: Segments) -> str:
    def ratio(pairs: Sequence[tuple[Played, Played]]) -> float | None:
        a, b = of([pair[0] for pair in pairs]), of([pair[1] for pair in pairs])
        return a / b if a is not None and b else None

    return resampled_ratio(ratio, list(zip(one, other, strict=True)))
