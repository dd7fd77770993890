/** Pause, and suggestions only on request. */
import * as vscode from 'vscode';
import type { Connection } from './connection';
import { change, isAutomatic } from './settings';

const PAUSES: readonly { readonly label: string; readonly minutes: number }[] = [
  { label: '15 minutes', minutes: 15 },
  { label: '30 minutes', minutes: 30 },
  { label: '1 hour', minutes: 60 },
  { label: '4 hours', minutes: 240 },
];

export async function pauseFor(connection: Connection, minutes?: number): Promise<void> {
  const chosen =
    minutes === undefined
      ? await vscode.window.showQuickPick(PAUSES, { placeHolder: 'Pause automatic suggestions for how long?' })
      : { minutes };
  if (chosen !== undefined) connection.signal('assay.pause', { minutes: chosen.minutes });
}

export function resume(connection: Connection): void {
  connection.signal('assay.pause', { minutes: 0 });
}

/** Suggestions come by themselves, or only when they are invoked. */
export async function toggleAutomatic(): Promise<void> {
  await change('automatic', !isAutomatic());
}
