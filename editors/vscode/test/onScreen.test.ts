import { describe, expect, it } from 'vitest';
import { badgeText } from '../src/badgeText';
import { answered, edited, moved, shown, turned, type Offered, type OnScreen } from '../src/onScreen';
import { LIKELY, SHORT, suggestion } from './suggestions';

const URI = 'file:///a.py';
const AT = { line: 3, character: 4 };
const WHERE = { uri: URI, version: 7, at: AT };
const ALONE = { invoked: false, preserved: false };

function offered(text: string, id = text, before = ''): Offered {
  return { suggestion: suggestion(id), text: before + text, before };
}

function screenOf(...texts: string[]): OnScreen {
  const screen = answered(
    undefined,
    WHERE,
    texts.map((text) => offered(text)),
    { invoked: texts.length > 1, preserved: false },
  );
  if (screen === undefined) throw new Error('nothing on the screen');
  return screen;
}

function typed(screen: OnScreen | undefined, text: string, at = screen?.at ?? AT): OnScreen | undefined {
  return screen && edited(screen, screen.uri, screen.version + 1, [{ start: at, replaced: 0, text }]);
}

describe('an answer', () => {
  it('puts its first suggestion on the screen', () => {
    const screen = screenOf('return a', 'pass');
    expect(shown(screen)?.suggestion.id).toBe('return a');
    expect(shown(screen)?.rest).toBe('return a');
  });

  it('without suggestions takes away what was there', () => {
    expect(answered(screenOf('return'), WHERE, [], ALONE)).toBeUndefined();
  });

  it('counts what stands before the cursor as typed', () => {
    const screen = answered(undefined, WHERE, [offered('nt(x)', 'id', 'pri')], ALONE);
    expect(screen && shown(screen)?.rest).toBe('nt(x)');
  });

  it('is not shown where it begins otherwise than what it replaces, as the editor has it', () => {
    expect(answered(undefined, WHERE, [{ suggestion: suggestion('x'), text: 'return', before: 'retrun' }], ALONE)).toBeUndefined();
  });

  it('that says the same again keeps the alternative that the user turned to', () => {
    const second = turned(screenOf('one', 'two'), 1);
    const next = answered(second, WHERE, [offered('one', 'a'), offered('two', 'b')], { invoked: true, preserved: true });
    expect(next && shown(next)?.suggestion.id).toBe('b');
  });

  it('that was asked for has what is on the screen in front, and the next one behind it', () => {
    const alone = screenOf('two');
    const all = ['one', 'two', 'three'].map((text) => offered(text));
    const next = answered(alone, WHERE, all, { invoked: true, preserved: true });
    expect(next?.alternatives.map(({ rest }) => rest)).toEqual(['two', 'one', 'three']);
    expect(next && badgeText(next, 'words')).toBe(`${LIKELY} · 1 of 3`);
  });

  it('that comes after a word was accepted stands behind what the editor goes on showing', () => {
    const rest = typed(screenOf('return a'), 'return');
    const where = { ...WHERE, version: 8, at: { line: 3, character: 10 } };
    const next = answered(rest, where, [offered(' b')], { invoked: false, preserved: true });
    expect(next && shown(next)?.rest).toBe(' a');
    expect(next?.alternatives.length).toBe(2);
  });

  it('that comes by itself while typing replaces what was there', () => {
    const rest = typed(screenOf('return a'), 'r');
    const next = answered(rest, { ...WHERE, version: 8, at: { line: 3, character: 5 } }, [offered('aise')], ALONE);
    expect(next && shown(next)?.rest).toBe('aise');
  });
});

describe('typing along', () => {
  it.each(['return a + b', 'if x:\n    return y\n', 'f(a)["k"]'])('leaves the rest, however it is cut: %j', (text) => {
    for (let first = 1; first < text.length - 1; first++) {
      for (let second = first + 1; second < text.length; second++) {
        const screen = typed(typed(screenOf(text), text.slice(0, first)), text.slice(first, second));
        expect(screen && shown(screen)?.rest).toBe(text.slice(second));
        const lines = text.slice(0, second).split('\n');
        const line = AT.line + lines.length - 1;
        expect(screen?.at).toEqual({ line, character: (lines.length > 1 ? 0 : AT.character) + (lines.at(-1)?.length ?? 0) });
      }
    }
  });

  it('to the end takes it away', () => {
    expect(typed(screenOf('abc'), 'abc')).toBeUndefined();
  });

  it('something else takes it away', () => {
    expect(typed(screenOf('abc'), 'x')).toBeUndefined();
  });

  it('a bracket whose partner the editor types goes on', () => {
    const screen = typed(screenOf('(a, b)'), '()');
    expect(screen && shown(screen)?.rest).toBe('a, b)');
    expect(screen?.at.character).toBe(AT.character + 1);
  });

  it('takes lines that end in CRLF for the same', () => {
    const screen = typed(screenOf('if x:\r\n    y'), 'if x:\r\n');
    expect(screen && shown(screen)?.rest).toBe('    y');
  });

  it('drops the alternatives that do not begin so, and keeps the chosen one', () => {
    const screen = typed(turned(screenOf('one', 'other', 'two'), 1), 'o');
    expect(screen?.alternatives.map(({ rest }) => rest)).toEqual(['ne', 'ther']);
    expect(screen && shown(screen)?.rest).toBe('ther');
  });
});

describe('an edit', () => {
  it.each([
    ['elsewhere', [{ start: { line: 0, character: 0 }, replaced: 0, text: 'a' }]],
    ['that takes away', [{ start: AT, replaced: 1, text: '' }]],
    [
      'at several cursors',
      [
        { start: AT, replaced: 0, text: 'a' },
        { start: { line: 9, character: 0 }, replaced: 0, text: 'a' },
      ],
    ],
  ])('%s takes the suggestion away', (_, edits) => {
    expect(edited(screenOf('abc'), URI, 8, edits)).toBeUndefined();
  });

  it('of another document, or a save, leaves it', () => {
    const screen = screenOf('abc');
    expect(edited(screen, 'file:///b.py', 2, [{ start: AT, replaced: 0, text: 'x' }])).toBe(screen);
    expect(edited(screen, URI, 7, [])).toEqual(screen);
  });
});

describe('the cursor', () => {
  it('that moves away takes the suggestion away', () => {
    expect(moved(screenOf('abc'), URI, 7, { line: 3, character: 3 })).toBeUndefined();
    expect(moved(screenOf('abc'), URI, 7, undefined)).toBeUndefined();
  });

  it('that stands where it stood, or is told of an older text, leaves it', () => {
    const screen = screenOf('abc');
    expect(moved(screen, URI, 7, AT)).toBe(screen);
    expect(moved(screen, URI, 6, { line: 0, character: 0 })).toBe(screen);
  });
});

describe('the badge', () => {
  it('says of several alternatives which one it speaks of, round and round', () => {
    const screen = screenOf('one', 'two', 'three');
    expect(badgeText(screen, 'words')).toBe(`${LIKELY} · 1 of 3`);
    expect(badgeText(turned(screen, -1), 'words')).toBe(`${LIKELY} · 3 of 3`);
    expect(badgeText(turned(screen, 4), 'words')).toBe(`${LIKELY} · 2 of 3`);
  });

  it('of one alone is what the server says', () => {
    expect(badgeText(screenOf('one'), 'words')).toBe(LIKELY);
    expect(badgeText(screenOf('one'), 'short')).toBe(SHORT);
  });
});
