/** Runs a program, without a shell, and ends it with all that it started. */
import { spawn } from 'node:child_process';

export interface Ended {
  /** null where it was ended by a signal. */
  readonly code: number | null;
  readonly output: string;
}

/** Kept of the output: where a compiler fails, what it says first is long gone, and the end is what tells. */
const KEPT = 100_000;

/**
 * Runs it to its end. Never rejects: a program that can't be started ends with code null and says why. onText: pieces of what it writes;
 * cancelled: ends it.
 */
export function run(
  program: string,
  args: readonly string[],
  cwd: string,
  onText: (text: string) => void,
  cancelled: AbortSignal,
): Promise<Ended> {
  return new Promise((resolve) => {
    const windows = process.platform === 'win32';
    let output = '';
    const take = (text: string) => {
      output = (output + text).slice(-KEPT);
      onText(text);
    };
    // A group of its own, so that a build's compilers end with it.
    const child = spawn(program, args, { cwd, detached: !windows, windowsHide: true, stdio: ['ignore', 'pipe', 'pipe'] });
    const end = () => {
      if (child.pid === undefined || child.exitCode !== null) return;
      if (windows) spawn('taskkill', ['/pid', `${child.pid}`, '/t', '/f'], { windowsHide: true });
      else endGroup(child.pid);
    };
    child.stdout.setEncoding('utf8').on('data', take);
    child.stderr.setEncoding('utf8').on('data', take);
    child.on('error', (error) => {
      take(error.message);
      resolve({ code: null, output });
    });
    child.on('close', (code) => {
      cancelled.removeEventListener('abort', end);
      resolve({ code, output });
    });
    if (cancelled.aborted) end();
    else cancelled.addEventListener('abort', end, { once: true });
  });
}

function endGroup(pid: number): void {
  try {
    process.kill(-pid);
  } catch {
    // All of it have ended already.
  }
}
