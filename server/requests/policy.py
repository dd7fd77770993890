"""Whether the model is asked, how long after a keystroke, and whether what it wrote is shown. Pure.

The propensity of a decision is P(shown) for this suggestion under the policy, before the draw, whether it then was shown or not. What
became of a suggestion in the editor is known only of those that were shown, so that a mean over all suggestions, the hidden ones too, is
estimated from the shown ones with the weight 1 / propensity (Horvitz & Thompson 1952): unbiased as far as every propensity is above 0.
With explore = 0 that of the hidden ones is 0, and the log speaks of what is above the dial only.
"""

from __future__ import annotations

import hashlib
import math
import re
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Literal

from ...calibration.confidence import Confidence
from ...calibration.plain_number import plain
from ...inference.completion.task import rest_of_line
from ...suggestion.zones import zone_at

# What may stand behind the cursor on its line: what an editor closed by itself and what ends a line. Copilot's rule, but for the order, so
# that `"), {` counts as well; llama.vim asks wherever at most 8 characters stand there, Tabby everywhere.
_ENDS_A_LINE = re.compile(r"[\s)>}\]\"'`:{;,]*")
# What no model can go on from is white space and a byte order mark.
_SOMETHING = re.compile(r"[^\s\ufeff]")


class Refusal(StrEnum):
    """Why the model is not asked."""

    LANGUAGE = "language"  # the user turned the language off
    SECRET = "secret"  # the file may hold secrets
    AUTOMATIC = "automatic"  # the user wants suggestions only when invoked
    PAUSED = "paused"  # the user wants none for a while but when invoked
    COMMENT = "comment"  # the user wants none in comments
    STRING = "string"  # the user wants none in strings
    BLANK = "blank"  # nothing stands in the document yet
    WORD = "word"  # a word goes on behind the cursor
    BEHIND = "behind"  # the line goes on behind the cursor

    @property
    def sentence(self) -> str:
        """The reason for people. `Rules.sentence` says of PAUSED also until when."""
        return _SENTENCES[self]

    @property
    def holds_if_invoked(self) -> bool:
        """Whether it refuses invoked suggestions, too: all others only keep the user from being interrupted."""
        return self in (Refusal.LANGUAGE, Refusal.SECRET)

    @property
    def is_lasting(self) -> bool:
        """Whether it keeps a whole document silent until the user changes something."""
        return self in (Refusal.LANGUAGE, Refusal.SECRET, Refusal.AUTOMATIC)


_SENTENCES = {
    Refusal.LANGUAGE: "Suggestions are turned off in this language (assay.disabledLanguages).",
    Refusal.SECRET: "This file may hold secrets, so the model is not shown it.",
    Refusal.AUTOMATIC: "Suggestions come only when they are invoked (assay.automatic).",
    Refusal.PAUSED: "Suggestions are paused; they come only when they are invoked (assay.pause).",
    Refusal.COMMENT: "Suggestions in comments come only when they are invoked (assay.inComments).",
    Refusal.STRING: "Suggestions in strings come only when they are invoked (assay.inStrings).",
    Refusal.BLANK: "Nothing stands in this document yet; suggestions there come only when they are invoked.",
    Refusal.WORD: "The cursor stands before the rest of a word; suggestions there come only when they are invoked.",
    Refusal.BEHIND: "The line goes on behind the cursor; suggestions there come only when they are invoked.",
}


@dataclass(frozen=True, slots=True)
class Rules:
    """What the user allows, as in the settings of the same names; paused_until: the end of a pause, None where there is none."""

    automatic: bool = True
    in_comments: bool = True
    in_strings: bool = True
    disabled_languages: frozenset[str] = frozenset()
    paused_until: datetime | None = None

    def sentence(self, refusal: Refusal) -> str:
        """The reason for people."""
        if refusal is Refusal.PAUSED and self.paused_until is not None:
            return f"Suggestions are paused until {self.paused_until:%H:%M}; until then they come only when they are invoked (assay.pause)."
        return refusal.sentence


