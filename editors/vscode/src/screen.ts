/** Holds what of Assay's stands on the screen, and follows the editor's edits and cursor. */
import * as vscode from 'vscode';
import { answered, edited, moved, shown, turned, type Alternative, type Offered, type OnScreen } from './onScreen';

/** Set while a suggestion of Assay's is on the screen: keys of the editor are taken then alone. */
const SHOWN = 'assay.suggestionShown';

export class Screen implements vscode.Disposable {
  private now: OnScreen | undefined;
  private steps = 0;
  private preserved = false;
  private dismissed: { readonly document: vscode.TextDocument; readonly version: number } | undefined;
  private readonly changes = new vscode.EventEmitter<Alternative | undefined>();
  /** Another suggestion is on the screen, the same one further on, or none. */
  readonly onChange = this.changes.event;
  private readonly parts: vscode.Disposable;

  constructor() {
    this.parts = vscode.Disposable.from(
      this.changes,
      vscode.workspace.onDidChangeTextDocument((event) => {
        this.edit(event);
      }),
      vscode.window.onDidChangeTextEditorSelection(({ textEditor }) => {
        this.move(textEditor);
      }),
      vscode.window.onDidChangeActiveTextEditor(() => {
        this.clear();
      }),
      vscode.window.onDidChangeWindowState(({ focused }) => {
        // The editor takes its suggestion away when it loses the focus; of that this is all that an extension is told.
        if (!focused) this.clear();
      }),
      vscode.window.onDidChangeActiveTerminal(() => {
        this.clear();
      }),
    );
  }

  get current(): OnScreen | undefined {
    return this.now;
  }

  get suggestion(): Alternative | undefined {
    return this.now && shown(this.now);
  }

  /** An answer came. Gives what is on the screen then, undefined also where the text or the cursor have moved on since it was asked for. */
  answer(
    document: vscode.TextDocument,
    version: number,
    at: vscode.Position,
    offered: readonly Offered[],
    invoked: boolean,
  ): Alternative | undefined {
    const editor = vscode.window.activeTextEditor;
    if (editor?.document !== document || document.version !== version || !editor.selection.active.isEqual(at)) return undefined;
    // Nothing comes by itself any more until something is typed; what was asked for before may still be answered.
    if (!invoked && this.dismissed?.document === document && this.dismissed.version === version) return undefined;
    const where = { uri: document.uri.toString(), version, at };
    const next = answered(this.now, where, offered, { invoked, preserved: invoked || this.preserved });
    const steps = invoked ? this.steps : 0;
    this.steps = 0;
    this.preserved = false;
    this.set(next && turned(next, steps));
    return this.suggestion;
  }

  /** The user turns to another alternative; where the editor has to ask for them first, it is come to with the answer. */
  turn(steps: number): void {
    if (this.now?.invoked === true) this.set(turned(this.now, steps));
    else this.steps += steps;
  }

  /** A part is being accepted: the editor keeps showing the rest, whatever is answered next. */
  preserve(): void {
    this.preserved = true;
  }

  /** The user wants none here. */
  dismiss(): void {
    const document = vscode.window.activeTextEditor?.document;
    this.dismissed = document && { document, version: document.version };
    this.clear();
  }

  clear(): void {
    this.steps = 0;
    this.preserved = false;
    this.set(undefined);
  }

  dispose(): void {
    this.clear();
    this.parts.dispose();
  }

  private edit({ document, contentChanges, reason }: vscode.TextDocumentChangeEvent): void {
    if (this.now === undefined) return;
    const edits = contentChanges.map(({ range, rangeLength, text }) => ({ start: range.start, replaced: rangeLength, text }));
    const next = edited(this.now, document.uri.toString(), document.version, edits);
    this.set(reason !== undefined && next !== this.now ? undefined : next);
  }

  private move({ document, selections }: vscode.TextEditor): void {
    if (this.now === undefined) return;
    const [only, ...others] = selections;
    const cursor = others.length === 0 && only?.isEmpty === true ? only.active : undefined;
    this.set(moved(this.now, document.uri.toString(), document.version, cursor));
  }

  private set(next: OnScreen | undefined): void {
    const before = this.now;
    if (next === before) return;
    this.now = next;
    if ((before === undefined) !== (next === undefined)) void vscode.commands.executeCommand('setContext', SHOWN, next !== undefined);
    this.changes.fire(this.suggestion);
  }
}
