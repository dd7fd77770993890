/** Why the suggestion on the screen has its confidence: on the hover over its line. */
import * as vscode from 'vscode';
import type { Connection } from './connection';
import type { Screen } from './screen';

/** Set once an explanation was shown: the walkthrough's step is done then. */
const EXPLAINED = 'assay.explained';

export function registerHover(screen: Screen, connection: Connection): vscode.Disposable {
  return vscode.Disposable.from(
    vscode.languages.registerHoverProvider([{ scheme: 'file' }, { scheme: 'untitled' }, { scheme: 'vscode-notebook-cell' }], {
      provideHover: async (document, position, token) => {
        const now = screen.current;
        const suggestion = screen.suggestion?.suggestion;
        if (now === undefined || suggestion === undefined || document.uri.toString() !== now.uri) return undefined;
        // The badge stands behind the end of the line. With ghost text there the editor shows its own toolbar for it and asks nobody, and
        // the code of the line is where a hover always comes.
        const line = document.lineAt(now.at.line);
        if (position.line !== line.lineNumber || position.character < line.firstNonWhitespaceCharacterIndex) return undefined;
        const markdown = await connection.explain(suggestion.id, token);
        const text = new vscode.MarkdownString(markdown ?? suggestion.confidence.text);
        text.isTrusted = false;
        text.supportHtml = false;
        void vscode.commands.executeCommand('setContext', EXPLAINED, true);
        return new vscode.Hover(text, line.range);
      },
    }),
    vscode.commands.registerCommand('assay.explainSuggestion', async () => {
      if (screen.suggestion === undefined) {
        void vscode.window.showInformationMessage('Assay: there is no suggestion of Assay at the cursor.');
        return;
      }
      await vscode.commands.executeCommand('workbench.action.focusActiveEditorGroup');
      await vscode.commands.executeCommand('editor.action.showHover');
    }),
  );
}
