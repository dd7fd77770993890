/** What the server says beyond the protocol of language servers; docs/formats.md of the server describes it. */
import { escaped } from './unseen';

/** What may be completed: files, new ones, and the cells of notebooks; not the editor's own texts, such as its log. */
export const DOCUMENTS = ['file', 'untitled', 'vscode-notebook-cell'].map((scheme) => ({ scheme }));

/** The notification whose fields are a status, or some of one. */
export const STATUS_CHANGED = '$/assay/didChangeStatus';

export interface Confidence {
  readonly status: string;
  readonly event: string;
  readonly probability: number | null;
  readonly low: number | null;
  readonly high: number | null;
  readonly band: string;
  readonly reason: string;
  /** With words: "◆ likely 70-85 % exact match". */
  readonly text: string;
  /** Without: "◆ 70-85 %"; not there from a server that is older than this extension. */
  readonly short?: string;
}

export interface Suggestion {
  readonly id: string;
  readonly confidence: Confidence;
}

/** The setting `assay.showAbove`: a level, or a stop (`auto` is balanced). */
export type ShowAbove = number | 'auto' | 'quiet';

/** Where the dial is. */
export interface DialNow {
  /** "quiet", "balanced" or "everything"; null at an exact level. */
  readonly stop: string | null;
  /** "shows 1 in 9 suggestions; 6 of 10 of them right"; empty where nothing is known. */
  readonly words: string;
}

export interface Status {
  readonly state: string;
  readonly reason: string;
  readonly busy: boolean;
  /** Why nothing is suggested by itself in the document that was last asked about. */
  readonly silent: string | null;
  /** How many suggestions the dial has hidden since the start. */
  readonly hidden: number;
  /** Not there from a server that is older than this extension. */
  readonly dial?: DialNow | undefined;
  /** Until when, ISO 8601. */
  readonly paused: string | null;
  /** What the tests said of what was accepted last. */
  readonly tests: string | null;
  /** What else people should know, a sentence each. */
  readonly notes: readonly string[];
}

