import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findServer, searchedFolders, type Places } from '../src/server';

let root: string;

beforeEach(async () => {
  root = await mkdtemp(path.join(tmpdir(), 'assay-'));
});

afterEach(async () => {
  await rm(root, { recursive: true });
});

async function program(...parts: string[]): Promise<string> {
  const file = path.join(root, ...parts);
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, '#!/bin/sh\n');
  await chmod(file, 0o755);
  return file;
}

function places(changed: Partial<Places> = {}): Places {
  const own = path.join(root, 'own');
  return {
    setting: undefined,
    trustedFolders: [path.join(root, 'project')],
    own,
    home: root,
    searched: path.join(root, 'path'),
    windows: false,
    ...changed,
  };
}

describe('the server is', () => {
  it('first the program of the setting, also one from ~', async () => {
    await program('path', 'assay');
    const named = await program('tools', 'assay');
    expect(await findServer(places({ setting: named }))).toEqual({ program: named, origin: 'setting' });
    expect(await findServer(places({ setting: '~/tools/assay' }))).toEqual({ program: named, origin: 'setting' });
  });

  it('then the one on PATH, then the workspace’s, then the extension’s own', async () => {
    const own = await program('own', 'bin', 'assay');
    expect(await findServer(places())).toEqual({ program: own, origin: 'environment' });
    const later = await program('project', 'venv', 'bin', 'assay');
    expect(await findServer(places())).toEqual({ program: later, origin: 'workspace' });
    const project = await program('project', '.venv', 'bin', 'assay');
    expect(await findServer(places())).toEqual({ program: project, origin: 'workspace' });
    const onPath = await program('path', 'assay');
    expect(await findServer(places())).toEqual({ program: onPath, origin: 'PATH' });
  });

  it('on Windows an .exe in Scripts', async () => {
    const found = await program('project', '.venv', 'Scripts', 'assay.exe');
    expect(await findServer(places({ windows: true, searched: '' }))).toEqual({ program: found, origin: 'workspace' });
  });

  it('not what an untrusted workspace has', async () => {
    await program('project', '.venv', 'bin', 'assay');
    expect(await findServer(places({ trustedFolders: [] }))).toHaveProperty('missing');
  });

  it('not another one where the setting names none that can be run', async () => {
    await program('path', 'assay');
    const file = await program('tools', 'assay');
    await chmod(file, 0o644);
    for (const setting of [file, root, path.join(root, 'nowhere'), 'assay']) {
      expect(await findServer(places({ setting }))).toEqual({ missing: expect.stringContaining('assay.server.path') as string });
    }
  });

  it('not a folder of that name, nor a file that can’t be run', async () => {
    await mkdir(path.join(root, 'path', 'assay'), { recursive: true });
    await chmod(await program('project', 'venv', 'bin', 'assay'), 0o644);
    expect(await findServer(places())).toHaveProperty('missing');
  });
});

it('PATH is read without folders that are relative to whatever is open', () => {
  expect(searchedFolders('/usr/bin::.:bin:/usr/local/bin', false)).toEqual(['/usr/bin', '/usr/local/bin']);
  expect(searchedFolders(undefined, false)).toEqual([]);
});
