/** What the user is told where there is no server, once for each reason, with what mends it. */
import * as vscode from 'vscode';
import type { Connection } from './connection';

const ACTIONS = {
  'Create an Environment': 'assay.createEnvironment',
  'Restart the Server': 'assay.restartServer',
  Doctor: 'assay.doctor',
  'Show the Log': 'assay.showLog',
  'Open the Setting': 'assay.openServerPath',
} as const;

type Action = keyof typeof ACTIONS;

export function registerOffers(connection: Connection): vscode.Disposable {
  let told = '';
  return vscode.Disposable.from(
    vscode.commands.registerCommand('assay.openServerPath', () =>
      vscode.commands.executeCommand('workbench.action.openSettings', '@id:assay.server.path'),
    ),
    connection.onChange(() => {
      const { stage, reason } = connection;
      if (stage === 'running') told = '';
      if ((stage !== 'missing' && stage !== 'ended') || reason === told) return;
      told = reason;
      void offer(`Assay: ${reason}`, stage === 'missing' ? missingActions(reason) : ['Restart the Server', 'Doctor', 'Show the Log']);
    }),
  );
}

function missingActions(reason: string): Action[] {
  return reason.includes('assay.server.path') ? ['Open the Setting', 'Show the Log'] : ['Create an Environment', 'Open the Setting'];
}

async function offer(message: string, actions: readonly Action[]): Promise<void> {
  const chosen = await vscode.window.showWarningMessage(message, ...actions);
  if (chosen !== undefined) await vscode.commands.executeCommand(ACTIONS[chosen]);
}
