/** A temporary folder with all that one editor may touch: profile, workspace, log of events, and the program that is the server. */
import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

export const TREE = path.resolve(import.meta.dirname, '../../..');
const PYTHON = path.join(TREE, '.venv/bin/python');

export type Settings = Readonly<Record<string, unknown>>;

/** What makes an editor quiet: nothing of it asks a network, opens a page, or types for the user. */
const QUIET: Settings = {
  'chat.disableAIFeatures': true,
  'telemetry.telemetryLevel': 'off',
  'workbench.startupEditor': 'none',
  'workbench.tips.enabled': false,
  'workbench.welcomePage.walkthroughs.openOnInstall': false,
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'window.restoreWindows': 'none',
  'extensions.autoCheckUpdates': false,
  'extensions.autoUpdate': false,
  'extensions.ignoreRecommendations': true,
  'git.enabled': false,
  'editor.inlineSuggest.enabled': true,
  'editor.quickSuggestions': { other: 'off', comments: 'off', strings: 'off' },
  'editor.wordBasedSuggestions': 'off',
  'editor.autoClosingBrackets': 'never',
  'editor.autoClosingQuotes': 'never',
  'editor.autoIndent': 'none',
  'editor.minimap.enabled': false,
  'editor.occurrencesHighlight': 'off',
  'editor.matchBrackets': 'never',
  'files.autoSave': 'off',
};

export class Workplace {
  readonly folder = mkdtempSync(path.join(tmpdir(), 'assay-e2e-'));
  readonly workspace = path.join(this.folder, 'workspace');
  readonly profile = path.join(this.folder, 'profile');
  readonly extensions = path.join(this.folder, 'extensions');
  readonly events = path.join(this.folder, 'events.sqlite3');
  readonly program = path.join(this.folder, 'assay');
  private readonly pidFile = path.join(this.folder, 'server.pid');
  private readonly startsFile = path.join(this.folder, 'server.starts');
  private settings: Settings;

  constructor(settings: Settings = {}) {
    for (const folder of [this.workspace, path.join(this.profile, 'User'), path.join(this.profile, 'Machine'), this.extensions]) mkdirSync(folder, { recursive: true });
    writeFileSync(
      this.program,
      [
        '#!/bin/sh',
        `echo $$ > '${this.pidFile}'`,
        `echo $$ >> '${this.startsFile}'`,
        `ASSAY_DATA_HOME='${path.join(this.folder, 'data')}' \\`,
        `PYTHONPATH='${path.join(TREE, '.typing')}' exec '${PYTHON}' -m assay "$@"`,
        '',
      ].join('\n'),
    );
    chmodSync(this.program, 0o755);
    this.settings = { ...QUIET, 'assay.server.path': this.program, 'assay.log.path': this.events, 'assay.explore': 0, ...settings };
    this.writeSettings();
  }

  /** Changes settings while the editor runs; it reads them as a user's own edit of the file. undefined: back to the default. */
  set(changed: Settings): void {
    this.settings = Object.fromEntries(Object.entries({ ...this.settings, ...changed }).filter(([, value]) => value !== undefined));
    this.writeSettings();
  }

  /** What the user's settings file says; undefined while the editor writes it. */
  setting(name: string): unknown {
    try {
      return (JSON.parse(readFileSync(path.join(this.profile, 'User', 'settings.json'), 'utf8')) as Settings)[name];
    } catch (error) {
      if (error instanceof SyntaxError) return undefined;
      throw error;
    }
  }

  /** The process id of the server that was started last. */
  get serverPid(): number {
    return Number(readFileSync(this.pidFile, 'utf8'));
  }

  get serverStarts(): number {
    return existsSync(this.startsFile) ? readFileSync(this.startsFile, 'utf8').trim().split('\n').length : 0;
  }

  write(name: string, text: string): string {
    const file = path.join(this.workspace, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
    return file;
  }

  read(name: string): string {
    return readFileSync(path.join(this.workspace, name), 'utf8');
  }

  /** A GGUF file that is a real model, as small as can be, for which no calibrator was ever fitted: behind a question mark it writes " answer". */
  tinyModel(): string {
    const file = path.join(this.folder, 'tiny.gguf');
    const make = [
      'from pathlib import Path',
      'import sys',
      'from tests.tiny_gguf import scripted, write_tiny_gguf',
      'write_tiny_gguf(Path(sys.argv[1]), scripted(b" answer", b"\\n"))',
    ].join('\n');
    execFileSync(PYTHON, ['-c', make, file], { cwd: TREE, env: { ...process.env, PYTHONPATH: path.join(TREE, '.typing') } });
    return file;
  }

  /** Keeps what is of use for finding out why something failed. */
  keepLogs(to: string): void {
    const logs = path.join(this.profile, 'logs');
    if (existsSync(logs)) cpSync(logs, to, { recursive: true });
    for (const name of ['editor.log', 'events.sqlite3', 'events.sqlite3-wal']) {
      const file = path.join(this.folder, name);
      if (existsSync(file)) cpSync(file, path.join(to, name));
    }
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }

  /** Both files: settings of a machine's scope are read from the second alone. */
  private writeSettings(): void {
    const text = JSON.stringify(this.settings, null, 2);
    for (const scope of ['User', 'Machine']) writeFileSync(path.join(this.profile, scope, 'settings.json'), text);
  }
}
