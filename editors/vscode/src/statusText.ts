/** What the status bar says. Pure. */
import type { Stage } from './connection';
import type { ShowAbove, Status } from './protocol';

export interface Known {
  readonly stage: Stage;
  /** Why, where it is not running. */
  readonly reason: string;
  readonly status: Status;
  /** The badge of the suggestion on the screen; undefined where there is none or it is not to be shown. */
  readonly badge: string | undefined;
  readonly automatic: boolean;
  readonly showAbove: ShowAbove;
  readonly now: Date;
}

export interface StatusText {
  readonly text: string;
  /** Plain sentences, a line each. */
  readonly lines: readonly string[];
  /** What a screen reader says. */
  readonly spoken: string;
  readonly severity: 'none' | 'warning' | 'error';
}

export function statusText(known: Known): StatusText {
  const { status } = known;
  if (known.stage === 'missing') return plain('$(warning) Assay', 'no server', [known.reason], 'warning');
  if (known.stage === 'ended') return plain('$(error) Assay', 'the server has ended', [known.reason], 'error');
  if (known.stage === 'starting') return plain('$(loading~spin) Assay', 'starting', [known.reason], 'none');
  if (status.state === 'failed') return plain('$(error) Assay', 'no model', [status.reason], 'error');
  if (status.state !== 'ready') return plain('$(loading~spin) Assay', 'the model is being loaded', [status.reason], 'none');
  const lines = [status.reason, ...modes(known), ...status.notes].filter((line) => line !== '');
  if (known.badge !== undefined) {
    return {
      text: known.badge,
      lines: [`On the screen: ${known.badge}.`, ...lines],
      spoken: `Assay: ${spokenBadge(known.badge)}`,
      severity: 'none',
    };
  }
  const hidden = status.hidden > 0 ? ` $(eye-closed) ${status.hidden}` : '';
  if (status.paused !== null) return plain(`$(debug-pause) Assay${hidden}`, pausedWords(status.paused, known.now), lines, 'none');
  if (!known.automatic) return plain(`$(bell-slash) Assay${hidden}`, 'only on request', lines, 'none');
  if (status.silent !== null) return plain(`$(circle-slash) Assay${hidden}`, 'silent here', lines, 'none');
  return plain(`${status.busy ? '$(sync~spin)' : '$(check)'} Assay${hidden}`, status.busy ? 'working' : 'ready', lines, 'none');
}

/** Until when the pause is, in the machine's own time. */
export function pausedWords(until: string, now: Date): string {
  const end = new Date(until);
  const time = end.toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit' });
  return end.toDateString() === now.toDateString() ? `paused until ${time}` : `paused until ${end.toLocaleDateString()} ${time}`;
}

function modes({ status, automatic, showAbove, now }: Known): string[] {
  return [
    status.paused === null ? '' : `Suggestions are ${pausedWords(status.paused, now)}; you can still ask for them.`,
    automatic ? '' : 'Suggestions come only when you ask for them.',
    status.silent === null || status.paused !== null || !automatic ? '' : `No automatic suggestions here: ${status.silent}`,
    status.tests === null ? '' : `What was accepted last: ${status.tests}.`,
    dialWords(status, showAbove),
  ];
}

/** What the dial does, with how many it has hidden. */
export function dialWords({ dial, hidden }: Status, showAbove: ShowAbove): string {
  if (dial !== undefined && dial.stop !== null) {
    const counted = dial.stop === 'everything' ? '' : `; ${hidden === 0 ? 'none' : String(hidden)} hidden so far`;
    return dial.words === '' ? '' : `The dial: ${dial.stop}, ${dial.words}${counted}.`;
  }
  if (typeof showAbove !== 'number' || showAbove === 0) return '';
  return `The dial: suggestions below ${percent(showAbove)} are hidden, ${hiddenWords(hidden)}.`;
}

function hiddenWords(count: number): string {
  return count === 0 ? 'none so far' : `${count} so far`;
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}

function plain(text: string, state: string, lines: readonly string[], severity: StatusText['severity']): StatusText {
  const said = [`Assay: ${state}`, ...lines].filter((line) => line !== '');
  return {
    text,
    lines: said,
    spoken: said.map((line) => line.replace(/\.$/, '')).join('. '),
    severity,
  };
}

/** Without the shape, which a screen reader would say as the name of a character, and with the range in words. */
function spokenBadge(badge: string): string {
  return badge.replace(/^[^\p{L}\p{N}]+/u, '').replace(/(\d+)-(\d+) %/, '$1 to $2 percent');
}
