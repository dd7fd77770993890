"""Builds the language server: registers which function handles which request, notification and command."""

from __future__ import annotations

from functools import partial
from typing import Any

from lsprotocol import types

from ..inference.opening import ModelChoice
from ..suggestion.positions import Encoding
from .features import outcome_commands, repair_commands, repair_work
from .features.calibrate_model import CALIBRATE_MODEL, calibrate_model
from .features.code_actions import KINDS, code_action, resolve_code_action
from .features.confidence_requests import CONFIDENCE, DIAL, confidence, dial
from .features.context import CONTEXT, context
from .features.cursor_rests import CURSOR_RESTS, cursor_rests
from .features.dial_command import SET_DIAL, set_dial
from .features.explain import EXPLAIN, explain
from .features.hover import hover
from .features.inline_completion import inline_completion
from .features.models import CHECK_MODEL, GET_MODEL, MODELS, MODELS_TO_GET, check_model, get_model, models, models_to_get
from .features.pause_command import PAUSE, pause_for_minutes
from .features.plain_completion import plain_completion
from .features.recalibrate import RECALIBRATE, recalibrate
from .features.run_tests import FORBID_TESTS, RUN_TESTS, forbid, run
from .features.status_request import STATUS, status
from .features.trust import TRUST_GRANTED
from .features.verify import VERIFY, verify
from .language_server import AssayServer

_ENCODINGS: dict[str, Encoding] = {"utf-8": "utf-8", "utf-16": "utf-16", "utf-32": "utf-32"}
# All files and folders.
_RENAMED = types.FileOperationRegistrationOptions([types.FileOperationFilter(types.FileOperationPattern("**"), scheme="file")])


def initialize(ls: AssayServer, params: types.InitializeParams) -> None:
    """`initialize`. pygls answers with the capabilities."""
    ls.protocol.documents.encoding = _ENCODINGS[str(getattr(encoding := ls.workspace.position_encoding, "value", encoding))]
    ls.protocol.initialized = True
    ls.begin(params)


async def initialized(ls: AssayServer, _: types.InitializedParams) -> None:
    """`initialized`: from here on the server may send requests."""
    await ls.continue_after_initialized()


async def configuration_changed(ls: AssayServer, params: types.DidChangeConfigurationParams) -> None:
    """The user changed the settings."""
    await ls.client_settings.read(params.settings)


def folders_changed(ls: AssayServer, params: types.DidChangeWorkspaceFoldersParams) -> None:
    """The user added or removed folders."""
    ls.change_roots(ls.roots.changed(params.event))


def trust_granted(ls: AssayServer, _: Any) -> None:
    """The user trusts the workspace."""
    ls.trust_workspace()


async def accepted(ls: AssayServer, *arguments: Any) -> None:
    """The command that an editor runs when it has inserted a suggestion. (Here, because pygls evaluates a command's annotations.)"""
    await outcome_commands.accepted(ls, arguments)


def rejected(ls: AssayServer, *arguments: Any) -> None:
    """The command for an editor that knows that its user dismissed a suggestion."""
    outcome_commands.rejected(ls, arguments)


def shown(ls: AssayServer, *arguments: Any) -> None:
    """The command for an editor that knows that a suggestion is on the screen."""
    outcome_commands.shown(ls, arguments)


def accepted_part(ls: AssayServer, *arguments: Any) -> None:
    """The command for an editor that knows that it inserted a part of a suggestion."""
    outcome_commands.accepted_part(ls, arguments)


def saved(ls: AssayServer, params: types.DidSaveTextDocumentParams) -> None:
    """The user saved a file."""
    ls.outcome_tracker.saved(params.text_document.uri)
    ls.verifications.saved(params.text_document.uri)


def notebook_saved(ls: AssayServer, params: types.DidSaveNotebookDocumentParams) -> None:
    """The user saved a notebook."""
    for cell in ls.protocol.notebooks.cells_of(params.notebook_document.uri):
        ls.outcome_tracker.saved(cell)


def renamed(ls: AssayServer, params: types.RenameFilesParams) -> None:
    """The user renamed files or folders."""
    for file in params.files:
        ls.outcome_tracker.renamed(file.old_uri, file.new_uri)


