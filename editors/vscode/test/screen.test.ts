import { readFileSync } from 'node:fs';
import type * as vscode from 'vscode';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Badge } from '../src/badge';
import { registerCommands, type Parts } from '../src/commands';
import type { Connection } from '../src/connection';
import { registerHover } from '../src/hover';
import { registerOffers } from '../src/offers';
import { Screen } from '../src/screen';
import { registerSignals } from '../src/signals';
import { LIKELY, NO_EVIDENCE, SHORT, suggestion } from './suggestions';
import { Editor, EventEmitter, fired, Position, ran, registered, settings, window } from './vscode';

let editor: Editor;
let screen: Screen;
let badge: Badge;
const sent: [string, object][] = [];
const connection = {
  signal: (command: string, argument: object) => sent.push([command, argument]),
  onChange: new EventEmitter<undefined>().event,
} as unknown as Connection;

beforeEach(() => {
  editor = new Editor(['def f(a):', '    ']);
  window.activeTextEditor = editor;
  screen = new Screen();
  badge = new Badge(screen);
  sent.length = 0;
  ran.length = 0;
});

afterEach(() => {
  delete settings.badge;
  badge.dispose();
  screen.dispose();
});

function answer(
  text: string,
  { id = text, says = LIKELY, band = 'likely', invoked = false, version = editor.document.version } = {},
): void {
  const document = editor.document as unknown as vscode.TextDocument;
  const at = editor.selection.active as unknown as vscode.Position;
  const offered =
    text === '' ? [] : text.split('|').map((each) => ({ suggestion: suggestion(invoked ? each : id, says, band), text: each, before: '' }));
  screen.answer(document, version, at, offered, invoked);
}

/** The end of whatever stands on the line when it is drawn. */
const LINE_END = Number.MAX_SAFE_INTEGER;

/** What the badge says, where, in which colour; undefined where there is none. */
function shown(): { text: string; line: number; character: number; colour: string } | undefined {
  const [one] = (editor.decorations.at(-1) ?? []) as vscode.DecorationOptions[];
  const after = one?.renderOptions?.after;
  if (one === undefined || after === undefined) return undefined;
  return {
    text: after.contentText ?? '',
    line: one.range.start.line,
    character: one.range.end.character,
    colour: (after.color as { id: string }).id,
  };
}

describe('the badge', () => {
  it('stands at the end of the line, in its band’s colour', () => {
    answer('return a');
    expect(shown()).toEqual({ text: SHORT, line: 1, character: LINE_END, colour: 'assay.likely' });
  });

  it('has words where the user wants them', () => {
    settings.badge = 'words';
    answer('return a');
    expect(shown()?.text).toBe(LIKELY);
    settings.badge = 'statusBar';
    fired.configuration.fire({ affectsConfiguration: () => true });
    expect(shown()).toBeUndefined();
  });

  it('has no number where there is no evidence', () => {
    answer('return a', { says: NO_EVIDENCE, band: 'no evidence' });
    expect(shown()).toMatchObject({ text: NO_EVIDENCE, colour: 'assay.noEvidence' });
  });

  it('stays while the suggestion is typed along, never gone for a moment, and changes in place', () => {
    answer('return a');
    const before = editor.decorations.length;
    for (const letter of 'retu') editor.type(letter);
    answer('rn a', { says: '◈ possible 40-60 % exact match', band: 'possible' });
    expect(editor.decorations.slice(before).every((drawn) => drawn.length === 1)).toBe(true);
    expect(shown()).toEqual({ text: '◈ 40-60 %', line: 1, character: LINE_END, colour: 'assay.possible' });
  });

  it.each<[string, () => void]>([
    [
      'something else is typed',
      () => {
        editor.type('x');
      },
    ],
    [
      'the cursor moves away',
      () => {
        editor.moveTo(0, 0);
      },
    ],
    [
      'there is nothing to suggest',
      () => {
        answer('');
      },
    ],
    [
      'another editor is turned to',
      () => {
        fired.editor.fire(undefined);
      },
    ],
    [
      'the window loses the focus',
      () => {
        fired.focus.fire({ focused: false });
      },
    ],
    [
      'it was typed to its end',
      () => {
        editor.type('return a');
      },
    ],
    [
      'Escape is pressed',
      () => {
        void registered.get('assay.hideSuggestion')?.();
      },
    ],
  ])('is gone when %s', (_, act) => {
    const signals = registerSignals(screen, connection);
    answer('return a');
    act();
    expect(shown()).toBeUndefined();
    expect(ran.filter(([name]) => name === 'setContext').at(-1)).toEqual(['setContext', 'assay.suggestionShown', false]);
    signals.dispose();
  });

  it('does not come for a text that has moved on since it was asked for', () => {
    answer('return a', { version: 0 });
    expect(shown()).toBeUndefined();
    const document = editor.document as unknown as vscode.TextDocument;
    screen.answer(
      document,
      1,
      new Position(0, 0) as unknown as vscode.Position,
      [{ suggestion: suggestion('a'), text: 'x', before: '' }],
      false,
    );
    expect(shown()).toBeUndefined();
  });
});

