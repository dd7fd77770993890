import { describe, expect, it } from 'vitest';
import { dialItems, dialPlaceholder, dialTitle } from '../src/dialItems';
import { withoutOwn } from '../src/ownSettings';
import { statusAfter, suggestionOf, type Dial, type Status } from '../src/protocol';
import { recalibrationWords } from '../src/recalibration';
import { afterDeath } from '../src/restarts';
import { statusText, type Known } from '../src/statusText';
import { LIKELY, NO_EVIDENCE, suggestion } from './suggestions';

const READY: Status = {
  state: 'ready',
  reason: 'assay-small is loaded',
  busy: false,
  silent: null,
  hidden: 0,
  tests: null,
  paused: null,
  notes: [],
};
const KNOWN: Known = {
  stage: 'running',
  reason: '',
  status: READY,
  badge: undefined,
  automatic: true,
  showAbove: 0,
  now: new Date(2026, 4, 1, 12),
};

describe('the status bar', () => {
  it('shows the badge, and has a screen reader say the same in words', () => {
    const said = statusText({ ...KNOWN, badge: LIKELY });
    expect(said.text).toBe(LIKELY);
    expect(said.spoken).toBe('Assay: likely 70 to 85 percent exact match');
    expect(statusText({ ...KNOWN, badge: NO_EVIDENCE }).spoken).toBe('Assay: no evidence');
  });

  it('tells what the server notes besides', () => {
    const said = statusText({ ...KNOWN, status: statusAfter(READY, { notes: ['/home is not read.', 7] }) });
    expect(said.lines).toContain('/home is not read.');
  });

  it('tells how many the dial has hidden, and from where on it shows', () => {
    const said = statusText({ ...KNOWN, showAbove: 0.6, status: { ...READY, hidden: 12 } });
    expect(said.text).toBe('$(check) Assay $(eye-closed) 12');
    expect(said.spoken).toContain('suggestions below 60 % are hidden, 12 so far');
  });

  it('says in plain words what a stop of the dial does', () => {
    const dial = { stop: 'balanced', words: 'shows 1 in 9 suggestions; 6 of 10 of them right' };
    const told = { ...KNOWN, showAbove: 'auto', status: statusAfter(READY, { dial, hidden: 12 }) } as const;
    expect(statusText(told).lines).toContain('The dial: balanced, shows 1 in 9 suggestions; 6 of 10 of them right; 12 hidden so far.');
    const everything = statusAfter(told.status, { dial: { stop: 'everything', words: 'shows all suggestions' } });
    expect(statusText({ ...told, showAbove: 0, status: everything }).lines).toContain('The dial: everything, shows all suggestions.');
    expect(statusText({ ...told, showAbove: 'auto', status: READY }).spoken).not.toContain('dial');
  });

  it.each<[string, Partial<Known>, string]>([
    ['starting', { stage: 'starting', reason: 'The server is being started.' }, 'starting'],
    ['missing', { stage: 'missing', reason: 'It was not found.' }, 'It was not found'],
    ['ended', { stage: 'ended', reason: 'It ended 5 times.' }, 'It ended 5 times'],
    ['loading', { status: { ...READY, state: 'loading', reason: 'x.gguf is being loaded' } }, 'x.gguf is being loaded'],
    ['without a model', { status: { ...READY, state: 'failed', reason: 'x.gguf is no model' } }, 'x.gguf is no model'],
    ['paused', { status: { ...READY, paused: new Date(2026, 4, 1, 13).toISOString() } }, 'paused until'],
    ['only on request', { automatic: false, status: { ...READY, silent: 'Only when invoked.' } }, 'only on request'],
    [
      'silent here',
      { status: { ...READY, silent: 'Markdown is turned off.' } },
      'Assay: silent here. assay-small is loaded. No automatic suggestions here: Markdown is turned off',
    ],
    ['busy', { status: { ...READY, busy: true } }, 'working'],
  ])('says when it is %s', (_, changed, words) => {
    expect(statusText({ ...KNOWN, ...changed }).spoken).toContain(words);
  });

  it('says once, in sentences with one full stop, why nothing comes by itself', () => {
    const silent = 'Suggestions come only when they are invoked (assay.automatic).';
    const { lines, spoken } = statusText({ ...KNOWN, automatic: false, status: { ...READY, silent } });
    expect(lines).toEqual(['Assay: only on request', READY.reason, 'Suggestions come only when you ask for them.']);
    expect(spoken).toBe('Assay: only on request. assay-small is loaded. Suggestions come only when you ask for them');
    expect(statusText({ ...KNOWN, status: { ...READY, state: 'loading', reason: '' } }).spoken).toBe('Assay: the model is being loaded');
  });

  it('says the day of a pause that ends on another', () => {
    const tomorrow = new Date(2026, 4, 2, 9);
    expect(statusText({ ...KNOWN, status: { ...READY, paused: tomorrow.toISOString() } }).spoken).toContain(tomorrow.toLocaleDateString());
  });
});

