"""The language server: one editor's conversation, its settings, and the model that its requests go to."""

from __future__ import annotations

import asyncio
import logging
import string
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.protocol import default_converter

from .. import __version__
from ..calibration.log.events import ServerStarted
from ..inference.completion.completion import Settings
from ..inference.opening import ModelChoice
from .confidence.calibrators import Calibrators
from .confidence.drift_watch import Drift, watch_drift
from .context.background_search import OtherFiles
from .documents import notebooks
from .documents.documents import Splice
from .documents.workspace import Roots, roots_of
from .features import completion as features
from .features.event_loop_latency import LoopLag
from .features.pause import Pause
from .features.progress import report_loading
from .features.status import paused
from .model.live import LiveModel
from .model.process import State
from .protocol.pygls_protocol import Protocol
from .requests.counts import RequestCounts
from .requests.requests import Requests
from .settings.settings import DEFAULTS, SECTION, LiveSettings, parse_settings, problems_not_told, reload_needed
from .tracking.accepted import Accepted
from .tracking.event_writer import EventWriter
from .tracking.follow_up import FollowUp

logger = logging.getLogger(__name__)

STATUS_CHANGED = "$/assay/didChangeStatus"
_ANSWER_S = 2.0
# What takes less long is no news to an editor.
_BUSY_AFTER_S = 0.2
# The id under which the ordinary list of completions is registered with a client that lets that change.
_PLAIN = "assay/plainCompletion"
# The id under which the server is told of changed settings.
_SETTINGS = "assay/settings"
# Neovim's own completion inserts the first line alone of what is no snippet, and its inline completion parts lines at line feeds alone.
_NEOVIM = "Neovim"


