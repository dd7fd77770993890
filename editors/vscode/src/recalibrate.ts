/** Fits calibrators to the user's own log, and says what came of it. */
import * as vscode from 'vscode';
import type { Connection } from './connection';
import type { Recalibration } from './protocol';
import { recalibrationWords } from './recalibration';

/** With a token the server makes no progress of its own beside the one that is shown here. */
const SHOWN_HERE = 'assay/recalibrate';

/** What came of it in words; undefined where it failed or was taken back, which the user was told. */
export async function recalibrate(connection: Connection): Promise<string | undefined> {
  const result = await vscode.window.withProgress(
    { location: vscode.ProgressLocation.Notification, title: 'Assay: fitting calibrators to your log', cancellable: true },
    (_, token) => connection.ask<Recalibration>('assay/recalibrate', { workDoneToken: SHOWN_HERE }, token),
  );
  return result && recalibrationWords(result);
}
