/** The panel "Assay: confidence": how well what was said held, from evidence and from the user's own log. */
import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';
import type { Connection } from './connection';
import { panelPage } from './panelPage';
import type { ConfidenceReport } from './protocol';
import { recalibrate } from './recalibrate';
import { reportMarkup } from './report';

export class Panel implements vscode.Disposable {
  private panel: vscode.WebviewPanel | undefined;

  constructor(private readonly connection: Connection) {}

  show(): void {
    if (this.panel !== undefined) {
      this.panel.reveal();
      return;
    }
    const panel = vscode.window.createWebviewPanel('assay.confidence', 'Assay: confidence', vscode.ViewColumn.Beside, {
      enableScripts: true,
      enableCommandUris: false,
      localResourceRoots: [],
    });
    this.panel = panel;
    panel.onDidDispose(() => {
      this.panel = undefined;
    });
    panel.webview.onDidReceiveMessage((message: { readonly asks?: unknown }) => {
      if (message.asks === 'refresh') void this.refresh(panel.webview);
      else if (message.asks === 'recalibrate') void this.recalibrate(panel.webview);
    });
    // Its script asks for the report, also when the page is made again after it was hidden.
    panel.webview.html = panelPage(randomBytes(16).toString('base64'));
  }

  dispose(): void {
    this.panel?.dispose();
  }

  private async refresh(webview: vscode.Webview, said = ''): Promise<void> {
    await webview.postMessage({ said: said || 'Reading…' });
    const report = await this.connection.ask<ConfidenceReport>('assay/confidence', {});
    const answer = report === undefined ? { said: 'The server gave no answer.', canRecalibrate: false } : { ...shown(report), said };
    await webview.postMessage(answer);
  }

  private async recalibrate(webview: vscode.Webview): Promise<void> {
    await webview.postMessage({ said: 'Fitting…', canRecalibrate: false });
    await this.refresh(webview, (await recalibrate(this.connection)) ?? 'Nothing was fitted.');
  }
}

function shown(report: ConfidenceReport): { readonly report: string; readonly canRecalibrate: boolean } {
  return { report: reportMarkup(report).html, canRecalibrate: report.recalibrate.possible };
}
