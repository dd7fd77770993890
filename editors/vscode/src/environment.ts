/** "Create an Environment": the server in an environment of the extension's own, with progress, and with what mends a failure. */
import * as vscode from 'vscode';
import type { Mending } from './install';
import { makeEnvironment } from './makeEnvironment';
import { requirement } from './settings';

/** Makes the environment. What failed the user is told, with what mends it. */
export async function createEnvironment(environment: string, log: vscode.LogOutputChannel): Promise<void> {
  const failed = await vscode.window.withProgress(
    { location: vscode.ProgressLocation.Notification, title: 'Assay', cancellable: true },
    (progress, token) => {
      const abort = new AbortController();
      token.onCancellationRequested(() => {
        abort.abort();
      });
      const told = {
        say: (message: string) => {
          progress.report({ message });
        },
        log: (text: string) => {
          log.info(text);
        },
      };
      return makeEnvironment({ environment, requirement: requirement(), searched: process.env.PATH }, told, abort.signal);
    },
  );
  // Not waited for: whoever asked goes on, and the message stays until it is read.
  if (failed !== undefined) void tell(failed, log);
}

async function tell({ problem, command, setting }: Mending, log: vscode.LogOutputChannel): Promise<void> {
  const copy = 'Copy the Command';
  const open = 'Open the Setting';
  const show = 'Show the Log';
  const actions = [...(command === undefined ? [] : [copy]), ...(setting === undefined ? [] : [open]), show];
  const message = `Assay was not installed: ${problem}${command === undefined ? '' : ` This command may fix it: ${command}`}`;
  log.error(message);
  const chosen = await vscode.window.showErrorMessage(message, ...actions);
  if (chosen === copy && command !== undefined) await vscode.env.clipboard.writeText(command);
  else if (chosen === open && setting !== undefined)
    await vscode.commands.executeCommand('workbench.action.openSettings', `@id:${setting}`);
  else if (chosen === show) log.show();
}
