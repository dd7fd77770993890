/** Puts the extension's parts together. */
import * as vscode from 'vscode';
import { Badge } from './badge';
import { Connection } from './connection';
import { registerHover } from './hover';
import { Screen } from './screen';
import { registerSignals } from './signals';
import { StatusItem } from './status';

export function activate(context: vscode.ExtensionContext): void {
  const log = vscode.window.createOutputChannel('Assay', { log: true });
  const screen = new Screen();
  const environment = vscode.Uri.joinPath(context.globalStorageUri, 'environment').fsPath;
  const connection = new Connection(log, screen, environment);
  context.subscriptions.push(
    log,
    screen,
    connection,
    new Badge(screen),
    new StatusItem(connection, screen),
    registerHover(screen, connection),
    registerSignals(screen, connection),
    vscode.commands.registerCommand('assay.restartServer', () => connection.start()),
    vscode.commands.registerCommand('assay.showLog', () => {
      log.show();
    }),
  );
  void connection.start();
}
