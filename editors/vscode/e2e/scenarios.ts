/** What must hold in a real editor, each named for it. They run one after the other in one window, each in a file of its own. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { eventsAfter, type Event } from './eventLog.ts';
import type { Editor } from './editor.ts';
import type { Badge, Frame, Piece } from './screen.ts';
import { pause, until } from './waiting.ts';
import type { Settings } from './workplace.ts';

export interface Scenario {
  readonly name: string;
  /** What is set while it runs. */
  readonly settings?: Settings;
  readonly run: (editor: Editor) => Promise<void>;
}

/** What the embedded model completes: where ▮ is the cursor, and the keys that then ask for a suggestion. */
const MAIN = { text: 'import argparse\n\n\ndef main():\n    print("hello")\n\n\nif __name__▮\n', keys: ' ==', ghost: ' "__main__":' };
const RAISE = { text: 'def check(value):\n    if not isinstance(value, int):\n        ▮\n', keys: 'raise' };
const TAIL = {
  text: 'import math\n\n\nclass Point:\n    def __init__(self, x, y):\n        self.x = x\n        self.y = y\n\n    def distance(self, other):\n        return math.hypot(self.x - other.x,▮)\n',
  keys: ' ',
};
const BLOCK = { text: 'def total(prices):\n    result = 0\n    for price in prices▮\n', keys: ':' };

/** One word or digit that would be a number of a suggestion. */
const DIGIT = /\d/;
/** A pause in typing after which an answer that is to come has come; where nothing shall come there is nothing else to wait for. */
const QUIET_MS = 2500;

export const SCENARIOS: readonly Scenario[] = [
  { name: 'ghost text comes with a badge that says what the server said', run: badgeSaysWhatTheServerSaid },
  { name: 'the badge moves neither code nor cursor nor ghost text', run: badgeMovesNothing },
  { name: 'the badge stands behind the text that follows the cursor', run: badgeBehindTail },
  { name: 'Tab accepts and the server knows', run: tabAccepts },
  { name: 'Ctrl+Right accepts a word, the rest keeps its badge, and the server knows', run: wordAccepts },
  { name: 'Alt+End accepts a line of several', settings: { 'assay.kind': 'block' }, run: lineAccepts },
  { name: 'Escape dismisses suggestion and badge, and the server knows', run: escapeRejects },
  { name: 'typing along never takes ghost text and badge away', run: typingAlong },
  { name: 'typing something else takes the suggestion and its badge away', run: diverging },
  { name: 'moving the cursor away takes the badge away', run: cursorAway },
  { name: 'alternatives have each their own badge, round and round', run: alternatives },
  { name: 'the dial hides, counts, and shows again', run: dial },
  { name: 'a server that is killed is started again and suggests again', run: killed },
  { name: 'a suggestion of a block without a calibrator has no digit', settings: { 'assay.context.prefixTokens': 300 }, run: uncalibrated },
  { name: 'another model without calibrators has no digit', run: otherModel },
  { name: 'a pause holds until it is ended', run: pausing },
  { name: 'in quiet mode suggestions come when they are invoked', run: quiet },
];

async function ask(editor: Editor, name: string, { text, keys, ghost }: { text: string; keys: string; ghost?: string }): Promise<{ ghost: string; badge: Badge }> {
  await editor.openAt(name, text);
  await editor.type(keys);
  return shownWith(editor, ghost);
}

/** Until ghost text (this one, if it is given) and a badge are on the screen. */
async function shownWith(editor: Editor, ghost?: string): Promise<{ ghost: string; badge: Badge }> {
  return until(
    `ghost text ${ghost ?? ''} with a badge`,
    async () => {
      const seen = await editor.screen.seen();
      return seen.badge !== null && (ghost === undefined ? seen.ghost.trim() !== '' : seen.ghost === ghost) && { ghost: seen.ghost, badge: seen.badge };
    },
    () => editor.screen.seen(),
  );
}

async function gone(editor: Editor): Promise<void> {
  await until(
    'neither ghost text nor badge',
    async () => {
      const seen = await editor.screen.seen();
      return seen.ghost.trim() === '' && seen.badge === null;
    },
    () => editor.screen.seen(),
  );
}

function lastEvent(editor: Editor): number {
  return eventsAfter(editor.place.events, 0).at(-1)?.number ?? 0;
}

