/** The keys for a suggestion of Assay's: each does what the editor's own does, and tells the server. */
import * as vscode from 'vscode';
import type { Connection } from './connection';
import type { Screen } from './screen';

export function registerSignals(screen: Screen, connection: Connection): vscode.Disposable {
  const chosen = () => screen.suggestion?.suggestion.id;

  async function accept(command: string): Promise<void> {
    const id = chosen();
    if (id !== undefined) screen.preserve();
    await vscode.commands.executeCommand(command);
    // Behind the edit, so that the server takes that one for the part, and not a letter that was typed just before.
    if (id !== undefined) connection.signal('assay.acceptedPart', { id });
  }

  async function turn(command: string, steps: number): Promise<void> {
    await vscode.commands.executeCommand(command);
    const before = chosen();
    screen.turn(steps);
    const id = chosen();
    if (id !== undefined && id !== before) connection.signal('assay.shown', { id });
  }

  async function hide(): Promise<void> {
    const id = chosen();
    screen.dismiss();
    if (id !== undefined) connection.signal('assay.rejected', { id });
    await vscode.commands.executeCommand('editor.action.inlineSuggest.hide');
  }

  return vscode.Disposable.from(
    vscode.commands.registerCommand('assay.hideSuggestion', hide),
    vscode.commands.registerCommand('assay.acceptNextWord', () => accept('editor.action.inlineSuggest.acceptNextWord')),
    vscode.commands.registerCommand('assay.acceptNextLine', () => accept('editor.action.inlineSuggest.acceptNextLine')),
    vscode.commands.registerCommand('assay.nextSuggestion', () => turn('editor.action.inlineSuggest.showNext', 1)),
    vscode.commands.registerCommand('assay.previousSuggestion', () => turn('editor.action.inlineSuggest.showPrevious', -1)),
  );
}