describe('the dial', () => {
  const right = { n: 90, positives: 73, value: 0.81, low: 0.716, high: 0.884 };
  const dial: Dial = {
    event: 'exact_match',
    label: 'kept',
    showAbove: 0.75,
    n: 400,
    labelled: 230,
    days: 11.7,
    levels: [
      { showAbove: 0, shown: 400, share: 1, right: { ...right, n: 230, value: 0.5 } },
      { showAbove: 0.7, shown: 123, share: 0.3075, right },
      { showAbove: 0.9, shown: 3, share: 0.0075, right: null },
    ],
    evidence: [
      { task: 'line', event: 'exact_match', n: 3000, levels: [{ showAbove: 0.7, shown: 17, share: 0.0058, right: { ...right, n: 300 } }] },
      {
        task: 'line_rest',
        event: 'exact_match',
        n: 3000,
        levels: [{ showAbove: 0.7, shown: 300, share: 0.3, right: { ...right, low: null, high: null } }],
      },
      { task: 'line_middle', event: 'exact_match', n: 3000, levels: [{ showAbove: 0.7, shown: null, share: null, right: null }] },
    ],
  };

  it('says of each level what it would have shown and how much of it was right', () => {
    const item = dialItems(dial).find(({ showAbove }) => showAbove === 0.7);
    expect(item?.description).toBe('your log: 123 of 400 (31 %), 81 % of 90 kept (71-89)');
    expect(item?.detail).toBe('line 0.6 %, 81 % right (71-89); rest 30 %, 81 %; middle not known');
  });

  it('says nothing of how much was right where that is not known', () => {
    expect(dialItems(dial).find(({ showAbove }) => showAbove === 0.9)?.description).toBe('your log: 3 of 400 (0.8 %)');
  });

  it('has the level that is set now among the others, in order', () => {
    const items = dialItems(dial);
    expect(items.map(({ showAbove }) => showAbove)).toEqual([0, 0.7, 0.75, 0.9]);
    expect(items.filter(({ now }) => now).map(({ label, description }) => [label, description])).toEqual([['From 75 %', '(now)']]);
  });

  it('has the three stops in front, in plain words, and the level that is none of them behind', () => {
    const thresholds = [
      { task: 'line', showAbove: 0.25 },
      { task: 'line_rest', showAbove: 0.05 },
    ];
    const words = 'shows 1 in 9 suggestions; 6 of 10 of them right';
    const stops = [
      { stop: 'quiet', setting: 'quiet', words: 'shows 1 in 20 suggestions; 8 of 10 of them right', thresholds },
      { stop: 'balanced', setting: 'auto', words, thresholds },
      { stop: 'everything', setting: 0, words: 'shows all suggestions; 1 in 11 of them right', thresholds },
    ] as const;
    const items = dialItems({ ...dial, showAbove: 'auto', stops });
    expect(items.map(({ label }) => label)).toEqual(['Quiet', 'Balanced', 'Everything', 'From 70 %', 'From 90 %']);
    expect(items.filter(({ now }) => now)).toEqual([
      { label: 'Balanced', description: `(now) ${words}`, detail: 'line from 25 %, rest from 5 %', showAbove: 'auto', now: true },
    ]);
    expect(
      dialItems({ ...dial, stops })
        .filter(({ now }) => now)
        .map(({ showAbove }) => showAbove),
    ).toEqual([0.75]);
  });

  it('names the languages where several calibrators are of one task, as without a document', () => {
    const thresholds = [
      { task: 'line', languages: ['python'], showAbove: 0.25 },
      { task: 'line', languages: ['c', 'go'], showAbove: 0.5 },
      { task: 'line_rest', languages: ['python'], showAbove: 0.05 },
    ];
    const stops = [{ stop: 'quiet', setting: 'quiet', words: '', thresholds }] as const;
    const [item] = dialItems({ ...dial, stops });
    expect(item?.detail).toBe('line (python) from 25 %, line (2 languages) from 50 %, rest from 5 %');
  });

  it('tells honestly that there is nothing yet', () => {
    const empty = { ...dial, n: 0, labelled: 0, days: 0, levels: [{ showAbove: 0, shown: 0, share: null, right: null }], evidence: [] };
    expect(dialTitle(empty)).toBe('Assay: the dial · no held-out evidence for this model');
    expect(dialPlaceholder(empty)).toBe('What comes by itself? · your log has no suggestions yet');
    expect(
      dialItems(empty)
        .map(({ description, detail }) => description + detail)
        .join(''),
    ).not.toMatch(/\d/);
  });

  it('says what its numbers are and whose', () => {
    expect(dialTitle(dial)).toBe('Assay: the dial · below: share of held-out suggestions shown, and how many were right (exact match)');
    expect(dialPlaceholder(dial)).toBe('What comes by itself? · your log: 400 suggestions, 230 labelled');
    expect(dialPlaceholder({ ...dial, n: 0, logTrouble: 'x' })).toBe(
      'What comes by itself? · your log can’t be read (see Assay: Confidence)',
    );
    expect(dialPlaceholder({ ...dial, n: 1, labelled: 0 })).toBe('What comes by itself? · your log: 1 suggestion, none labelled yet');
  });
});

