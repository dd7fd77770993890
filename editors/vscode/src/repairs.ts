/** Chooses among repairs of lines: a list with a preview of each. The server puts the chosen one in. */
import * as vscode from 'vscode';
import type { Connection } from './connection';
import { Preview } from './preview';
import { repairItems, type RepairItem, type RepairLines, type Repairs } from './repairItems';

const REPAIR = 'assay.repair';

export class RepairList implements vscode.Disposable {
  private readonly preview = new Preview();

  constructor(private readonly connection: Connection) {}

  dispose(): void {
    this.preview.dispose();
  }

  /** Has the user choose a repair of the lines of the selection, or of the cursor's line. */
  async chooseHere(): Promise<void> {
    const editor = vscode.window.activeTextEditor;
    if (editor === undefined) return;
    const { document, selection } = editor;
    const { start, end } = selection;
    await this.choose({ uri: document.uri.toString(), version: document.version, range: { start, end } });
  }

  /** Has the user choose a repair of lines, such as those of a code action. */
  async choose(lines: RepairLines): Promise<void> {
    const document = vscode.workspace.textDocuments.find(({ uri }) => uri.toString() === lines.uri);
    if (document === undefined) return;
    const shownBefore = vscode.window.activeTextEditor;
    const { chosen, found } = await this.list(document, lines);
    await this.preview.close();
    if (shownBefore?.document === document) {
      const { viewColumn = vscode.ViewColumn.Active, selection } = shownBefore;
      await vscode.window.showTextDocument(document, { viewColumn, selection });
    }
    const [first] = found?.repairs ?? [];
    if (chosen !== undefined && found !== undefined) {
      await this.connection.ask('workspace/executeCommand', { command: REPAIR, arguments: [{ ...found.lines, id: chosen.repair.id }] });
    } else if (first !== undefined) {
      this.connection.signal('assay.rejected', { id: first.id });
    }
  }

  private async list(document: vscode.TextDocument, lines: RepairLines): Promise<{ chosen?: RepairItem | undefined; found?: Repairs }> {
    const pick = vscode.window.createQuickPick<vscode.QuickPickItem & RepairItem>();
    pick.title = 'Assay: repairs';
    pick.placeholder = 'Looking for repairs…';
    pick.busy = true;
    // The preview takes the focus for a moment.
    pick.ignoreFocusOut = true;
    pick.show();
    const asking = new vscode.CancellationTokenSource();
    const chosen = new Promise<RepairItem | undefined>((resolve) => {
      pick.onDidAccept(() => {
        resolve(pick.activeItems[0]);
        pick.hide();
      });
      pick.onDidHide(() => {
        asking.cancel();
        resolve(undefined);
      });
    });
    pick.onDidChangeActive(([active]) => {
      if (active !== undefined) void this.preview.show(document, active.repair);
    });
    try {
      const { uri, version, ...rest } = lines;
      const found = await this.connection.ask<Repairs>('assay/repairs', { textDocument: { uri, version }, ...rest }, asking.token);
      const [first] = found?.repairs ?? [];
      if (found === undefined || asking.token.isCancellationRequested) return {};
      if (first === undefined) {
        void vscode.window.showInformationMessage(`Assay: ${nothing(found)}`);
        return {};
      }
      pick.busy = false;
      const better = found.nothing_better === true ? 'Nothing better was found. ' : '';
      pick.placeholder = `${better}Which repair? The difference is shown beside.`;
      pick.items = repairItems(found);
      this.connection.signal('assay.shown', { id: first.id });
      return { chosen: await chosen, found };
    } finally {
      asking.dispose();
      pick.dispose();
    }
  }
}

function nothing({ stopped_by, refused_by_tests: refused }: Repairs): string {
  if (refused > 0) return refused === 1 ? 'the tests refuse the one that was found.' : `the tests refuse all ${refused} that were found.`;
  return stopped_by === null ? 'nothing else was found that fits there.' : 'nothing was found in time (assay.repair.maxMs).';
}
