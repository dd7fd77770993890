/**
 * node run.ts [--version V]… [--only WORDS] [--repeat N] [--retries N]: runs the scenarios in each version; exits 1 if one fails, and leaves picture
 * and logs of it. Those that fail are tried again in a window of their own, so often (never, without the option), and named where they then pass.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { Editor, type Start } from './editor.ts';
import { SCENARIOS, type Scenario } from './scenarios.ts';
import { Workplace } from './workplace.ts';

const HERE = import.meta.dirname;
const FAILURES = path.join(HERE, 'failures');
const VERSIONS = ['4.139.1', '4.93.1'];
/** What comes before all others in a window; without it none of them is run. */
const READY = 'the editor is ready';

interface Result {
  readonly version: string;
  readonly scenario: string;
  readonly seconds: number;
  readonly error: string | undefined;
}

async function runIn(version: string, scenarios: readonly Scenario[], start: Start): Promise<Result[]> {
  const together = scenarios.filter(({ untrusted }) => untrusted === undefined);
  const alone = scenarios.filter(({ untrusted }) => untrusted !== undefined);
  const results: Result[] = [];
  for (const group of [together, ...alone.map((scenario) => [scenario])]) {
    if (group.length > 0) results.push(...(await runTogether(version, group, start)));
  }
  return results;
}

/** In one window, one after the other. */
async function runTogether(version: string, scenarios: readonly Scenario[], start: Start): Promise<Result[]> {
  const prepare = scenarios.find(({ untrusted }) => untrusted !== undefined)?.untrusted;
  const place = new Workplace(prepare === undefined ? {} : { 'security.workspace.trust.enabled': true, 'security.workspace.trust.startupPrompt': 'never' });
  prepare?.(place);
  const results: Result[] = [];
  const began = Date.now();
  let editor: Editor;
  try {
    editor = await Editor.open(place, { ...start, trust: prepare !== undefined });
  } catch (error) {
    const name = prepare === undefined ? READY : (scenarios[0]?.name ?? READY);
    const told = error instanceof Error ? error.message : String(error);
    console.log(`FAIL ${version} ${name}\n     the window did not open: ${told}`);
    place.keepLogs(failureFolder(version, name));
    place.remove();
    return [{ version, scenario: name, seconds: (Date.now() - began) / 1000, error: told }];
  }
  try {
    const ready: Scenario = { name: READY, run: () => editor.ready() };
    for (const scenario of prepare === undefined ? [ready, ...scenarios] : scenarios) {
      const began = Date.now();
      const error = await attempt(editor, scenario, version);
      const seconds = (Date.now() - began) / 1000;
      results.push({ version, scenario: scenario.name, seconds, error });
      console.log(`${error === undefined ? 'ok  ' : 'FAIL'} ${version} ${scenario.name} (${seconds.toFixed(1)} s)${error === undefined ? '' : `\n     ${error}`}`);
      if (scenario === ready && error !== undefined) break;
    }
  } finally {
    await editor.close();
    place.remove();
  }
  return results;
}

async function attempt(editor: Editor, scenario: Scenario, version: string): Promise<string | undefined> {
  // Everything is shown: what the model is sure of is not what most scenarios are about.
  const changed = { 'assay.badge': undefined, 'assay.showAbove': 0, 'assay.model': undefined, 'assay.automatic': undefined };
  try {
    editor.place.set({ ...changed, ...scenario.settings });
    await editor.clear();
    await scenario.run(editor);
    return undefined;
  } catch (error) {
    const folder = failureFolder(version, scenario.name);
    await editor.page.screenshot({ path: path.join(folder, 'window.png') });
    const told = error instanceof Error ? (error.stack ?? error.message) : String(error);
    writeFileSync(path.join(folder, 'error.txt'), `${told}\n\n${editor.console.join('\n')}\n`);
    editor.place.keepLogs(folder);
    return error instanceof Error ? error.message : String(error);
  } finally {
    editor.place.set(Object.fromEntries(Object.keys(scenario.settings ?? {}).map((name) => [name, undefined])));
  }
}

/** Made, for pictures and logs. */
function failureFolder(version: string, name: string): string {
  const folder = path.join(FAILURES, `${version} ${name}`);
  mkdirSync(folder, { recursive: true });
  return folder;
}

function failure({ error }: Result): boolean {
  return error !== undefined;
}

function browser(): string {
  for (const name of [process.env.ASSAY_CHROMIUM, 'chromium', 'chromium-browser', 'google-chrome']) {
    if (name === undefined) continue;
    try {
      return execFileSync('sh', ['-c', 'command -v "$1"', 'sh', name], { encoding: 'utf8' }).trim();
    } catch {
      // The next one.
    }
  }
  throw new Error('no Chromium: see .ci/editor-packages');
}

const { values } = parseArgs({
  options: {
    version: { type: 'string', multiple: true, default: VERSIONS },
    only: { type: 'string' },
    repeat: { type: 'string', default: '1' },
    retries: { type: 'string', default: '0' },
    vsix: { type: 'string', default: path.join(HERE, '../assay.vsix') },
  },
});
const scenarios = SCENARIOS.filter(({ name }) => values.only === undefined || name.includes(values.only));
rmSync(FAILURES, { recursive: true, force: true });
const results: Result[] = [];
const unsteady: Result[] = [];
for (let repeat = 0; repeat < Number(values.repeat); repeat++) {
  for (const version of values.version) {
    const installation = execFileSync(path.join(HERE, 'install-editor'), [version], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }).trim();
    const start = { installation, vsix: values.vsix, browser: browser() };
    let last = await runIn(version, scenarios, start);
    for (let retry = 0; retry < Number(values.retries) && last.some(failure); retry++) {
      const failed = last.filter(failure);
      const names = failed.map(({ scenario }) => scenario);
      const done = last.filter((result) => !failure(result)).map(({ scenario }) => scenario);
      const left = scenarios.filter(({ name }) => names.includes(name) || (names.includes(READY) && !done.includes(name)));
      const again = await runIn(version, left, start);
      unsteady.push(...failed.filter(({ scenario }) => again.some((result) => result.scenario === scenario && !failure(result))));
      last = [...last.filter((result) => !failure(result)), ...again.filter(({ scenario }) => scenario !== READY || names.includes(READY))];
    }
    results.push(...last);
  }
}
const failed = results.filter(failure);
const seconds = results.reduce((sum, result) => sum + result.seconds, 0);
console.log(`${results.length - failed.length} of ${results.length} scenarios passed, in ${seconds.toFixed(0)} s without the starts.`);
for (const { version, scenario, error } of unsteady) console.log(`Passed when tried again: ${version} ${scenario} (${String(error)})`);
if (failed.length + unsteady.length > 0) console.log(`Pictures and logs of failures: ${FAILURES}`);
process.exitCode = failed.length > 0 || results.length === 0 ? 1 : 0;
