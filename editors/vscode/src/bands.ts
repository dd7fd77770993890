/** The bands' words as the server writes them, and the theme colours that package.json contributes for them. */

const COLOURS: Readonly<Record<string, string>> = {
  likely: 'assay.likely',
  possible: 'assay.possible',
  unlikely: 'assay.unlikely',
  'no evidence': 'assay.noEvidence',
};

/** The id of a band's theme colour; of a band that is not known that of no evidence, which promises nothing. */
export function colourOf(band: string): string {
  return COLOURS[band] ?? 'assay.noEvidence';
}
