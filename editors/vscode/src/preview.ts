/** The difference that a repair makes, beside the list of repairs: a tab that goes with the list. */
import * as vscode from 'vscode';
import { withEdit, type Repair } from './repairItems';

const SCHEME = 'assay-repair';

export class Preview implements vscode.Disposable {
  private text = '';
  private readonly changes = new vscode.EventEmitter<vscode.Uri>();
  private readonly parts: vscode.Disposable;

  constructor() {
    this.parts = vscode.Disposable.from(
      this.changes,
      vscode.workspace.registerTextDocumentContentProvider(SCHEME, {
        onDidChange: this.changes.event,
        provideTextDocumentContent: () => this.text,
      }),
    );
  }

  /** Shows the document as it is and with the repair; another repair of it takes the place of the one before. */
  async show(document: vscode.TextDocument, repair: Repair): Promise<void> {
    this.text = withEdit(document.getText(), repair.edit, ({ line, character }) => document.offsetAt(new vscode.Position(line, character)));
    const changed = document.uri.with({ scheme: SCHEME });
    this.changes.fire(changed);
    const { line } = repair.edit.range.start;
    const options = { preview: false, preserveFocus: true, selection: new vscode.Range(line, 0, line, 0) };
    await vscode.commands.executeCommand('vscode.diff', document.uri, changed, 'Assay: a repair', options);
  }

  /** Takes the tab away. */
  async close(): Promise<void> {
    const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs);
    const own = tabs.filter(({ input }) => input instanceof vscode.TabInputTextDiff && input.modified.scheme === SCHEME);
    if (own.length > 0) await vscode.window.tabGroups.close(own);
  }

  dispose(): void {
    this.parts.dispose();
  }
}