/** Until the server's log has such an event behind that number. */
function event(editor: Editor, after: number, kind: string, fits: (body: Event['body']) => boolean): Promise<Event> {
  const log = () => eventsAfter(editor.place.events, after);
  return until(
    `an event ${kind}`,
    () => log().find((each) => each.kind === kind && fits(each.body)),
    () => Promise.resolve(log()),
  );
}

const ending = (how: string) => (body: Event['body']) => body.ending === how;

async function badgeSaysWhatTheServerSaid(editor: Editor): Promise<void> {
  const before = lastEvent(editor);
  const { badge } = await ask(editor, 'badge.py', MAIN);
  const { body } = await event(editor, before, 'request', ({ outcome, confidence }) => outcome === 'produced' && confidence !== null);
  const { low, high, band } = body.confidence as { low: number; high: number; band: string };
  const [, said, from, to] = /^\S+ (likely|possible|unlikely) (\d+)-(\d+) % exact match$/.exec(badge.text) ?? [];
  assert.deepEqual([said, Number(from), Number(to)], [band, Math.floor(low * 100), Math.ceil(high * 100)], badge.text);
  const { cursor } = await editor.screen.seen();
  assert.equal(Math.abs(badge.top - (cursor?.top ?? 0)) < 4, true, 'the badge is on the line of the cursor');
  assert.equal(badge.colour, themeColour(`assay.${band}`, 'light'));
  const { spoken } = await editor.screen.status();
  assert.match(spoken, new RegExp(`${band} ${from} to ${to} percent exact match`), 'a screen reader says the same');
}

/** What package.json gives the colour in themes of that kind, as a browser writes it. */
function themeColour(id: string, kind: string): string {
  const { contributes } = JSON.parse(readFileSync(path.join(import.meta.dirname, '../package.json'), 'utf8')) as {
    contributes: { colors: { id: string; defaults: Record<string, string> }[] };
  };
  const hex = contributes.colors.find((colour) => colour.id === id)?.defaults[kind] ?? '';
  const [red, green, blue] = [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16));
  return `rgb(${red}, ${green}, ${blue})`;
}

async function badgeMovesNothing(editor: Editor): Promise<void> {
  await ask(editor, 'moves.py', MAIN);
  const withBadge = await editor.screen.seen();
  editor.place.set({ 'assay.badge': 'off' });
  await until('no badge, but ghost text', async () => (await editor.screen.badge()) === null && (await editor.screen.ghost()) === MAIN.ghost);
  const without = await editor.screen.seen();
  assert.deepEqual(joined(withBadge.code), joined(without.code));
  assert.deepEqual(withBadge.cursor, without.cursor);
  assert.equal(withBadge.ghost, without.ghost);
}

/** Text of each line and where it begins, however it is cut into pieces. */
function joined(code: readonly Piece[]): { text: string; left: number; top: number }[] {
  const tops = [...new Set(code.map((piece) => piece.top))];
  return tops.map((top) => {
    const line = code.filter((piece) => piece.top === top);
    return { text: line.map((piece) => piece.text).join(''), left: Math.min(...line.map((piece) => piece.left)), top };
  });
}

async function badgeBehindTail(editor: Editor): Promise<void> {
  const { badge } = await ask(editor, 'tail.py', TAIL);
  const { code, cursor } = await editor.screen.seen();
  assert.ok(cursor !== null);
  const tail = code.find((piece) => piece.text === ')' && Math.abs(piece.top - badge.top) < 4 && piece.left > cursor.left);
  assert.ok(tail !== undefined, 'the bracket stands behind cursor and ghost text');
  assert.ok(badge.left > tail.left, `badge at ${badge.left}, bracket at ${tail.left}`);
}

async function tabAccepts(editor: Editor): Promise<void> {
  const before = lastEvent(editor);
  await ask(editor, 'tab.py', MAIN);
  await editor.press('Tab');
  await gone(editor);
  await event(editor, before, 'ended', ending('accepted'));
  await saved(editor, 'tab.py', (text) => text.includes('if __name__ == "__main__":\n'));
}

async function saved(editor: Editor, name: string, fits: (text: string) => boolean): Promise<void> {
  await editor.press('Control+s');
  await until(`${name} is as it should be`, () => fits(editor.place.read(name)), () => Promise.resolve(editor.place.read(name)));
}