describe('what the server says', () => {
  it('is a suggestion where it has a badge to show', () => {
    expect(suggestionOf(suggestion('a'))?.id).toBe('a');
    for (const other of [undefined, null, 'a', {}, { id: 'a' }, { id: 1, confidence: {} }, { id: 'a', confidence: { band: 'likely' } }]) {
      expect(suggestionOf(other)).toBeUndefined();
    }
  });

  it('of its status changes what it names', () => {
    expect(statusAfter(READY, { busy: true, hidden: 3, silent: 'x', paused: '2026-01-01T00:00:00Z' })).toEqual({
      ...READY,
      busy: true,
      hidden: 3,
      silent: 'x',
      paused: '2026-01-01T00:00:00Z',
    });
    expect(statusAfter(READY, { state: 4 })).toEqual(READY);
    expect(statusAfter(READY, null)).toBe(READY);
  });

  it('of a recalibration is told task by task', () => {
    const words = recalibrationWords({
      written: [{ task: 'line', path: '/x.json', event: 'kept', n: 210, status: 'informative' }],
      refused: [{ task: 'block', reason: '12 of the 200 samples that are needed.' }],
    });
    expect(words).toBe(
      'line: fitted on 210 suggestions, informative. block: none, 12 of the 200 samples that are needed. Badges show these probabilities if the setting assay.event is kept.',
    );
    expect(recalibrationWords({ written: [], refused: [] })).toBe('There was nothing to fit.');
  });
});

it('the server is sent its settings and not the extension’s', () => {
  const answer = { server: { path: '/x' }, badge: 'line', trace: { server: 'off' }, showAbove: 0.5, modle: 'x' };
  expect(withoutOwn(answer)).toEqual({ showAbove: 0.5, modle: 'x' });
  expect(withoutOwn(null)).toBeNull();
});

it('a server that dies is started again, but not more than 4 times in 3 minutes', () => {
  let deaths: readonly number[] = [];
  const dies = (minute: number) => {
    const next = afterDeath(deaths, minute * 60_000);
    deaths = next.deaths;
    return next.givenUp;
  };
  expect([0, 0.5, 1, 1.5, 2].map(dies)).toEqual([false, false, false, false, true]);
  deaths = [];
  expect([0, 1, 2, 3, 4, 5, 6, 7, 8].map(dies)).not.toContain(true);
});
