/** Puts the extension's parts together. */
import * as vscode from 'vscode';
import { Badge } from './badge';
import { registerCommands } from './commands';
import { Connection } from './connection';
import { registerCursorRests } from './cursorRests';
import { registerHover } from './hover';
import { registerOffers } from './offers';
import { Panel } from './panel';
import { RepairList } from './repairs';
import { Screen } from './screen';
import { registerSignals } from './signals';
import { StatusItem } from './status';
import { SurpriseMarks } from './surprise';

export function activate(context: vscode.ExtensionContext): void {
  const log = vscode.window.createOutputChannel('Assay', { log: true });
  const screen = new Screen();
  const environment = vscode.Uri.joinPath(context.globalStorageUri, 'environment').fsPath;
  const connection = new Connection(log, screen, environment);
  const panel = new Panel(connection);
  const repairs = new RepairList(connection);
  const surprise = new SurpriseMarks(connection);
  connection.onChoosing = (lines) => repairs.choose(lines);
  context.subscriptions.push(
    log,
    screen,
    panel,
    repairs,
    surprise,
    new Badge(screen),
    new StatusItem(connection, screen),
    registerHover(screen, connection),
    registerSignals(screen, connection),
    registerCursorRests(connection),
    registerOffers(connection),
    registerCommands({ connection, screen, panel, repairs, surprise, log, environment }),
    vscode.workspace.onDidGrantWorkspaceTrust(() => {
      // The server may be in the workspace's own environment.
      if (connection.stage === 'missing') void connection.start();
      else connection.trustGranted();
    }),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration('assay.server.path')) void connection.start();
    }),
  );
  running = connection;
  void connection.start();
}

/** Waited for by the editor, so that the server ends with it. */
export async function deactivate(): Promise<void> {
  await running?.dispose();
}

let running: Connection | undefined;
