/** HTML from values: whatever stands between the tags is text. Pure. */

import { escaped } from './unseen';

/** A piece of HTML, as opposed to a text that is to be shown. */
export class Markup {
  constructor(readonly html: string) {}
}

type Part = string | number | Markup | readonly Markup[];

/** html`<p>${text}</p>`: texts are escaped, pieces of HTML stay what they are. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  return new Markup(strings.map((string, index) => string + written(parts[index] ?? '')).join(''));
}

export const NOTHING = new Markup('');

function written(part: Part): string {
  if (part instanceof Markup) return part.html;
  if (typeof part === 'object') return part.map((each) => each.html).join('');
  return escaped(`${part}`).replace(/[&<>"'`]/g, (character) => `&#${character.charCodeAt(0)};`);
}
