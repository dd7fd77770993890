"""From lines of a document to their repairs, and the work of a chosen one: what code actions, commands and requests have in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from ...calibration.plain_number import plain
from ...suggestion.positions import Position
from ...suggestion.repair.gathering import NOTHING_BETTER
from ...suggestion.repair.parsing import PROSE, why_not_parsed
from ...suggestion.repair.request import Repair
from ...suggestion.repair.verified import Verified, is_more_wanted
from ...suggestion.zones import is_prose
from ..documents.documents import Document
from ..documents.workspace import below_root, path_of
from ..features.completions import UNKNOWN_DOCUMENT, is_secret_document, surroundings_at
from ..features.progress import cancellable_progress, log_line
from ..model.request import ReadAlong, RepairRequest
from ..model.scheduler import Superseded
from ..requests.policy import Rules, document_refusal
from ..session import Session
from ..tracking.outcome_tracker import RepairOutcomes
from ..user_messages import show
from ..verification.consent import UNANSWERED
from ..verification.verifications import Verifications
from .edits import actions_of, workspace_edit
from .found import Found
from .lines import Lines, found_again
from .repairing import EditorRequest, NoRepairs, RepairRequests
from .trial import More, Trial

# How the reason begins why what there was no time for is not verified.
TIME_UP = "the tests took over"
# A text is parsed, and while it is, a completion waits.
_MAX_CHARACTERS = 1_000_000
# So many characters of prose are read, each line from the beginning of the string that it is in. Of more, the model's process tells.
_MAX_PROSE = 10_000
# Of so many the tests choose those that are shown.
_MAX_CANDIDATES = 200
# How often lines are asked about whose document changes meanwhile.
_TRIES = 3
GONE = "The text has changed, and the lines are not there any more, or no longer once. Ask for the repair again."
REPAIR = "assay.repair"
CHOOSE = "assay.chooseRepair"
REFUSED = "The tests of the project refuse this repair by now."
CHANGED = "The text has changed, and this repair was made for the text before. Ask for the repairs again."


@dataclass(frozen=True, slots=True)
class RepairWork:
    """Finds the repairs of lines, and has the tests judge them."""

    editor: LanguageServer
    session: Session
    requests: RepairRequests
    verifications: Verifications
    outcomes: RepairOutcomes

    async def _trial(self, document: Document, tell: Callable[[str], None], more: More | None) -> Trial | None:
        """The tests of a request; None where none are to be run. They begin while repairs are still found, where the user allowed them."""
        if not self.session.settings.repair_verify or await self.verifications.are_refused(document.uri):
            return None
        judge = partial(self.verifications.judge, document.uri, document.text)
        begins = await self.verifications.may_run(document.uri)
        return Trial(document.text, judge, more or self._more(None), tell, begins=begins)

    def _more(self, passing: int | None) -> More:
        """Whether more repairs are wanted, where so many are to pass; None: all that are shown."""
        return partial(is_more_wanted, most=self.session.settings.repair_candidates, passing=passing)

    async def _with_tests(self, found: Found, trial: Trial | None, max_ms: float) -> Found:
        """The repairs with what the tests say of them, tried best first until enough pass, or the time is up (assay.repair.maxMs).

        Without consent the user is asked, and nothing waits for the answer. The first run of a suite goes on when the time is up: the next
        request has its result.
        """
        if trial is None or not found.candidates:
            return replace(found, not_verified="")  # what was to be said before the user said no
        seconds = max_ms / 1e3
        trial.know(found)
        verified = await trial.of_all(found.candidates, seconds, f"{TIME_UP} {plain(seconds, 6)} s (assay.repair.maxMs)")
        return _with(found, verified, self.session.settings.repair_candidates)

    def why_none(self, document: Document | None) -> str:
        """Why nothing in a document is repaired, in a sentence; empty where something may be. Looks at no text."""
        if not self.session.settings.repair_enabled:
            return "Repairs are turned off (assay.repair.enabled)."
        if document is None:
            return UNKNOWN_DOCUMENT
        rules = Rules(disabled_languages=self.session.settings.disabled_languages)
        refusal = document_refusal(document.language, rules, secret=is_secret_document(document.uri, path_of(document.uri)))
        return "" if refusal is None else refusal.sentence

    def why_unchecked(self, document: Document, lines: Lines) -> str:
        """Why nothing is repaired in lines that a document has, in a sentence: nothing could check it. Empty where something may be.

        Of the text the lines are looked at, and as much before them as a completion sees.
        """
        if why := why_not_parsed(document.language):
            return why
        read = 0
        prefix, _, cut = self.session.notebooks.around(document, Position(lines.first, 0), self.session.live.window)
        for number in range(lines.first, lines.end):
            line = document.line(number)
            read += len(line)
            if line.strip() and (read > _MAX_PROSE or not is_prose(prefix, line, document.language, cut=cut)):
                return ""
            prefix += line
        return PROSE

    async def found_for(
        self,
        lines: Lines,
        tell: Callable[[str], None] = lambda _: None,
        *,
        verify: bool = True,
        more: More | None = None,
        max_ms: float | None = None,
    ) -> Found:
        """The repairs of lines, of the text as it is when they are given. Where it changed meanwhile, they are asked for anew.

        verify: whether the tests of the project are waited for, where they may be run, and more: whether further repairs are wanted, until
        all that are shown pass if it is left out. max_ms: of the model, and of the tests after it, if not the setting's.

        Raises NoRepairs, and Superseded where a later request for the document came.
        """
        for _ in range(_TRIES):
            asked, document = self.asked_for(lines, max_ms), self.session.documents.get(lines.uri)
            assert document is not None
            if why := self.why_unchecked(document, asked.lines):
                raise NoRepairs(why)
            trial = await self._trial(document, tell, more) if verify else None
            if not self._is_at(asked.lines, document):
                continue
            try:
                choose = partial(self._verified, document, trial, asked.request.max_ms) if verify else None
                found = await self.requests.find(asked, tell, trial, choose)
            finally:
                if trial is not None:
                    trial.close()
            if self._is_at(found.lines, document):
                return found
        raise NoRepairs("The text changes faster than repairs are found. Ask for them again when you have stopped typing.")

    async def _verified(self, document: Document, trial: Trial | None, max_ms: float, found: Found) -> Found:
        return await self._with_tests(found, trial, max_ms) if self._is_at(found.lines, document) else found

    def _is_at(self, lines: Lines, document: Document) -> bool:
        """Whether a document is what it was when it had these lines. One that was closed and opened again counts its versions anew."""
        return self.session.documents.get(lines.uri) is document and document.version == lines.version

    def asked_for(self, lines: Lines, max_ms: float | None = None) -> EditorRequest:
        """What is asked for lines, of the text as it is now. max_ms: if not the setting's. Raises NoRepairs."""
        session, settings = self.session, self.session.settings
        document = session.documents.get(lines.uri)
        if (why := self.why_none(document)) or document is None:
            raise NoRepairs(why)
        now = found_again(document, lines)
        if now is None:
            raise NoRepairs(GONE)
        text, above = session.notebooks.whole(document)
        if len(text) > _MAX_CHARACTERS:
            raise NoRepairs(f"The file has {len(text):,} characters. Only those with up to {_MAX_CHARACTERS:,} are repaired.")
        session.edited_files.tell(document.uri)
        folder, path = below_root(document.uri, session.roots)
        prefix, suffix, _ = session.notebooks.around(document, Position(now.first, 0), session.live.window)
        request = RepairRequest(
            text=text,
            first=above + now.first,
            end=above + now.end,
            language=document.language,
            encoding=document.encoding,
            most=_MAX_CANDIDATES if settings.repair_verify else settings.repair_candidates,
            max_ms=max_ms or settings.repair_max_ms,
            message=now.message,
            instruct=settings.repair_instruct or "",
            surroundings=surroundings_at(session, document, now.first, prefix, suffix),
            settings=session.live.settings,
            memory=ReadAlong(settings.memory, root=folder, path=path),
        )
        root, file = session.root_of(document), path_of(document.uri)
        return EditorRequest(now, request, settings.repair_candidates, above, document.line_count, root, file)

    def edit(self, repairs: Sequence[Repair], lines: Lines) -> types.WorkspaceEdit:
        """The edit that makes repairs of a document, for a client that will make it. lines: any of it, as they are now."""
        self.outcomes.expect(*(repair.suggestion.id for repair in repairs))
        versioned = actions_of(self.editor.client_capabilities).versioned
        return workspace_edit(repairs, lines, self.session.documents.encoding, versioned=versioned)

    async def repair_for(self, lines: Lines, suggestion_id: str | None) -> tuple[Repair, Lines] | None:
        """The repair of an id, or the best one, and the lines as they are now; None where there is none: then the user was told why."""
        # Who names one has seen what was known of it.
        found = await self.repairs_for(lines, verify=suggestion_id is None, more=self._more(1))
        if found is None:
            return None
        if suggestion_id is None and found.nothing_better:
            show(self.editor, f"{NOTHING_BETTER}. Choose a repair to see them.")
            return None
        repair, is_refused = found.repair(suggestion_id), suggestion_id is not None and found.is_refused(suggestion_id)
        if repair is None or is_refused:
            show(self.editor, REFUSED if is_refused else CHANGED)
            return None
        await self._tell_why_not_verified(found.lines.uri, found.why_not_verified(repair))
        return repair, found.lines

    async def _tell_why_not_verified(self, uri: str, why: str) -> None:
        """Tell the user what will be otherwise the next time; what stays as it is, such as a language without tests, is a line of the log.

        Nothing is said where the question was answered after that was found.
        """
        is_answered = why == UNANSWERED and not self.verifications.is_asking(uri)
        if not why or is_answered or await self.verifications.are_refused(uri):
            return
        told = f"not verified: {why}"
        if why == UNANSWERED or why.startswith(TIME_UP):
            show(self.editor, told)  # short: Neovim stops for a message that is longer than a line
        else:
            log_line(self.editor, told)

    async def repairs_for(self, lines: Lines, *, verify: bool = True, more: More | None = None) -> Found | None:
        """The repairs of lines, at least one; None where there are none: then the user was told why, but of a later request in its place.

        verify, more: as of `found_for`.
        """
        try:
            async with cancellable_progress(self.editor, "repair", "looking for repairs") as tell:
                found = await self.found_for(lines, tell, verify=verify, more=more)
        except Superseded:
            return None
        except NoRepairs as error:
            show(self.editor, f"No repair: {error}")
            return None
        if not found.repairs.found:
            show(self.editor, f"No repair: {nothing(found)}")
            return None
        return found


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
