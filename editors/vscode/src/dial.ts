/** The dial: the list of stops and levels, from which one is chosen. */
import * as vscode from 'vscode';
import type { Connection } from './connection';
import { dialItems, dialPlaceholder, dialTitle, type DialItem } from './dialItems';
import type { Dial } from './protocol';
import { change } from './settings';

export async function chooseDial(connection: Connection): Promise<void> {
  const pick = vscode.window.createQuickPick<vscode.QuickPickItem & DialItem>();
  pick.title = 'Assay: the dial';
  pick.placeholder = 'Reading the log and the evidence…';
  pick.matchOnDetail = true;
  pick.busy = true;
  pick.show();
  const asking = new vscode.CancellationTokenSource();
  const chosen = new Promise<DialItem | undefined>((resolve) => {
    pick.onDidAccept(() => {
      resolve(pick.activeItems[0]);
      pick.hide();
    });
    pick.onDidHide(() => {
      asking.cancel();
      resolve(undefined);
    });
  });
  try {
    const dial = await connection.ask<Dial>('assay/dial', {}, asking.token);
    if (dial === undefined) {
      pick.hide();
      return;
    }
    pick.busy = false;
    pick.title = dialTitle(dial);
    pick.placeholder = dialPlaceholder(dial);
    pick.items = dialItems(dial);
    pick.activeItems = pick.items.filter(({ now }) => now);
    const item = await chosen;
    if (item !== undefined && !item.now) await change('showAbove', item.showAbove);
  } finally {
    asking.dispose();
    pick.dispose();
  }
}