describe('the keys', () => {
  it('dismiss for good what was asked for before: the editor shows none of it', async () => {
    const signals = registerSignals(screen, connection);
    answer('return a');
    const before = screen.clearings;
    await registered.get('assay.hideSuggestion')?.();
    expect(screen.clearings).toBeGreaterThan(before);
    signals.dispose();
  });

  it('do what the editor’s own do, and tell the server of what was on the screen', async () => {
    const signals = registerSignals(screen, connection);
    answer('return a', { id: '1' });
    await registered.get('assay.acceptNextWord')?.();
    answer('return a', { id: '2' });
    await registered.get('assay.hideSuggestion')?.();
    expect(sent).toEqual([
      ['assay.acceptedPart', { id: '1' }],
      ['assay.rejected', { id: '2' }],
    ]);
    const done = ran.map(([name]) => name).filter((name) => name !== 'setContext');
    expect(done).toEqual(['editor.action.inlineSuggest.acceptNextWord', 'editor.action.inlineSuggest.hide']);
    signals.dispose();
  });

  it('tell nothing where the suggestion is not Assay’s', async () => {
    const signals = registerSignals(screen, connection);
    for (const name of ['acceptNextWord', 'acceptNextLine', 'hideSuggestion', 'nextSuggestion']) await registered.get(`assay.${name}`)?.();
    expect(sent).toEqual([]);
    expect(ran.length).toBe(4);
    signals.dispose();
  });

  it('turn to the next alternative: at once, or with the answer that the editor asks for first', async () => {
    const signals = registerSignals(screen, connection);
    answer('one|two|three', { invoked: true });
    await registered.get('assay.previousSuggestion')?.();
    expect(shown()?.text).toBe(`${SHORT} · 3 of 3`);
    expect(sent).toEqual([['assay.shown', { id: 'three' }]]);
    screen.clear();
    answer('one');
    await registered.get('assay.nextSuggestion')?.();
    expect(shown()?.text).toBe(SHORT);
    answer('one|two|three', { invoked: true });
    expect(shown()?.text).toBe(`${SHORT} · 2 of 3`);
    signals.dispose();
  });
});

it('each command of package.json is there, and each that is there is in package.json or is for messages alone', () => {
  const parts = { connection, screen, panel: {}, log: {}, environment: '' } as unknown as Parts;
  const all = [registerSignals(screen, connection), registerCommands(parts), registerHover(screen, connection), registerOffers(connection)];
  const text = readFileSync('package.json', 'utf8');
  const contributed = (JSON.parse(text) as { contributes: { commands: { command: string }[] } }).contributes.commands.map(
    ({ command }) => command,
  );
  expect([...registered.keys()].filter((name) => name !== 'assay.openServerPath').sort()).toEqual([...contributed].sort());
  for (const each of all) each.dispose();
});
