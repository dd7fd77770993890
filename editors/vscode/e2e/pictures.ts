/** node pictures.ts INSTALLATION VSIX BROWSER MEDIA: draws the README's pictures anew, with the real server and the embedded model. */
import path from 'node:path';
import { Editor } from './editor.ts';
import { pause, until } from './waiting.ts';
import { Workplace } from './workplace.ts';

const [installation = '', vsix = '', browser = '', media = ''] = process.argv.slice(2);
const SIZE = { width: 980, height: 560 };

/** How long the editor's own animations and colouring take. */
const SETTLED_MS = 1500;

const place = new Workplace({
  'workbench.colorTheme': 'Default Dark Modern',
  'editor.fontSize': 17,
  'editor.lineHeight': 1.6,
  'window.commandCenter': false,
  'workbench.activityBar.location': 'hidden',
  'workbench.layoutControl.enabled': false,
  'workbench.editor.editorActionsLocation': 'hidden',
  'breadcrumbs.enabled': false,
  'editor.renderLineHighlight': 'none',
  'editor.overviewRulerBorder': false,
  'editor.hideCursorInOverviewRuler': true,
  'editor.cursorBlinking': 'solid',
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
});
const editor = await Editor.open(place, { installation, vsix, browser, ...SIZE, scale: 1.5 });
const { page } = editor;
try {
  await editor.ready();
  await editor.press('Control+s');
  await ghost();
  await dial();
  await panel();
} finally {
  await editor.close();
  place.remove();
}

async function shot(name: string, height = SIZE.height): Promise<void> {
  // Away from all that has a tooltip.
  await page.mouse.move(SIZE.width / 2, height - 60);
  await page.setViewportSize({ ...SIZE, height });
  await pause(SETTLED_MS);
  await page.screenshot({ path: path.join(media, name) });
}

async function ghost(): Promise<void> {
  await editor.openAt(
    'point.py',
    'class Point:\n    """A point in the plane."""\n\n    def __init__(self, x, y):\n        self.x = x\n        self.y▮\n\n    def moved(self, dx, dy):\n        return Point(self.x + dx, self.y + dy)\n',
  );
  await editor.command('View: Close Other Editors in Group');
  await editor.press('Control+b');
  await editor.press('Control+1');
  await editor.type(' =');
  await until('a suggestion', async () => (await editor.screen.badge()) !== null);
  await shot('ghost.png', 420);
  await editor.press('Tab');
  await editor.press('Control+s');
}

async function dial(): Promise<void> {
  await editor.command('Assay: Set the Dial…');
  await page.locator('.quick-input-list .monaco-list-row').nth(2).waitFor({ state: 'visible' });
  await shot('dial.png');
  await editor.press('Escape');
}

async function panel(): Promise<void> {
  await editor.command('Assay: Confidence');
  await until('the diagram', async () => {
    for (const frame of page.frames()) if ((await frame.locator('#report svg.diagram').count().catch(() => 0)) > 0) return true;
    return false;
  });
  await editor.command('View: Close Editors in Other Groups');
  await shot('panel.png', 820);
}
