/**
 * What of Assay's stands on the screen, as far as an extension can know: the editor tells neither what it shows nor when it stops. So it is
 * followed from the answers, the edits and the cursor, by the editor's own rules. Pure.
 */
import type { Suggestion } from './protocol';

export interface Place {
  readonly line: number;
  readonly character: number;
}

export interface Alternative {
  readonly suggestion: Suggestion;
  /** What of its text is still to be typed, from the cursor on; lines end in \n. */
  readonly rest: string;
}

export interface OnScreen {
  readonly uri: string;
  readonly version: number;
  /** Where the cursor stands: the suggestion begins to be visible there. */
  readonly at: Place;
  readonly alternatives: readonly Alternative[];
  readonly index: number;
  /** Whether the alternatives are all that the editor can turn over, or it will ask for more first. */
  readonly invoked: boolean;
}

export interface Edit {
  readonly start: Place;
  /** Characters that were taken away. */
  readonly replaced: number;
  readonly text: string;
}

/** A suggestion of an answer: what it would insert, and what of that stood already between its range's start and the cursor. */
export interface Offered {
  readonly suggestion: Suggestion;
  readonly text: string;
  readonly before: string;
}

const PAIRS: ReadonlySet<string> = new Set(['()', '[]', '{}', '""', "''", '``']);

export function shown(screen: OnScreen): Alternative | undefined {
  return screen.alternatives[screen.index];
}

/**
 * What is on the screen after an answer for the document, version and place that are still current.
 *
 * preserved: the editor goes on showing what it shows, if that still fits, and puts it before the answer's others: so it does when
 * suggestions are invoked and after a word or line was accepted.
 */
export function answered(
  before: OnScreen | undefined,
  where: { readonly uri: string; readonly version: number; readonly at: Place },
  offered: readonly Offered[],
  how: { readonly invoked: boolean; readonly preserved: boolean },
): OnScreen | undefined {
  const fresh = offered.flatMap(alternative);
  const still = before?.uri === where.uri && isSame(before.at, where.at) ? shown(before) : undefined;
  const same = fresh.find((each) => each.rest === still?.rest) ?? (how.preserved ? still : undefined);
  const alternatives = same === undefined ? fresh : [same, ...fresh.filter((each) => each !== same)];
  return alternatives.length === 0 ? undefined : { ...where, alternatives, index: 0, invoked: how.invoked };
}

/** What is on the screen after edits: the same where the suggestion was typed along, nothing where the text went another way. */
export function edited(screen: OnScreen, uri: string, version: number, edits: readonly Edit[]): OnScreen | undefined {
  if (uri !== screen.uri) return screen;
  const [edit, ...others] = edits;
  // A save or a change of the end of lines comes as an edit without any.
  if (edit === undefined) return { ...screen, version };
  if (others.length > 0 || edit.replaced > 0 || !isSame(edit.start, screen.at)) return undefined;
  const chosen = shown(screen);
  const typed = chosen === undefined ? undefined : typedAlong(chosen.rest, unix(edit.text));
  if (chosen === undefined || typed === undefined || typed === chosen.rest) return undefined;
  const alternatives = screen.alternatives.filter((each) => each.rest.startsWith(typed) && each.rest !== typed);
  return {
    ...screen,
    version,
    at: after(screen.at, typed),
    alternatives: alternatives.map((each) => ({ ...each, rest: each.rest.slice(typed.length) })),
    index: alternatives.indexOf(chosen),
  };
}

/** What is on the screen when the cursor stands there, with nothing selected. */
export function moved(screen: OnScreen, uri: string, version: number, cursor: Place | undefined): OnScreen | undefined {
  // The cursor of a text that is to come, or that is gone, says nothing.
  if (uri !== screen.uri || version !== screen.version) return screen;
  return cursor !== undefined && isSame(cursor, screen.at) ? screen : undefined;
}

/** The next alternative by so many steps, as the editor turns them over: round and round. */
export function turned(screen: OnScreen, steps: number): OnScreen {
  const count = screen.alternatives.length;
  return { ...screen, index: (((screen.index + steps) % count) + count) % count };
}

function alternative({ suggestion, text, before }: Offered): Alternative[] {
  const whole = unix(text);
  const typed = unix(before);
  // The editor shows nothing of a text that begins otherwise than what it replaces, nor of one that is all there.
  return whole.startsWith(typed) && whole !== typed ? [{ suggestion, rest: whole.slice(typed.length) }] : [];
}

/** What of an inserted text is the suggestion's own; with a bracket or a quote the editor types its partner behind the cursor. */
function typedAlong(rest: string, text: string): string | undefined {
  if (rest.startsWith(text)) return text;
  return PAIRS.has(text) && rest.startsWith(text.charAt(0)) ? text.charAt(0) : undefined;
}

function after(at: Place, typed: string): Place {
  const lines = typed.split('\n');
  const last = lines[lines.length - 1] ?? '';
  return lines.length === 1
    ? { line: at.line, character: at.character + last.length }
    : { line: at.line + lines.length - 1, character: last.length };
}

function isSame(one: Place, other: Place): boolean {
  return one.line === other.line && one.character === other.character;
}

function unix(text: string): string {
  return text.replace(/\r\n?/g, '\n');
}
