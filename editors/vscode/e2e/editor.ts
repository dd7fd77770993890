/** One real VS Code: its server, a browser with its window, and what a user does there. */
import { spawn, type ChildProcess } from 'node:child_process';
import { openSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { chromium, type Browser, type Page } from 'playwright-core';
import { eventsAfter } from './eventLog.ts';
import { Screen } from './screen.ts';
import { pause, until } from './waiting.ts';
import type { Workplace } from './workplace.ts';

export interface Start {
  /** The folder that install-editor printed. */
  readonly installation: string;
  readonly vsix: string;
  readonly browser: string;
  /** Whether folders have to be trusted before their settings count; otherwise all are. */
  readonly trust?: boolean;
  readonly width?: number;
  readonly height?: number;
  /** Pixels of the screen for one of the page's. */
  readonly scale?: number;
}

export class Editor {
  readonly place: Workplace;
  readonly page: Page;
  readonly screen: Screen;
  private readonly server: ChildProcess;
  private readonly browser: Browser;
  /** What the page said on its console, and asked of other hosts than this machine. */
  readonly console: string[] = [];
  readonly foreign: string[] = [];

  private constructor(place: Workplace, server: ChildProcess, browser: Browser, page: Page) {
    this.place = place;
    this.server = server;
    this.browser = browser;
    this.page = page;
    this.screen = new Screen(page);
    page.on('console', (message) => this.console.push(`${message.type()}: ${message.text()}`));
    page.on('request', (request) => {
      const { protocol, hostname } = new URL(request.url());
      if (/^(http|ws)s?:$/.test(protocol) && hostname !== '127.0.0.1') this.foreign.push(request.url());
    });
  }

  /** Starts it in the place's workspace, with the extension installed. */
  static async open(place: Workplace, start: Start): Promise<Editor> {
    const port = await freePort();
    await run(start, place, ['--install-extension', start.vsix, '--force']);
    const trust = start.trust === true ? [] : ['--disable-workspace-trust'];
    const server = spawned(start, place, ['--bind-addr', `127.0.0.1:${port}`, '--auth', 'none', ...CALM, ...trust, place.workspace]);
    let browser: Browser | undefined;
    try {
      const url = `http://127.0.0.1:${port}`;
      await until('code-server answers', () => answers(`${url}/healthz`));
      browser = await chromium.launch({ executablePath: start.browser, args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'] });
      const viewport = { width: start.width ?? 1200, height: start.height ?? 700 };
      const page = await browser.newPage({ viewport, deviceScaleFactor: start.scale ?? 1 });
      const editor = new Editor(place, server, browser, page);
      await page.goto(`${url}/?folder=${encodeURIComponent(place.workspace)}`);
      await page.waitForSelector('.monaco-workbench .part.statusbar', { timeout: 120_000 });
      return editor;
    } catch (error) {
      await browser?.close();
      await ended(server);
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.browser.close();
    await ended(this.server);
  }

  /**
   * Until the server runs, its model is loaded, and the editor asks it: in the first moment after an extension offers suggestions the editor
   * may ask nobody, though keys are pressed.
   */
  async ready(): Promise<void> {
    await this.serverReady();
    await this.openAt('ready.py', 'x =▮\n');
    await until('the editor asks for suggestions', async () => {
      await this.type(' ');
      await pause(ASKING_MS);
      return eventsAfter(this.place.events, 0).some(({ kind }) => kind === 'request');
    });
  }

  /** Until the server runs and its model is loaded. */
  async serverReady(): Promise<void> {
    await until('Assay is ready', async () => /Assay: ready/.test((await this.screen.status()).spoken), () => this.screen.status());
  }

  /** Opens a file of the workspace with the cursor at its mark ▮, which is not in the file. */
  async openAt(name: string, marked: string): Promise<void> {
    const at = marked.indexOf('▮');
    const before = marked.slice(0, at);
    this.place.write(name, before + marked.slice(at + 1));
    const line = before.split('\n').length;
    const column = at - before.lastIndexOf('\n');
    await this.quickOpen(name, `${path.join(this.place.workspace, name)}:${line}:${column}`);
    await until(`${name} is open`, () => this.screen.isOpen(name));
    await until('the cursor is where it was put', async () => (await this.screen.cursorPlace()) === `${line}:${column}`, () => this.screen.cursorPlace());
  }

  /** Into the text. */
  async type(text: string, delay = 40): Promise<void> {
    await this.textTakesKeys();
    await this.page.keyboard.type(text, { delay });
  }

  async press(key: string): Promise<void> {
    await this.page.keyboard.press(key);
  }

  /** Runs a command by its title, as a user does. */
  async command(title: string): Promise<void> {
    await this.search('F1', title.replace('…', ''));
    await this.take(title);
  }

  /** Takes that entry of the open list, which ends with it. */
  async choose(words: string): Promise<void> {
    await this.take(words);
    await this.listGone();
  }

  /** Presses that button of the notification that has these words. */
  async answer(words: string, button: string): Promise<void> {
    const asked = this.page.locator('.notification-list-item').filter({ hasText: words }).last();
    await asked.locator('.monaco-button').filter({ hasText: new RegExp(`^\\s*${button}\\s*$`) }).first().click();
    await asked.waitFor({ state: 'hidden' });
  }

  /** Until a notification says this; then takes all of them away. */
  async told(words: RegExp): Promise<void> {
    await until(`a notification: ${String(words)}`, async () => (await this.screen.notifications()).some((text) => words.test(text)), () => this.screen.notifications());
    await this.command('Notifications: Clear All Notifications');
  }

  /** Takes all off the screen that came over the text or in it: lists, suggestions. A list that is opened before that is done would go, too. */
  async clear(): Promise<void> {
    await this.press('Escape');
    await until(
      'a screen without list and ghost text',
      async () => (await this.screen.ghost()).trim() === '' && (await this.page.locator('.quick-input-widget:visible').count()) === 0,
      () => this.screen.seen(),
    );
  }

  /** Takes the first entry of the open list that has these words, by keyboard: a mouse would stay and call for tooltips. */
  private async take(words: string): Promise<void> {
    const chosen = () => this.page.evaluate<string | null>(CHOSEN);
    await until(
      `the entry ${words}`,
      async () => {
        const text = await chosen();
        if (text === null || text.includes(words)) return text !== null;
        await this.press('ArrowDown');
        return false;
      },
      chosen,
    );
    await this.press('Enter');
    await this.page.locator('.quick-input-list .monaco-list-row').filter({ hasText: words }).first().waitFor({ state: 'hidden' });
  }

  /** The list is on the screen a moment before the keyboard is its own. */
  private async search(key: string, words: string): Promise<void> {
    await this.press(key);
    await this.page.locator('.quick-input-widget input:focus').first().waitFor({ state: 'visible', timeout: 60_000 });
    await this.page.keyboard.insertText(words);
  }

  private async listGone(): Promise<void> {
    await this.page.locator('.quick-input-widget').first().waitFor({ state: 'hidden' });
    await this.textTakesKeys();
  }

  /** Keys that are pressed while neither a list nor the text has the keyboard are lost. */
  async textTakesKeys(): Promise<void> {
    await until('the text has the keyboard', () => this.page.evaluate<boolean>('document.activeElement?.closest(".editor-instance .monaco-editor") != null'));
    // Which keys are commands there is known to the window a moment later; Backspace would do nothing until then.
    await this.page.evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(resolve))))');
  }

  /** By its whole path: that needs no search of the workspace. */
  private async quickOpen(name: string, what: string): Promise<void> {
    await this.search('Control+p', what);
    await this.page.locator('.quick-input-list .monaco-list-row').filter({ hasText: name }).first().waitFor({ state: 'visible', timeout: 60_000 });
    await this.press('Enter');
    await this.listGone();
  }
}

/** Runs in the page: the chosen entry of the list that has the keyboard. A list that opens has entries before that, and the text behind it still takes the keys. */
const CHOSEN = `document.activeElement?.closest('.quick-input-widget')?.querySelector('.quick-input-list .monaco-list-row.focused')?.textContent ?? null`;

/** Within which the outcome of a request is in the log, where one was made. */
const ASKING_MS = 500;

const CALM = ['--disable-telemetry', '--disable-update-check', '--disable-getting-started-override'];

function spawned(start: Start, place: Workplace, args: readonly string[]): ChildProcess {
  const log = openSync(path.join(place.folder, 'editor.log'), 'a');
  const entry = path.join(start.installation, 'node_modules/code-server/out/node/entry.js');
  const folders = ['--config', path.join(place.folder, 'none.yaml'), '--user-data-dir', place.profile, '--extensions-dir', place.extensions];
  return spawn(path.join(start.installation, 'node'), [entry, ...folders, ...args], {
    // A group of its own, so that all that it started ends with it.
    detached: true,
    stdio: ['ignore', log, log],
    env: {
      ...process.env,
      // Otherwise the workbench asks a public gallery of extensions.
      EXTENSIONS_GALLERY: '{"serviceUrl":""}',
      XDG_DATA_HOME: path.join(place.folder, 'data'),
    },
  });
}

async function run(start: Start, place: Workplace, args: readonly string[]): Promise<void> {
  const process = spawned(start, place, args);
  const code = await new Promise<number | null>((resolve) => process.once('exit', resolve));
  if (code !== 0) throw new Error(`code-server ${args.join(' ')} ended with ${String(code)}`);
}

async function ended(server: ChildProcess): Promise<void> {
  if (server.pid === undefined) return;
  const gone = server.exitCode === null ? new Promise((resolve) => server.once('exit', resolve)) : Promise.resolve();
  try {
    process.kill(-server.pid, 'SIGKILL');
  } catch {
    // All of the group have ended already.
  }
  await gone;
}

async function answers(url: string): Promise<boolean> {
  try {
    return (await fetch(url)).ok;
  } catch {
    return false;
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => {
        if (typeof address === 'object' && address !== null) resolve(address.port);
        else reject(new Error('no port'));
      });
    });
  });
}
