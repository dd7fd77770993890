/** "Choose a Model…": the list of the models of this machine. What is chosen is set, opened, and the next step is offered. */
import * as vscode from 'vscode';
import { calibrateModel } from './calibrateModel';
import type { Connection } from './connection';
import {
  modelItems,
  notesWords,
  offerItems,
  wantedBy,
  type Checked,
  type ModelItem,
  type ModelList,
  type Offer,
  type OfferItem,
  type Wanted,
} from './modelItems';
import { change } from './settings';
import { escaped } from './unseen';

const CALIBRATE = 'Calibrate Now';
const OTHER = 'Choose Another…';
const PROBE = '$(search) Ask the servers on this machine, too';
const DOWNLOAD = 'Download';
const GET = '$(cloud-download) Get a larger model…';
const BROWSE = '$(folder-opened) Choose a file…';

type Entry = vscode.QuickPickItem & Partial<ModelItem>;

export async function chooseModel(connection: Connection, probe = false): Promise<void> {
  const entry = await picked(connection, probe);
  if (entry === undefined) return;
  if (entry.label === PROBE) return chooseModel(connection, true);
  if (entry.label === GET) return getModel(connection);
  if (entry.label === BROWSE) {
    const [file] = (await vscode.window.showOpenDialog({ title: 'Assay: a model', filters: { 'GGUF files': ['gguf'] } })) ?? [];
    if (file !== undefined) await use(connection, { model: file.fsPath, serverModel: undefined });
    return;
  }
  if (entry.model === undefined) return;
  if (entry.model.problem !== '') void vscode.window.showWarningMessage(escaped(`Assay: ${entry.label}: ${entry.model.problem}`));
  else await use(connection, wantedBy(entry.model));
}

async function picked(connection: Connection, probe: boolean): Promise<Entry | undefined> {
  const pick = vscode.window.createQuickPick<Entry>();
  pick.title = 'Assay: choose a model';
  pick.placeholder = probe ? 'Looking for models and asking servers…' : 'Looking for models…';
  pick.matchOnDescription = true;
  pick.matchOnDetail = true;
  pick.busy = true;
  pick.show();
  const asking = new vscode.CancellationTokenSource();
  const chosen = new Promise<Entry | undefined>((resolve) => {
    pick.onDidAccept(() => {
      resolve(pick.activeItems[0]);
      pick.hide();
    });
    pick.onDidHide(() => {
      asking.cancel();
      resolve(undefined);
    });
  });
  try {
    const list = await connection.ask<ModelList>('assay/models', { probe }, asking.token);
    if (list === undefined) return undefined;
    const items = modelItems(list);
    const others: Entry[] = [{ label: GET }, ...(probe ? [] : [{ label: PROBE }]), { label: BROWSE }];
    pick.busy = false;
    pick.placeholder = notesWords(list.notes) || 'Which model writes the suggestions?';
    pick.items = [...items, ...others];
    pick.activeItems = pick.items.filter(({ now }) => now === true);
    return await chosen;
  } finally {
    asking.dispose();
    pick.dispose();
  }
}

/** Downloads a model, which the server shows, and uses it. */
async function getModel(connection: Connection): Promise<void> {
  const asked = connection.ask<{ models: readonly Offer[] }>('assay/modelsToGet', {});
  const chosen = await vscode.window.showQuickPick<OfferItem>(
    asked.then((list) => offerItems(list?.models ?? [])),
    { title: 'Assay: get a model', placeHolder: 'Which is downloaded? The times are estimates.', matchOnDetail: true },
  );
  if (chosen === undefined) return;
  const { name, licence, commercial_use } = chosen.offer;
  const words = `The licence of ${name} (${licence}) forbids commercial use.`;
  if (!commercial_use && (await vscode.window.showWarningMessage(words, { modal: true }, DOWNLOAD)) !== DOWNLOAD) return;
  const got = await connection.ask<{ model: string }>('assay/getModel', { name, acceptLicence: !commercial_use });
  if (got !== undefined) await use(connection, { model: got.model, serverModel: undefined });
}

/** Sets the model, waits until it is open, and tells what comes next. */
async function use(connection: Connection, { model, serverModel }: Wanted): Promise<void> {
  await change('modelOptions.serverModel', serverModel);
  await change('model', model);
  const checked = await vscode.window.withProgress(
    { location: vscode.ProgressLocation.Notification, title: escaped(`Assay: opening ${model ?? 'the embedded model'}…`) },
    () => connection.ask<Checked>('assay/checkModel', { model: model ?? null }),
  );
  if (checked === undefined) return;
  const words = escaped(`Assay: ${checked.ok ? `${checked.name} is open. ` : ''}${checked.said}`);
  if (!checked.ok) {
    if ((await vscode.window.showErrorMessage(words, OTHER)) === OTHER) await chooseModel(connection);
  } else if (checked.command === null) {
    void vscode.window.showInformationMessage(words);
  } else if ((await vscode.window.showInformationMessage(words, CALIBRATE)) === CALIBRATE) {
    await calibrateModel(connection);
  }
}
