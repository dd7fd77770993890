/** What a badge says. Pure. */
import { shown, type OnScreen } from './onScreen';

/**
 * "◆ likely 70-85 % exact match", or in short "◆ 70-85 %", as the server words it; of several alternatives also which of them it speaks of, for when they are turned
 * over with the mouse the editor tells nobody.
 */
export function badgeText(screen: OnScreen, form: 'short' | 'words'): string {
  const confidence = shown(screen)?.suggestion.confidence;
  const text = (form === 'short' ? confidence?.short : undefined) ?? confidence?.text ?? '';
  const count = screen.alternatives.length;
  return count > 1 ? `${text} · ${screen.index + 1} of ${count}` : text;
}