async function wordAccepts(editor: Editor): Promise<void> {
  const before = lastEvent(editor);
  const { ghost } = await ask(editor, 'word.py', RAISE);
  await editor.press('Control+ArrowRight');
  const rest = await until('less ghost text', async () => {
    const seen = await editor.screen.seen();
    return seen.ghost.length < ghost.length && ghost.endsWith(seen.ghost) && seen.badge !== null && seen.ghost;
  });
  await editor.press('Escape');
  await gone(editor);
  await event(editor, before, 'ended', ({ ending, accepted }) => ending === 'partly_accepted' && accepted === ghost.length - rest.length);
}

async function lineAccepts(editor: Editor): Promise<void> {
  const before = lastEvent(editor);
  const { ghost } = await ask(editor, 'line.py', BLOCK);
  assert.ok(ghost.trim().includes('\n'), `several lines: ${JSON.stringify(ghost)}`);
  await editor.press('Alt+End');
  const rest = await until('less ghost text', async () => {
    const seen = await editor.screen.seen();
    return seen.ghost.trim() !== '' && seen.ghost.length < ghost.length && seen.badge !== null && seen.ghost;
  });
  assert.ok(ghost.endsWith(rest));
  await editor.press('Escape');
  await gone(editor);
  await event(editor, before, 'ended', ending('partly_accepted'));
}

async function escapeRejects(editor: Editor): Promise<void> {
  const before = lastEvent(editor);
  await ask(editor, 'escape.py', MAIN);
  await editor.press('Escape');
  await gone(editor);
  await event(editor, before, 'ended', ending('rejected'));
}

async function typingAlong(editor: Editor): Promise<void> {
  const before = lastEvent(editor);
  const { ghost } = await ask(editor, 'along.py', RAISE);
  const typed = ghost.slice(0, -1);
  const frames = await editor.screen.frames(async () => {
    await editor.type(typed, 90);
    await until('all but the last is typed', async () => (await editor.screen.ghost()) === ghost.slice(-1));
  });
  const lacking = frames.filter((frame: Frame) => frame.ghost === '' || frame.badge === null);
  assert.deepEqual(lacking, [], `${lacking.length} of ${frames.length} frames lack ghost text or badge`);
  await editor.type(ghost.slice(-1));
  await gone(editor);
  await event(editor, before, 'ended', ending('typed_through'));
}

async function diverging(editor: Editor): Promise<void> {
  const before = lastEvent(editor);
  const { ghost } = await ask(editor, 'diverge.py', MAIN);
  await editor.type(' zzz');
  await until('another suggestion, or none', async () => {
    const seen = await editor.screen.seen();
    return !seen.ghost.includes('__main__') && (seen.ghost.trim() === '') === (seen.badge === null);
  }, () => editor.screen.seen());
  assert.ok(!' zzz'.startsWith(ghost));
  await event(editor, before, 'ended', ({ ending }) => ending === 'ignored' || ending === 'superseded');
}

async function cursorAway(editor: Editor): Promise<void> {
  const before = lastEvent(editor);
  await ask(editor, 'away.py', MAIN);
  await editor.press('Home');
  await gone(editor);
  await editor.press('ArrowUp');
  await editor.type('x = 1');
  await event(editor, before, 'ended', ({ ending }) => ending === 'ignored' || ending === 'superseded');
}

async function alternatives(editor: Editor): Promise<void> {
  const first = await ask(editor, 'alternatives.py', RAISE);
  await editor.press('Alt+]');
  const second = await until('another suggestion with its badge', async () => {
    const seen = await editor.screen.seen();
    return seen.badge !== null && seen.ghost !== '' && seen.ghost !== first.ghost && / · 2 of \d/.test(seen.badge.text) && { ghost: seen.ghost, badge: seen.badge };
  }, () => editor.screen.seen());
  const count = Number(/ of (\d+)$/.exec(second.badge.text)?.[1]);
  const said = [second.badge.text];
  for (let number = 3; number <= count; number++) {
    await editor.press('Alt+]');
    said.push((await until(`number ${number}`, async () => {
      const badge = await editor.screen.badge();
      return badge !== null && badge.text.includes(`· ${number} of`) && badge;
    })).text);
  }
  await editor.press('Alt+]');
  const again = await until('the first once more', async () => {
    const seen = await editor.screen.seen();
    return seen.ghost === first.ghost && seen.badge !== null && seen.badge.text.includes('· 1 of') && seen.badge;
  }, () => editor.screen.seen());
  for (const text of [...said, again.text]) assert.match(text, /^\S+ (likely|possible|unlikely) \d+-\d+ % exact match · |^\S+ no evidence · /);
  await editor.press('Alt+[');
  await until(`number ${count} again`, async () => (await editor.screen.badge())?.text.includes(`· ${count} of`) === true);
}

