/** The reliability diagram: what was promised against what came of it, as SVG in the theme's colours. Pure. */
import { html, NOTHING, type Markup } from './markup';
import type { Bin } from './protocol';
import { percents } from './words';

const SIDE = 260;
const LEFT = 44;
const TOP = 10;
const BARS = 40;
const GAP = 8;
const WIDTH = LEFT + SIDE + 12;
const HEIGHT = TOP + SIDE + GAP + BARS + 36;
const TICKS = [0, 0.25, 0.5, 0.75, 1];
const MIN_DOT = 2.5;
const MAX_DOT = 7;

/** Bins that hold anything, with what a diagram needs of them. */
interface Filled {
  readonly bin: Bin;
  readonly mean: number;
  readonly rate: number;
}

/**
 * Points at (mean probability, rate) with the rate's interval, over the diagonal of a perfect forecast, their area by how many they stand
 * for; below them how many each bin holds. title: what it shows, for the screen reader too. Empty where no bin holds anything.
 */
export function reliabilityDiagram(bins: readonly Bin[], title: string, id: string): Markup {
  const filled = bins.flatMap(filledBin);
  if (filled.length === 0) return NOTHING;
  const most = Math.max(...filled.map(({ bin }) => bin.n));
  return html`<svg class="diagram" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-labelledby="${id}-title">
    <title id="${id}-title">${title}. The same numbers stand in the table.</title>
    ${axes()}
    <line class="perfect" x1="${x(0)}" y1="${y(0)}" x2="${x(1)}" y2="${y(1)}" />
    ${filled.map(whisker)}
    <polyline class="curve" points="${filled.map(({ mean, rate }) => `${x(mean)},${y(rate)}`).join(' ')}" />
    ${filled.map(({ bin, mean, rate }) => html`<circle class="dot" cx="${x(mean)}" cy="${y(rate)}" r="${radius(bin.n, most)}" />`)}
    ${filled.map(({ bin }) => bar(bin, most))}
    <text class="label" x="${x(0.5)}" y="${HEIGHT - 2}" text-anchor="middle">said</text>
    <text class="label" x="12" y="${y(0.5)}" text-anchor="middle" transform="rotate(-90 12 ${y(0.5)})">was so</text>
  </svg>`;
}

/** The diagram's numbers, one bin a row: for those who can't see it, and those who want them. */
export function reliabilityTable(bins: readonly Bin[], caption: string): Markup {
  const rows = bins.flatMap(filledBin).map(
    ({ bin, mean, rate }) =>
      html`<tr>
        <th scope="row">${percents(bin.low)}-${percents(bin.high)} %</th>
        <td>${bin.n}</td>
        <td>${percents(mean)} %</td>
        <td>${percents(rate)} %</td>
        <td>${interval(bin)}</td>
      </tr>`,
  );
  if (rows.length === 0) return NOTHING;
  return html`<table>
    <caption>
      ${caption}
    </caption>
    <thead>
      <tr>
        <th scope="col">bin</th>
        <th scope="col">n</th>
        <th scope="col">said</th>
        <th scope="col">was so</th>
        <th scope="col">95 %</th>
      </tr>
    </thead>
    <tbody>
      ${rows}
    </tbody>
  </table>`;
}

function axes(): Markup {
  const ticks = TICKS.map(
    (tick) =>
      html`<line class="grid" x1="${x(tick)}" y1="${y(0)}" x2="${x(tick)}" y2="${y(1)}" />
        <line class="grid" x1="${x(0)}" y1="${y(tick)}" x2="${x(1)}" y2="${y(tick)}" />
        <text class="tick" x="${x(0) - 5}" y="${y(tick) + 4}" text-anchor="end">${percents(tick)}</text>
        <text class="tick" x="${x(tick)}" y="${HEIGHT - 18}" text-anchor="middle">${percents(tick)}</text>`,
  );
  return html`<rect class="frame" x="${x(0)}" y="${y(1)}" width="${SIDE}" height="${SIDE}" />${ticks}`;
}

function whisker({ bin, mean }: Filled): Markup {
  if (bin.rateLow === null || bin.rateHigh === null) return NOTHING;
  return html`<line class="whisker" x1="${x(mean)}" y1="${y(bin.rateLow)}" x2="${x(mean)}" y2="${y(bin.rateHigh)}" />`;
}

function bar(bin: Bin, most: number): Markup {
  const height = tenth((BARS * bin.n) / most);
  const from = x(bin.low);
  return html`<rect
    class="bar"
    x="${from}"
    y="${tenth(TOP + SIDE + GAP + BARS - height)}"
    width="${tenth(x(bin.high) - from)}"
    height="${height}"
  />`;
}

function filledBin(bin: Bin): Filled[] {
  return bin.n > 0 && bin.mean !== null && bin.rate !== null ? [{ bin, mean: bin.mean, rate: bin.rate }] : [];
}

function interval({ rateLow, rateHigh }: Bin): string {
  return rateLow === null || rateHigh === null ? '' : `${percents(rateLow)}-${percents(rateHigh)} %`;
}

/** So that a dot's area, not its width, is as its number. */
function radius(n: number, most: number): number {
  return tenth(MIN_DOT + (MAX_DOT - MIN_DOT) * Math.sqrt(n / most));
}

function x(share: number): number {
  return tenth(LEFT + SIDE * share);
}

function y(share: number): number {
  return tenth(TOP + SIDE * (1 - share));
}

function tenth(value: number): number {
  return Math.round(value * 10) / 10;
}
