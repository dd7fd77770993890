"""The debounce: how long after a keystroke the model is asked, by the user's typing rhythm. Pure."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

What = Literal["typed", "accepted", "rejected"]

# An editor sends what one key did (a bracket and its partner, a line's end and the next one's indentation) as several changes within a few
# milliseconds. Asked in between, the model would work on a text that is gone at once. All beyond that the user pays.
_MIN_MS = 5.0
# What Copilot's client of 2024 waited at most, by its own prediction of acceptance: 25 + 250 ms (`debouncePredict`).
_MAX_MS = 300.0

# A first token that takes this many of the user's usual gaps between keystrokes will most likely be overtaken by the next one, and a row of
# keystrokes has most likely ended when this long was waited. (What follows the first token goes on while the user types along it.) In
# between there is nothing to gain: in simulated typing (20,000 keystrokes, usual gaps of 90 to 220 ms, answers of 250 ms, every second
# keystroke agreeing with the running generation) half a gap spared 13 to 26 % of the work that was cancelled, 1.5 gaps 81 to 89 %. 1.5 is
# also the least of Tabby's `adaptiveRate`.
_GAPS = 1.5
# Before anything is known of the user: Tabby's `baseInterval`.
_USUAL_MS = 200.0
# Longer gaps are pauses (Tabby's limit as well); shorter ones are the editor's own doing, no human's.
_PAUSE_MS = 400.0
_BY_HAND_MS = 20.0
# How much the latest gap moves the usual one, so that about the last 20 count: so many Tabby waits for before it trusts its average.
_LATEST = 0.1

# What became of a suggestion moves the wait a share of the way to a goal (milliseconds, added to the wait): recent ones count most, three
# rejections in a row come to 173 ms, and two acceptances end any row. Typing on is the usual fate and no verdict.
_GOALS: dict[What, tuple[float, float]] = {"accepted": (-100.0, 0.5), "rejected": (_MAX_MS, 0.25)}
# The time in which that fades to 37 %, as in Copilot's NES (`DEBOUNCE_DECAY_TIME_MS`).
_FADES_S = 600.0


@dataclass(frozen=True, slots=True)
class Recent:
    """What the user did lately: how fast keystrokes follow each other, and how suggestions fared.

    interval_ms: the usual gap between two keystrokes in a row. typed_at_s: the last one. reluctance_ms: what the fate of suggestions adds
    to the wait (below 0: takes off), as of fared_at_s. All times are of one clock that never goes back.
    """

    interval_ms: float = _USUAL_MS
    typed_at_s: float | None = None
    reluctance_ms: float = 0.0
    fared_at_s: float = 0.0

    def reluctance(self, at_s: float) -> float:
        """`reluctance_ms` as far as it has not faded."""
        return self.reluctance_ms * math.exp(-max(0.0, at_s - self.fared_at_s) / _FADES_S)


def after(recent: Recent, what: What, at_s: float) -> Recent:
    """The state after a keystroke, or after a suggestion was accepted or rejected (dismissed; typing on is neither)."""
    if what == "typed":
        gap_ms = math.inf if recent.typed_at_s is None else (at_s - recent.typed_at_s) * 1000
        interval_ms = recent.interval_ms
        if _BY_HAND_MS <= gap_ms <= _PAUSE_MS:
            interval_ms *= (gap_ms / interval_ms) ** _LATEST
        return replace(recent, interval_ms=interval_ms, typed_at_s=at_s)
    goal, share = _GOALS[what]
    now = recent.reluctance(at_s)
    return replace(recent, reluctance_ms=now + share * (goal - now), fared_at_s=at_s)


def delay_ms(
    recent: Recent,
    at_s: float,
    *,
    invoked: bool,
    first_ms: float | None = None,
    setting: float | Literal["adaptive"] = "adaptive",
) -> float:
    """Milliseconds to wait from a keystroke until the model is asked, if no other keystroke comes before. (What is at hand needs no model.)

    0 where the user asks; else what the user set. "adaptive" asks as good as at once where the first token will
    likely come before the next keystroke, and waits for the end of a row of keystrokes where it would likely come too late. It waits
    longer, up to 300 ms, for a user who lately rejected suggestions, and shorter for one who accepted them. A generation that still fits
    what was typed needs no new request, so it is no matter for this.

    first_ms: what the model usually takes until its first token; None before it is known.
    """
    if invoked:
        return 0.0
    if setting != "adaptive":
        return float(setting)
    row_ms = _GAPS * recent.interval_ms
    wait_ms = row_ms if first_ms is not None and first_ms > row_ms else _MIN_MS
    return min(_MAX_MS, max(_MIN_MS, wait_ms + recent.reluctance(at_s)))
