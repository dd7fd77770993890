/** Surprising tokens: marked when the user asks for them, gone at the next edit. They are never diagnostics. */
import * as vscode from 'vscode';
import type { Connection } from './connection';
import { surpriseMarks, type Surprises } from './surpriseMarks';

export class SurpriseMarks implements vscode.Disposable {
  private readonly type = vscode.window.createTextEditorDecorationType({
    backgroundColor: new vscode.ThemeColor('editor.findMatchHighlightBackground'),
    overviewRulerColor: new vscode.ThemeColor('editorOverviewRuler.findMatchForeground'),
    rangeBehavior: vscode.DecorationRangeBehavior.ClosedClosed,
  });
  private readonly parts: vscode.Disposable;
  private marked: vscode.TextEditor | undefined;

  constructor(private readonly connection: Connection) {
    this.parts = vscode.Disposable.from(
      this.type,
      vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
        if (contentChanges.length > 0 && this.marked?.document === document) this.clear();
      }),
    );
  }

  /** Marks the surprising tokens of the selection, or of what is on the screen. */
  async show(): Promise<void> {
    const editor = vscode.window.activeTextEditor;
    if (editor === undefined) return;
    const { document, selection } = editor;
    const { start, end } = selection.isEmpty ? (editor.visibleRanges[0] ?? selection) : selection;
    const params = {
      textDocument: { uri: document.uri.toString(), version: document.version },
      range: { start, end },
      workDoneToken: SHOWN_HERE,
    };
    const found = await vscode.window.withProgress(
      { location: vscode.ProgressLocation.Notification, title: 'Assay: looking for surprising tokens', cancellable: true },
      (_, token) => this.connection.ask<Surprises>('assay/surprise', params, token),
    );
    this.clear();
    if (found === undefined) return;
    if (found.version !== document.version) {
      void vscode.window.showInformationMessage('Assay: the text has changed; ask for the surprising tokens again.');
      return;
    }
    const marks = surpriseMarks(found);
    if (marks.length === 0) void vscode.window.showInformationMessage('Assay: no token there surprises the model.');
    this.marked = editor;
    editor.setDecorations(
      this.type,
      marks.map(({ line, start: from, end: to, words }) => ({ range: new vscode.Range(line, from, line, to), hoverMessage: words })),
    );
  }

  clear(): void {
    this.marked?.setDecorations(this.type, []);
    this.marked = undefined;
  }

  dispose(): void {
    this.parts.dispose();
  }
}

/** With a token the server makes no progress of its own beside the one that is shown here. */
const SHOWN_HERE = 'assay/surprise';
