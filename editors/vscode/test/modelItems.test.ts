import { describe, expect, it } from 'vitest';
import { modelItems, notesWords, offerItems, wantedBy, type FoundModel, type ModelList, type Offer } from '../src/modelItems';

const EMBEDDED: FoundModel = {
  name: 'embedded',
  names: ['embedded'],
  place: 'Assay',
  where: '/assay/assay.gguf',
  server_model: '',
  size: 8_780_928,
  parameters: 8_001_792,
  quantisation: 'Q8_0',
  fills_middle: true,
  tokens_per_second: 1234.5,
  fingerprint: '0123456789abcdef',
  numbers: 'exact_match',
  problem: '',
};
const OLLAMA: FoundModel = {
  ...EMBEDDED,
  name: 'ollama:coder:1.5b',
  names: ['ollama:coder:1.5b', 'ollama:coder:latest'],
  size: 1_100_000_000,
  parameters: 1_540_000_000,
  quantisation: 'Q4_K_M',
  fills_middle: false,
  tokens_per_second: null,
  fingerprint: '',
  numbers: 'known when opened',
};
const SERVED: FoundModel = {
  ...OLLAMA,
  name: 'http://127.0.0.1:11434',
  names: ['http://127.0.0.1:11434'],
  where: 'http://127.0.0.1:11434',
  server_model: 'coder:1.5b',
  size: 0,
  parameters: 0,
  quantisation: '',
  fills_middle: null,
  numbers: 'none',
};
const HALF: FoundModel = { ...OLLAMA, name: 'llama.cpp:half', names: ['llama.cpp:half'], numbers: '', problem: 'cut short' };

function list(models: FoundModel[], setting: string | null = null, fingerprint: string | null = null): ModelList {
  return { models, notes: [], setting, fingerprint };
}

describe('the list of models', () => {
  it('says what each is in one line', () => {
    const [embedded, ollama, served, half] = modelItems(list([EMBEDDED, OLLAMA, SERVED, HALF]));
    expect(embedded?.detail).toBe('8M parameters · Q8_0 · 9 MB · fills in the middle · about 1,235 tokens/s · numbers: exact_match');
    expect(ollama?.detail).toBe('1.5B parameters · Q4_K_M · 1.1 GB · only continues the text · numbers: known when opened');
    expect(ollama?.description).toBe('ollama:coder:latest');
    expect(served?.label).toBe('coder:1.5b (http://127.0.0.1:11434)');
    expect(served?.detail).toBe('numbers: none');
    expect(half?.detail).toBe('Can’t be used: cut short');
  });

  it('marks the one that is set by any of its names, and without a setting the one that is loaded', () => {
    const marked = (setting: string | null, fingerprint: string | null) =>
      modelItems(list([EMBEDDED, OLLAMA, SERVED], setting, fingerprint))
        .filter(({ now }) => now)
        .map(({ model }) => model.name);
    expect(marked('ollama:coder:latest', EMBEDDED.fingerprint)).toEqual([OLLAMA.name]);
    expect(marked(null, EMBEDDED.fingerprint)).toEqual([EMBEDDED.name]);
    expect(marked(null, null)).toEqual([]);
    expect(marked('/elsewhere.gguf', EMBEDDED.fingerprint)).toEqual([]);
  });

  it('marks of the models of one server the one that is loaded', () => {
    const served = ['a', 'b'].map((name) => ({ ...SERVED, server_model: name, fingerprint: name.repeat(16) }));
    const marked = modelItems(list(served, SERVED.name, 'b'.repeat(16))).filter(({ now }) => now);
    expect(marked.map(({ model }) => model.server_model)).toEqual(['b']);
  });

  it('sets a model by its name, a model of a server by both, and no model for the embedded one', () => {
    expect(wantedBy(OLLAMA)).toEqual({ model: 'ollama:coder:1.5b', serverModel: undefined });
    expect(wantedBy(SERVED)).toEqual({ model: 'http://127.0.0.1:11434', serverModel: 'coder:1.5b' });
    expect(wantedBy(EMBEDDED)).toEqual({ model: undefined, serverModel: undefined });
  });

  it('tells what could not be looked at', () => {
    expect(notesWords([])).toBe('');
    expect(notesWords(['/a: no such folder'])).toBe('/a: no such folder');
    expect(notesWords(['/a: no such folder', 'b', 'c'])).toBe('/a: no such folder (and 2 more: assay model list)');
  });
});

describe('the models that can be had', () => {
  const OFFER: Offer = {
    name: 'coder-0.5b',
    bytes: 491_400_064,
    licence: 'apache-2.0',
    commercial_use: true,
    typing_ms: 1285,
    fits: true,
    recommended: true,
    numbers: 'none',
    path: null,
  };

  it('says size, licence, time and numbers of each that this machine can run', () => {
    const research = { ...OFFER, licence: 'research', commercial_use: false, bytes: 0, typing_ms: null, recommended: false, path: '/x' };
    const items = offerItems([OFFER, research, { ...OFFER, fits: false }]);
    expect(items.map(({ description }) => description)).toEqual(['(recommended)', '(here already)']);
    expect(items.map(({ detail }) => detail)).toEqual([
      '491 MB · apache-2.0 · about 1,285 ms a suggestion · numbers: none',
      'research: not for commercial use · numbers: none',
    ]);
  });
});
