/** Tells the server where the cursor rests, so that the model has read that place when the user begins to type. */
import * as vscode from 'vscode';
import type { Connection } from './connection';
import { DOCUMENTS } from './protocol';

/** Shorter than a person looks at a place before typing there, and longer than arrow keys are apart. */
export const REST_MS = 150;

export function registerCursorRests(connection: Connection): vscode.Disposable {
  let timer: NodeJS.Timeout | undefined;

  function moved(): void {
    clearTimeout(timer);
    timer = setTimeout(tell, REST_MS);
  }

  function tell(): void {
    const editor = vscode.window.activeTextEditor;
    if (editor?.selection.isEmpty !== true || !vscode.window.state.focused) return;
    const { document, selection } = editor;
    if (!DOCUMENTS.some(({ scheme }) => scheme === document.uri.scheme)) return;
    const { line, character } = selection.active;
    connection.tell('assay/cursorRests', { textDocument: { uri: document.uri.toString() }, position: { line, character } });
  }

  moved();
  return vscode.Disposable.from(vscode.window.onDidChangeTextEditorSelection(moved), vscode.window.onDidChangeActiveTextEditor(moved), {
    dispose: () => {
      clearTimeout(timer);
    },
  });
}
