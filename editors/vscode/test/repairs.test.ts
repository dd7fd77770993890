import { beforeEach, describe, expect, it } from 'vitest';
import type { Connection } from '../src/connection';
import { linesOf, repairItems, withEdit, type Repairs } from '../src/repairItems';
import { RepairList } from '../src/repairs';
import { SurpriseMarks } from '../src/surprise';
import { surpriseMarks, type Surprises } from '../src/surpriseMarks';
import { Editor, Position, Range, picks, provided, ran, tabs, told, window, workspace } from './vscode';

const LINES = { uri: 'file:///a.py', version: 1, range: span(1, 0, 2, 0), lines: '5d889b98', message: 'linter: wrong' };
const FOUND: Repairs = {
  version: 1,
  lines: LINES,
  stopped_by: null,
  refused_by_tests: 0,
  repairs: [
    {
      id: 'a',
      title: '`<` → `<=`  ◆ likely 61-78 % passes tests',
      edit: { range: span(1, 14, 1, 14), newText: '=' },
      sources: ['rules', 'line'],
    },
    { id: 'b', title: '`<` → `>`', edit: { range: span(1, 13, 1, 14), newText: '>' }, sources: ['instruct', 'of a later version'] },
  ],
};

let editor: Editor;
let answer: unknown;
const asked: [string, unknown][] = [];
const sent: [string, unknown][] = [];
const connection = {
  ask: (method: string, params: unknown) => {
    asked.push([method, params]);
    return Promise.resolve(answer);
  },
  signal: (command: string, argument: unknown) => sent.push([command, argument]),
} as unknown as Connection;

function span(startLine: number, start: number, endLine: number, end: number) {
  return { start: { line: startLine, character: start }, end: { line: endLine, character: end } };
}

beforeEach(() => {
  editor = new Editor(['def f(a):', '    return a < 3']);
  window.activeTextEditor = editor;
  workspace.textDocuments = [editor.document];
  answer = FOUND;
  for (const list of [asked, sent, ran, told, picks, provided, tabs]) list.length = 0;
});

async function opened(choosing: Promise<void>) {
  await new Promise((resolve) => setTimeout(resolve));
  const pick = picks.at(-1);
  if (pick === undefined) throw new Error('no list');
  return { pick, choosing };
}

describe('repairs in a list', () => {
  it('have the title of the server, and say who gave them', () => {
    expect(repairItems(FOUND).map(({ label, description }) => [label, description])).toEqual([
      ['`<` → `<=`  ◆ likely 61-78 % passes tests', 'by a rule; the model, as it completes the line'],
      ['`<` → `>`', 'by the instruct model; of a later version'],
    ]);
  });

  it('are asked for with all that the code action has, shown as differences, and put in by the server', async () => {
    const { pick, choosing } = await opened(new RepairList(connection).choose(LINES));
    const { uri, version, ...rest } = LINES;
    expect(asked).toEqual([['assay/repairs', { textDocument: { uri, version }, ...rest }]]);
    expect(sent).toEqual([['assay.shown', { id: 'a' }]]);
    pick.turnTo(0);
    expect(provided[0]?.provideTextDocumentContent()).toBe('def f(a):\n    return a <= 3');
    pick.turnTo(1);
    expect(provided[0]?.provideTextDocumentContent()).toBe('def f(a):\n    return a > 3');
    expect(tabs).toHaveLength(2);
    pick.accept();
    await choosing;
    expect(asked.at(-1)).toEqual(['workspace/executeCommand', { command: 'assay.repair', arguments: [{ ...LINES, id: 'b' }] }]);
    expect(tabs).toEqual([]);
    expect(sent).toHaveLength(1);
  });

  it('that are left are told to the server, and nothing is put in', async () => {
    const { pick, choosing } = await opened(new RepairList(connection).choose(LINES));
    pick.hide();
    await choosing;
    expect(sent.at(-1)).toEqual(['assay.rejected', { id: 'a' }]);
    expect(asked).toHaveLength(1);
  });

  it('of the cursor are those of its line, and of a selection those of its lines', async () => {
    const { pick } = await opened(new RepairList(connection).chooseHere());
    const at = new Position(1, 16);
    expect(asked[0]?.[1]).toMatchObject({ textDocument: { uri: 'file:///a.py', version: 1 } });
    expect(editor.selection.active).toEqual(at);
    pick.hide();
  });

  it('that are none are told of', async () => {
    answer = { ...FOUND, repairs: [], stopped_by: 'time' };
    await new RepairList(connection).choose(LINES);
    answer = { ...FOUND, repairs: [], refused_by_tests: 2 };
    await new RepairList(connection).choose(LINES);
    expect(told).toEqual(['Assay: nothing was found in time (assay.repair.maxMs).', 'Assay: the tests refuse all 2 that were found.']);
    expect(sent).toEqual([]);
  });

  it('are of what the server gave alone', () => {
    expect(linesOf(LINES)).toBe(LINES);
    for (const other of [undefined, null, 'x', {}, { uri: 'file:///a.py' }, { ...LINES, version: '1' }])
      expect(linesOf(other)).toBeUndefined();
  });

  it('change nothing else of a text', () => {
    expect(withEdit('ab\ncd', { range: span(1, 0, 1, 1), newText: 'x' }, ({ line, character }) => line * 3 + character)).toBe('ab\nxd');
  });
});

const SURPRISES: Surprises = {
  version: 1,
  lines: [
    {
      line: 1,
      tokens: [
        { start: 4, end: 10, text: 'return', surprise: -3, alternative: '' },
        { start: 12, end: 14, text: ' <', surprise: 2.25, alternative: ' <=' },
        { start: 16, end: 16, text: '', surprise: 1.5, alternative: '' },
      ],
    },
  ],
};

describe('surprising tokens', () => {
  it('are those in whose place others are likelier, each with what the model would write', () => {
    const [sign, end, ...others] = surpriseMarks(SURPRISES);
    expect(sign).toMatchObject({ line: 1, start: 12, end: 14 });
    expect(sign?.words).toContain('in the place of `<` the model finds `<=` likelier, by 2.3 nats');
    expect(end).toMatchObject({ start: 15, end: 16 });
    expect(end?.words).toContain('in the place of the end of the line the model finds another token likelier');
    expect(others).toEqual([]);
  });

  it('are marked until the next edit', async () => {
    answer = SURPRISES;
    editor.visibleRanges = [new Range(new Position(0, 0), new Position(1, 16))];
    const marks = new SurpriseMarks(connection);
    await marks.show();
    expect(asked[0]).toMatchObject(['assay/surprise', { textDocument: { version: 1 }, range: { end: { line: 1, character: 16 } } }]);
    expect(editor.decorations.at(-1)).toHaveLength(2);
    editor.type('0');
    expect(editor.decorations.at(-1)).toEqual([]);
    marks.dispose();
  });

  it('of a text that has changed are not marked', async () => {
    answer = { ...SURPRISES, version: 0 };
    await new SurpriseMarks(connection).show();
    expect(editor.decorations).toEqual([]);
    expect(told[0]).toContain('the text has changed');
  });
});
