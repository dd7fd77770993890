import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makersOnPath } from '../src/install';
import { makeEnvironment, newEnough } from '../src/makeEnvironment';
import { findServer } from '../src/server';

const never = new AbortController().signal;

/** A wheel with nothing in it but the program `assay`. */
const WHEEL = `
import sys, zipfile
with zipfile.ZipFile(sys.argv[1], "w") as wheel:
    info = "assay-9.9.dist-info"
    wheel.writestr("assay_stand_in.py", "def main():\\n    print('assay 9.9')\\n")
    wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\\nName: assay\\nVersion: 9.9\\n")
    wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    wheel.writestr(f"{info}/entry_points.txt", "[console_scripts]\\nassay = assay_stand_in:main\\n")
    wheel.writestr(f"{info}/RECORD", "")
`;

describe('an environment that is really made', () => {
  let root: string;
  let wheel: string;
  let environment: string;
  let searched: string;
  const told = { say: () => undefined, log: () => undefined };

  beforeAll(async () => {
    root = await mkdtemp(path.join(tmpdir(), 'assay environment '));
    wheel = path.join(root, 'assay-9.9-py3-none-any.whl');
    environment = path.join(root, 'global storage', 'environment');
    const makers = (await makersOnPath(process.env.PATH, process.platform === 'win32')).filter((maker) => 'python' in maker);
    const maker = await newEnough(makers, never);
    if (maker === undefined || 'uv' in maker) throw new Error('these tests need a Python of 3.11 or newer on PATH');
    searched = path.dirname(maker.python);
    execFileSync(maker.python, ['-c', WHEEL, wheel]);
  });

  afterAll(async () => {
    await rm(root, { recursive: true });
  });

  it('has the server, which is found and runs', { timeout: 180_000 }, async () => {
    const said: string[] = [];
    const failed = await makeEnvironment({ environment, requirement: wheel, searched }, { ...told, say: (text) => said.push(text) }, never);
    expect(failed).toBeUndefined();
    expect(said.some((text) => text.startsWith('installing'))).toBe(true);
    const windows = process.platform === 'win32';
    const found = await findServer({ setting: undefined, trustedFolders: [], own: environment, home: root, searched: '', windows });
    if ('missing' in found) throw new Error(found.missing);
    expect(found.origin).toBe('environment');
    expect(execFileSync(found.program, { encoding: 'utf8' })).toMatch(/assay 9\.9/);
  });

  it('is not made of a wheel that is not there, and says where to look', { timeout: 180_000 }, async () => {
    const requirement = path.join(root, 'assay-1.0-py3-none-any.whl');
    const failed = await makeEnvironment({ environment, requirement, searched }, told, never);
    expect(failed?.setting).toBe('assay.server.requirement');
  });

  it('leaves nothing behind where it is cancelled', { timeout: 180_000 }, async () => {
    const abort = new AbortController();
    const cancel = {
      ...told,
      say: (text: string) => {
        if (text.startsWith('installing')) abort.abort();
      },
    };
    expect(await makeEnvironment({ environment, requirement: wheel, searched }, cancel, abort.signal)).toBeUndefined();
    expect(existsSync(environment)).toBe(false);
  });

  it('is not begun with what is no package', async () => {
    for (const requirement of ['', '  ', '--index-url=https://example.org']) {
      const failed = await makeEnvironment({ environment, requirement, searched }, told, never);
      expect(failed?.setting).toBe('assay.server.requirement');
    }
    const none = await makeEnvironment({ environment, requirement: 'assay', searched: '' }, told, never);
    expect(none?.problem).toContain('No Python 3.11');
  });
});
