/** What studies say of a calibrator, as HTML. Pure. */
import { html, NOTHING, type Markup } from './markup';
import type { ValidationFigure, ValidationReport } from './protocol';
import { counted } from './words';

/** Marks the figures that the summary counts. */
const STAR = '★';

/** The summary, what is refuted, and a table of all figures, each with a sentence. name: what the calibrator is for. */
export function validationMarkup(validation: ValidationReport | null | undefined, name: string): Markup {
  if (!validation) return NOTHING;
  const figures = validation.figures ?? [];
  const primary = figures.filter((figure) => figure.primary);
  const others = figures.filter((figure) => !figure.primary);
  return html`<p>${[`${capitalised(validation.summary)}.`, ...validation.refuted].join(' ')}</p>
    ${primary.length === 0 ? NOTHING : table(primary, `What the studies found of ${name.toLowerCase()} (${STAR}: counted)`)}
    ${
      others.length === 0
        ? NOTHING
        : html`<details>
            <summary>${counted(others.length, 'more figure')}</summary>
            ${table(others, 'Figures that count for nothing, and say more')}
          </details>`
    }`;
}

function table(figures: readonly ValidationFigure[], caption: string): Markup {
  return html`<table class="figures">
    <caption>
      ${caption}
    </caption>
    <thead>
      <tr>
        <th scope="col">Figure</th>
        <th scope="col" class="words">What it says</th>
        <th scope="col">Value (95 %)</th>
        <th scope="col">n</th>
        <th scope="col">Claim</th>
        <th scope="col">Reading</th>
      </tr>
    </thead>
    <tbody>
      ${figures.map(row)}
    </tbody>
  </table>`;
}

function row(figure: ValidationFigure): Markup {
  return html`<tr title="${figure.note}">
    <th scope="row">${figure.primary ? `${STAR} ` : ''}${figure.id}</th>
    <td class="words">${figure.sentence}</td>
    <td>${value(figure)}</td>
    <td>${figure.n === 0 ? '' : `${figure.n} of ${counted(figure.groups, figure.unit)}`}</td>
    <td>${figure.claim}</td>
    <td>${figure.reading === 'refuted' ? html`<b>refuted</b>` : figure.reading}</td>
  </tr>`;
}

function value({ value, low, high }: ValidationFigure): string {
  return value === null || low === null || high === null ? '' : `${number(value)} (${number(low)} to ${number(high)})`;
}

/** With three digits, and without the sign of a zero. */
function number(value: number): string {
  return value.toFixed(3).replace(/^-(0\.000)$/, '$1');
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
