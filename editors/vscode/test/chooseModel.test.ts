import { beforeEach, describe, expect, it, vi } from 'vitest';
import { chooseModel } from '../src/chooseModel';
import type { Connection } from '../src/connection';

interface Entry {
  readonly label: string;
}

/** What the editor was asked for, and what its user does. */
interface Editor {
  offered: string[];
  pick: (items: readonly Entry[]) => string | undefined;
  settings: Record<string, unknown>;
  said: string[];
}

const editor = vi.hoisted((): Editor => ({ offered: [], pick: () => undefined, settings: {}, said: [] }));

vi.mock('vscode', () => {
  class QuickPick {
    activeItems: readonly Entry[] = [];
    private all: readonly Entry[] = [];
    private readonly ends: Record<'accept' | 'hide', () => void> = { accept: () => undefined, hide: () => undefined };
    get items(): readonly Entry[] {
      return this.all;
    }
    set items(items: readonly Entry[]) {
      this.all = items;
      editor.offered = items.map(({ label }) => label);
      queueMicrotask(() => {
        const chosen = items.find(({ label }) => label === editor.pick(items));
        this.activeItems = chosen === undefined ? [] : [chosen];
        this.ends[chosen === undefined ? 'hide' : 'accept']();
      });
    }
    onDidAccept(run: () => void): void {
      this.ends.accept = run;
    }
    onDidHide(run: () => void): void {
      this.ends.hide = run;
    }
    show(): void {
      return;
    }
    hide(): void {
      this.ends.hide();
    }
    dispose(): void {
      return;
    }
  }
  const say = (words: string, ...buttons: (string | object)[]) => {
    editor.said.push(words);
    return Promise.resolve(buttons.find((button) => typeof button === 'string'));
  };
  return {
    window: {
      createQuickPick: () => new QuickPick(),
      showQuickPick: async (asked: Promise<readonly Entry[]>) => {
        const items = await asked;
        return items.find(({ label }) => label === editor.pick(items));
      },
      showInformationMessage: say,
      showWarningMessage: say,
      showErrorMessage: (words: string) => say(words),
      withProgress: (_: unknown, run: () => unknown) => run(),
    },
    workspace: {
      getConfiguration: () => ({
        inspect: () => undefined,
        update: (name: string, value: unknown) => {
          editor.settings[name] = value;
          return Promise.resolve();
        },
      }),
    },
    ConfigurationTarget: { Global: 1, Workspace: 2 },
    ProgressLocation: { Notification: 15 },
    CancellationTokenSource: class {
      readonly token = {};
      cancel(): void {
        return;
      }
      dispose(): void {
        return;
      }
    },
  };
});

const MODEL = {
  place: 'Ollama',
  where: '/blob',
  server_model: '',
  size: 0,
  parameters: 0,
  quantisation: '',
  fills_middle: true,
  tokens_per_second: null,
  fingerprint: '',
  numbers: 'none',
  problem: '',
};
const CODER = { ...MODEL, name: 'ollama:coder:1b', names: ['ollama:coder:1b'] };
const HALF = { ...MODEL, name: 'ollama:half:1b', names: ['ollama:half:1b'], problem: 'its blob is missing' };
const SERVED = { ...MODEL, name: 'http://127.0.0.1:11434', names: ['http://127.0.0.1:11434'], server_model: 'coder' };

const OFFER = {
  name: 'large',
  bytes: 0,
  licence: 'research',
  typing_ms: null,
  fits: true,
  recommended: false,
  numbers: 'none',
  path: null,
};

function connected(checked: object, commercial_use = true): { connection: Connection; asked: unknown[] } {
  const asked: unknown[] = [];
  const ask = (method: string, params: { probe?: boolean }) => {
    asked.push([method, params]);
    if (method === 'assay/modelsToGet') return Promise.resolve({ models: [{ ...OFFER, commercial_use }] });
    if (method === 'assay/getModel') return Promise.resolve({ model: 'hf:large' });
    const models = params.probe === true ? [CODER, HALF, SERVED] : [CODER, HALF];
    return Promise.resolve(method === 'assay/models' ? { models, notes: [], setting: null, fingerprint: null } : checked);
  };
  return { connection: { ask } as unknown as Connection, asked };
}

describe('choosing a model', () => {
  beforeEach(() => {
    Object.assign(editor, { offered: [], settings: {}, said: [], pick: () => undefined });
  });

  it('sets what was chosen, waits until it is open, and has it calibrated where it has no numbers', async () => {
    editor.pick = () => CODER.name;
    const { connection, asked } = connected({
      ok: true,
      name: 'Coder',
      said: 'No calibrator yet.',
      command: 'assay calibrate model',
    });
    await chooseModel(connection);
    expect(editor.settings.model).toBe(CODER.name);
    expect(asked).toEqual([
      ['assay/models', { probe: false }],
      ['assay/checkModel', { model: CODER.name }],
      ['assay/calibrateModel', {}],
    ]);
    expect(editor.said).toEqual(['Assay: Coder is open. No calibrator yet.', 'Assay: No calibrator yet.']);
  });

  it('asks the servers only when that is chosen, and sets which of their models it is', async () => {
    editor.pick = (items) =>
      items.find(({ label }) => label.startsWith('coder ('))?.label ?? items.find(({ label }) => label.includes('servers'))?.label;
    const { connection, asked } = connected({ ok: true, name: 'coder', said: '', command: null });
    await chooseModel(connection);
    expect(asked[1]).toEqual(['assay/models', { probe: true }]);
    expect(editor.settings).toEqual({ model: SERVED.name, 'modelOptions.serverModel': 'coder' });
  });

  it('sets nothing where nothing is chosen, or what can’t be used', async () => {
    const { connection } = connected({});
    await chooseModel(connection);
    expect(editor.offered.slice(0, 2)).toEqual([CODER.name, HALF.name]);
    editor.pick = () => HALF.name;
    await chooseModel(connection);
    expect(editor.settings).toEqual({});
    expect(editor.said).toEqual(['Assay: ollama:half:1b: its blob is missing']);
  });

  it.each([true, false])('downloads a larger one and uses it, after a word on a licence that forbids commercial use', async (free) => {
    editor.pick = (items) => items.find(({ label }) => label === 'large' || label.includes('larger model'))?.label;
    const { connection, asked } = connected({ ok: true, name: 'Large', said: '', command: null }, free);
    await chooseModel(connection);
    expect(asked).toEqual([
      ['assay/models', { probe: false }],
      ['assay/modelsToGet', {}],
      ['assay/getModel', { name: 'large', acceptLicence: !free }],
      ['assay/checkModel', { model: 'hf:large' }],
    ]);
    expect(editor.settings.model).toBe('hf:large');
    expect(editor.said.some((words) => words.includes('forbids commercial use'))).toBe(!free);
  });

  it('says why a model could not be opened', async () => {
    editor.pick = () => CODER.name;
    await chooseModel(connected({ ok: false, name: CODER.name, said: 'cut short', command: null }).connection);
    expect(editor.said).toEqual(['Assay: cut short']);
  });
});
