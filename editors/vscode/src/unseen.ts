/** Characters that nothing is seen of, or that turn the direction of writing, in names and words of others: they are shown as `\u202e`. Pure. */

/** As `calibration/control_characters.py` of the server has it. What joins or varies a character is seen, but not behind ASCII. */
const UNSEEN = new RegExp(
  String.raw`[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029` +
    String.raw`\u00ad\u115f\u1160\u180b-\u180f\u200b\u2060-\u2065\u206a-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e00ff}\ud800-\udfff]` +
    String.raw`|(?<![^\x00-\x7f])(?:[\u200c\u200d\ufe00-\ufe0f\u{e0100}-\u{e01ef}](?!\u20e3))+`,
  'gu',
);

export function escaped(text: string): string {
  return text.replace(UNSEEN, (found) => Array.from(found, (each) => code(each.codePointAt(0) ?? 0)).join(''));
}

function code(point: number): string {
  const digits = point.toString(16);
  if (point < 0x100) return `\\x${digits.padStart(2, '0')}`;
  return point < 0x10000 ? `\\u${digits.padStart(4, '0')}` : `\\U${digits.padStart(8, '0')}`;
}
