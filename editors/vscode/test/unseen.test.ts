import { describe, expect, it } from 'vitest';
import { html } from '../src/markup';
import { statusAfter, type Status } from '../src/protocol';
import { escaped } from '../src/unseen';

const STATUS: Status = { state: '', reason: '', busy: false, silent: null, hidden: 0, tests: null, paused: null, notes: [] };

describe('what others wrote', () => {
  it('is shown with the characters written out that nothing is seen of, or that turn the text', () => {
    expect(escaped('a\u202eb\u001b[2J\u200bc\u009b\u{e0041}')).toBe('a\\u202eb\\x1b[2J\\u200bc\\x9b\\U000e0041');
    expect(escaped('adm\u200din\ufe0f')).toBe('adm\\u200din\\ufe0f');
    expect(escaped('\ud800x')).toBe('\\ud800x');
  });

  it('is left alone where a reader sees it', () => {
    for (const text of ['naïve — “ß”\n\ta', 'می\u200cخواهم', '👩\u200d👩\u200d👧 ❤\ufe0f 1\ufe0f\u20e3', 'שלום'])
      expect(escaped(text)).toBe(text);
  });

  it('is so in the status and on the page', () => {
    const status = statusAfter(STATUS, { reason: 'the model m\u202e', notes: ['n\u2066'], silent: null, tests: { title: 't\u001b' } });
    expect([status.reason, status.notes, status.silent, status.tests]).toEqual(['the model m\\u202e', ['n\\u2066'], null, 't\\x1b']);
    expect(html`<p>${'a\u202e<b>'}</p>`.html).toBe('<p>a\\u202e&#60;b&#62;</p>');
  });
});
