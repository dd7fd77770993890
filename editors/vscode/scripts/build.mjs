// Bundles the extension into dist/extension.js, and the licences of what is in it into dist/NOTICES.txt.
import { build } from 'esbuild';
import { readFile, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';

const { metafile } = await build({
  entryPoints: ['src/extension.ts'],
  outfile: 'dist/extension.js',
  bundle: true,
  platform: 'node',
  format: 'cjs',
  // What VS Code 1.91 runs extensions on.
  target: 'node20',
  external: ['vscode'],
  minify: true,
  metafile: true,
  logLevel: 'warning',
});

const folders = Object.keys(metafile.inputs).flatMap((input) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input)?.[0] ?? []);
const notices = await Promise.all([...new Set(folders)].sort().map(notice));
await writeFile('dist/NOTICES.txt', `What the extension is bundled with, and its licences.\n\n${notices.join('\n\n')}`);

async function notice(folder) {
  const { name, version, license } = JSON.parse(await readFile(path.join(folder, 'package.json'), 'utf8'));
  const file = (await readdir(folder)).find((each) => /^licen[cs]e/i.test(each));
  if (file === undefined) throw new Error(`${name} comes without a licence's text`);
  return `## ${name} ${version} (${license})\n\n${(await readFile(path.join(folder, file), 'utf8')).trim()}\n`;
}
