/** Finds the program `assay`: the setting, then PATH, then the workspace's environment, then the one that the extension made. */
import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import path from 'node:path';

export interface Places {
  /** The setting `assay.server.path`. */
  readonly setting: string | undefined;
  /** The folders of the workspace; empty where it is not trusted, for what is in them would be run. */
  readonly trustedFolders: readonly string[];
  /** The environment that the extension makes. */
  readonly own: string;
  readonly home: string;
  readonly searched: string | undefined;
  readonly windows: boolean;
}

export type Origin = 'setting' | 'PATH' | 'workspace' | 'environment';

export type Found = { readonly program: string; readonly origin: Origin } | { readonly missing: string };

const VENVS = ['.venv', 'venv'];

/** Where the server is. A setting that names no program is an error, not a reason to run another one. */
export async function findServer(places: Places): Promise<Found> {
  if (places.setting !== undefined && places.setting.trim() !== '') {
    const program = expanded(places.setting.trim(), places.home);
    if (!path.isAbsolute(program))
      return { missing: `The setting assay.server.path is “${places.setting}”: it must be an absolute path, or begin with ~.` };
    if (await isProgram(program, places.windows)) return { program, origin: 'setting' };
    return { missing: `The setting assay.server.path names “${program}”, which is not an executable program.` };
  }
  for (const [origin, folder] of candidates(places)) {
    for (const name of names(places.windows)) {
      const program = path.join(folder, name);
      if (await isProgram(program, places.windows)) return { program, origin };
    }
  }
  return {
    missing: 'Assay’s language server, the program “assay”, was not found on PATH, in the workspace’s environment or in Assay’s own.',
  };
}

/** Where an environment has its programs. */
export function programsOf(environment: string, windows: boolean): string {
  return path.join(environment, windows ? 'Scripts' : 'bin');
}

/** The paths at which an environment's program may be. */
export function programIn(environment: string, name: string, windows: boolean): string {
  return path.join(programsOf(environment, windows), windows ? `${name}.exe` : name);
}

/** The folders of PATH. A relative one is left out: it would be a folder of the project that happens to be open. */
export function searchedFolders(searched: string | undefined, windows: boolean): string[] {
  const parts = (searched ?? '').split(windows ? ';' : ':').map((each) => each.replace(/^"(.*)"$/, '$1'));
  return parts.filter((each) => path.isAbsolute(each));
}

export async function isProgram(file: string, windows: boolean): Promise<boolean> {
  try {
    if (!(await stat(file)).isFile()) return false;
    if (!windows) await access(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function candidates(places: Places): [Origin, string][] {
  return [
    ...searchedFolders(places.searched, places.windows).map((folder): [Origin, string] => ['PATH', folder]),
    ...places.trustedFolders.flatMap((folder) =>
      VENVS.map((venv): [Origin, string] => ['workspace', programsOf(path.join(folder, venv), places.windows)]),
    ),
    ['environment', programsOf(places.own, places.windows)],
  ];
}

/** Not .cmd and .bat: they run in a shell, which would read the arguments anew. */
function names(windows: boolean): string[] {
  return windows ? ['assay.exe'] : ['assay'];
}

function expanded(file: string, home: string): string {
  return file === '~' || /^~[/\\]/.test(file) ? path.join(home, file.slice(1)) : file;
}
