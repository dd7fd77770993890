/** Suggestions as the server sends them. */
import type { Suggestion } from '../src/protocol';

export const LIKELY = '◆ likely 70-85 % exact match';
export const SHORT = '◆ 70-85 %';
export const NO_EVIDENCE = '○ no evidence';

export function suggestion(id: string, text = LIKELY, band = 'likely'): Suggestion {
  const [probability, low, high] = band === 'no evidence' ? [null, null, null] : [0.78, 0.7, 0.85];
  const short = text.replace(/ (likely|possible|unlikely)/, '').replace(/ exact match$/, '');
  return { id, confidence: { status: 'informative', event: 'exact_match', probability, low, high, band, reason: '', text, short } };
}
