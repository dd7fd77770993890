/** What must hold in a real editor, each named for it. They run one after the other in one window, each in a file of its own. */
import assert from 'node:assert/strict';
import { chmodSync, existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { eventsAfter, type Event } from './eventLog.ts';
import type { Editor } from './editor.ts';
import type { Badge, Frame, Piece } from './screen.ts';
import { pause, until } from './waiting.ts';
import type { Settings, Workplace } from './workplace.ts';

export interface Scenario {
  readonly name: string;
  /** What is set while it runs. */
  readonly settings?: Settings;
  /** Done with a workspace that nobody has trusted, before the editor opens it; the scenario then has an editor of its own. */
  readonly untrusted?: (place: Workplace) => void;
  readonly run: (editor: Editor) => Promise<void>;
}

/** What the embedded model completes: where ▮ is the cursor, and the keys that then ask for a suggestion. */
const MAIN = { text: 'import argparse\n\n\ndef main():\n    print("hello")\n\n\nif __name__▮\n', keys: ' ==', ghost: ' "__main__":' };
const RAISE = { text: 'def check(value):\n    if not isinstance(value, int):\n        ▮\n', keys: 'raise' };
const TAIL = {
  text: 'import math\n\n\nclass Point:\n    def __init__(self, x, y):\n        self.x = x\n        self.y = y\n\n    def distance(self, other):\n        return math.hypot(self.x - other.x,▮)\n',
  keys: ' ',
};
const BLOCK = { text: 'class Point:\n    def __init__(self, x, y)▮\n', keys: ':' };

/** One word or digit that would be a number of a suggestion. */
const DIGIT = /\d/;
const THEMES: readonly (readonly [theme: string, kind: string])[] = [
  ['Default Light Modern', 'light'],
  ['Default Dark Modern', 'dark'],
  ['Default High Contrast', 'highContrast'],
  ['Default High Contrast Light', 'highContrastLight'],
];

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
  { name: 'a level of the dial is chosen by keyboard from a list that can be read to its end', run: dialByKeyboard },
  { name: 'a server that is killed is started again and suggests again', run: killed },
  { name: 'a suggestion of an event without a calibrator has no digit', settings: { 'assay.event': 'kept' }, run: uncalibrated },
  { name: 'another model borrows its number', run: otherModel },
  { name: 'a pause holds until it is ended', run: pausing },
  { name: 'on request suggestions come when they are invoked', run: onRequest },
  { name: 'the explanation is on the hover over the badge', run: explained },
  { name: 'the explanation is on the hover over the code, and by keyboard', run: explainedOverCode },
  ...THEMES.map(([theme, kind]) => ({
    name: `the badge can be read in ${theme}`,
    settings: { 'workbench.colorTheme': theme },
    run: (editor: Editor) => readable(editor, kind),
  })),
  { name: 'the panel draws the diagram, and nothing of it is refused or fetched', run: panel },
  { name: 'a repair is chosen from a list that shows its difference, undone by one step, and the server knows', run: repairChosen },
  { name: 'a code action repairs the line', run: repairedByAction },
  { name: 'tests run with consent, leave out repairs that they refuse, and do not run once that is taken back', run: verifiedByTests },
  { name: 'surprising tokens are marked until the next edit', run: surpriseMarked },
  { name: 'an untrusted workspace names neither server nor model', untrusted: namesItsOwn, run: usersIsRun },
  { name: 'an untrusted workspace\'s environment is not run', untrusted: hasItsOwn, run: noneIsRun },
];

async function ask(editor: Editor, name: string, { text, keys, ghost }: { text: string; keys: string; ghost?: string }): Promise<{ ghost: string; badge: Badge }> {
  await editor.openAt(name, text);
  await editor.type(keys);
  return shownWith(editor, ghost);
}

/** Takes back the last of the keys that ask, and types it anew. In VS Code 1.93 a key pressed right behind a list comes to nothing now and then. */
async function askAgain(editor: Editor): Promise<void> {
  await editor.textTakesKeys();
  const before = await editor.screen.cursorPlace();
  const [line, column] = before.split(':').map(Number);
  const wanted = `${String(line)}:${String(Number(column) - 1)}`;
  await until(
    `the cursor at ${wanted}`,
    async () => {
      const now = await editor.screen.cursorPlace();
      if (now === before) {
        await editor.press('Backspace');
        await pause(TAKEN_MS);
      }
      return now === wanted;
    },
    () => editor.screen.cursorPlace(),
  );
  await editor.type('=');
}

