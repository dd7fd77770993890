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
  const now = round(dial.showAbove);
  const known = [dial.levels, ...dial.evidence.map(({ levels }) => levels)].flatMap((levels) =>
    levels.map((level) => round(level.showAbove)),
  );
  return [...new Set([...known, now])]
    .sort((one, other) => one - other)
    .map((showAbove) => {
      const own = dial.n === 0 ? undefined : levelOf(dial.levels, showAbove);
      const evidence = dial.evidence.map(({ task, event, levels }) => evidenceWords(task, event, levelOf(levels, showAbove)));
      return {
        label: showAbove === 0 ? 'All' : `From ${percent(showAbove)}`,
        description: [showAbove === now ? '(now)' : '', own === undefined ? '' : ownWords(own, dial)].filter(Boolean).join(' '),
        detail: evidence.length === 0 ? '' : `Held out: ${evidence.join('; ')}`,
        showAbove,
        now: showAbove === now,
      };
    });
}

/** What the list is about, and what it knows. */
export function dialTitle(dial: Dial): string {
  const about = `Show a suggestion only if it is at least this likely (${eventWords(dial.event)}).`;
  const evidence =
    dial.evidence.length === 0 ? 'there is no held-out evidence for this model' : 'below each level stands held-out evidence';
  if (dial.n === 0) return `${about} Your log tells nothing yet; ${evidence}.`;
  const days = Math.max(1, Math.round(dial.days));
  const known = `of ${dial.labelled} it is known whether they were ${eventWords(dial.label)}`;
  return `${about} Your log: ${dial.n} suggestions in ${days === 1 ? 'a day' : `${days} days`}, ${known}; ${evidence}.`;
}

export function eventWords(event: string): string {
  return EVENTS[event] ?? event;
}

function ownWords({ shown, share, right }: Level, { n, label }: Dial): string {
  const much = right === null ? `how many were ${eventWords(label)} is not known` : rightWords(right, label);
  return `your log: ${shown ?? '?'} of ${n}${share === null ? '' : ` (${percent(share)})`}${shown === 0 ? '' : `, ${much}`}`;
}

function evidenceWords(task: string, event: string, level: Level | undefined): string {
  if (level?.shown === undefined || level.shown === null) return `${task} not known`;
  const part = level.share === null ? `${level.shown}` : percent(level.share);
  return `${task} ${part}${level.right === null ? '' : `, ${rightWords(level.right, event)}`}`;
}

function rightWords({ value, low, high, n }: Right, event: string): string {
  const range = low === null || high === null ? '' : `${Math.floor(tidy(100 * low))}-${Math.ceil(tidy(100 * high))} %, `;
  return `${percent(value)} ${eventWords(event)} (${range}n = ${n})`;
}

function levelOf(levels: readonly Level[], showAbove: number): Level | undefined {
  return levels.find((level) => round(level.showAbove) === showAbove);
}

/** With a tenth where whole percents would say next to nothing. */
function percent(share: number): string {
  const value = 100 * share;
  return `${value !== 0 && value < 10 ? value.toFixed(1).replace(/\.0$/, '') : Math.round(value)} %`;
}

/** 100 * 0.29 is a little less than 29 in floats. */
function tidy(value: number): number {
  return Math.round(value * 1e9) / 1e9;
}

function round(level: number): number {
  return Math.round(level * 1000) / 1000;
}
