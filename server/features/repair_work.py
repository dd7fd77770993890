"""The work of a chosen repair: with progress, cancellable from both sides, and what it came to said where it came to nothing."""

from __future__ import annotations

from lsprotocol import types

from ...suggestion.repair.request import Repair
from ..language_server import AssayServer
from ..repairs.found import Found
from ..repairs.lines import Lines
from ..repairs.repairing import NoRepairs
from ..requests.scheduler import Superseded
from ..verification.consent import UNANSWERED
from .progress import cancellable_progress, log_line
from .repair_places import found_for
from .repair_tests import TIME_UP

REPAIR = "assay.repair"
CHOOSE = "assay.chooseRepair"
REFUSED = "The tests of the project refuse this repair by now."
CHANGED = "The text has changed, and this repair was made for the text before. Ask for the repairs again."


async def repair_for(ls: AssayServer, lines: Lines, suggestion_id: str | None) -> tuple[Repair, Lines] | None:
    """The repair of an id, or the best one, and the lines as they are now; None where there is none: then the user was told why."""
    # Who names one has seen what was known of it.
    found = await repairs_for(ls, lines, verify=suggestion_id is None, passing=1)
    if found is None:
        return None
    repair, is_refused = found.repair(suggestion_id), suggestion_id is not None and found.is_refused(suggestion_id)
    if repair is None or is_refused:
        say(ls, REFUSED if is_refused else CHANGED)
        return None
    await _tell_why_not_verified(ls, found.lines.uri, found.why_not_verified(repair))
    return repair, found.lines


async def _tell_why_not_verified(ls: AssayServer, uri: str, why: str) -> None:
    """Tell the user what will be otherwise the next time; what stays as it is, such as a language without tests, is a line of the log.

    Nothing is said where the question was answered after that was found.
    """
    is_answered = why == UNANSWERED and not ls.verifications.is_asking(uri)
    if not why or is_answered or await ls.verifications.are_refused(uri):
        return
    told = f"not verified: {why}"
    if why == UNANSWERED or why.startswith(TIME_UP):
        say(ls, told)  # short: Neovim stops for a message that is longer than a line
    else:
        log_line(ls, told)


async def repairs_for(ls: AssayServer, lines: Lines, *, verify: bool = True, passing: int | None = None) -> Found | None:
    """The repairs of lines, at least one; None where there are none: then the user was told why, but of a later request in its place.

    verify, passing: as of `found_for`.
    """
    try:
        async with cancellable_progress(ls, "repair", "looking for repairs") as tell:
            found = await found_for(ls, lines, tell, verify=verify, passing=passing)
    except Superseded:
        return None
    except NoRepairs as error:
        say(ls, f"No repair: {error}")
        return None
    if not found.repairs.found:
        say(ls, f"No repair: {nothing(found)}")
        return None
    return found


def nothing(found: Found) -> str:
    """Why nothing was found, in a sentence."""
    if found.refused:
        return f"the tests refuse {'the one that was found' if found.refused == 1 else f'all {found.refused} that were found'}."
    if found.repairs.stopped_by is not None:
        return "nothing was found in time (assay.repair.maxMs)."
    if found.repairs.why_none:
        return found.repairs.why_none
    trouble = found.repairs.not_asked.get("instruct", "")
    return f"nothing else was found that fits there. {trouble}".strip()


def say(ls: AssayServer, message: str) -> None:
    """Tell the user."""
    ls.window_show_message(types.ShowMessageParams(types.MessageType.Info, f"Assay: {message}"))
