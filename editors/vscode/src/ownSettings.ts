/** Which settings are the extension's own. Pure. */

/** The first parts of their names behind `assay.`. */
const OWN = new Set(['server', 'badge', 'trace']);

/** The answer to the server's question for its settings: without those that it would not know. */
export function withoutOwn(answer: unknown): unknown {
  if (typeof answer !== 'object' || answer === null) return answer;
  return Object.fromEntries(Object.entries(answer).filter(([name]) => !OWN.has(name)));
}
