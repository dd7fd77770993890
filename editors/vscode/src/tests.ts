/** Runs a project's tests, and takes the consent to run them back. The server asks for it, and shows what the tests say. */
import * as vscode from 'vscode';
import type { Connection } from './connection';

const RUN = 'assay.runTests';
const FORBID = 'assay.forbidTests';

/** Runs the tests that touch the selection, or what was accepted last in the open document. */
export async function runTests(connection: Connection, selected: boolean): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  if (editor === undefined) return;
  const { start, end } = editor.selection;
  const uri = editor.document.uri.toString();
  await connection.ask('workspace/executeCommand', { command: RUN, arguments: [selected ? { uri, range: { start, end } } : { uri }] });
}

/** Takes back the consent to run the tests of the project that the open document is of. */
export async function forbidTests(connection: Connection): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  if (editor === undefined) return;
  await connection.ask('workspace/executeCommand', { command: FORBID, arguments: [{ uri: editor.document.uri.toString() }] });
}