/** Within which a key that was not lost has done what it does. */
const TAKEN_MS = 1000;

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

/** By their shapes. */
const BANDS: Readonly<Record<string, string>> = { '◆': 'likely', '◈': 'possible', '◇': 'unlikely' };

async function badgeSaysWhatTheServerSaid(editor: Editor): Promise<void> {
  const before = lastEvent(editor);
  const { badge } = await ask(editor, 'badge.py', MAIN);
  // The letters before the last may have had suggestions of their own.
  const ofGhost = ({ outcome, characters }: Event['body']) => outcome === 'produced' && characters === MAIN.ghost.length;
  const { body } = await event(editor, before, 'request', ofGhost);
  const { low, high, band } = body.confidence as { low: number; high: number; band: string };
  const [, shape, from, to] = /^(\S+) (\d+)-(\d+) %$/.exec(badge.text) ?? [];
  assert.deepEqual([BANDS[shape ?? ''], Number(from), Number(to)], [band, Math.floor(low * 100), Math.ceil(high * 100)], badge.text);
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

/** The sign of the comparison is wrong. */
const WRONG = 'def smallest(numbers):\n    best = numbers[0]\n    for number in numbers:\n        if number▮ > best:\n            best = number\n    return best\n';

async function repairChosen(editor: Editor): Promise<void> {
  const before = lastEvent(editor);
  const text = WRONG.replace('▮', '');
  await editor.openAt('chosen.py', WRONG);
  await editor.command('Assay: Choose a Repair…');
  await editor.page.locator('.quick-input-list .monaco-list-row').filter({ hasText: ' → ' }).first().waitFor({ state: 'visible' });
  await editor.page.locator('.monaco-diff-editor').first().waitFor({ state: 'visible' });
  await editor.choose(' → ');
  await until('the difference is gone', async () => (await editor.page.locator('.monaco-diff-editor').count()) === 0);
  await event(editor, before, 'ended', ending('accepted'));
  await editor.textTakesKeys();
  await saved(editor, 'chosen.py', (now) => now !== text && now.split('\n').length === text.split('\n').length);
  await editor.press('Control+z');
  await saved(editor, 'chosen.py', (now) => now === text);
  await event(editor, before, 'kept', ({ why }) => why === 'undone');
}

/** Here something better is there for sure. */
const TYPO = WRONG.replace('number▮', 'numbr▮');

async function repairedByAction(editor: Editor): Promise<void> {
  const before = lastEvent(editor);
  await editor.openAt('action.py', TYPO);
  await editor.press('Control+.');
  await editor.page.locator('.action-widget .monaco-list-row.focused').filter({ hasText: 'Assay: repair this line' }).first().waitFor({ state: 'visible' });
  await editor.press('Enter');
  await event(editor, before, 'ended', ending('accepted'));
  await editor.textTakesKeys();
  await saved(editor, 'action.py', (now) => now !== TYPO.replace('▮', ''));
}

const ITS_TEST = 'from verified import smallest\n\n\ndef test_smallest():\n    assert smallest([2, 1, 3]) == 1\n';

async function verifiedByTests(editor: Editor): Promise<void> {
  editor.place.write('test_verified.py', ITS_TEST);
  await editor.openAt('verified.py', WRONG);
  await editor.command('Assay: Run the Tests That Touch This');
  await editor.answer('may Assay run the tests of', 'Run them');
  await editor.told(/test_smallest/);
  await editor.command('Assay: Choose a Repair…');
  const rows = editor.page.locator('.quick-input-list .monaco-list-row');
  await rows.filter({ hasText: '✔ 1 test passes' }).first().waitFor({ state: 'visible', timeout: 60_000 });
  await editor.choose('✔ 1 test passes');
  await editor.textTakesKeys();
  await saved(editor, 'verified.py', (text) => text !== WRONG.replace('▮', ''));
  await editor.command("Assay: Don't Run This Project's Tests");
  await editor.told(/are not run any more/);
  await editor.command('Assay: Run the Tests That Touch This');
  await editor.told(/can't say whether tests pass/);
}

async function surpriseMarked(editor: Editor): Promise<void> {
  await editor.openAt('surprise.py', WRONG);
  const marks = () => editor.page.locator('.view-overlays [class*="ced-"]').count();
  const before = await marks();
  await editor.command('Assay: Show Surprising Tokens');
  await until('marks', async () => (await marks()) > before);
  await editor.type(' ');
  await until('no marks', async () => (await marks()) === before);
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
  await until(
    'the rest of the ghost text, with its badge',
    async () => {
      const seen = await editor.screen.seen();
      return seen.ghost.trim() !== '' && seen.ghost.length < ghost.length && ghost.endsWith(seen.ghost) && seen.badge !== null;
    },
    () => editor.screen.seen(),
  );
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
  let place = 0;
  let count = 0;
  const said = new Map<number, string>();
  // Twice round, so that each has to come again with the number that it had.
  for (let turn = 0; turn === 0 || turn <= 2 * count; turn++) {
    await editor.press('Alt+]');
    const { ghost, badge } = await until(
      turn === 0 ? 'another suggestion, numbered' : `number ${(place % count) + 1} of ${count}`,
      async () => {
        const seen = await editor.screen.seen();
        const number = numberOf(seen.badge);
        const isNext = number !== undefined && (turn === 0 ? seen.ghost !== first.ghost : number.place === (place % count) + 1);
        return isNext && seen.badge !== null && seen.ghost !== '' && { ghost: seen.ghost, badge: seen.badge };
      },
      () => editor.screen.seen(),
    );
    assert.match(badge.text, /^\S+ \d+-\d+ % · |^\S+ no evidence · /);
    ({ place, count } = numberOf(badge) ?? { place, count });
    assert.equal(said.get(place) ?? ghost, ghost, `number ${place} is what it was before`);
    said.set(place, ghost);
  }
  assert.equal(new Set(said.values()).size, count, 'all differ');
  assert.ok([...said.values()].includes(first.ghost), 'what came by itself is one of them');
  await editor.press('Alt+[');
  const back = ((place + count - 2) % count) + 1;
  await until(`number ${back} again`, async () => numberOf(await editor.screen.badge())?.place === back && (await editor.screen.ghost()) === said.get(back));
}

/** "· 2 of 4" */
function numberOf(badge: Badge | null): { place: number; count: number } | undefined {
  const [, place, count] = / · (\d+) of (\d+)$/.exec(badge?.text ?? '') ?? [];
  return place === undefined ? undefined : { place: Number(place), count: Number(count) };
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
  await askAgain(editor);
  await shownWith(editor, MAIN.ghost);
}

async function dialByKeyboard(editor: Editor): Promise<void> {
  // As of a user who has set nothing: the editor writes a setting where it stands already, and it stands in another file here.
  editor.place.set({ 'assay.showAbove': undefined });
  await editor.openAt('keyboard.py', MAIN.text);
  const hidden = await hiddenCount(editor);
  await editor.command('Assay: Set the Dial…');
  const list = editor.page.locator('.quick-input-widget');
  await list.locator('.monaco-list-row').filter({ hasText: 'right (' }).first().waitFor({ state: 'visible' });
  assert.deepEqual(await list.evaluate(cutOff), [], 'what of the list is cut off');
  await editor.choose('From 90 %');
  await until('the setting is changed', () => editor.place.setting('assay.showAbove') === 0.9, () => Promise.resolve(editor.place.setting('assay.showAbove')));
  await until('the dial is set', async () => /below 90 %/.test((await editor.screen.status()).spoken), () => editor.screen.status());
  await editor.type(MAIN.keys);
  await until('one more is hidden', async () => (await hiddenCount(editor)) > hidden, () => editor.screen.status());
  assert.equal((await editor.screen.ghost()).trim(), '');
  await editor.command('Assay: Set the Dial…');
  await editor.choose('Everything');
  await until('the dial is open', async () => !/90 %/.test((await editor.screen.status()).spoken), () => editor.screen.status());
  await askAgain(editor);
  await shownWith(editor, MAIN.ghost);
}

/** How many suggestions the dial has hidden, as the status bar tells while none is on the screen. */
async function hiddenCount(editor: Editor): Promise<number> {
  return Number(/(\d+)\s*$/.exec((await editor.screen.status()).text)?.[1] ?? 0);
}

/** Runs in the page: the texts within the element that have no room, its input's placeholder among them. */
function cutOff(element: Element): string[] {
  const clipped = [...element.querySelectorAll('.monaco-list-row *')].filter(
    (part) => getComputedStyle(part).overflowX !== 'visible' && part.scrollWidth > part.clientWidth + 1,
  );
  const inputs = [...element.querySelectorAll('input')].filter((input) => {
    const style = getComputedStyle(input);
    const pen = document.createElement('canvas').getContext('2d');
    if (pen === null) return true;
    pen.font = style.font;
    const room = input.clientWidth - Number.parseFloat(style.paddingLeft) - Number.parseFloat(style.paddingRight);
    return pen.measureText(input.placeholder).width > room;
  });
  return [...clipped.map((part) => part.textContent ?? ''), ...inputs.map((input) => input.placeholder)];
}

async function killed(editor: Editor): Promise<void> {
  await ask(editor, 'killed.py', MAIN);
  const starts = editor.place.serverStarts;
  process.kill(editor.place.serverPid, 'SIGKILL');
  await until('no badge of a server that is gone', async () => (await editor.screen.badge()) === null);
  await until('the server was started again', () => editor.place.serverStarts > starts);
  await editor.serverReady();
  await askAgain(editor);
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
  await until('the status says so', async () => /no evidence/.test((await editor.screen.status()).spoken), () => editor.screen.status());
  assert.doesNotMatch((await editor.screen.status()).text, DIGIT);
}

async function otherModel(editor: Editor): Promise<void> {
  const { body } = await event(editor, 0, 'request', ({ model }) => typeof model === 'string');
  editor.place.set({ 'assay.model': editor.place.tinyModel() });
  await editor.openAt('other.py', '# is this a ▮\n');
  await until('the tiny model answers', async () => {
    const before = lastEvent(editor);
    await editor.type('?');
    const { model } = (await event(editor, before, 'request', () => true)).body;
    if (typeof model === 'string' && model !== body.model) return true;
    await editor.press('Backspace');
    return false;
  }, () => editor.screen.status());
  const { badge, ghost } = await shownWith(editor);
  assert.match(ghost, /answer/);
  assert.match(badge.text, /^\S+ \d+-\d+ %/);
}

/** Types what a suggestion would come for, and sees that the server was asked, gave none, and said why. */
async function nothingByItself(editor: Editor, why: RegExp): Promise<void> {
  const before = lastEvent(editor);
  await editor.type(MAIN.keys);
  await event(editor, before, 'request', ({ outcome, reason }) => outcome === 'empty' && why.test(String(reason)));
  const given = eventsAfter(editor.place.events, before).filter(({ kind, body }) => kind === 'request' && body.outcome === 'produced');
  assert.deepEqual(given, []);
  assert.equal((await editor.screen.ghost()).trim(), '');
}

/** What a screen reader says of the status, which says nothing twice and ends no sentence with two full stops. */
async function spokenOnce(editor: Editor): Promise<string> {
  const { spoken } = await editor.screen.status();
  assert.doesNotMatch(spoken, /\.\s*\./);
  const sentences = spoken.split('. ');
  assert.equal(new Set(sentences).size, sentences.length, spoken);
  return spoken;
}

async function pausing(editor: Editor): Promise<void> {
  await editor.openAt('pause.py', MAIN.text);
  await editor.command('Assay: Pause…');
  await editor.choose('15 minutes');
  await until('the status bar says so', async () => /paused until/.test((await editor.screen.status()).spoken), () => editor.screen.status());
  await nothingByItself(editor, /paused/i);
  await editor.command('Assay: Resume');
  await editor.serverReady();
  await askAgain(editor);
  await shownWith(editor, MAIN.ghost);
}

async function onRequest(editor: Editor): Promise<void> {
  await editor.openAt('request.py', MAIN.text);
  await editor.command('Assay: Suggest Only on Request');
  await until('the status bar says so', async () => /only on request/i.test((await editor.screen.status()).spoken), () => editor.screen.status());
  assert.match(await spokenOnce(editor), /ask for them/);
  await nothingByItself(editor, /invoked/);
  await editor.press('Alt+\\');
  await shownWith(editor, MAIN.ghost);
  await editor.press('Escape');
  await gone(editor);
  await editor.command('Assay: Suggest Only on Request');
  await editor.serverReady();
  await askAgain(editor);
  await shownWith(editor, MAIN.ghost);
}

async function explained(editor: Editor): Promise<void> {
  const { badge } = await ask(editor, 'explained.py', TAIL);
  await editor.page.mouse.move(badge.left + 60, badge.top + 8);
  await explanation(editor, 'mouse');
}

/** With ghost text at the line's end the editor's own toolbar has the place of the badge. */
async function explainedOverCode(editor: Editor): Promise<void> {
  await ask(editor, 'over.py', MAIN);
  const { code, cursor } = await editor.screen.seen();
  const first = code.find((piece) => Math.abs(piece.top - (cursor?.top ?? 0)) < 4);
  assert.ok(first !== undefined, 'code on the line of the cursor');
  await editor.page.mouse.move(first.left + 5, first.top + 8);
  await explanation(editor, 'mouse');
  await editor.command('Assay: Explain This Suggestion');
  await explanation(editor, 'keyboard');
}

/** Until it is on the screen; then takes it away. */
async function explanation(editor: Editor, by: 'mouse' | 'keyboard'): Promise<void> {
  const hover = editor.page.locator('.monaco-hover:visible').filter({ hasText: 'exact match' });
  await hover.first().waitFor({ state: 'visible', timeout: 60_000 });
  assert.match((await hover.first().textContent()) ?? '', /held-out|evidence|calibrator/i);
  await editor.page.mouse.move(0, 0);
  // The hover takes this key if the keyboard opened it; else it goes with the mouse, and the key would take the suggestion away.
  if (by === 'keyboard') await editor.press('Escape');
  await hover.first().waitFor({ state: 'hidden' });
}

/** What WCAG asks for text. */
const CONTRAST = 4.5;

async function readable(editor: Editor, kind: string): Promise<void> {
  const file = `theme-${kind}.py`;
  await ask(editor, file, MAIN);
  const band = BANDS[(await editor.screen.badge())?.text[0] ?? ''] ?? '';
  await until(`the colour of ${kind}`, async () => (await editor.screen.badge())?.colour === themeColour(`assay.${band}`, kind), () => editor.screen.badge());
  const { colour } = (await editor.screen.badge()) ?? { colour: '' };
  const background = await editor.page.locator('.editor-instance .monaco-editor-background').first().evaluate((element) => getComputedStyle(element).backgroundColor);
  const ratio = contrast(colour, background);
  assert.ok(ratio >= CONTRAST, `${colour} on ${background}: ${ratio.toFixed(1)}`);
}

/** The ratio of contrast of two colours that a browser wrote, as WCAG 2 defines it. */
function contrast(one: string, other: string): number {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = (colour.match(/[\d.]+/g) ?? []).map((part) => {
    const share = Number(part) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

async function panel(editor: Editor): Promise<void> {
  const before = editor.console.length;
  await editor.command('Assay: Confidence');
  const page = await until('the panel with its diagram', async () => {
    for (const frame of editor.page.frames()) if ((await frame.locator('#report svg.diagram').count().catch(() => 0)) > 0) return frame;
    return undefined;
  });
  const text = (await page.locator('#report').textContent()) ?? '';
  assert.match(text, /line/);
  assert.match(text, /\d/);
  assert.ok((await page.locator('#report svg.diagram .dot').count()) > 1, 'the diagram has points');
  const refused = editor.console.slice(before).filter((line) => /Content Security Policy|Refused to/.test(line));
  assert.deepEqual(refused, []);
  assert.deepEqual(editor.foreign, [], 'hosts beyond this machine that the window asked');
  await editor.command('View: Close Editor');
}

const TAKEN = 'taken';

/** Settings by which a folder would have its own program and model run, if it were let to. */
function namesItsOwn(place: Workplace): void {
  const own = program(place, 'own/assay');
  place.write('.vscode/settings.json', JSON.stringify({ 'assay.server.path': own, 'assay.model': path.join(place.workspace, 'own.gguf') }));
}

/** An environment where a trusted folder's server is found, and no setting that names another. */
function hasItsOwn(place: Workplace): void {
  program(place, '.venv/bin/assay');
  place.set({ 'assay.server.path': undefined });
}

/** One that leaves word that it ran. */
function program(place: Workplace, name: string): string {
  const file = place.write(name, `#!/bin/sh\ntouch '${path.join(place.folder, TAKEN)}'\n`);
  chmodSync(file, 0o755);
  return file;
}

async function usersIsRun(editor: Editor): Promise<void> {
  await editor.ready();
  await ask(editor, 'untrusted.py', MAIN);
  assert.equal(existsSync(path.join(editor.place.folder, TAKEN)), false, 'the program of the workspace ran');
}

async function noneIsRun(editor: Editor): Promise<void> {
  await until('no server is found', async () => /no server/.test((await editor.screen.status()).spoken), () => editor.screen.status());
  assert.equal(existsSync(path.join(editor.place.folder, TAKEN)), false, 'the program of the workspace ran');
}
