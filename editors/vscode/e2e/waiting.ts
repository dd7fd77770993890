/** Waiting for what comes in its own time, and saying what did not come. */

/** Longer than anything takes on a machine that is busy with other work; what comes, comes in a fraction of it. */
const PATIENCE_MS = 1000 * Number(process.env.ASSAY_PATIENCE_S ?? 60);
const POLL_MS = 20;

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Asks until the answer is neither false nor undefined. Throws with what was waited for and what was last seen. */
export async function until<T>(what: string, ask: () => Promise<T | false | undefined> | T | false | undefined, seen?: () => Promise<unknown>): Promise<T> {
  const end = Date.now() + PATIENCE_MS;
  while (Date.now() < end) {
    const answer = await ask();
    if (answer !== false && answer !== undefined) return answer;
    await pause(POLL_MS);
  }
  throw new Error(`Not in ${PATIENCE_MS / 1000} s: ${what}${seen === undefined ? '' : `; seen: ${JSON.stringify(await seen())}`}`);
}
