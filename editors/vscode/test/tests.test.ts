import { beforeEach, describe, expect, it } from 'vitest';
import type { Connection } from '../src/connection';
import { statusAfter } from '../src/protocol';
import { statusText } from '../src/statusText';
import { forbidTests, runTests } from '../src/tests';
import { Editor, window } from './vscode';

const asked: [string, unknown][] = [];
const connection = {
  ask: (method: string, params: unknown) => {
    asked.push([method, params]);
    return Promise.resolve(undefined);
  },
} as unknown as Connection;

beforeEach(() => {
  window.activeTextEditor = new Editor(['def f(a):', '    return a < 3']);
  asked.length = 0;
});

function argument(): unknown {
  const [[method, params] = ['', {}]] = asked;
  expect(method).toBe('workspace/executeCommand');
  return params;
}

describe('tests of a project', () => {
  it('are run for the selection of the open document', async () => {
    await runTests(connection, true);
    expect(argument()).toMatchObject({ command: 'assay.runTests', arguments: [{ range: { start: { line: 1 } } }] });
  });

  it('are run for what was accepted last, which the server knows', async () => {
    await runTests(connection, false);
    const {
      arguments: [told],
    } = argument() as { arguments: [object] };
    expect(Object.keys(told)).toEqual(['uri']);
  });

  it('are forbidden for the project of the open document', async () => {
    await forbidTests(connection);
    expect(argument()).toMatchObject({ command: 'assay.forbidTests', arguments: [{}] });
  });

  it('ask nothing without a document', async () => {
    window.activeTextEditor = undefined;
    await runTests(connection, true);
    expect(asked).toEqual([]);
  });

  it('are told in the status by what they said', () => {
    const status = statusAfter(
      { state: 'ready', reason: '', busy: false, silent: null, hidden: 0, tests: null, paused: null, notes: [] },
      { tests: { title: '✔ 3 tests pass (0.2 s)', passed: true } },
    );
    const known = { stage: 'running', reason: '', badge: undefined, automatic: true, showAbove: 0, now: new Date() } as const;
    expect(statusText({ ...known, status }).lines).toContain('What was accepted last: ✔ 3 tests pass (0.2 s).');
    expect(statusAfter(status, { tests: null }).tests).toBeNull();
  });
});
