"""The language server: one editor's conversation, its settings, and the model that its requests go to."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.protocol import default_converter

from .. import __version__
from ..calibration.log.events import AcceptanceTested, ServerStarted
from ..inference.completion.settings import Settings
from ..inference.opening import ModelChoice
from .background_tasks import BackgroundTasks
from .confidence.calibrators import Calibrators, trust_in
from .confidence.drift_watch import DriftWatch, look_hourly
from .confidence.log_reader import LogReader
from .confidence.stops import Stops
from .context.edited_files import EditedFiles
from .context.open_files import OtherFiles
from .documents import notebooks
from .documents.documents import Document, Splice
from .documents.workspace import Roots, roots_of
from .features.hover_anchors import HoverAnchors
from .features.menu_registration import MenuRegistration
from .features.model_calibration import ModelCalibration
from .features.pause import Pause
from .features.progress import log_line, report_loading
from .features.status import EventLoopLatency, Status
from .features.trust import TrustQuestions
from .model.live import LiveModel
from .model.process import LoadedModel, State
from .model.read_projects import ReadProjects
from .protocol.pygls_protocol import Protocol
from .repairs.edits import ActionsOf, actions_of
from .repairs.repairing import RepairRequests
from .requests.request_ending import RequestCounts
from .requests.requests import Requests
from .settings.client_settings import ClientSettings
from .settings.settings import DEFAULTS, LiveSettings, new_problems, reload_needed
from .settings.table import ShowAbove
from .tracking.event_writer import EventWriter
from .tracking.outcome_tracker import OutcomeTracker
from .user_messages import show
from .verification.consent import Consent
from .verification.verifications import AcceptedTests, Verifications

# Neovim's completion menu inserts only the first line of a plain text, and its inline completion splits lines at line feeds only.
_NEOVIM = "Neovim"


class AssayServer(LanguageServer):
    """One editor's server. Its handlers are registered where it is built (`build.py`)."""

    protocol: Protocol
    live: LiveModel
    requests: Requests
    events: EventWriter

    def __init__(self, model: ModelChoice) -> None:
        super().__init__(
            "assay", __version__, protocol_cls=Protocol, converter_factory=default_converter, notebook_document_sync=notebooks.SYNC
        )
        self.default_model = model
        self.settings: LiveSettings = DEFAULTS
        # What is wrong with the settings, in sentences for people.
        self.problems: tuple[str, ...] = ()
        self.roots = Roots()
        self.is_neovim = False
        self.actions = ActionsOf()
        # Where a command has set the dial, None where the setting counts; and what the setting was then.
        self.dial_override: ShowAbove | None = None
        self._own_dial: ShowAbove = DEFAULTS.show_above
        # The document that was last asked about.
        self.asked_in = ""
        self.recalibrating = False
        # How many requests wait to hear whether the model can be opened, and tell the user of it themselves.
        self.model_checks = 0
        self.counts = RequestCounts()
        self.latency: EventLoopLatency | None = None
        self.executor = ThreadPoolExecutor(1, "assay")
        self.tasks = BackgroundTasks()
        self.client_settings = ClientSettings(self, self.tasks, self._apply_settings)
        self.menu = MenuRegistration(self, self.tasks)
        self.trust_questions = TrustQuestions(self, self.tasks, lambda: self.calibrators.look())
        self.verifications = Verifications(
            Consent(self, self.tasks, lambda: self.client_settings.workspace_trusted),
            lambda: self.roots,
            lambda: self.settings.tests_python,
            lambda message: log_line(self, message),
        )
        self.accepted_tests = AcceptedTests(self.verifications, self.tasks, self._accepted_tested)
        self.status = Status(self, self.protocol.notify)
        self.calibrators: Calibrators = Calibrators(
            lambda root, project: trust_in(self.client_settings.workspace_trusted, root, project),
            self.trust_questions.ask,
            self.status.changed,
        )
        self.model_calibration = ModelCalibration(
            self, self.tasks, self.calibrators, lambda: self.live, lambda: self.settings, lambda: self.roots,
            lambda: self.is_neovim, lambda: self.client_settings.chooses_models, lambda: self.trust_questions.has_asked,
        )  # fmt: skip
        self.hover_anchors = HoverAnchors()
        self.outcome_tracker = OutcomeTracker(self.protocol.documents, lambda event, showing: self.events.add(event, showing))
        self.repairs = RepairRequests(
            lambda: self.live,
            self.calibrators,
            lambda: self.settings,
            lambda event: self.events.add(event),
            self.outcome_tracker.repairs.found,
        )
        self.others = OtherFiles(self.protocol.documents, lambda: self.roots)
        self.projects = ReadProjects(self.status.changed)
        self.edited_files = EditedFiles(self.protocol.documents, lambda: self.roots, self.projects)
        self.pause = Pause(self.status.changed)
        self.log_reader = LogReader()
        self.drift_watch = DriftWatch(self, self._warn)
        self.stops = Stops(self, self.status.changed)
        self._problems_told: set[str] = set()
        self._is_model_started = False
        self._is_closing = False
        self._client = types.ClientInfo("")

    @property
    def document_in_use(self) -> Document | None:
        """The document that was last asked about, or else the one opened last."""
        documents = self.protocol.documents
        return documents.get(self.asked_in) or next(iter([*documents][-1:]), None)

    def begin(self, params: types.InitializeParams) -> None:
        """Take what the client says of itself, and start to load what does not wait for its settings."""
        self.client_settings.begin(params.initialization_options)
        self.settings, self.problems = self.client_settings.parsed()
        self._own_dial = self.settings.show_above
        self.roots = roots_of(params)
        self._client = params.client_info or self._client
        self.is_neovim = self._client.name == _NEOVIM
        self.actions = actions_of(params.capabilities)
        self.menu.begin(params.capabilities, self.settings.plain_completion, is_neovim=self.is_neovim)
        for root in self.roots.paths or (None,):
            self.calibrators.follow(root)
        self.executor.submit(self.protocol.warm_up)
        self.tasks.start(self.drift_watch.run())
        self.tasks.start(look_hourly(self, self.stops.look, "the dial"))
        self.events = self._make_events()
        self._make_model()
        self._follow_projects()
        self._follow_documents()
        self._measure_latency()
        if not self.client_settings.has_configuration:
            # A client that is asked may answer that nothing is to be logged, or name another model.
            self._log_events()
            self._start_model()

    async def continue_after_initialized(self) -> None:
        """Do what needs requests to the client, which are allowed from `initialized` on: progress, registrations, settings."""
        self.trust_questions.begin()
        self.model_calibration.begin()
        if self._is_model_started:
            self._report_loading()
        self.client_settings.follow_changes()
        await self.client_settings.read()

    async def close(self) -> None:
        """End the model's process and everything that still runs. Calling it again does nothing."""
        self._is_closing = True
        self.tasks.cancel()
        self.status.close()
        if self.latency is not None:
            self.latency.stop()
        self.others.close()
        self.pause.close()
        self.log_reader.close()
        await self.verifications.close()
        if hasattr(self, "live"):
            await self.live.close()
            self.outcome_tracker.close()
            await asyncio.to_thread(self.events.close)
        await self.calibrators.close()
        self.executor.shutdown(wait=False, cancel_futures=True)

    async def _apply_settings(self) -> None:
        if self._is_closing:
            return
        before = self.settings
        self.settings, self.problems = self._overridden(*self.client_settings.parsed())
        for problem in new_problems(self.problems, self._problems_told):
            self._warn(problem)
        self._log_events()
        if reload_needed(before, self.settings):
            await self.live.close()
            if self._is_closing:
                return
            self._make_model()
            self._start_model()
        elif not self._is_model_started:
            self._start_model()
        self._follow_projects()
        self.live.choice = self.settings.model_or(self.default_model)
        self.live.use(self._context_settings(self.live.process.model), remember=self.settings.remember)
        if self.settings.memory != before.memory:
            self.live.forget()
        if self.settings != before:
            self.repairs.found.clear()
            # The reason why nothing was suggested may no longer hold. The next request tells.
            self.status.silent_changed(None)
            self.status.changed()
        self._measure_latency()
        self.menu.apply(self.settings.plain_completion)

    def _overridden(self, settings: LiveSettings, problems: tuple[str, ...]) -> tuple[LiveSettings, tuple[str, ...]]:
        """The settings, with the dial where a command has set it since the user's own setting changed."""
        if settings.show_above != self._own_dial:
            self._own_dial, self.dial_override = settings.show_above, None
        return settings if self.dial_override is None else replace(settings, show_above=self.dial_override), problems

    def _make_model(self) -> None:
        self.live = LiveModel(
            self.settings.model_or(self.default_model),
            self._context_settings(),
            on_state=self._on_state,
            on_note=self._warn,
            on_busy=self.status.busy_changed,
            projects=self.projects,
            remember=self.settings.remember,
        )
        if hasattr(self, "requests"):
            self.requests.use(self.live)
            return
        self.requests = Requests(
            self.live,
            self.calibrators,
            self.counts,
            self.events,
            lambda: self.settings,
            self.status.silent_changed,
            on_hidden=self.status.changed,
            on_late=self._warn,
            paused_until=lambda: self.pause.until,
            on_given=self.outcome_tracker.offered,
            show_above=self.stops.show_above,
        )

    def trust_workspace(self) -> None:
        """The editor's user trusts the workspace from here on."""
        self.client_settings.workspace_trusted = True
        self.calibrators.look()

    def change_roots(self, roots: Roots) -> None:
        """The user has other folders open."""
        before, self.roots = self.roots.paths, roots
        for root in roots.paths:
            self.calibrators.follow(root)
        for root in set(before) - set(roots.paths):
            self.calibrators.unfollow(root)
        self._follow_projects()
        if set(before) - set(roots.paths):
            self.live.forget()

    def _follow_projects(self) -> None:
        """Have the workspace folders read if that is wanted and the model can be mixed with what they have."""
        model = self.live.process.model
        is_read = self.settings.memory == "project" and model is not None and bool(model.memory)
        if self.projects.follow([str(root) for root in self.roots.paths] if is_read else []):
            self.edited_files.tell_again()

    def _start_model(self) -> None:
        self._is_model_started = True
        self.tasks.start(self.live.start())
        self.status.changed()
        if self.protocol.initialized and self.client_settings.has_configuration:
            self._report_loading()

    def _report_loading(self) -> None:
        self.tasks.start(report_loading(self, self.live, lambda live: live is self.live))

    def _on_state(self, state: State) -> None:
        process = self.live.process
        if state == "loading":
            log_line(self, process.reason)
            self._report_loading()
        elif state == "failed" and not self.model_checks:
            show(self, f"no suggestions: {process.reason}", types.MessageType.Error)
        elif state == "ready":
            self.live.settings = self._context_settings(process.model)
            self._follow_projects()
            # While a model is being checked, the checker makes this offer.
            if not self.model_checks:
                self.model_calibration.consider()
        if state != "closed":
            self.status.changed()

    def _context_settings(self, model: LoadedModel | None = None) -> Settings:
        """What the model is shown: as its size says, except for what the user set. Until it is loaded a typical model is assumed."""
        settings = self.settings
        budgets = {
            "prefix_tokens": settings.context_prefix_tokens,
            "suffix_tokens": settings.context_suffix_tokens,
            "head_tokens": settings.context_head_tokens,
            "extra_tokens": settings.context_open_files,
        }
        usual = Settings() if model is None else model.settings(settings.model_or(self.default_model).prompt_size)
        return replace(usual, **{name: tokens for name, tokens in budgets.items() if tokens is not None})

    def _measure_latency(self) -> None:
        if self.settings.diagnostics and self.latency is None:
            self.latency = EventLoopLatency()
        elif self.latency is not None and not self.settings.diagnostics:
            self.latency.stop()
            self.latency = None

    def _make_events(self) -> EventWriter:
        loop = asyncio.get_running_loop()

        def warn(message: str) -> None:
            loop.call_soon_threadsafe(self._warn, f"events can't be logged: {message}")

        return EventWriter(on_trouble=warn)

    def _log_events(self) -> None:
        """Log to where the settings say. A log begins with who writes to it."""
        before = self.events.path
        self.events.use(self.settings.log_target)
        if self.events.path != before:
            self.events.add(ServerStarted(version=__version__, client=self._client.name, client_version=self._client.version or ""))

    def _follow_documents(self) -> None:
        self.protocol.on_open = self._on_open
        self.protocol.on_edit = self._on_edit
        self.protocol.on_close = self._on_close
        self.protocol.on_lost = self._on_lost

    def _on_edit(self, uri: str, splices: Sequence[Splice]) -> None:
        self.requests.typed(time.monotonic())
        self.model_calibration.typed()
        self.repairs.found.forget(uri)
        self.hover_anchors.change(uri, splices)
        self.edited_files.edited(uri)
        self.outcome_tracker.edited(uri, splices)

    def _on_lost(self, uri: str) -> None:
        self.repairs.found.forget(uri)
        self.hover_anchors.forget(uri)
        self.edited_files.closed(uri)
        self.outcome_tracker.lost(uri)

    def _on_open(self, document: Document) -> None:
        self.outcome_tracker.opened(document)
        self.status.changed()  # the words of the dial are those of the language in use

    def _on_close(self, uri: str) -> None:
        self.repairs.found.forget(uri)
        self.outcome_tracker.closed(uri)
        self.hover_anchors.forget(uri)
        self.others.forget(uri)
        self.edited_files.closed(uri)
        asyncio.get_running_loop().call_soon(self.status.changed)  # once the document is gone

    def _accepted_tested(self, event: AcceptanceTested | None, showing: str | None) -> None:
        if event is not None:
            self.events.add(event, showing)
        self.status.changed()

    def _warn(self, message: str) -> None:
        show(self, message, types.MessageType.Warning)
