/** What a user sees in the window: ghost text, badge, code, status bar; read from the page's own elements and their computed styles. */
import type { Page } from 'playwright-core';

export interface Badge {
  readonly text: string;
  readonly colour: string;
  readonly left: number;
  readonly top: number;
}

/** A piece of the file's own text where it stands on the screen. */
export interface Piece {
  readonly text: string;
  readonly left: number;
  readonly top: number;
}

export interface Seen {
  readonly ghost: string;
  readonly badge: Badge | null;
  readonly code: readonly Piece[];
  readonly cursor: { readonly left: number; readonly top: number } | null;
}

/** One frame of typing along. */
export interface Frame {
  readonly text: string;
  readonly ghost: string;
  readonly badge: string | null;
  readonly left: number | null;
}

/** Puts `window.assaySeen()` into the page: one reading of all that is on the screen at one moment. */
function install(): void {
  if ('assaySeen' in globalThis) return;
  const plain = (text: string | null) => (text ?? '').replaceAll('\u00a0', ' ').replaceAll('\u200b', '');
  const round = (n: number) => Math.round(n * 10) / 10;
  const GHOST = '.ghost-text-decoration, .ghost-text-decoration-preview, .ghost-text';
  const seen = () => {
    const editor = document.querySelector('.editor-instance .monaco-editor');
    if (editor === null) return { ghost: '', badge: null, code: [], cursor: null };
    const lines = [...editor.querySelectorAll('.lines-content > .view-lines > .view-line')];
    const inline = lines.map((line) => [...line.querySelectorAll(GHOST)].map((span) => plain(span.textContent)).join('')).join('');
    const below = [...editor.querySelectorAll('.view-zones .suggest-preview-text .view-line')].map((line) => plain(line.textContent));
    let badge = null;
    const code = [];
    for (const line of lines) {
      for (const span of line.querySelectorAll('span > span')) {
        const { content, color } = getComputedStyle(span, '::after');
        const box = span.getBoundingClientRect();
        if (content.length > 2 && content !== 'none' && content !== 'normal')
          badge = { text: content.slice(1, -1), colour: color, left: round(box.left), top: round(box.top) };
        const text = plain(span.textContent);
        if (text !== '' && !span.matches(GHOST)) code.push({ text, left: round(box.left), top: round(box.top) });
      }
    }
    const caret = editor.querySelector('.cursors-layer > .cursor')?.getBoundingClientRect();
    return {
      ghost: [inline, ...below].join('\n'),
      badge,
      code,
      cursor: caret === undefined ? null : { left: round(caret.left), top: round(caret.top) },
    };
  };
  const frames: unknown[] = [];
  let recording = false;
  // A frame is read when the page has settled what it will paint, behind all that others do in that frame: a change of size is told just then.
  const clock = document.body.appendChild(document.createElement('div'));
  Object.assign(clock.style, { position: 'fixed', height: '1px', width: '1px', visibility: 'hidden' });
  new ResizeObserver(() => {
    if (!recording) return;
    const { ghost, badge, code } = seen();
    frames.push({ text: code.map((piece) => piece.text).join(''), ghost, badge: badge?.text ?? null, left: badge?.left ?? null });
  }).observe(clock);
  const tick = () => {
    if (!recording) return;
    clock.style.width = clock.style.width === '1px' ? '2px' : '1px';
    requestAnimationFrame(tick);
  };
  Object.assign(globalThis, {
    assaySeen: seen,
    assayRecord: () => {
      frames.length = 0;
      recording = true;
      requestAnimationFrame(tick);
    },
    assayFrames: () => {
      recording = false;
      return frames;
    },
  });
}

// As text: bundlers and type strippers may put their own helpers into functions, which the page does not have.
const INSTALL = `(${install.toString()})()`;

export class Screen {
  private readonly page: Page;

  constructor(page: Page) {
    this.page = page;
  }

  async seen(): Promise<Seen> {
    await this.page.evaluate(INSTALL);
    return this.page.evaluate('assaySeen()');
  }

  async ghost(): Promise<string> {
    return (await this.seen()).ghost;
  }

  async badge(): Promise<Badge | null> {
    return (await this.seen()).badge;
  }

  /** Reads the screen at every frame that is drawn while this is done. */
  async frames(during: () => Promise<void>): Promise<Frame[]> {
    await this.page.evaluate(INSTALL);
    await this.page.evaluate('assayRecord()');
    await during();
    return this.page.evaluate('assayFrames()');
  }

  /** Assay's item in the status bar, as it is seen, and as a screen reader says it. */
  async status(): Promise<{ text: string; spoken: string }> {
    const item = this.page.locator('.statusbar-item[id^="assay.assay"]').first();
    if ((await item.count()) === 0) return { text: '', spoken: '' };
    const label = item.locator('a, .statusbar-item-label').first();
    return { text: ((await label.textContent()) ?? '').trim(), spoken: (await label.getAttribute('aria-label')) ?? '' };
  }

  /** "LINE:COLUMN", from the status bar. */
  async cursorPlace(): Promise<string> {
    const text = await this.page.locator('[id="status.editor.selection"]').textContent();
    return /Ln (\d+), Col (\d+)/.exec(text ?? '')?.slice(1).join(':') ?? '';
  }

  /** Whether the file is in the active editor. */
  async isOpen(name: string): Promise<boolean> {
    const tab = await this.page.locator('.editor-group-container.active .tab.active').first().getAttribute('data-resource-name');
    return tab === name.split('/').at(-1);
  }

  async notifications(): Promise<string[]> {
    return this.page.locator('.notification-list-item-message').allTextContents();
  }
}
