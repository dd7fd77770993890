import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { run } from '../src/child';
import { commands, isNewEnough, makersOnPath, mending, noPython, spelled, type Command } from '../src/install';

const PIP: Command = { program: '/env/bin/python', args: ['-m', 'pip', 'install', 'assay'], what: '' };
const never = () => new AbortController().signal;

describe('the environment', () => {
  it('is made by uv where it is there, with a Python that is new enough', () => {
    const [make, install] = commands({ uv: '/bin/uv' }, '/env', 'assay', false);
    expect(make && spelled(make)).toBe('/bin/uv venv --python ">=3.11" /env');
    expect(install && spelled(install)).toBe('/bin/uv pip install --python /env/bin/python assay');
  });

  it('is else made by Python, and a requirement stays one argument', () => {
    const [make, install] = commands({ python: '/bin/python3' }, '/env', '/my wheels/assay-0.1.0-py3-none-any.whl', true);
    expect(make?.args).toEqual(['-m', 'venv', '/env']);
    expect(install?.program).toBe(path.join('/env', 'Scripts', 'python.exe'));
    expect(install?.args.at(-1)).toBe('/my wheels/assay-0.1.0-py3-none-any.whl');
  });

  it('is made with what PATH has, uv first, then the newest Python', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'assay-'));
    for (const name of ['python3', 'python3.12', 'uv']) {
      await writeFile(path.join(folder, name), '');
      await chmod(path.join(folder, name), 0o755);
    }
    const makers = await makersOnPath(folder, false);
    expect(makers).toEqual([
      { uv: path.join(folder, 'uv') },
      { python: path.join(folder, 'python3.12') },
      { python: path.join(folder, 'python3') },
    ]);
    expect(await makersOnPath('', false)).toEqual([]);
    await rm(folder, { recursive: true });
  });

  it.each([
    ['3.11\n', true],
    ['3.14', true],
    ['4.0', true],
    ['3.10', false],
    ['2.7', false],
    ['', false],
    ['Python was not found', false],
  ])('needs a Python of 3.11 or newer: %j', (printed, enough) => {
    expect(isNewEnough(printed)).toBe(enough);
  });
});

describe('what failed is mended', () => {
  it.each([
    ['The virtual environment was not created successfully because ensurepip is not\navailable.', 'sudo apt install python3-venv'],
    ['CMake Error: CMAKE_CXX_COMPILER not set, after EnableLanguage', 'sudo apt install build-essential'],
  ])('by the command for %j', (output, command) => {
    expect(mending(PIP, 'assay', output, 'linux').command).toBe(command);
  });

  it.each([
    'ERROR: Could not find a version that satisfies the requirement assay (from versions: none)\nERROR: No matching distribution found for assay',
    '  × No solution found when resolving dependencies:\n  ╰─▶ Because assay was not found in the package registry and you require assay',
    "ERROR: Invalid requirement: 'assay =='",
  ])('by the setting where there is no such package: %j', (output) => {
    expect(mending(PIP, 'assay', output, 'linux').setting).toBe('assay.server.requirement');
  });

  it('else by hand: the last error, and the command', () => {
    const found = mending(PIP, 'assay', 'Collecting assay\nERROR: the wheel is broken\n[notice] A new release of pip\n', 'darwin');
    expect(found).toEqual({ problem: 'ERROR: the wheel is broken', command: '/env/bin/python -m pip install assay' });
  });

  it('as each system has it where there is no Python', () => {
    expect(['linux', 'darwin', 'win32'].map((platform) => noPython(platform as NodeJS.Platform).command?.split(' ')[0])).toEqual([
      'sudo',
      'brew',
      'winget',
    ]);
  });
});

describe('a program', () => {
  it('is run to its end, and what it writes is told', async () => {
    let heard = '';
    const ended = await run(
      process.execPath,
      ['-e', 'console.log("out"); console.error("err"); process.exit(3)'],
      tmpdir(),
      (text) => (heard += text),
      never(),
    );
    expect(ended.code).toBe(3);
    expect(ended.output).toMatch(/out/);
    expect(heard).toMatch(/err/);
  });

  it('that can’t be started says why', async () => {
    const { code, output } = await run('/nowhere/python', [], tmpdir(), () => undefined, never());
    expect(code).toBeNull();
    expect(output).toMatch(/ENOENT/);
  });

  it.skipIf(process.platform === 'win32')('that is cancelled ends with what it started', async () => {
    const abort = new AbortController();
    const child = 'console.log("ready"); setInterval(() => {}, 1000)';
    const parent = `require('child_process').spawn(process.execPath, ['-e', '${child}'], { stdio: 'inherit' }); setInterval(() => {}, 1000)`;
    // It ends only when nobody is left who could write.
    const ended = await run(
      process.execPath,
      ['-e', parent],
      tmpdir(),
      () => {
        abort.abort();
      },
      abort.signal,
    );
    expect(ended).toEqual({ code: null, output: 'ready\n' });
  });
});
