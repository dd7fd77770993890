/** Runs a project's tests, repairs what fails, and takes consent back. The server asks for it, and shows what the tests say. */
import * as vscode from 'vscode';
import type { Connection } from './connection';

const RUN = 'assay.runTests';
const REPAIR = 'assay.repairTests';
const FORBID = 'assay.forbidTests';

/** Runs the tests that touch the selection, or what was accepted last in the open document. */
export async function runTests(connection: Connection, selected: boolean): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  if (editor === undefined) return;
  const { start, end } = editor.selection;
  const uri = editor.document.uri.toString();
  await connection.ask('workspace/executeCommand', { command: RUN, arguments: [selected ? { uri, range: { start, end } } : { uri }] });
}

/** Repairs the open document where tests fail that run it. They run on what is saved. */
export async function repairTests(connection: Connection): Promise<void> {
  await vscode.window.activeTextEditor?.document.save();
  await ofDocument(connection, REPAIR);
}

/** Takes back the consent to run the tests of the project that the open document is of. */
export async function forbidTests(connection: Connection): Promise<void> {
  await ofDocument(connection, FORBID);
}

async function ofDocument(connection: Connection, command: string): Promise<void> {
  const uri = vscode.window.activeTextEditor?.document.uri.toString();
  if (uri !== undefined) await connection.ask('workspace/executeCommand', { command, arguments: [{ uri }] });
}
