/** The status bar item's menu: what can be done now. */
import * as vscode from 'vscode';
import type { Connection } from './connection';
import type { Screen } from './screen';
import { isAutomatic, showAbove } from './settings';
import { dialWords, pausedWords } from './statusText';

interface Entry extends vscode.QuickPickItem {
  readonly command: string;
}

export async function showMenu(connection: Connection, screen: Screen): Promise<void> {
  // While the list is open the editor has no focus, and no suggestion on the screen.
  const explains = screen.suggestion !== undefined;
  const entries = [...(connection.stage === 'running' ? running(connection, explains) : []), ...always(connection)];
  const chosen = await vscode.window.showQuickPick(entries, { title: 'Assay', placeHolder: connection.reason || connection.status.reason });
  if (chosen !== undefined) await vscode.commands.executeCommand(chosen.command);
}

function running({ status }: Connection, explains: boolean): Entry[] {
  const dial = dialWords(status, showAbove());
  return [
    ...(explains ? [{ label: '$(question) Explain This Suggestion', command: 'assay.explainSuggestion' }] : []),
    {
      label: '$(settings) Set the Dial…',
      description: dial.replace(/^The dial: |\.$/g, ''),
      command: 'assay.chooseDial',
    },
    { label: '$(symbol-misc) Choose a Model…', description: 'of those on this machine', command: 'assay.chooseModel' },
    isAutomatic()
      ? { label: '$(bell-slash) Suggest Only on Request', description: 'nothing comes by itself', command: 'assay.toggleAutomatic' }
      : { label: '$(bell) Suggest Automatically Again', command: 'assay.toggleAutomatic' },
    status.paused === null
      ? { label: '$(debug-pause) Pause…', command: 'assay.pauseFor' }
      : { label: '$(debug-start) Resume', description: pausedWords(status.paused, new Date()), command: 'assay.resume' },
    { label: '$(graph) Confidence', description: 'whether the probabilities hold', command: 'assay.showConfidence' },
  ];
}

function always({ stage }: Connection): Entry[] {
  return [
    ...(stage === 'missing'
      ? [{ label: '$(cloud-download) Create an Environment', description: 'installs the server', command: 'assay.createEnvironment' }]
      : []),
    { label: '$(debug-restart) Restart the Server', command: 'assay.restartServer' },
    { label: '$(output) Show the Log', command: 'assay.showLog' },
    { label: '$(pulse) Doctor', description: 'checks the setup and names what is missing', command: 'assay.doctor' },
  ];
}
