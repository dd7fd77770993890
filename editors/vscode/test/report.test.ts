import { describe, expect, it } from 'vitest';
import { reliabilityDiagram, reliabilityTable } from '../src/diagram';
import { html, Markup } from '../src/markup';
import { panelPage } from '../src/panelPage';
import type { Bin, ConfidenceReport, ValidationFigure, ValidationReport } from '../src/protocol';
import { reportMarkup } from '../src/report';

const BINS: Bin[] = [
  { low: 0, high: 0.5, n: 30, mean: 0.25, rate: 0.2, rateLow: 0.1, rateHigh: 0.4 },
  { low: 0.5, high: 0.9, n: 120, mean: 0.75, rate: 0.8, rateLow: 0.7, rateHigh: 0.88 },
  { low: 0.9, high: 1, n: 0, mean: null, rate: null, rateLow: null, rateHigh: null },
];

const EVIL = '<img src=x onerror="alert(1)">';

const REPORT: ConfidenceReport = {
  event: 'exact_match',
  model: { id: '0123456789abcdef', name: 'assay-small' },
  tasks: [
    {
      task: 'line',
      because: 'the shipped one fits',
      calibrator: {
        id: 'fedcba9876543210',
        origin: 'shipped',
        file: 'line.json',
        status: 'informative',
        reason: '',
        features: ['total_logprob'],
        fittedOn: 3000,
        n: 2990,
        positives: 1200,
        groups: 41,
        groupedBy: 'project',
        baseRate: 0.4013,
        skill: { value: 0.31, low: 0.27, high: 0.35 },
        auc: null,
        ece: 0.012,
        eceNoiseFloor: 0.01,
        reliability: BINS,
      },
    },
    { task: 'block', because: EVIL, calibrator: null },
  ],
  log: {
    path: `/home/${EVIL}`,
    since: '2026-03-04T00:00:00Z',
    showings: 40,
    endings: { accepted: 12, typed_through: 3 },
    labelled: 10,
    kept: 9,
    reliability: [],
    dropped: 2,
  },
  recalibrate: { possible: false, labelled: 10, needed: 200, reason: 'Go on for a while.' },
};

/** As a reader has it: the white space around tags is the source's. */
function tight(markup: Markup): string {
  return markup.html.replace(/\s+/g, ' ').replace(/> /g, '>').replace(/ </g, '<').replace(/ \/>/g, '/>');
}

/** The numbers of an attribute, in the order of the picture. */
function numbers(picture: string, element: string, attribute: string): number[] {
  return [...picture.matchAll(new RegExp(`<[a-z]+ class="${element}"[^>]* ${attribute}="([\\d.]+)"`, 'g'))].map((match) =>
    Number(match[1]),
  );
}

describe('the reliability diagram', () => {
  const picture = tight(reliabilityDiagram(BINS, 'line', 'x'));

  it('puts each bin that holds anything where it belongs', () => {
    const [fromX, toX] = [numbers(picture, 'perfect', 'x1'), numbers(picture, 'perfect', 'x2')].map(([value]) => value ?? NaN);
    const [fromY, toY] = [numbers(picture, 'perfect', 'y1'), numbers(picture, 'perfect', 'y2')].map(([value]) => value ?? NaN);
    const share = (value: number, from = NaN, to = NaN) => (value - from) / (to - from);
    expect(numbers(picture, 'dot', 'cx').map((x) => share(x, fromX, toX))).toEqual([expect.closeTo(0.25, 3), expect.closeTo(0.75, 3)]);
    expect(numbers(picture, 'dot', 'cy').map((y) => share(y, fromY, toY))).toEqual([expect.closeTo(0.2, 3), expect.closeTo(0.8, 3)]);
    expect(numbers(picture, 'whisker', 'y1').map((y) => share(y, fromY, toY))).toEqual([expect.closeTo(0.1, 3), expect.closeTo(0.7, 3)]);
    expect(numbers(picture, 'whisker', 'y2').map((y) => share(y, fromY, toY))).toEqual([expect.closeTo(0.4, 3), expect.closeTo(0.88, 3)]);
  });

  it('shows by its dots and bars how many each bin holds', () => {
    const [few = NaN, many = NaN] = numbers(picture, 'dot', 'r');
    expect(few).toBeLessThan(many);
    const [low = NaN, high = NaN] = numbers(picture, 'bar', 'height');
    expect(low / high).toBeCloseTo(30 / 120, 2);
  });

  it('has a name for a screen reader', () => {
    expect(picture).toContain('role="img" aria-labelledby="x-title"');
    expect(picture).toContain('<title id="x-title">line.');
  });

  it('is not drawn of nothing', () => {
    expect(reliabilityDiagram(BINS.slice(2), 'line', 'x').html).toBe('');
    expect(reliabilityTable([], 'line').html).toBe('');
  });

  it('has its numbers in a table, too', () => {
    const table = tight(reliabilityTable(BINS, 'Held out'));
    expect(table).toContain('<caption>Held out</caption>');
    expect(table).toContain('<th scope="row">50-90 %</th><td>120</td><td>75 %</td><td>80 %</td><td>70-88 %</td>');
    expect(table.match(/scope="row"/g)?.length).toBe(2);
  });
});

