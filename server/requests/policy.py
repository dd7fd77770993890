"""What is shown: the user's dial, and the small share of the hidden that is shown all the same so that calibrators can learn. Pure.

The propensity of a decision is P(shown) for this suggestion under the policy, before the draw, whether it then was shown or not. What
became of a suggestion in the editor is known only of those that were shown, so that a mean over all suggestions, the hidden ones too, is
estimated from the shown ones with the weight 1 / propensity (Horvitz & Thompson 1952): unbiased as far as every propensity is above 0.
With explore = 0 that of the hidden ones is 0, and the log speaks of what is above the dial only.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from ...calibration.confidence import Confidence
from ...calibration.plain_number import plain

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
