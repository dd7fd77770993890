/**
 * The item in the status bar: what Assay does, and the confidence of the suggestion on the screen. It has no band's colour, for those are made
 * to be read on an editor's background, and a status bar may have any.
 */
import * as vscode from 'vscode';
import { badgeText } from './badgeText';
import type { Connection } from './connection';
import type { Screen } from './screen';
import { badgePlace, isAutomatic, SECTION, showAbove } from './settings';
import { statusText } from './statusText';

const BACKGROUND = { none: undefined, warning: 'statusBarItem.warningBackground', error: 'statusBarItem.errorBackground' } as const;

export class StatusItem implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem('assay.status', vscode.StatusBarAlignment.Right, 100);
  private readonly parts: vscode.Disposable;

  constructor(
    private readonly connection: Connection,
    private readonly screen: Screen,
  ) {
    this.item.name = 'Assay';
    this.item.command = 'assay.menu';
    const draw = () => {
      this.draw();
    };
    this.parts = vscode.Disposable.from(
      this.item,
      connection.onChange(draw),
      screen.onChange(draw),
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration(SECTION)) draw();
      }),
    );
    draw();
    this.item.show();
  }

  dispose(): void {
    this.parts.dispose();
  }

  private draw(): void {
    const now = badgePlace() === 'off' ? undefined : this.screen.current;
    const { stage, reason, status } = this.connection;
    const said = statusText({
      stage,
      reason,
      status,
      badge: now && badgeText(now, 'words'),
      automatic: isAutomatic(),
      showAbove: showAbove(),
      now: new Date(),
    });
    const background = BACKGROUND[said.severity];
    this.item.text = said.text;
    this.item.tooltip = said.lines.join('\n');
    this.item.accessibilityInformation = { label: said.spoken };
    this.item.backgroundColor = background === undefined ? undefined : new vscode.ThemeColor(background);
  }
}
