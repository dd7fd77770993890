/** What the list of models says of each, and which settings choose it. Pure. */

import { escaped } from './unseen';

/** A model of `assay/models`: docs/formats.md of the server. */
export interface FoundModel {
  readonly name: string;
  readonly names: readonly string[];
  readonly place: string;
  readonly where: string;
  /** Its name at the server, where that has several. */
  readonly server_model: string;
  readonly size: number;
  readonly parameters: number;
  readonly quantisation: string;
  readonly fills_middle: boolean | null;
  readonly tokens_per_second: number | null;
  readonly fingerprint: string;
  /** Which numbers its suggestions have, in a few words. */
  readonly numbers: string;
  /** Why it can't be used; empty where nothing speaks against it. */
  readonly problem: string;
}

export interface ModelList {
  readonly models: readonly FoundModel[];
  readonly notes: readonly string[];
  /** The setting `assay.model`. */
  readonly setting: string | null;
  /** Of the model that is loaded. */
  readonly fingerprint: string | null;
}

/** A model that can be had, of `assay/modelsToGet`. */
export interface Offer {
  readonly name: string;
  readonly bytes: number;
  readonly licence: string;
  readonly commercial_use: boolean;
  /** About how long a suggestion takes while a line is typed; null where that can't be told. */
  readonly typing_ms: number | null;
  readonly fits: boolean;
  readonly recommended: boolean;
  readonly numbers: string;
  /** Where it is already. */
  readonly path: string | null;
}

export interface OfferItem {
  readonly label: string;
  readonly description: string;
  readonly detail: string;
  readonly offer: Offer;
}

export interface Checked {
  readonly ok: boolean;
  readonly name: string;
  readonly said: string;
  readonly command: string | null;
}

/** What is to be set. undefined: the setting is removed. */
export interface Wanted {
  readonly model: string | undefined;
  readonly serverModel: string | undefined;
}

export interface ModelItem {
  readonly label: string;
  readonly description: string;
  readonly detail: string;
  readonly now: boolean;
  readonly model: FoundModel;
}

const EMBEDDED = 'embedded';

/** Those that can be used, then the others, each as the server orders them. */
export function modelItems({ models, setting, fingerprint }: ModelList): ModelItem[] {
  return models.map((model) => {
    const isLoaded = model.fingerprint !== '' && model.fingerprint === fingerprint;
    // The setting names a server; which of its models is in use only the fingerprint tells.
    const now = setting === null ? isLoaded : isSet(model, setting) && (model.server_model === '' || isLoaded);
    return {
      label: escaped(model.server_model === '' ? model.name : `${model.server_model} (${model.name})`),
      description: escaped([now ? '(now)' : '', ...model.names.slice(1)].filter(Boolean).join(' ')),
      detail: escaped(model.problem === '' ? facts(model) : `Can’t be used: ${model.problem}`),
      now,
      model,
    };
  });
}

export function wantedBy(model: FoundModel): Wanted {
  return {
    model: model.name === EMBEDDED ? undefined : model.name,
    serverModel: model.server_model === '' ? undefined : model.server_model,
  };
}

/** Those that this machine can run, each as the server orders them. */
export function offerItems(offers: readonly Offer[]): OfferItem[] {
  return offers
    .filter(({ fits }) => fits)
    .map((offer) => ({
      label: offer.name,
      description: [offer.recommended ? '(recommended)' : '', offer.path === null ? '' : '(here already)'].filter(Boolean).join(' '),
      detail: [
        offer.bytes === 0 ? '' : short(offer.bytes, ' GB', ' MB'),
        offer.commercial_use ? offer.licence : `${offer.licence}: not for commercial use`,
        offer.typing_ms === null ? '' : `about ${offer.typing_ms.toLocaleString('en')} ms a suggestion`,
        `numbers: ${offer.numbers}`,
      ]
        .filter(Boolean)
        .join(' · '),
      offer,
    }));
}

/** What could not be looked at, in a line under the list's title; empty where there is nothing to tell. */
export function notesWords(notes: readonly string[]): string {
  const [first] = notes;
  if (first === undefined) return '';
  return escaped(notes.length === 1 ? first : `${first} (and ${notes.length - 1} more: assay model list)`);
}

function isSet(model: FoundModel, setting: string): boolean {
  return model.names.includes(setting) || (model.server_model === '' && model.where === setting);
}

function facts(model: FoundModel): string {
  return [
    model.parameters === 0 ? '' : `${short(model.parameters, 'B', 'M')} parameters`,
    model.quantisation,
    model.size === 0 ? '' : short(model.size, ' GB', ' MB'),
    model.fills_middle === null ? '' : model.fills_middle ? 'fills in the middle' : 'only continues the text',
    model.tokens_per_second === null ? '' : `about ${Math.round(model.tokens_per_second).toLocaleString('en')} tokens/s`,
    model.numbers === '' ? '' : `numbers: ${model.numbers}`,
  ]
    .filter(Boolean)
    .join(' · ');
}

function short(count: number, billions: string, millions: string): string {
  return count >= 1e9 ? `${(count / 1e9).toFixed(1)}${billions}` : `${Math.max(1, Math.round(count / 1e6))}${millions}`;
}
