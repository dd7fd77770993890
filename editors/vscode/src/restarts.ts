/** How often a server that dies is started again. Pure. */

const MAX_DEATHS = 4;
const WITHIN_MS = 3 * 60_000;

/** The times of the deaths that still count, or `givenUp` where they are too many: then something is wrong that a restart does not mend. */
export function afterDeath(deaths: readonly number[], now: number): { readonly deaths: readonly number[]; readonly givenUp: boolean } {
  const recent = [...deaths, now].filter((time) => now - time <= WITHIN_MS);
  return { deaths: recent, givenUp: recent.length > MAX_DEATHS };
}

export const GIVEN_UP = `Assay’s server ended ${MAX_DEATHS + 1} times within ${WITHIN_MS / 60_000} minutes and is not started again.`;
