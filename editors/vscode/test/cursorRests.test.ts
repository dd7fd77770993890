import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Connection } from '../src/connection';
import { REST_MS, registerCursorRests } from '../src/cursorRests';
import { Editor, fired, window } from './vscode';

const told: object[] = [];
const connection = { tell: (method: string, params: object) => told.push({ method, ...params }) } as unknown as Connection;
let editor: Editor;
let registered: { dispose(): unknown };

beforeEach(() => {
  vi.useFakeTimers();
  told.length = 0;
  editor = new Editor(['def f(a):', '    ']);
  window.activeTextEditor = editor;
  registered = registerCursorRests(connection);
});

afterEach(() => {
  registered.dispose();
  vi.useRealTimers();
});

it('tells the place where the cursor rests, and none that it passes', () => {
  editor.moveTo(0, 3);
  vi.advanceTimersByTime(REST_MS - 1);
  editor.moveTo(0, 9);
  vi.advanceTimersByTime(REST_MS);
  const uri = editor.document.uri.toString();
  expect(told).toEqual([{ method: 'assay/cursorRests', textDocument: { uri }, position: { line: 0, character: 9 } }]);
});

it('tells the place in an editor that was turned to, and nothing of one that is no text of the user’s', () => {
  fired.editor.fire(editor);
  vi.advanceTimersByTime(REST_MS);
  expect(told).toHaveLength(1);
  Object.assign(editor.document.uri, { scheme: 'output' });
  fired.editor.fire(editor);
  vi.advanceTimersByTime(REST_MS);
  expect(told).toHaveLength(1);
});
