/** The panel's page: nothing of it comes from elsewhere, and no script runs in it but its own. Pure. */
import { html, Markup } from './markup';

const STYLE = `
body { font-family: var(--vscode-font-family); font-size: var(--vscode-font-size); color: var(--vscode-foreground); padding: 0 1.5em 2em; max-width: 60em; }
h1 { font-size: 1.6em; font-weight: 600; margin: 0.8em 0 0.4em; }
h2 { font-size: 1.2em; font-weight: 600; margin: 1.6em 0 0.4em; border-top: 1px solid var(--vscode-widget-border, transparent); padding-top: 0.8em; }
.quiet, figcaption { color: var(--vscode-descriptionForeground); font-weight: normal; }
.bar-of-buttons { display: flex; gap: 0.6em; align-items: center; flex-wrap: wrap; }
button { font: inherit; color: var(--vscode-button-foreground); background: var(--vscode-button-background); border: 1px solid var(--vscode-button-border, transparent); padding: 0.35em 0.9em; border-radius: 2px; cursor: pointer; }
button.second { color: var(--vscode-button-secondaryForeground); background: var(--vscode-button-secondaryBackground); }
button:hover { background: var(--vscode-button-hoverBackground); }
button:disabled { opacity: 0.5; cursor: default; }
:focus-visible { outline: 1px solid var(--vscode-focusBorder); outline-offset: 2px; }
.pair { display: flex; flex-wrap: wrap; gap: 1.5em; align-items: flex-start; }
figure { margin: 0; flex: 0 0 20em; max-width: 100%; }
.numbers { flex: 1 1 22em; min-width: 0; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.2em 1em; margin: 0 0 1em; }
dt { color: var(--vscode-descriptionForeground); }
dd { margin: 0; overflow-wrap: anywhere; }
table { border-collapse: collapse; }
caption { text-align: left; color: var(--vscode-descriptionForeground); padding-bottom: 0.3em; }
th, td { text-align: right; padding: 0.15em 0.7em 0.15em 0; font-weight: normal; font-variant-numeric: tabular-nums; }
thead th { border-bottom: 1px solid var(--vscode-foreground); font-weight: 600; }
tbody th { text-align: left; }
.words { text-align: left; max-width: 26em; }
.figures { margin: 0.4em 0 0.8em; }
.figures th, .figures td { vertical-align: top; }
summary { cursor: pointer; }
.diagram { width: 100%; height: auto; }
.frame { fill: none; stroke: var(--vscode-foreground); stroke-width: 1; }
.grid { stroke: var(--vscode-foreground); opacity: 0.15; }
.perfect { stroke: var(--vscode-foreground); stroke-dasharray: 4 4; }
.whisker { stroke: var(--vscode-assay-likely); stroke-width: 1.5; opacity: 0.8; }
.curve { fill: none; stroke: var(--vscode-assay-likely); stroke-width: 1.5; }
.dot { fill: var(--vscode-assay-likely); }
.bar { fill: var(--vscode-foreground); opacity: 0.35; stroke: var(--vscode-editor-background); stroke-width: 1; }
.tick, .label { fill: var(--vscode-foreground); font-size: 10px; }
`;

// The page keeps its buttons, and so the focus on them, while the report in it changes.
const SCRIPT = `
const vscode = acquireVsCodeApi();
const report = document.getElementById('report');
const said = document.getElementById('said');
const recalibrate = document.getElementById('recalibrate');
for (const button of document.querySelectorAll('button')) {
  button.addEventListener('click', () => vscode.postMessage({ asks: button.id }));
}
window.addEventListener('message', ({ data }) => {
  if (typeof data.report === 'string') report.innerHTML = data.report;
  if (typeof data.said === 'string') said.textContent = data.said;
  if (typeof data.canRecalibrate === 'boolean') recalibrate.disabled = !data.canRecalibrate;
});
vscode.postMessage({ asks: 'refresh' });
`;

/** The page with an empty report. nonce: new for each page. */
export function panelPage(nonce: string): string {
  const policy = `default-src 'none'; style-src 'nonce-${nonce}'; script-src 'nonce-${nonce}'`;
  return html`<!DOCTYPE html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta http-equiv="Content-Security-Policy" content="${policy}" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>Assay: confidence</title>
        <style nonce="${nonce}">
          ${new Markup(STYLE)}
        </style>
      </head>
      <body>
        <main>
          <h1>Confidence</h1>
          <div class="bar-of-buttons">
            <button id="refresh" class="second">Refresh</button><button id="recalibrate" disabled>Recalibrate</button
            ><span id="said" role="status" aria-live="polite"></span>
          </div>
          <div id="report"></div>
        </main>
        <script nonce="${nonce}">
          ${new Markup(SCRIPT)};
        </script>
      </body>
    </html>`.html;
}