async function dial(editor: Editor): Promise<void> {
  editor.place.set({ 'assay.showAbove': 0.95 });
  const before = lastEvent(editor);
  await editor.openAt('dial.py', MAIN.text);
  await until('the dial is set', async () => /95 %/.test((await editor.screen.status()).spoken), () => editor.screen.status());
  await editor.type(MAIN.keys);
  await event(editor, before, 'request', ({ outcome }) => outcome === 'hidden');
  await until('the status bar counts what is hidden', async () => /\b[1-9]\d*\s*$/.test((await editor.screen.status()).text), () => editor.screen.status());
  assert.equal((await editor.screen.seen()).badge, null);
  assert.equal((await editor.screen.ghost()).trim(), '');
  editor.place.set({ 'assay.showAbove': 0 });
  await until('the dial is open', async () => !/95 %/.test((await editor.screen.status()).spoken));
  await editor.press('Backspace');
  await editor.type('=');
  await shownWith(editor, MAIN.ghost);
}

async function killed(editor: Editor): Promise<void> {
  await ask(editor, 'killed.py', MAIN);
  const starts = editor.place.serverStarts;
  process.kill(editor.place.serverPid, 'SIGKILL');
  await until('no badge of a server that is gone', async () => (await editor.screen.badge()) === null);
  await until('the server was started again', () => editor.place.serverStarts > starts);
  await editor.ready();
  await editor.press('Backspace');
  await editor.type('=');
  await shownWith(editor, MAIN.ghost);
}

async function uncalibrated(editor: Editor): Promise<void> {
  const { badge } = await ask(editor, 'uncalibrated.py', MAIN);
  await withoutNumber(editor, badge);
}

async function withoutNumber(editor: Editor, badge: Badge): Promise<void> {
  assert.match(badge.text, /no evidence/);
  assert.doesNotMatch(badge.text, DIGIT);
  assert.equal(badge.colour, themeColour('assay.noEvidence', 'light'));
  const { text, spoken } = await editor.screen.status();
  assert.match(spoken, /no evidence/);
  assert.doesNotMatch(text, DIGIT);
}

async function otherModel(editor: Editor): Promise<void> {
  editor.place.set({ 'assay.model': editor.place.tinyModel() });
  await editor.openAt('other.py', '# is this a ▮\n');
  await until('the tiny model answers', async () => {
    await editor.type('?');
    await pause(500);
    if ((await editor.screen.ghost()).includes('answer')) return true;
    await editor.press('Backspace');
    return false;
  }, () => editor.screen.status());
  const { badge } = await shownWith(editor);
  await withoutNumber(editor, badge);
}

async function pausing(editor: Editor): Promise<void> {
  await editor.openAt('pause.py', MAIN.text);
  await editor.command('Assay: Pause…');
  await editor.choose('10 minutes');
  await until('the status bar says so', async () => /paused until/.test((await editor.screen.status()).spoken), () => editor.screen.status());
  await editor.type(MAIN.keys);
  await pause(QUIET_MS);
  assert.equal((await editor.screen.ghost()).trim(), '');
  await editor.command('Assay: Resume');
  await editor.ready();
  await editor.press('Backspace');
  await editor.type('=');
  await shownWith(editor, MAIN.ghost);
}

async function quiet(editor: Editor): Promise<void> {
  await editor.openAt('quiet.py', MAIN.text);
  await editor.command('Assay: Quiet Mode');
  await until('the status bar says so', async () => /quiet mode/i.test((await editor.screen.status()).spoken), () => editor.screen.status());
  await editor.type(MAIN.keys);
  await pause(QUIET_MS);
  assert.equal((await editor.screen.ghost()).trim(), '');
  await editor.press('Alt+\\');
  await shownWith(editor, MAIN.ghost);
}
