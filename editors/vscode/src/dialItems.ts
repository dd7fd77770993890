/** What the dial's list says of each level. Pure. */
import type { Dial, Level, Right } from './protocol';

export interface DialItem {
  readonly label: string;
  /** From this machine's log. */
  readonly description: string;
  /** From held-out evidence. */
  readonly detail: string;
  readonly showAbove: number;
  readonly now: boolean;
}

const EVENTS: Readonly<Record<string, string>> = { exact_match: 'exact match', tests_pass: 'passes tests', kept: 'kept' };

/** The levels, with that which is set now among them. */
export function dialItems(dial: Dial): DialItem[] {
  const event = eventWords(dial.event);
  const levels = dial.levels.length > 0 ? dial.levels : dial.evidence;
  const known = [...new Set(levels.map(({ showAbove }) => round(showAbove)))];
  const now = round(dial.showAbove);
  return [...new Set([...known, now])]
    .sort((one, other) => one - other)
    .map((showAbove) => {
      const own = dial.levels.find((level) => round(level.showAbove) === showAbove);
      const evidence = dial.evidence.filter((level) => round(level.showAbove) === showAbove);
      return {
        label: showAbove === 0 ? 'All' : `From ${percent(showAbove)}`,
        description: [showAbove === now ? '(now)' : '', own === undefined || dial.n === 0 ? '' : ownWords(own, dial.n, event)]
          .filter(Boolean)
          .join(' '),
        detail: evidence.map((level) => evidenceWords(level, event)).join('; '),
        showAbove,
        now: showAbove === now,
      };
    });
}

/** From what the list speaks. */
export function dialTitle(dial: Dial): string {
  const event = eventWords(dial.event);
  const evidence = dial.evidence.length === 0 ? 'there is no held-out evidence for this model' : 'below each level: held-out evidence';
  if (dial.n === 0)
    return `Show a suggestion only if it is at least this likely to be right (${event}). Your log tells nothing yet; ${evidence}.`;
  const days = dial.days === 1 ? '1 day' : `${dial.days} days`;
  const labelled =
    dial.labelled === 0 ? 'of none is it known yet whether it was right' : `of ${dial.labelled} it is known whether they were right`;
  return `Show a suggestion only if it is at least this likely to be right (${event}). Your log: ${dial.n} suggestions of ${days}, ${labelled}; ${evidence}.`;
}

export function eventWords(event: string): string {
  return EVENTS[event] ?? event;
}

function ownWords({ shown, share, right }: Level, n: number, event: string): string {
  const part = share === null ? '' : ` (${percent(share)})`;
  const much = right === null ? (shown === 0 ? '' : ', how many right is not known') : `, ${rightWords(right, event)}`;
  return `your log: shows ${shown} of ${n}${part}${much}`;
}

function evidenceWords({ shown, share, right, task }: Level, event: string): string {
  const of = task === undefined ? 'Evidence' : `Evidence (${task})`;
  if (shown === 0) return `${of}: shows none`;
  const part = share === null ? `${shown}` : percent(share);
  return `${of}: shows ${part}${right === null ? '' : `, ${rightWords(right, event)}`}`;
}

function rightWords({ value, low, high, n }: Right, event: string): string {
  return `${percent(value)} ${event} (${Math.floor(tidy(100 * low))}-${Math.ceil(tidy(100 * high))} %, n = ${n})`;
}

function percent(share: number): string {
  return `${Math.round(100 * share)} %`;
}

/** 100 * 0.29 is a little less than 29 in floats. */
function tidy(value: number): number {
  return Math.round(value * 1e9) / 1e9;
}

function round(level: number): number {
  return Math.round(level * 1000) / 1000;
}
