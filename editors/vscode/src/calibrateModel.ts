/** "Calibrate This Model": has the server fit calibrators, which shows how far it is, and says what came of it. */
import * as vscode from 'vscode';
import type { Connection } from './connection';
import { escaped } from './unseen';

interface Calibration {
  readonly said: string;
}

export async function calibrateModel(connection: Connection): Promise<void> {
  const found = await connection.ask<Calibration>('assay/calibrateModel', {});
  if (found !== undefined) void vscode.window.showInformationMessage(escaped(`Assay: ${found.said}`));
}
