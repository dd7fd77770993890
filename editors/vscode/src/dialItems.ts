/** What the dial's list says of each stop and each level, in lines that are not cut off in a list of 600 pixels. Pure. */
import type { Dial, DialStop, Judged, Level, Right, ShowAbove } from './protocol';
import { counted, eventWords, percents, shortTaskWords } from './words';

export interface DialItem {
  readonly label: string;
  /** From this machine's log. */
  readonly description: string;
  /** From held-out evidence. */
  readonly detail: string;
  readonly showAbove: ShowAbove;
  readonly now: boolean;
}

/** The three stops; then the levels, with that which is set now among them. */
export function dialItems(dial: Dial): DialItem[] {
  const stops = (dial.stops ?? []).map((stop) => stopItem(stop, dial.showAbove));
  const levels = levelItems(dial).filter(({ showAbove }) => !stops.some((stop) => stop.showAbove === showAbove));
  return [...stops, ...levels];
}

function stopItem({ stop, setting, words, thresholds }: DialStop, showAbove: ShowAbove): DialItem {
  const now = setting === showAbove;
  const from = thresholds.map((one) => `${nameAmong(thresholds, one)} from ${percents(one.showAbove)} %`).join(', ');
  return {
    label: stop.charAt(0).toUpperCase() + stop.slice(1),
    description: now ? `(now) ${words}` : words,
    detail: setting === 0 ? 'nothing is hidden' : from,
    showAbove: setting,
    now,
  };
}

function levelItems(dial: Dial): DialItem[] {
  const now = typeof dial.showAbove === 'number' ? round(dial.showAbove) : undefined;
  const known = [dial.levels, ...dial.evidence.map(({ levels }) => levels)].flatMap((levels) =>
    levels.map((level) => round(level.showAbove)),
  );
  return [...new Set([...known, ...(now === undefined ? [] : [now])])]
    .sort((one, other) => one - other)
    .map((showAbove) => {
      const own = dial.n === 0 ? undefined : levelOf(dial.levels, showAbove);
      const evidence = dial.evidence.map((one, index) =>
        evidenceWords(nameAmong(dial.evidence, one), levelOf(one.levels, showAbove), index === 0),
      );
      return {
        label: showAbove === 0 ? 'All' : `From ${percents(showAbove)} %`,
        description: [showAbove === now ? '(now)' : '', own === undefined ? '' : ownWords(own, dial)].filter(Boolean).join(' '),
        detail: evidence.join('; '),
        showAbove,
        now: showAbove === now,
      };
    });
}

/** What the numbers below each level are: how much of the held-out code it shows, and how much of that came true. */
export function dialTitle({ evidence }: Dial): string {
  const [first] = evidence;
  if (first === undefined) return 'Assay: the dial · no held-out evidence for this model';
  return `Assay: the dial · below: share of held-out suggestions shown, and how many were right (${eventWords(first.event)})`;
}

/** The question, and what the user's own log has to say to it. */
export function dialPlaceholder({ n, labelled, logTrouble }: Dial): string {
  const question = 'What comes by itself?';
  if (typeof logTrouble === 'string') return `${question} · your log can’t be read (see Assay: Confidence)`;
  if (n === 0) return `${question} · your log has no suggestions yet`;
  const known = labelled === 0 ? 'none labelled yet' : `${labelled} labelled`;
  return `${question} · your log: ${counted(n, 'suggestion')}, ${known}`;
}

function ownWords({ shown, share, right }: Level, { n, label }: Dial): string {
  const part = `your log: ${shown ?? '?'} of ${n}${share === null ? '' : ` (${percents(share)} %)`}`;
  return right === null ? part : `${part}, ${percents(right.value)} % of ${right.n} ${eventWords(label)}${rangeWords(right)}`;
}

/** The task; with its languages where others of the same task are beside it. */
function nameAmong(all: readonly Judged[], { task, languages = [] }: Judged): string {
  const isAlone = all.filter((one) => one.task === task).length === 1;
  const [first] = languages;
  if (isAlone || first === undefined) return shortTaskWords(task);
  return `${shortTaskWords(task)} (${languages.length === 1 ? first : counted(languages.length, 'language')})`;
}

function evidenceWords(name: string, level: Level | undefined, isFirst: boolean): string {
  if (level?.share === undefined || level.share === null) return `${name} not known`;
  const part = `${name} ${percents(level.share)} %`;
  return level.right === null ? part : `${part}, ${percents(level.right.value)} %${isFirst ? ' right' : ''}${rangeWords(level.right)}`;
}

function rangeWords({ low, high }: Right): string {
  return low === null || high === null ? '' : ` (${Math.floor(tidy(100 * low))}-${Math.ceil(tidy(100 * high))})`;
}

function levelOf(levels: readonly Level[], showAbove: number): Level | undefined {
  return levels.find((level) => round(level.showAbove) === showAbove);
}

/** 100 * 0.29 is a little less than 29 in floats. */
function tidy(value: number): number {
  return Math.round(value * 1e9) / 1e9;
}

function round(level: number): number {
  return Math.round(level * 1000) / 1000;
}