def pause(ls: AssayServer, *arguments: Any) -> str | None:
    """The command that pauses automatic suggestions for some minutes."""
    return pause_for_minutes(ls, arguments)


async def set_the_dial(ls: AssayServer, *arguments: Any) -> dict[str, Any]:
    """The command that sets the dial until the server ends."""
    return await set_dial(ls, arguments)


async def repair(ls: AssayServer, *arguments: Any) -> bool:
    """The command that puts in a repair."""
    return await repair_commands.repair(ls, arguments)


async def choose_repair(ls: AssayServer, *arguments: Any) -> bool:
    """The command that has the user choose a repair, for clients without a list of their own."""
    return await repair_commands.choose(ls, arguments)


async def run_tests(ls: AssayServer, *arguments: Any) -> dict[str, Any]:
    """The command that runs the tests that touch some lines."""
    return await run(ls, arguments)


async def forbid_tests(ls: AssayServer, *arguments: Any) -> None:
    """The command that takes the consent to run a project's tests back."""
    await forbid(ls, arguments)


async def shutdown(ls: AssayServer, _: None) -> None:
    """End the model's process, then answer."""
    await ls.close()


def _answered_elsewhere(_: types.InlineCompletionParams) -> None:
    """Never called: `Protocol.inline_completions` answers."""
    raise AssertionError("pygls never sees a request for inline completions")


def build_server(model: ModelChoice) -> AssayServer:
    """A server with all its handlers registered. Nothing is started yet."""
    server = AssayServer(model)
    server.protocol.inline_completions = partial(inline_completion, server)
    server.menu.handler = plain_completion
    server.feature(types.INITIALIZE)(initialize)
    server.feature(types.INITIALIZED)(initialized)
    server.feature(types.SHUTDOWN)(shutdown)
    server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)(configuration_changed)
    server.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)(folders_changed)
    # Without options pygls does not advertise the capability, and editors never ask.
    server.feature(types.TEXT_DOCUMENT_INLINE_COMPLETION, types.InlineCompletionOptions())(_answered_elsewhere)
    server.feature(types.TEXT_DOCUMENT_HOVER)(hover)
    server.feature(types.TEXT_DOCUMENT_CODE_ACTION, types.CodeActionOptions(KINDS, resolve_provider=True))(code_action)
    server.feature(types.CODE_ACTION_RESOLVE)(resolve_code_action)
    server.feature(repair_commands.REPAIRS)(repair_commands.repairs)
    server.feature(repair_commands.SURPRISE)(repair_commands.surprise)
    server.feature(types.TEXT_DOCUMENT_DID_SAVE)(saved)
    server.feature(types.NOTEBOOK_DOCUMENT_DID_SAVE)(notebook_saved)
    server.feature(types.WORKSPACE_DID_RENAME_FILES, _RENAMED)(renamed)
    server.feature(TRUST_GRANTED)(trust_granted)
    server.feature(STATUS)(status)
    server.feature(MODELS)(models)
    server.feature(MODELS_TO_GET)(models_to_get)
    server.feature(GET_MODEL)(get_model)
    server.feature(CHECK_MODEL)(check_model)
    server.feature(CALIBRATE_MODEL)(calibrate_model)
    server.feature(EXPLAIN)(explain)
    server.feature(CONTEXT)(context)
    server.feature(CURSOR_RESTS)(cursor_rests)
    server.feature(DIAL)(dial)
    server.feature(CONFIDENCE)(confidence)
    server.feature(RECALIBRATE)(recalibrate)
    server.feature(VERIFY)(verify)
    server.command(outcome_commands.ACCEPTED)(accepted)
    server.command(outcome_commands.REJECTED)(rejected)
    server.command(outcome_commands.SHOWN)(shown)
    server.command(outcome_commands.ACCEPTED_PART)(accepted_part)
    server.command(PAUSE)(pause)
    server.command(SET_DIAL)(set_the_dial)
    server.command(repair_work.REPAIR)(repair)
    server.command(repair_work.CHOOSE)(choose_repair)
    server.command(RUN_TESTS)(run_tests)
    server.command(FORBID_TESTS)(forbid_tests)
    return server