def document_refusal(language: str, rules: Rules, *, secret: bool = False) -> Refusal | None:
    """Why no suggestion comes by itself anywhere in a document; None where one may. No text of the document is needed.

    secret: the file may hold secrets, by its path.
    """
    if secret:
        return Refusal.SECRET
    if language.casefold() in map(str.casefold, rules.disabled_languages):
        return Refusal.LANGUAGE
    if not rules.automatic:
        return Refusal.AUTOMATIC
    return None if rules.paused_until is None else Refusal.PAUSED


def place_refusal(prefix: str, suffix: str, language: str, rules: Rules, *, cut: bool = False) -> Refusal | None:
    """Why no suggestion comes by itself between prefix and suffix; None where one may. Invoked ones come everywhere. cut: as `zone_at`."""
    if not _SOMETHING.search(prefix) and not _SOMETHING.search(suffix):
        return Refusal.BLANK
    if suffix[:1].isalnum() or suffix[:1] == "_":
        return Refusal.WORD
    if not _ENDS_A_LINE.fullmatch(rest_of_line(suffix)):
        return Refusal.BEHIND
    if rules.in_comments and rules.in_strings:
        return None
    zone = zone_at(prefix, language, cut=cut)
    if zone == "comment" and not rules.in_comments:
        return Refusal.COMMENT
    return Refusal.STRING if zone == "string" and not rules.in_strings else None


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


# So many bits of a hash make a number that a float holds exactly.
_BITS = 53


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether a suggestion is shown; propensity: the probability with which this one is, 0 to 1; reason: why, for people."""

    shown: bool
    propensity: float
    reason: str


def decide(
    confidence: Confidence, *, show_above: float, show_uncalibrated: bool, explore: float, draw: float, invoked: bool = False
) -> Decision:
    """Whether to show a suggestion with this confidence.

    Shown are those whose probability is at least show_above (so that 1 shows none: no calibrator is ever that sure) and, with
    show_uncalibrated, those that have none because nothing is known; not those whose measures are beyond all that a calibrator has seen
    ("outside"), for that is a reason to doubt them. Of the others a share `explore` is shown at random: where draw, a uniform number in
    [0, 1), is below it (`draw_of`). explore is 0 where nothing is logged, for then nobody learns from it.

    invoked: the user asked for a suggestion. It is shown, whatever the dial says: the dial guards against what nobody asked for, the band
    tells how likely this one is to be right, and no answer at all would look like a failure. Its propensity is 1.

    Raises ValueError for a show_above or an explore outside [0, 1] and for a draw outside [0, 1).
    """
    if not (0 <= show_above <= 1 and 0 <= explore <= 1 and 0 <= draw < 1):
        raise ValueError(f"show_above {show_above} and explore {explore} are from 0 to 1, and draw {draw} from 0 to below 1")
    probability = confidence.probability
    if invoked:
        return Decision(True, 1.0, "it was asked for")
    if probability is None and confidence.status == "outside":
        wanted, why = False, f"it has no probability: {confidence.reason}"
    elif probability is None:
        wanted, why = show_uncalibrated, f"it has no probability, and such are {'shown' if show_uncalibrated else 'hidden'}"
    else:
        wanted = probability >= show_above
        why = f"its probability, {plain(probability, 4)}, is {'at least' if wanted else 'below'} {plain(show_above, 4)}"
    if wanted:
        return Decision(True, 1.0, why)
    if draw < explore:
        return Decision(True, explore, f"{why}, but it is one of the {explore:.2%} of the hidden that are shown at random")
    return Decision(False, explore, why)


def draw_of(generation_id: str) -> float:
    """A uniform number in [0, 1) that belongs to a generation: the same at each keystroke along its text.

    A new draw for each of them would let a hidden suggestion flash up sooner or later, with a propensity that nobody knows.
    """
    digest = hashlib.sha256(generation_id.encode("utf-8", "surrogatepass")).digest()
    return (int.from_bytes(digest[:8], "big") >> (64 - _BITS)) / (1 << _BITS)
