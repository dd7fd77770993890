/** What makes an environment with Assay in it: which commands, and what to do where one fails. Pure but for the look at PATH. */
import path from 'node:path';
import { isProgram, programIn, searchedFolders } from './server';

/** The oldest Python that Assay runs on. */
export const OLDEST_PYTHON: readonly [number, number] = [3, 11];
const PYTHONS = ['python3.14', 'python3.13', 'python3.12', 'python3.11', 'python3', 'python'];

export interface Command {
  readonly program: string;
  readonly args: readonly string[];
  /** For people, while it runs. */
  readonly what: string;
}

/** What is at hand to make an environment with. */
export type Maker = { readonly uv: string } | { readonly python: string };

/** The commands that make the environment and install into it, in order. */
export function commands(maker: Maker, environment: string, requirement: string, windows: boolean): Command[] {
  const python = programIn(environment, 'python', windows);
  const install = `installing ${requirement} and what it needs`;
  if ('uv' in maker) {
    return [
      {
        program: maker.uv,
        args: ['venv', '--python', `>=${OLDEST_PYTHON.join('.')}`, environment],
        what: 'making the environment with uv',
      },
      { program: maker.uv, args: ['pip', 'install', '--python', python, requirement], what: install },
    ];
  }
  return [
    { program: maker.python, args: ['-m', 'venv', environment], what: 'making the environment' },
    { program: python, args: ['-m', 'pip', 'install', '--disable-pip-version-check', '--no-input', requirement], what: install },
  ];
}

/** uv, if it is on PATH, else each Python there, likely new ones first; whether one is new enough only it can tell. */
export async function makersOnPath(searched: string | undefined, windows: boolean): Promise<Maker[]> {
  const found = async (name: string) => {
    for (const folder of searchedFolders(searched, windows)) {
      const program = path.join(folder, windows ? `${name}.exe` : name);
      if (await isProgram(program, windows)) return program;
    }
    return undefined;
  };
  const uv = await found('uv');
  const pythons = await Promise.all(PYTHONS.map(found));
  return [...(uv === undefined ? [] : [{ uv }]), ...pythons.flatMap((python) => (python === undefined ? [] : [{ python }]))];
}

/** Asks a Python for its version; what it prints is what `isNewEnough` reads. */
export const ASK_VERSION = ['-I', '-c', 'import sys; print("%d.%d" % sys.version_info[:2])'];

export function isNewEnough(printed: string): boolean {
  const match = /^(\d+)\.(\d+)\s*$/.exec(printed.trim());
  if (match === null) return false;
  const [major, minor] = [Number(match[1]), Number(match[2])];
  return major > OLDEST_PYTHON[0] || (major === OLDEST_PYTHON[0] && minor >= OLDEST_PYTHON[1]);
}

export interface Mending {
  /** What is wrong, one sentence. */
  readonly problem: string;
  /** The command that mends it, where one is known. */
  readonly command?: string;
  /** The setting to look at, where it is that. */
  readonly setting?: string;
}

/** Where there is nothing to make an environment with. */
export function noPython(platform: NodeJS.Platform): Mending {
  const problem = `No Python ${OLDEST_PYTHON.join('.')} or newer and no uv was found on PATH.`;
  return {
    problem,
    command: byPlatform(platform, 'sudo apt install python3 python3-venv', 'brew install python', 'winget install Python.Python.3.13'),
  };
}

/** What a failed command's output says, and what mends it; of an unknown failure its last line, and the command itself to try by hand. */
export function mending(failed: Command, requirement: string, output: string, platform: NodeJS.Platform): Mending {
  if (/ensurepip is not|No module named ['"]?(ensurepip|venv)/.test(output)) {
    return {
      problem: 'This Python has no module venv.',
      command: byPlatform(platform, 'sudo apt install python3-venv', 'brew install python', 'winget install Python.Python.3.13'),
    };
  }
  if (/No matching distribution found|was not found in the package registry|there are no versions of/i.test(output)) {
    const problem = `No package index that pip knows has “${requirement}” for this Python. Name a wheel or a folder with Assay’s source in assay.server.requirement.`;
    return { problem, setting: 'assay.server.requirement' };
  }
  if (/Invalid requirement|does not exist|is not installable|Distribution not found at/i.test(output)) {
    return {
      problem: `assay.server.requirement is “${requirement}”, which pip can’t install: ${lastLine(output)}`,
      setting: 'assay.server.requirement',
    };
  }
  if (/CMAKE_CXX_COMPILER|CMAKE_C_COMPILER|No CMAKE_|c\+\+.*not found|Microsoft Visual C\+\+/i.test(output)) {
    const command = byPlatform(
      platform,
      'sudo apt install build-essential',
      'xcode-select --install',
      'winget install Microsoft.VisualStudio.2022.BuildTools',
    );
    return { problem: 'llama.cpp must be compiled here, but there is no C++ compiler.', command };
  }
  if (/No space left on device|Errno 28/.test(output)) return { problem: 'The disk is full.' };
  return { problem: lastLine(output) || `${path.basename(failed.program)} failed without a message.`, command: spelled(failed) };
}

/** The command as a shell takes it. */
export function spelled({ program, args }: Command): string {
  return [program, ...args].map((each) => (/^[\w@%+=:,./\\-]+$/.test(each) ? each : `"${each}"`)).join(' ');
}

function lastLine(output: string): string {
  const lines = output.split(/\r\n|\r|\n/).map((line) => line.trim());
  const told = lines.filter((line) => line !== '' && !/^(hint|\[notice\]|note):?/i.test(line));
  return (told.findLast((line) => /error/i.test(line)) ?? told.at(-1) ?? '').slice(0, 300);
}

function byPlatform(platform: NodeJS.Platform, linux: string, mac: string, windows: string): string {
  return platform === 'win32' ? windows : platform === 'darwin' ? mac : linux;
}