export interface Interval {
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

export interface Right {
  readonly n: number;
  readonly positives: number;
  readonly value: number;
  /** null where the evidence does not hold them. */
  readonly low: number | null;
  readonly high: number | null;
}

export interface Level {
  readonly showAbove: number;
  /** null where that is not known exactly. */
  readonly shown: number | null;
  readonly share: number | null;
  readonly right: Right | null;
}

/** What a calibrator judges. Without a document there may be several of one task, for other languages. */
export interface Judged {
  readonly task: string;
  /** Not there from a server that is older than this extension. */
  readonly languages?: readonly string[];
}

export interface DialStop {
  readonly stop: string;
  /** What the setting `assay.showAbove` is there. */
  readonly setting: ShowAbove;
  readonly words: string;
  readonly thresholds: readonly (Judged & { readonly showAbove: number })[];
}

export interface Dial {
  /** What the probabilities are about. */
  readonly event: string;
  /** The event by which the log tells what was right. */
  readonly label: string;
  readonly showAbove: ShowAbove;
  /** Not there from a server that is older than this extension. */
  readonly stops?: readonly DialStop[];
  readonly n: number;
  readonly labelled: number;
  readonly days: number;
  readonly levels: readonly Level[];
  /** Why the log can't be read; not there from a server that is older than this extension. */
  readonly logTrouble?: string | null;
  /** Held-out evidence of the calibrators in use. */
  readonly evidence: readonly (Judged & { readonly event: string; readonly n: number; readonly levels: readonly Level[] })[];
}

export interface Bin {
  readonly low: number;
  readonly high: number;
  readonly n: number;
  readonly mean: number | null;
  readonly rate: number | null;
  readonly rateLow: number | null;
  readonly rateHigh: number | null;
}

export interface ValidationFigure {
  readonly id: string;
  /** Whether it is one of the five that the summary counts. */
  readonly primary: boolean;
  /** What it claims, or measures, in one plain sentence. */
  readonly sentence: string;
  readonly value: number | null;
  readonly low: number | null;
  readonly high: number | null;
  readonly n: number;
  readonly groups: number;
  /** What a group is: "project". */
  readonly unit: string;
  readonly claim: string;
  /** What the interval says of the claim: "holds", "refuted", "undecided", "not run", "not applicable" or "reported". */
  readonly reading: string;
  readonly note: string;
}

export interface ValidationReport {
  /** One line: "validated: 4 of 5 hold, 1 undecided". */
  readonly summary: string;
  /** What each refuted figure means for the reader, a sentence each. */
  readonly refuted: readonly string[];
  /** The primary ones first; not there from a server that is older than this extension. */
  readonly figures?: readonly ValidationFigure[];
}

export interface CalibratorReport {
  readonly id: string;
  readonly origin: string;
  readonly file: string;
  readonly status: string;
  readonly reason: string;
  readonly features: readonly string[];
  readonly fittedOn: number;
  readonly n: number;
  readonly positives: number;
  readonly groups: number;
  readonly groupedBy: string;
  readonly baseRate: number;
  readonly skill: Interval | null;
  readonly auc: Interval | null;
  readonly ece: number;
  readonly eceNoiseFloor: number;
  readonly reliability: readonly Bin[];
  /** What studies say of it; null where none has; not there from a server that is older than this extension. */
  readonly validation?: ValidationReport | null;
}

export interface TaskReport {
  readonly task: string;
  readonly calibrator: CalibratorReport | null;
  readonly because: string;
}

export interface LogReport {
  readonly path: string;
  readonly since: string | null;
  readonly showings: number;
  readonly endings: Readonly<Record<string, number>>;
  readonly labelled: number;
  readonly kept: number;
  readonly reliability: readonly Bin[];
  readonly dropped: number;
}

export interface ConfidenceReport {
  readonly event: string;
  readonly model: { readonly id: string; readonly name: string } | null;
  readonly tasks: readonly TaskReport[];
  readonly log: LogReport | null;
  /** As of the dial. */
  readonly logTrouble?: string | null;
  readonly recalibrate: { readonly possible: boolean; readonly labelled: number; readonly needed: number; readonly reason: string };
}

export interface Recalibration {
  readonly written: readonly {
    readonly task: string;
    readonly path: string;
    readonly event: string;
    readonly n: number;
    readonly status: string;
  }[];
  readonly refused: readonly { readonly task: string; readonly reason: string }[];
}

/** The suggestion that travels in an inline completion's command; undefined where the item is of another make. */
export function suggestionOf(argument: unknown): Suggestion | undefined {
  if (!isObject(argument) || typeof argument.id !== 'string' || !isObject(argument.confidence)) return undefined;
  const { confidence } = argument;
  if (typeof confidence.text !== 'string' || typeof confidence.band !== 'string') return undefined;
  return argument as unknown as Suggestion;
}

/** The status with what the message changed; a field that an older server does not send stays as it was. */
export function statusAfter(before: Status, message: unknown): Status {
  if (!isObject(message)) return before;
  const text = (value: unknown, other: string) => (typeof value === 'string' ? escaped(value) : other);
  const nullable = (value: unknown, other: string | null) => (typeof value === 'string' ? escaped(value) : value === null ? null : other);
  return {
    state: text(message.state, before.state),
    reason: text(message.reason, before.reason),
    busy: typeof message.busy === 'boolean' ? message.busy : before.busy,
    silent: nullable(message.silent, before.silent),
    hidden: typeof message.hidden === 'number' ? message.hidden : before.hidden,
    dial: dialOf(message.dial) ?? before.dial,
    paused: nullable(message.paused, before.paused),
    tests: nullable(isObject(message.tests) ? message.tests.title : message.tests, before.tests),
    notes: Array.isArray(message.notes) ? message.notes.filter((note) => typeof note === 'string').map(escaped) : before.notes,
  };
}

function dialOf(value: unknown): DialNow | undefined {
  if (!isObject(value) || typeof value.words !== 'string') return undefined;
  return { stop: typeof value.stop === 'string' ? value.stop : null, words: value.words };
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
