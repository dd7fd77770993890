/** Which tokens are marked as surprising, and what is said of each. Pure. */

import { escaped } from './unseen';

export interface SurprisingToken {
  readonly start: number;
  readonly end: number;
  readonly text: string;
  /** In nats. */
  readonly surprise: number;
  /** What the model would write there; empty where it was not asked. */
  readonly alternative: string;
}

export interface Surprises {
  readonly version: number;
  readonly lines: readonly { readonly line: number; readonly tokens: readonly SurprisingToken[] }[];
}

export interface Mark {
  readonly line: number;
  readonly start: number;
  readonly end: number;
  readonly words: string;
}

/** One nat: the other token is 2.7 times as likely. Right code has such as well, below it there is little else. */
const MARKED_FROM = 1;

export function surpriseMarks({ lines }: Surprises): Mark[] {
  return lines.flatMap(({ line, tokens }) =>
    tokens
      .filter(({ surprise }) => surprise >= MARKED_FROM)
      .map((token) => ({
        line,
        start: token.end > token.start ? token.start : Math.max(0, token.start - 1),
        end: token.end,
        words: words(token),
      })),
  );
}

function words({ text, surprise, alternative }: SurprisingToken): string {
  const here = text.trim() === '' ? 'the end of the line' : `\`${text.trim()}\``;
  const other = alternative.trim() === '' ? 'another token' : `\`${alternative.trim()}\``;
  return escaped(
    `Assay: in the place of ${here} the model finds ${other} likelier, by ${surprise.toFixed(1)} nats. Right code surprises, too.`,
  );
}
