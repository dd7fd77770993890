"""Repairs that a project's tests were run with: those that the tests refuse go away."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ...calibration.plain_number import plain
from ...suggestion.repair.verified import Verification, Verified, is_more_wanted, with_lines
from ..documents.documents import Document
from ..language_server import AssayServer
from ..repairs.found import Found

# How the reason begins why what there was no time for is not verified.
TIME_UP = "the tests took over"


async def with_tests(
    ls: AssayServer, found: Found, document: Document, tell: Callable[[str], None] = lambda _: None, passing: int | None = None
) -> Found:
    """The repairs with what the tests say of them, tried best first until so many pass, or the time is up (assay.repair.maxMs).

    passing: as of `is_more_wanted`. Without consent the user is asked, and nothing waits for the answer. The first run of a suite goes on
    when the time is up: the next request has its result.
    """
    if not found.candidates or not ls.settings.repair_verify or await ls.verifications.are_refused(document.uri):
        return replace(found, not_verified="")  # what was to be said before the user said no
    most, before = ls.settings.repair_candidates, document.text
    known = {name: said for name, said in found.verifications.items() if said.passed is not None}
    judged = [(repair, known[repair.suggestion.id]) for repair in found.candidates if repair.suggestion.id in known]
    left = [repair for repair in found.candidates if repair.suggestion.id not in known]
    why = ""

    def is_wanted(said: Sequence[Verification]) -> bool:
        tell(f"tests: {len(known) + len(said)} of {len(found.candidates)} repairs tried")
        return is_more_wanted([*known.values(), *said], most, passing)

    if left and is_wanted(()):
        max_ms = ls.settings.repair_max_ms
        texts = (with_lines(before, repair.suggestion) for repair in left)
        said = await ls.verifications.judged_within(max_ms / 1e3, document.uri, before, texts, is_wanted, asks="later")
        if len(said) < len(left) and is_more_wanted([*known.values(), *said], most, passing):
            why = f"{TIME_UP} {plain(max_ms / 1e3, 6)} s (assay.repair.maxMs)"
        judged += zip(left, said, strict=False)
        left = left[len(said) :]
    return _with(found, Verified(tuple(judged), tuple(left), why), most)


def _with(found: Found, verified: Verified, most: int) -> Found:
    """What is shown, and why the first is not verified. Where the tests tell nothing, all is as without them."""
    shown = verified.shown(most)
    first = shown[0][1] if shown else None
    not_verified = "" if first is None or first.passed else first.why
    if all(said.passed is None for _, said in verified.judged):
        return replace(found, not_verified=not_verified)
    return replace(
        found,
        repairs=replace(found.repairs, found=tuple(repair for repair, _ in shown)),
        verifications={repair.suggestion.id: said for repair, said in (*shown, *verified.judged) if said.passed is not None or said.why},
        not_verified=not_verified,
    )
