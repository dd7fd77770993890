/** What the panel "Assay: confidence" tells, as HTML. Pure. */
import { reliabilityDiagram, reliabilityTable } from './diagram';
import { html, NOTHING, type Markup } from './markup';
import type { CalibratorReport, ConfidenceReport, Interval, LogReport, TaskReport } from './protocol';
import { validationMarkup } from './validation';
import { counted, eventWords, taskWords } from './words';

/** The status of a calibrator whose numbers a study contradicts. */
const REFUTED = 'refuted';

export function reportMarkup(report: ConfidenceReport): Markup {
  const event = eventWords(report.event);
  return html`${introduction(report, event)} ${report.tasks.map((task, index) => taskMarkup(task, event, `task-${index}`))}
    ${
      report.log === null
        ? html`<section>
            <h2>Your own log</h2>
            <p>
              ${typeof report.logTrouble === 'string' ? `It can’t be read: ${report.logTrouble}.` : html`Events are not logged (<code>assay.log.events</code>).`}
            </p>
          </section>`
        : logMarkup(report.log)
    }
    <section>
      <h2>Recalibrate</h2>
      <p>${recalibrateWords(report)}</p>
    </section>`;
}

function introduction({ model }: ConfidenceReport, event: string): Markup {
  const which =
    model === null ? html`No model is loaded.` : html`The model is <b>${model.name}</b> <span class="quiet">(${model.id})</span>.`;
  return html`<p>
    ${which} The probability is that of <b>${event}</b>. A good calibrator’s points lie on the diagonal: of the suggestions with a
    probability of 70 %, 70 % are right.
  </p>`;
}

function taskMarkup({ task, calibrator, because }: TaskReport, event: string, id: string): Markup {
  const name = taskWords(task);
  const heading = html`<h2 id="${id}">${name} <span class="quiet">${task}</span></h2>`;
  if (calibrator === null) {
    return html`<section aria-labelledby="${id}">
      ${heading}
      <p>No calibrator: suggestions show no probability.</p>
      <p class="quiet">${because}</p>
    </section>`;
  }
  const title = `${name}: reliability on ${calibrator.n} held-out samples`;
  return html`<section aria-labelledby="${id}">
    ${heading} ${standing(calibrator)} ${validationMarkup(calibrator.validation, name)}
    ${calibrator.reason !== '' && because.endsWith(calibrator.reason) ? NOTHING : html`<p class="quiet">${because}</p>`}
    <div class="pair">
      <figure>
        ${reliabilityDiagram(calibrator.reliability, title, id)}
        <figcaption>${title}</figcaption>
      </figure>
      <div class="numbers">${facts(calibrator, event)}${reliabilityTable(calibrator.reliability, `Held-out evidence for ${event}`)}</div>
    </div>
  </section>`;
}

function standing({ file, origin, id, status, reason }: CalibratorReport): Markup {
  const which = html`${file} <span class="quiet">(${origin}, ${id})</span>`;
  if (status === REFUTED) {
    return html`<p>
      ${which}: <b>its suggestions show no probability.</b> ${reason} <code>assay.showRefuted</code> shows it all the same.
    </p>`;
  }
  return html`<p>${which}: ${status}${reason === '' ? '' : `, ${reason}`}.</p>`;
}

function facts(calibrator: CalibratorReport, event: string): Markup {
  const rows: readonly (readonly [string, string])[] = [
    ['Samples', `${calibrator.n} of ${calibrator.groups} ${calibrator.groupedBy}s, ${calibrator.positives} ${event}`],
    ['Base rate', percent(calibrator.baseRate)],
    ['Skill score', interval(calibrator.skill)],
    ['AUC', interval(calibrator.auc)],
    ['ECE', `${calibrator.ece.toFixed(3)} (noise alone gives ${calibrator.eceNoiseFloor.toFixed(3)})`],
    ['From', calibrator.features.join(', ')],
    ['Fitted on', `${calibrator.fittedOn} samples`],
  ];
  return definitions(rows);
}

function logMarkup(log: LogReport): Markup {
  const endings = Object.entries(log.endings).map(([ending, count]) => `${count} ${ending.replaceAll('_', ' ')}`);
  const rows: readonly (readonly [string, string])[] = [
    ['File', log.path],
    ['Suggestions', `${log.showings}${log.since === null ? '' : ` since ${log.since.slice(0, 10)}`}`],
    ['What became of them', endings.join(', ') || 'none yet'],
    ['Still there after 5 minutes', log.labelled === 0 ? 'not known yet' : `${log.kept} of ${log.labelled} known`],
    ...(log.dropped > 0 ? [['Events lost', `${log.dropped}`] as const] : []),
  ];
  const title = `What was kept of ${counted(log.labelled, 'suggestion')} of your own`;
  const diagram = reliabilityDiagram(log.reliability, title, 'log');
  return html`<section aria-labelledby="log-heading">
    <h2 id="log-heading">Your own log</h2>
    <div class="pair">
      ${
        diagram === NOTHING
          ? NOTHING
          : html`<figure>
              ${diagram}
              <figcaption>${title}</figcaption>
            </figure>`
      }
      <div class="numbers">${definitions(rows)}${reliabilityTable(log.reliability, 'Your own log: probability, and share kept')}</div>
    </div>
    ${diagram === NOTHING ? html`<p class="quiet">There is no diagram yet. It needs suggestions whose probability of being kept came from a calibrator that Recalibrate made.</p>` : NOTHING}
  </section>`;
}

function recalibrateWords({ recalibrate: { possible, reason } }: ConfidenceReport): string {
  return possible ? `${reason} Recalibrate fits calibrators for the event “kept” to your log.` : reason;
}

function definitions(rows: readonly (readonly [string, string])[]): Markup {
  return html`<dl>
    ${rows.map(
      ([term, value]) =>
        html`<dt>${term}</dt>
          <dd>${value}</dd>`,
    )}
  </dl>`;
}

function interval(found: Interval | null): string {
  return found === null ? 'not known' : `${found.value.toFixed(2)} (${found.low.toFixed(2)} to ${found.high.toFixed(2)})`;
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}
