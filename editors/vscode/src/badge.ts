/** The badge: the confidence of the suggestion on the screen, behind the line that it begins on. */
import * as vscode from 'vscode';
import { colourOf } from './bands';
import { shown, type OnScreen } from './onScreen';
import { badgeText } from './badgeText';
import type { Screen } from './screen';
import { badgePlace } from './settings';

export class Badge implements vscode.Disposable {
  // One type for all bands: the editor then changes a badge in place.
  private readonly type = vscode.window.createTextEditorDecorationType({ rangeBehavior: vscode.DecorationRangeBehavior.ClosedOpen });
  private readonly parts: vscode.Disposable;
  private drawnIn: vscode.TextEditor | undefined;

  constructor(private readonly screen: Screen) {
    this.parts = vscode.Disposable.from(
      this.type,
      screen.onChange(() => {
        this.draw();
      }),
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration('assay.badge')) this.draw();
      }),
    );
  }

  dispose(): void {
    this.parts.dispose();
  }

  private draw(): void {
    const place = badgePlace();
    const now = place === 'line' || place === 'words' ? this.screen.current : undefined;
    const editor = vscode.window.activeTextEditor;
    const wanted = now !== undefined && editor?.document.uri.toString() === now.uri ? editor : undefined;
    if (this.drawnIn !== undefined && this.drawnIn !== wanted) this.drawnIn.setDecorations(this.type, []);
    if (wanted !== undefined && now !== undefined)
      wanted.setDecorations(this.type, [decoration(now, place === 'words' ? 'words' : 'short')]);
    this.drawnIn = wanted;
  }
}

/** A line's end, wherever that is when the editor draws: by then more may have been typed than the extension has heard of. */
const LINE_END = Number.MAX_SAFE_INTEGER;

function decoration(now: OnScreen, form: 'short' | 'words'): vscode.DecorationOptions {
  const end = new vscode.Position(now.at.line, LINE_END);
  const band = shown(now)?.suggestion.confidence.band ?? '';
  const after = {
    contentText: badgeText(now, form),
    color: new vscode.ThemeColor(colourOf(band)),
    margin: '0 0 0 2em',
    fontStyle: 'normal',
  };
  return { range: new vscode.Range(end, end), renderOptions: { after } };
}