describe('the report', () => {
  const text = tight(reportMarkup(REPORT));

  it('tells of each task its calibrator and why, and of one without that there is none', () => {
    expect(text).toContain('line.json');
    expect(text).toContain('the shipped one fits');
    expect(text).toContain('0.31 (0.27 to 0.35)');
    expect(text).toContain('No calibrator: suggestions show no probability.');
  });

  it('says once what the evidence says', () => {
    const reason = 'the skill score is 0.31';
    const told = (because: string) => {
      const tasks = REPORT.tasks.map(({ task, calibrator }) => ({ task, because, calibrator: calibrator && { ...calibrator, reason } }));
      return reportMarkup({ ...REPORT, tasks: tasks.slice(0, 1) }).html;
    };
    expect(told(`line.json matches and is informative: ${reason}`).split(reason).length).toBe(2);
    expect(told('it goes before another')).toContain('it goes before another');
  });

  it('says in a line what studies say of a calibrator, and nothing where none has', () => {
    const told = (validation: ValidationReport | null) => {
      const tasks = REPORT.tasks.map(({ task, calibrator, because }) => ({
        task,
        because,
        calibrator: calibrator && { ...calibrator, validation },
      }));
      return tight(reportMarkup({ ...REPORT, tasks }));
    };
    const summary = 'validated: 3 of 5 hold, 1 refuted, 1 not run';
    expect(told({ summary, refuted: ['Its numbers are off by more than 5 points.', EVIL] })).toContain(
      '<p>Validated: 3 of 5 hold, 1 refuted, 1 not run. Its numbers are off by more than 5 points. &#60;img',
    );
    expect(told(null)).toBe(text);
    expect(told(null)).not.toMatch(/validated/i);
  });

  it('has a table of what studies found, the figures that are counted first and marked', () => {
    const figure = (id: string, primary: boolean, reading: string): ValidationFigure => ({
      id,
      primary,
      reading,
      sentence: `What ${id} says.`,
      value: reading === 'not run' ? null : -0.0004,
      low: reading === 'not run' ? null : -0.25,
      high: reading === 'not run' ? null : 0.5,
      n: reading === 'not run' ? 0 : 400,
      groups: reading === 'not run' ? 0 : 20,
      unit: 'project',
      claim: '> 0',
      note: EVIL,
    });
    const figures = [figure('K1', true, 'refuted'), figure('M3', true, 'not run'), figure('K3', false, 'undecided')];
    const [first] = REPORT.tasks;
    const calibrator = first?.calibrator && { ...first.calibrator, validation: { summary: 'validated', refuted: [], figures } };
    const told = tight(reportMarkup({ ...REPORT, tasks: [{ task: 'line', because: '', calibrator: calibrator ?? null }] }));
    expect(told).toContain(
      '<th scope="row">★ K1</th><td class="words">What K1 says.</td><td>0.000 (-0.250 to 0.500)</td><td>400 of 20 projects</td>' +
        '<td>&#62; 0</td><td><b>refuted</b></td>',
    );
    expect(told).toContain(
      '<th scope="row">★ M3</th><td class="words">What M3 says.</td><td></td><td></td><td>&#62; 0</td><td>not run</td>',
    );
    const [counted, others] = told.split('<details>');
    expect(counted).not.toContain('K3');
    expect(others).toContain('<summary>1 more figure</summary>');
    expect(others).toContain('<th scope="row">K3</th>');
    expect(told).not.toContain('<img');
  });

  it('says that suggestions show no probability where a study contradicts the calibrator, and why', () => {
    const [first] = REPORT.tasks;
    const calibrator = first?.calibrator && { ...first.calibrator, status: 'refuted', reason: 'The catcode study refutes M3.' };
    const told = tight(reportMarkup({ ...REPORT, tasks: [{ task: 'line', because: '', calibrator: calibrator ?? null }] }));
    expect(told).toContain('<b>its suggestions show no probability.</b>The catcode study refutes M3.<code>assay.showRefuted</code>');
  });

  it('counts what became of suggestions in the log', () => {
    expect(text).toContain('40 since 2026-03-04');
    expect(text).toContain('12 accepted, 3 typed through');
    expect(text).toContain('9 of 10 known');
    expect(text).toContain('There is no diagram yet');
    expect(text).toContain('<p>Go on for a while.</p>');
  });

  it('shows what is in files and reasons as text', () => {
    expect(text).not.toContain('<img');
    expect(text.match(/&#60;img/g)?.length).toBe(2);
  });

  it('says that there is no log, and no model, where it is so', () => {
    const bare = reportMarkup({ ...REPORT, log: null, model: null }).html;
    expect(bare).toContain('assay.log.events');
    expect(bare).toContain('No model is loaded.');
  });
});

describe('the page', () => {
  it('lets nothing in but its own style and script', () => {
    const page = panelPage('abc');
    expect(page).toContain(`content="default-src &#39;none&#39;; style-src &#39;nonce-abc&#39;; script-src &#39;nonce-abc&#39;"`);
    expect([...page.matchAll(/<(style|script)([^>]*)>/g)].map((match) => match[2])).toEqual([' nonce="abc"', ' nonce="abc"']);
    expect(page).not.toMatch(/\b(src|href|style|on[a-z]+)=/);
    expect(reportMarkup(REPORT).html).not.toMatch(/<[^>]* (src|href|style|on[a-z]+)=/);
  });

  it('escapes what is put into it', () => {
    expect(html`<b>${`<&>"'\``}</b>${new Markup('<i>')}${[html`a`, html`b`]}${3}`.html).toBe('<b>&#60;&#38;&#62;&#34;&#39;&#96;</b><i>ab3');
  });
});
