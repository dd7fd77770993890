"""The language server of one editor: makes the parts, gives each those that it needs, and says which answers what."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from .. import __version__
from ..calibration.log.events import ServerStarted
from ..calibration.trust import Trust
from ..inference.completion.settings import Settings
from ..inference.opening import ModelChoice
from ..suggestion.positions import Encoding
from .background_tasks import BackgroundTasks
from .confidence.calibrators import Calibrators, trust_in
from .confidence.drift_watch import DriftWatch, look_hourly
from .confidence.stops import Stops
from .documents import notebooks
from .documents.documents import Document, Splice
from .documents.open_files import OtherFiles
from .documents.workspace import Roots, roots_of
from .features import commands, confidence_requests, models, questions
from .features.completions import Completions
from .features.hover_anchors import HoverAnchors
from .features.menu_registration import MenuRegistration
from .features.model_calibration import ModelCalibration
from .features.pause import Pause
from .features.progress import log_line, report_loading
from .features.status import STATUS, EventLoopLatency, Status, details_of, status_of
from .features.trust import TRUST_GRANTED, TrustQuestions
from .model.live import LiveModel
from .model.process import State
from .model.read_projects import EditedFiles, ReadProjects
from .model.request import GenerationRequest
from .protocol.pygls_protocol import Protocol, converter
from .repairs.code_actions import KINDS, CodeActions
from .repairs.commands import REPAIR_TESTS, REPAIRS, SURPRISE, RepairCommands
from .repairs.repairing import RepairRequests
from .repairs.work import CHOOSE, REPAIR, RepairWork
from .requests.request_ending import RequestCounts
from .requests.requests import Requests
from .session import Session
from .settings.client_settings import ClientSettings
from .settings.settings import new_problems, reload_needed
from .tracking.event_writer import EventWriter
from .tracking.outcome_tracker import OutcomeTracker
from .user_messages import show
from .verification.accepted_tests import AcceptedTests
from .verification.consent import Consent
from .verification.verifications import Verifications

# Neovim's completion menu inserts only the first line of a plain text, and its inline completion splits lines at line feeds only.
_NEOVIM = "Neovim"
_ENCODINGS: dict[str, Encoding] = {"utf-8": "utf-8", "utf-16": "utf-16", "utf-32": "utf-32"}
# All files and folders.
_RENAMED = types.FileOperationRegistrationOptions([types.FileOperationFilter(types.FileOperationPattern("**"), scheme="file")])


class AssayServer(LanguageServer):
    """One editor's server. Nothing is started before `initialize`."""

    protocol: Protocol

    def __init__(self, model: ModelChoice) -> None:
        super().__init__("assay", __version__, protocol_cls=Protocol, converter_factory=converter, notebook_document_sync=notebooks.SYNC)
        self.tasks, self.executor = BackgroundTasks(), ThreadPoolExecutor(1, "assay")
        self.client_settings = ClientSettings(self, self.tasks, self._apply_settings)
        self.trust_questions = TrustQuestions(self, self.tasks, lambda: self.session.calibrators.look())
        self.status = Status(
            self.protocol.notify,
            lambda: status_of(self.session, self.requests, self.stops, self.pause, self.accepted_tests, self.projects),
        )
        self.projects = ReadProjects(self.status.changed)
        self.session = session = self._session(model)
        self.counts, self.latency, self.hover_anchors = RequestCounts(), EventLoopLatency(), HoverAnchors()
        self.pause = Pause(self.status.changed)
        self.stops, self.drift_watch = Stops(session, self.status.changed), DriftWatch(session, self._warn)
        self.outcome_tracker = OutcomeTracker(session.documents, session.events.add)
        self.requests = Requests(
            session.live,
            session.calibrators,
            self.counts,
            session.events,
            lambda: session.settings,
            on_silent=self.status.silent_changed,
            on_hidden=self.status.changed,
            on_late=self._warn,
            paused_until=lambda: self.pause.until,
            on_asked=self._on_asked,
            on_given=self.outcome_tracker.offered,
            show_above=self.stops.show_above,
        )
        self.verifications = Verifications(
            Consent(self, self.tasks, lambda: self.client_settings.workspace_trusted),
            lambda: session.roots,
            lambda: session.settings.tests_python,
            lambda message: log_line(self, message),
        )
        self.accepted_tests = AcceptedTests(self.verifications, self.tasks, session.events.add, self.status.changed)
        self.repairs = RepairRequests(
            session.live, session.calibrators, lambda: session.settings, session.events.add, self.outcome_tracker.repairs.found
        )
        self.menu = MenuRegistration(self, self.tasks)
        self.model_calibration = ModelCalibration(self, self.tasks, session, self.client_settings, self.trust_questions)
        self._problems_told: set[str] = set()
        self._is_model_started = self._is_closing = False
        self._client = types.ClientInfo("")
        self._answer_lifecycle()
        self._answer_features()
        self._answer_commands()

    def _session(self, model: ModelChoice) -> Session:
        def roots() -> Roots:
            return self.session.roots

        def trust(root: Path | None, project: Path) -> Trust:
            return trust_in(self.client_settings.workspace_trusted, root, project)

        documents = self.protocol.documents
        live = LiveModel(
            model, Settings(), on_state=self._on_state, on_note=self._warn, on_busy=self.status.busy_changed, projects=self.projects
        )
        return Session(
            default_model=model,
            documents=documents,
            notebooks=self.protocol.notebooks,
            others=OtherFiles(documents, roots),
            edited_files=EditedFiles(documents, roots, self.projects),
            live=live,
            calibrators=Calibrators(trust, self.trust_questions.ask, self.status.changed),
            events=EventWriter(on_trouble=self._on_log_trouble),
        )

    def _on(self, method: str, handler: Callable[..., Any], options: Any = None) -> None:
        """Answer a request, or follow a notification."""
        self.feature(method, options)(partial(handler))  # pygls notes something on what it registers, which a method does not allow

    def _answer_lifecycle(self) -> None:
        self._on(types.INITIALIZE, self._initialize)
        self._on(types.INITIALIZED, self._initialized)
        self._on(types.SHUTDOWN, self.close)
        self._on(types.WORKSPACE_DID_CHANGE_CONFIGURATION, self._configuration_changed)
        self._on(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS, self._folders_changed)
        self._on(types.TEXT_DOCUMENT_DID_SAVE, self._saved)
        self._on(types.NOTEBOOK_DOCUMENT_DID_SAVE, self._notebook_saved)
        self._on(types.WORKSPACE_DID_RENAME_FILES, self._renamed, _RENAMED)
        self._on(TRUST_GRANTED, self._trust_granted)

    def _answer_features(self) -> None:
        session = self.session
        completions = Completions(session, self.requests, self.menu)
        self.protocol.inline_completions, self.menu.handler = completions.inline, partial(completions.plain)
        # So that pygls advertises it, which needs options; it never sees a request.
        self._on(types.TEXT_DOCUMENT_INLINE_COMPLETION, completions.inline, types.InlineCompletionOptions())
        self._on(types.TEXT_DOCUMENT_HOVER, partial(questions.hover, session, self.hover_anchors))
        self._on(questions.CONTEXT, partial(questions.context, session))
        self._on(questions.CURSOR_RESTS, partial(questions.cursor_rests, self, session, self.requests))
        self._on(questions.EXPLAIN, partial(questions.explain, self.requests))
        self._on(questions.VERIFY, partial(questions.verify, self, session, self.verifications))
        self._on(STATUS, self._full_status)
        self._on(confidence_requests.DIAL, partial(confidence_requests.dial, session, self.stops))
        self._on(confidence_requests.CONFIDENCE, partial(confidence_requests.confidence, session))
        self._on(models.MODELS, partial(models.models, session))
        self._on(models.MODELS_TO_GET, models.models_to_get)
        self._on(models.GET_MODEL, partial(models.get_model, self))
        self._on(models.CHECK_MODEL, partial(models.check_model, session))
        self._on(models.CALIBRATE_MODEL, partial(models.calibrate_model, self.model_calibration))
        self._on(models.RECALIBRATE, partial(models.recalibrate, self, session.events, asyncio.Lock()))

    def _answer_commands(self) -> None:
        session, tests = self.session, self.accepted_tests
        work = RepairWork(self, session, self.repairs, self.verifications, self.outcome_tracker.repairs)
        actions, repairs = CodeActions(self, session, work), RepairCommands(self, session, work)
        self._on(types.TEXT_DOCUMENT_CODE_ACTION, actions.offered, types.CodeActionOptions(KINDS, resolve_provider=True))
        self._on(types.CODE_ACTION_RESOLVE, actions.resolved)
        self._on(REPAIRS, repairs.repairs)
        self._on(SURPRISE, repairs.surprise)
        reports = commands.Reports(session, self.requests, self.outcome_tracker, tests, self.hover_anchors)
        switches = commands.Switches(self.client_settings, self.stops, self.pause)
        runs = commands.TestCommands(self, session, self.verifications, tests)
        for name, handler in {
            commands.ACCEPTED: reports.accepted,
            commands.REJECTED: reports.rejected,
            commands.SHOWN: reports.shown,
            commands.ACCEPTED_PART: reports.accepted_part,
            commands.SET_DIAL: switches.set_dial,
            commands.PAUSE: switches.pause_for_minutes,
            commands.RUN_TESTS: runs.run,
            commands.FORBID_TESTS: runs.forbid,
            REPAIR: repairs.repair,
            CHOOSE: repairs.choose,
            REPAIR_TESTS: repairs.repair_tests,
        }.items():
            self.command(name)(partial(handler))

    def _initialize(self, params: types.InitializeParams) -> None:
        """`initialize`: take what the client says of itself, and start to load what does not wait for its settings.

        pygls answers with the capabilities.
        """
        session, protocol = self.session, self.protocol
        protocol.on_open, protocol.on_edit = self._on_open, self._on_edit
        protocol.on_close, protocol.on_lost = self._on_close, self._on_lost
        session.documents.encoding = _ENCODINGS[str(getattr(encoding := self.workspace.position_encoding, "value", encoding))]
        protocol.initialized = True
        self.client_settings.begin(params.initialization_options)
        session.settings, session.problems = self.client_settings.parsed()
        session.roots = roots_of(params)
        self._client = params.client_info or self._client
        session.is_neovim = self._client.name == _NEOVIM
        self._loop = asyncio.get_running_loop()
        self.menu.begin(params.capabilities, session.settings.plain_completion, is_neovim=session.is_neovim)
        for root in session.roots.paths or (None,):
            session.calibrators.follow(root)
        self.executor.submit(protocol.warm_up)
        self.tasks.start(self.drift_watch.run())
        self.tasks.start(look_hourly(session, self.stops.look, "the dial"))
        session.live.open(session.choice, session.context, remember=session.settings.remember)
        self._follow_projects()
        self.latency.measure(wanted=session.settings.diagnostics)
        if not self.client_settings.has_configuration:
            # A client that is asked may answer that nothing is to be logged, or name another model.
            self._log_events()
            self._start_model()

    async def _initialized(self, _: types.InitializedParams) -> None:
        """`initialized`: from here on the server may send requests, for progress, registrations and settings."""
        self.trust_questions.begin()
        self.model_calibration.begin()
        if self._is_model_started:
            self._report_loading()
        self.client_settings.follow_changes()
        await self.client_settings.read()

    async def close(self, _: None = None) -> None:
        """`shutdown`: end the model's process and everything that still runs. Calling it again does nothing."""
        session, self._is_closing = self.session, True
        self.tasks.cancel()
        self.status.close()
        self.latency.measure(wanted=False)
        session.others.close()
        self.pause.close()
        session.log_reader.close()
        await self.verifications.close()
        await session.live.close()
        self.outcome_tracker.close()
        await asyncio.to_thread(session.events.close)
        await session.calibrators.close()
        self.executor.shutdown(wait=False, cancel_futures=True)

    async def _configuration_changed(self, params: types.DidChangeConfigurationParams) -> None:
        await self.client_settings.read(params.settings)

    async def _apply_settings(self) -> None:
        if self._is_closing:
            return
        session, live, before = self.session, self.session.live, self.session.settings
        session.settings, session.problems = self.client_settings.parsed()
        for problem in new_problems(session.problems, self._problems_told):
            self._warn(problem)
        self._log_events()
        if reload_needed(before, session.settings):
            await live.close()
            if self._is_closing:
                return
            live.open(session.choice, session.context, remember=session.settings.remember)
            self._start_model()
        elif not self._is_model_started:
            self._start_model()
        self._follow_projects()
        live.choice = session.choice
        live.use(session.context, remember=session.settings.remember)
        if session.settings.memory != before.memory:
            live.forget()
        if session.settings != before:
            self.repairs.found.clear()
            # The reason why nothing was suggested may no longer hold. The next request tells.
            self.status.silent_changed(None)
            self.status.changed()
        self.latency.measure(wanted=session.settings.diagnostics)
        self.menu.apply(session.settings.plain_completion)

    def _start_model(self) -> None:
        self._is_model_started = True
        self.tasks.start(self.session.live.start())
        self.status.changed()
        if self.protocol.initialized and self.client_settings.has_configuration:
            self._report_loading()

    def _report_loading(self) -> None:
        self.tasks.start(report_loading(self, self.session.live))

    def _on_state(self, state: State) -> None:
        session, reason = self.session, self.session.live.process.reason
        if state == "loading":
            log_line(self, reason)
            self._report_loading()
        elif state == "failed" and not session.model_checks:
            show(self, f"no suggestions: {reason}", types.MessageType.Error)
        elif state == "ready":
            session.live.settings = session.context
            self._follow_projects()
            # While a model is being checked, the checker makes this offer.
            if not session.model_checks:
                self.model_calibration.consider()
        if state != "closed":
            self.status.changed()

    def _folders_changed(self, params: types.DidChangeWorkspaceFoldersParams) -> None:
        session, before = self.session, self.session.roots.paths
        session.roots = session.roots.changed(params.event)
        for root in session.roots.paths:
            session.calibrators.follow(root)
        for root in set(before) - set(session.roots.paths):
            session.calibrators.unfollow(root)
        self._follow_projects()
        if set(before) - set(session.roots.paths):
            session.live.forget()

    def _follow_projects(self) -> None:
        """Have the workspace folders read if that is wanted and the model can be mixed with what they have."""
        session, model = self.session, self.session.loaded
        is_read = session.settings.memory == "project" and model is not None and bool(model.memory)
        if self.projects.follow([str(root) for root in session.roots.paths] if is_read else []):
            session.edited_files.tell_again()

    def _trust_granted(self, _: Any) -> None:
        self.client_settings.workspace_trusted = True
        self.session.calibrators.look()

    def _full_status(self, _: Any) -> dict[str, Any]:
        """`assay/status`."""
        return self.status.brief() | details_of(self.session, self.counts, self.drift_watch, self.projects, self.latency)

    def _log_events(self) -> None:
        """Log to where the settings say. A log begins with who writes to it."""
        events = self.session.events
        before = events.path
        events.use(self.session.settings.log_target)
        if events.path != before:
            events.add(ServerStarted(version=__version__, client=self._client.name, client_version=self._client.version or ""))

    def _on_log_trouble(self, message: str) -> None:
        """Called by the thread that writes the log."""
        self._loop.call_soon_threadsafe(self._warn, f"events can't be logged: {message}")

    def _on_asked(self, request: GenerationRequest) -> None:
        if self.session.asked_in != request.uri:
            self.session.asked_in = request.uri
            self._loop.call_soon(self.status.changed)  # the words of the dial are those of the document's language
        self.outcome_tracker.asked(request)

    def _on_edit(self, uri: str, splices: Sequence[Splice]) -> None:
        self.requests.typed(time.monotonic())
        self.model_calibration.typed()
        self.repairs.found.forget(uri)
        self.hover_anchors.change(uri, splices)
        self.session.edited_files.edited(uri)
        self.outcome_tracker.edited(uri, splices)

    def _on_lost(self, uri: str) -> None:
        self.outcome_tracker.lost(uri)
        self._forget(uri)

    def _on_open(self, document: Document) -> None:
        self.outcome_tracker.opened(document)
        self.status.changed()  # the words of the dial are those of the language in use

    def _on_close(self, uri: str) -> None:
        self.outcome_tracker.closed(uri)
        self.session.others.forget(uri)
        self._forget(uri)
        self._loop.call_soon(self.status.changed)  # once the document is gone

    def _forget(self, uri: str) -> None:
        self.repairs.found.forget(uri)
        self.hover_anchors.forget(uri)
        self.session.edited_files.closed(uri)

    def _saved(self, params: types.DidSaveTextDocumentParams) -> None:
        self.outcome_tracker.saved(params.text_document.uri)
        self.verifications.saved(params.text_document.uri)

    def _notebook_saved(self, params: types.DidSaveNotebookDocumentParams) -> None:
        for cell in self.session.notebooks.cells_of(params.notebook_document.uri):
            self.outcome_tracker.saved(cell)

    def _renamed(self, params: types.RenameFilesParams) -> None:
        for file in params.files:
            self.outcome_tracker.renamed(file.old_uri, file.new_uri)

    def _warn(self, message: str) -> None:
        show(self, message, types.MessageType.Warning)
