"""What a client makes of code actions and edits."""

from __future__ import annotations

from dataclasses import dataclass

from lsprotocol import types


@dataclass(frozen=True, slots=True)
class ActionsOf:
    """What a client makes of code actions. literals: it knows more than commands. resolves: it asks for the edit of the chosen one.
    versioned: it compares the version of an edited document."""

    literals: bool = False
    resolves: bool = False
    versioned: bool = False


def actions_of(capabilities: types.ClientCapabilities) -> ActionsOf:
    """What a client says of itself."""
    text, workspace = capabilities.text_document, capabilities.workspace
    action = None if text is None else text.code_action
    edit = None if workspace is None else workspace.workspace_edit
    resolve = None if action is None else action.resolve_support
    literals = action is not None and action.code_action_literal_support is not None
    return ActionsOf(
        literals=literals,
        resolves=literals and resolve is not None and "edit" in resolve.properties and bool(action and action.data_support),
        versioned=edit is not None and bool(edit.document_changes),
    )
