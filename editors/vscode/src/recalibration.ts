/** What came of a recalibration, in words. Pure. */
import type { Recalibration } from './protocol';
import { escaped } from './unseen';
import { counted } from './words';

export function recalibrationWords({ written, refused }: Recalibration): string {
  const made = written.map(({ task, n, status }) => `${task}: fitted on ${counted(n, 'suggestion')}, ${status}`);
  const not = refused.map(({ task, reason }) => `${task}: none, ${reason}`);
  const used = written.length > 0 ? ['Badges show these probabilities if the setting assay.event is kept'] : [];
  const said = [...made, ...not, ...used].map((line) => (/[.!?]$/.test(line) ? line : `${line}.`)).join(' ');
  return escaped(said) || 'There was nothing to fit.';
}
