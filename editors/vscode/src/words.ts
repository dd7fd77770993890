/** The server's names of events and tasks in words. Pure. */

const EVENTS: Readonly<Record<string, string>> = { exact_match: 'exact match', tests_pass: 'passes tests', kept: 'kept' };

const TASKS: Readonly<Record<string, string>> = {
  line: 'A whole line',
  line_rest: 'The rest of a line',
  line_middle: 'The middle of a line',
  block: 'A block',
  function: 'A function',
};

/** For lists, where room is short. */
const SHORT_TASKS: Readonly<Record<string, string>> = { line: 'line', line_rest: 'rest', line_middle: 'middle' };

export function eventWords(event: string): string {
  return EVENTS[event] ?? event;
}

export function taskWords(task: string): string {
  return TASKS[task] ?? task;
}

export function shortTaskWords(task: string): string {
  return SHORT_TASKS[task] ?? task;
}

/** "1 suggestion", "2 suggestions". */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** A share in percents, with a tenth where whole ones would say next to nothing: "56", "7.8". */
export function percents(share: number): string {
  const value = 100 * share;
  return value < 9.95 ? value.toFixed(1).replace(/\.0$/, '') : `${Math.round(value)}`;
}
