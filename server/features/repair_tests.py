"""Repairs that a project's tests were run with: those that the tests refuse go away."""

from __future__ import annotations

from dataclasses import replace

from ...suggestion.repair.verified import Verification, kept, with_lines
from ..documents.documents import Document
from ..language_server import AssayServer
from ..repairs.found import Found

_TIME_UP = Verification(None, 0, 0.0, why="not run: the time was up (assay.repair.maxMs)")


async def with_tests(ls: AssayServer, found: Found, document: Document) -> Found:
    """The repairs with what the tests say of them, the best first, as far as there is time (assay.repair.maxMs).

    Without consent the user is asked, and nothing waits for the answer. The first run of a suite goes on when the time is up: the next
    request has its result.
    """
    repairs = found.repairs.found
    is_told = bool(found.verifications) and all(said.passed is not None for said in found.verifications.values())
    if is_told or not repairs or not ls.settings.repair_verify:
        return found
    before = document.text
    texts = [with_lines(before, repair.suggestion) for repair in repairs]
    said = await ls.verifications.judged_within(ls.settings.repair_max_ms / 1e3, document.uri, before, texts, asks="later")
    if all(each.passed is None for each in said):
        return found
    said += [_TIME_UP] * (len(repairs) - len(said))
    told = list(zip(repairs, said, strict=True))
    verified = replace(
        found,
        repairs=replace(found.repairs, found=tuple(repair for repair, _ in kept(told))),
        verifications={**found.verifications, **{repair.suggestion.id: verification for repair, verification in told}},
    )
    ls.repairs.found.add(verified)
    return verified