class AssayServer(LanguageServer):
    """One editor's server."""

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
        self.roots = Roots()
        self.lag: LoopLag | None = None
        self.executor = ThreadPoolExecutor(1, "assay")
        self.calibrators = Calibrators(self.executor)
        self.accepted = Accepted()
        self.follow_up = FollowUp(self.protocol.documents, lambda event, showing: self.events.add(event, showing))
        self.others = OtherFiles(self.protocol.documents, lambda: self.roots)
        self.pause = Pause(self._tell_status)
        # The document that was last asked about.
        self.asked_in = ""
        self.recalibrating = False
        self.drift: Drift | None = None
        self.drifts_told: set[str] = set()
        self.tasks: set[asyncio.Task[None]] = set()
        self._has_inline = False
        self._registers = False
        self._registered = False
        self.is_neovim = False
        self._initial: Any = None
        self.problems: tuple[str, ...] = ()
        self._told: set[str] = set()
        self._settling = asyncio.Lock()
        self._closing = False
        self._answer: Any = None
        self.silent: str | None = None
        self._told_status: dict[str, Any] | None = None
        self._busy_timer: asyncio.TimerHandle | None = None
        self._begun = False
        self._client = types.ClientInfo("")
        self.counts = RequestCounts()

    def begin(self, params: types.InitializeParams) -> None:
        """Take what the client says of itself, and start to load what does not wait for its settings."""
        self._initial = params.initialization_options
        self.settings, self.problems = parse_settings(self._initial)
        self.roots = roots_of(params)
        self.protocol.on_edit = self._edited
        self.protocol.on_close = self._closed
        self.protocol.on_lost = self._lost
        self.protocol.inline_completions = partial(features.inline_completion, self)
        self._client = params.client_info or self._client
        self.is_neovim = params.client_info is not None and params.client_info.name == _NEOVIM
        text = params.capabilities.text_document
        self._has_inline = text is not None and text.inline_completion is not None
        self._registers = text is not None and text.completion is not None and bool(text.completion.dynamic_registration)
        if self.plain_completion and not self._registers:
            self.feature(types.TEXT_DOCUMENT_COMPLETION, types.CompletionOptions(trigger_characters=self._triggers))(features.completion)
        for root in self.roots.paths or (None,):
            self.calibrators.follow(root)
        self.executor.submit(self.protocol.warm_up)
        self._spawn(watch_drift(self))
        self.events = self._made_events()
        self.protocol.on_open = self.follow_up.opened
        self._make_model()
        self._measure_lag()
        if not self._asks_for_settings:
            # who is asked may answer that nothing is to be logged
            self._log_events()
            self._start_model()

    async def take_settings(self, sent: Any = None) -> None:
        """Read the settings anew, from the client if it gives them out, else from what it sent, and act on what has changed."""
        async with self._settling:
            if self._asks_for_settings:
                await self._ask_for_settings()
            else:
                self._answer = sent
            if not self._closing:
                await self._apply_settings()

    async def _ask_for_settings(self) -> None:
        """Wait a moment for the client's settings. Until it answers, its last answer counts, and a late one is taken when it comes."""
        items = [types.ConfigurationItem(section=SECTION)]
        asking = asyncio.ensure_future(self.workspace_configuration_async(types.ConfigurationParams(items)))
        await asyncio.wait({asking}, timeout=_ANSWER_S)
        if asking.done():
            self._take_answer(asking)
        else:
            asking.add_done_callback(self._take_late_answer)

    def _take_answer(self, asked: asyncio.Future[Any]) -> None:
        if not asked.cancelled() and asked.exception() is None:
            self._answer = next(iter(asked.result()), None)

    def _take_late_answer(self, asked: asyncio.Future[Any]) -> None:
        async def apply() -> None:
            async with self._settling:
                self._take_answer(asked)
                if not self._closing:
                    await self._apply_settings()

        if not self._closing:
            self._spawn(apply())

    async def _apply_settings(self) -> None:
        before = self.settings
        self.settings, self.problems = parse_settings(self._initial, self._answer)
        for problem in problems_not_told(self.problems, self._told):
            self.show(types.MessageType.Warning, f"Assay: {problem}")
        self._log_events()
        if reload_needed(before, self.settings):
            await self.live.close()
            if self._closing:
                return
            self._make_model()
            self._start_model()
        elif not self._begun:
            self._start_model()
        self.live.use(_shown(self.settings), remember=self.settings.remember)
        if self.settings != before:
            # why nothing was suggested may hold no longer; the next request says
            self._on_silent(None)
        self._measure_lag()
        if self._registers and self.plain_completion != self._registered:
            self._registered = self.plain_completion
            self._spawn(self._register_completion() if self._registered else self._unregister_completion())

    @property
    def wants_registration(self) -> bool:
        """Whether the client tells of changed settings only who registered for it, as VS Code does."""
        workspace = self.client_capabilities.workspace
        changes = workspace and workspace.did_change_configuration
        return bool(changes and changes.dynamic_registration)

    def follow_settings(self) -> None:
        """Ask the client to tell when settings change."""
        changed = types.WORKSPACE_DID_CHANGE_CONFIGURATION
        one = types.Registration(_SETTINGS, changed, types.DidChangeConfigurationRegistrationOptions(SECTION))
        self._spawn(self.client_register_capability_async(types.RegistrationParams([one])))

    async def _register_completion(self) -> None:
        if types.TEXT_DOCUMENT_COMPLETION not in self.protocol.fm.features:
            self.feature(types.TEXT_DOCUMENT_COMPLETION, types.CompletionOptions(trigger_characters=self._triggers))(features.completion)
        one = types.Registration(
            _PLAIN, types.TEXT_DOCUMENT_COMPLETION, types.CompletionRegistrationOptions(trigger_characters=self._triggers)
        )
        await self.client_register_capability_async(types.RegistrationParams([one]))

    async def _unregister_completion(self) -> None:
        one = types.Unregistration(_PLAIN, types.TEXT_DOCUMENT_COMPLETION)
        await self.client_unregister_capability_async(types.UnregistrationParams([one]))

    def _measure_lag(self) -> None:
        if self.settings.diagnostics and self.lag is None:
            self.lag = LoopLag()
        elif self.lag is not None and not self.settings.diagnostics:
            self.lag.stop()
            self.lag = None

    def report_loading(self) -> None:
        """Tell the editor how loading goes."""
        self._spawn(report_loading(self, self.live))

    def show(self, kind: types.MessageType, message: str) -> None:
        """Show the user one message."""
        self.window_show_message(types.ShowMessageParams(kind, message))

    def note(self, message: str) -> None:
        """Put a line into the editor's log of this server."""
        self.window_log_message(types.LogMessageParams(types.MessageType.Info, message))

    async def close(self) -> None:
        """End the model's process and everything that still runs. Calling it again does nothing."""
        self._closing = True
        for task in list(self.tasks):
            task.cancel()
        if self._busy_timer is not None:
            self._busy_timer.cancel()
        if self.lag is not None:
            self.lag.stop()
        self.others.close()
        self.pause.close()
        if hasattr(self, "live"):
            await self.live.close()
            self.follow_up.close()
            await asyncio.to_thread(self.events.close)
        await self.calibrators.close()
        self.executor.shutdown(wait=False, cancel_futures=True)

    @property
    def plain_completion(self) -> bool:
        """Whether suggestions belong into the ordinary list of completions."""
        return self.settings.plain_completion == "on" or (self.settings.plain_completion == "auto" and not self._has_inline)

    @property
    def _triggers(self) -> list[str]:
        """After which characters the ordinary list is asked for: those of a word editors know themselves, but for Neovim."""
        return [*" ([{.,:=+-*/<>", *(string.ascii_letters + string.digits + "_" if self.is_neovim else "")]

    @property
    def begun(self) -> bool:
        """Whether the model is being loaded, or is."""
        return self._begun

    @property
    def _asks_for_settings(self) -> bool:
        workspace = self.client_capabilities.workspace
        return workspace is not None and bool(workspace.configuration)

    def _make_model(self) -> None:
        self.live = LiveModel(
            self.settings.model_or(self.default_model),
            _shown(self.settings),
            on_state=self._on_state,
            on_note=lambda note: self.show(types.MessageType.Warning, f"Assay: {note}"),
            on_busy=self._on_busy,
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
            self._on_silent,
            on_hidden=self._tell_status,
            paused_until=lambda: self.pause.until,
            on_answer=self.follow_up.offered,
        )

    def _start_model(self) -> None:
        self._begun = True
        self._spawn(self.live.start())
        self._tell_status()
        if self.protocol.initialized and self._asks_for_settings:
            self.report_loading()

    def _made_events(self) -> EventWriter:
        loop = asyncio.get_running_loop()

        def trouble(message: str) -> None:
            loop.call_soon_threadsafe(self.show, types.MessageType.Warning, f"Assay: events can't be logged: {message}")

        return EventWriter(on_trouble=trouble)

    def _log_events(self) -> None:
        """Log to where the settings say. Each log says who began to write to it."""
        before = self.events.path
        self.events.use(self.settings.log_target)
        if self.events.path != before:
            self.events.add(ServerStarted(version=__version__, client=self._client.name, client_version=self._client.version or ""))

    def _edited(self, uri: str, splices: Sequence[Splice]) -> None:
        self.requests.typed(time.monotonic())
        self.accepted.change(uri, splices)
        self.follow_up.edited(uri, splices)

    def _lost(self, uri: str) -> None:
        self.accepted.forget(uri)
        self.follow_up.lost(uri)

    def _closed(self, uri: str) -> None:
        self.follow_up.closed(uri)
        self.accepted.forget(uri)
        self.others.forget(uri)

    def _on_state(self, state: State) -> None:
        process = self.live.process
        if state == "loading":
            self.note(f"Assay: {process.reason}")
            self.report_loading()
        elif state == "failed":
            self.show(types.MessageType.Error, f"Assay: no suggestions: {process.reason}")
        if state != "closed":
            self._tell_status()

    def _on_busy(self, busy: bool) -> None:
        if self._busy_timer is not None:
            self._busy_timer.cancel()
            self._busy_timer = None
        if busy:
            self._busy_timer = asyncio.get_running_loop().call_later(_BUSY_AFTER_S, self._tell_status)
        elif self._told_status is not None and self._told_status["busy"]:
            self._tell_status()

    def _on_silent(self, why: str | None) -> None:
        if why != self.silent:
            self.silent = why
            self._tell_status()

    def _tell_status(self) -> None:
        process = self.live.process
        told = {
            "state": process.state,
            "reason": process.reason,
            "busy": self.live.scheduler.busy,
            "silent": self.silent,
            "hidden": self.requests.hidden,
            "paused": paused(self),
        }
        if told != self._told_status:
            self._told_status = told
            self.protocol.notify(STATUS_CHANGED, told)

    def _spawn(self, work: Any) -> None:
        task: asyncio.Task[None] = asyncio.create_task(work)
        self.tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self.tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            logger.error("A background task failed", exc_info=error)


def _shown(settings: LiveSettings) -> Settings:
    """What the model is shown: as it was calibrated, but for what the user set."""
    budgets = {
        "prefix_tokens": settings.context_prefix_tokens,
        "suffix_tokens": settings.context_suffix_tokens,
        "head_tokens": settings.context_head_tokens,
        "extra_tokens": settings.context_open_files,
    }
    return replace(Settings(), **{name: tokens for name, tokens in budgets.items() if tokens is not None})
