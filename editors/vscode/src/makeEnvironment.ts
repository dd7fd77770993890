/** Makes an environment with the server in it, by the commands of install.ts. */
import { mkdir, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { run } from './child';
import { ASK_VERSION, commands, isNewEnough, makersOnPath, mending, noPython, type Maker, type Mending } from './install';
import { isProgram, programIn } from './server';

const WINDOWS = process.platform === 'win32';
/** As much of a line as a notification has room for. */
const SAID = 80;

export interface Wanted {
  readonly environment: string;
  /** What pip is asked to install. */
  readonly requirement: string;
  /** The environment variable PATH. */
  readonly searched: string | undefined;
}

export interface Told {
  /** What is done now, for people. */
  readonly say: (message: string) => void;
  readonly log: (text: string) => void;
}

/** Undefined where the server stands in the environment, or the work was cancelled, of which nothing is left; else what failed. */
export async function makeEnvironment(wanted: Wanted, told: Told, cancelled: AbortSignal): Promise<Mending | undefined> {
  const failed = await make(wanted, told, cancelled);
  if (!cancelled.aborted) return failed;
  await rm(wanted.environment, { recursive: true, force: true });
  return undefined;
}

async function make(
  { environment, requirement, searched }: Wanted,
  { say, log }: Told,
  cancelled: AbortSignal,
): Promise<Mending | undefined> {
  const installed = expanded(requirement.trim());
  if (installed === '' || installed.startsWith('-')) {
    return { problem: 'assay.server.requirement names no package.', setting: 'assay.server.requirement' };
  }
  const maker = await newEnough(await makersOnPath(searched, WINDOWS), cancelled);
  if (maker === undefined) return noPython(process.platform);
  // An environment can't be moved once it is made, so it is made in its place, and anew: a half-made one is no better than none.
  await rm(environment, { recursive: true, force: true });
  const folder = path.dirname(environment);
  await mkdir(folder, { recursive: true });
  for (const command of commands(maker, environment, installed, WINDOWS)) {
    if (cancelled.aborted) return undefined;
    say(`${command.what}…`);
    log(`$ ${[command.program, ...command.args].join(' ')}`);
    const onText = (text: string) => {
      const line =
        text
          .trim()
          .split(/[\r\n]+/)
          .at(-1) ?? '';
      if (line !== '') say(`${command.what}: ${line.slice(0, SAID)}`);
    };
    const { code, output } = await run(command.program, command.args, folder, onText, cancelled);
    log(output.trim());
    if (code !== 0) return mending(command, installed, output, process.platform);
  }
  if (await isProgram(programIn(environment, 'assay', WINDOWS), WINDOWS)) return undefined;
  return { problem: `“${installed}” was installed, but there is no program “assay” in it.`, setting: 'assay.server.requirement' };
}

/** uv, or the first Python that is new enough: one on PATH may be another than its name says, or a stand-in that runs none. */
export async function newEnough(makers: readonly Maker[], cancelled: AbortSignal): Promise<Maker | undefined> {
  for (const maker of makers) {
    if ('uv' in maker) return maker;
    const { code, output } = await run(maker.python, ASK_VERSION, homedir(), () => undefined, cancelled);
    if (code === 0 && isNewEnough(output)) return maker;
  }
  return undefined;
}

function expanded(requirement: string): string {
  return /^~[/\\]/.test(requirement) ? path.join(homedir(), requirement.slice(1)) : requirement;
}
