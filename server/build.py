"""Builds the language server: registers which function handles which request, notification and command."""

from __future__ import annotations

from functools import partial
from typing import Any

from lsprotocol import types

from ..inference.opening import ModelChoice
from ..suggestion.positions import Encoding
from .features.commands import (
    ACCEPTED,
    ACCEPTED_PART,
    FORBID_TESTS,
    PAUSE,
    REJECTED,
    RUN_TESTS,
    SET_DIAL,
    SHOWN,
    accepted,
    accepted_part,
    forbid_tests,
    pause_for_minutes,
    rejected,
    run_tests,
    set_dial,
    shown,
)
from .features.completions import inline_completion, plain_completion
from .features.confidence_requests import CONFIDENCE, DIAL, confidence, dial
from .features.models import (
    CALIBRATE_MODEL,
    CHECK_MODEL,
    GET_MODEL,
    MODELS,
    MODELS_TO_GET,
    RECALIBRATE,
    calibrate_model,
    check_model,
    get_model,
    models,
    models_to_get,
    recalibrate,
)
from .features.questions import CONTEXT, CURSOR_RESTS, EXPLAIN, STATUS, VERIFY, context, cursor_rests, explain, hover, status, verify
from .features.trust import TRUST_GRANTED
from .language_server import AssayServer
from .repairs.code_actions import KINDS, code_action, resolve_code_action
from .repairs.commands import REPAIRS, SURPRISE, choose, repair, repairs, surprise
from .repairs.work import CHOOSE, REPAIR

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
    server.feature(REPAIRS)(repairs)
    server.feature(SURPRISE)(surprise)
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
    server.command(ACCEPTED)(accepted)
    server.command(REJECTED)(rejected)
    server.command(SHOWN)(shown)
    server.command(ACCEPTED_PART)(accepted_part)
    server.command(PAUSE)(pause_for_minutes)
    server.command(SET_DIAL)(set_dial)
    server.command(REPAIR)(repair)
    server.command(CHOOSE)(choose)
    server.command(RUN_TESTS)(run_tests)
    server.command(FORBID_TESTS)(forbid_tests)
    return server
