/** The repairs of some lines as a list says them, and the text with one of them made. Pure. */
import { isObject } from './protocol';

export interface Place {
  readonly line: number;
  readonly character: number;
}

export interface Span {
  readonly start: Place;
  readonly end: Place;
}

/** The argument of the server's commands: lines of a document at a version. The server makes it, and reads it again. */
export interface RepairLines {
  readonly uri: string;
  readonly version: number;
  readonly range: Span;
  /** A digest of their text; not there where the client names lines by itself. */
  readonly lines?: string;
  readonly message?: string;
}

export interface Repair {
  readonly id: string;
  /** "`<` → `<=`  ◆ likely 61-78 % passes tests" */
  readonly title: string;
  readonly edit: { readonly range: Span; readonly newText: string };
  readonly sources: readonly string[];
}

export interface Repairs {
  readonly version: number;
  readonly repairs: readonly Repair[];
  readonly lines: RepairLines;
  readonly stopped_by: string | null;
  /** What stands there is to stay; absent from an older server. */
  readonly nothing_better?: boolean;
  /** How many are left out because of the tests. */
  readonly refused_by_tests: number;
}

export interface RepairItem {
  readonly label: string;
  readonly description: string;
  readonly repair: Repair;
}

const SOURCES: Readonly<Record<string, string>> = {
  fix_task: 'the model, asked for the line again',
  line: 'the model, as it completes the line',
  token: 'the model, from a surprising token on',
  rules: 'a rule',
  instruct: 'the instruct model',
};

/** What the server gave a code action; undefined where it is something else. */
export function linesOf(argument: unknown): RepairLines | undefined {
  const has = isObject(argument) && typeof argument.uri === 'string' && typeof argument.version === 'number' && isObject(argument.range);
  return has ? (argument as unknown as RepairLines) : undefined;
}

export function repairItems({ repairs }: Repairs): RepairItem[] {
  return repairs.map((repair) => ({
    label: repair.title,
    description: `by ${repair.sources.map((source) => SOURCES[source] ?? source).join('; ')}`,
    repair,
  }));
}

/** The text with an edit made. offsetAt: of a place in it. */
export function withEdit(text: string, { range, newText }: Repair['edit'], offsetAt: (place: Place) => number): string {
  return text.slice(0, offsetAt(range.start)) + newText + text.slice(offsetAt(range.end));
}
