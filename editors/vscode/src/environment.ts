/** "Create an Environment": the server in an environment of the extension's own, with progress, and with what mends a failure. */
import { mkdir, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import * as vscode from 'vscode';
import { run } from './child';
import { ASK_VERSION, commands, isNewEnough, makersOnPath, mending, noPython, type Maker, type Mending } from './install';
import { isProgram, programIn } from './server';
import { requirement } from './settings';

const WINDOWS = process.platform === 'win32';

/** Makes the environment; true where the server stands in it. What failed the user is told, with what mends it. */
export async function createEnvironment(environment: string, log: vscode.LogOutputChannel): Promise<boolean> {
  const failed = await vscode.window.withProgress(
    { location: vscode.ProgressLocation.Notification, title: 'Assay', cancellable: true },
    async (progress, token) => {
      const abort = new AbortController();
      token.onCancellationRequested(() => {
        abort.abort();
      });
      const result = await make(
        environment,
        log,
        (message) => {
          progress.report({ message });
        },
        abort.signal,
      );
      return abort.signal.aborted ? 'cancelled' : result;
    },
  );
  if (failed === undefined) return true;
  if (failed === 'cancelled') {
    await rm(environment, { recursive: true, force: true });
    return false;
  }
  // Not waited for: whoever asked goes on, and the message stays until it is read.
  void tell(failed, log);
  return false;
}

async function make(
  environment: string,
  log: vscode.LogOutputChannel,
  say: (message: string) => void,
  cancelled: AbortSignal,
): Promise<Mending | undefined> {
  const wanted = expanded(requirement().trim());
  if (wanted === '' || wanted.startsWith('-'))
    return { problem: 'assay.server.requirement is no requirement.', setting: 'assay.server.requirement' };
  const maker = await newEnough(await makersOnPath(process.env.PATH, WINDOWS), cancelled);
  if (maker === undefined) return noPython(process.platform);
  // An environment can't be moved once it is made, so it is made in its place, and anew: a half-made one is no better than none.
  await rm(environment, { recursive: true, force: true });
  await mkdir(path.dirname(environment), { recursive: true });
  for (const command of commands(maker, environment, wanted, WINDOWS)) {
    if (cancelled.aborted) return undefined;
    say(`${command.what}…`);
    log.info(`$ ${[command.program, ...command.args].join(' ')}`);
    const onText = (text: string) => {
      const line =
        text
          .trim()
          .split(/[\r\n]+/)
          .at(-1) ?? '';
      if (line !== '') say(`${command.what}: ${line.slice(0, 80)}`);
    };
    const { code, output } = await run(command.program, command.args, path.dirname(environment), onText, cancelled);
    log.info(output.trim());
    if (code !== 0) return mending(command, wanted, output, process.platform);
  }
  if (await isProgram(programIn(environment, 'assay', WINDOWS), WINDOWS)) return undefined;
  return { problem: `“${wanted}” was installed, but there is no program “assay” in it.`, setting: 'assay.server.requirement' };
}

async function newEnough(makers: readonly Maker[], cancelled: AbortSignal): Promise<Maker | undefined> {
  for (const maker of makers) {
    if ('uv' in maker) return maker;
    const { code, output } = await run(maker.python, ASK_VERSION, homedir(), () => undefined, cancelled);
    if (code === 0 && isNewEnough(output)) return maker;
  }
  return undefined;
}

async function tell({ problem, command, setting }: Mending, log: vscode.LogOutputChannel): Promise<void> {
  const copy = 'Copy the Command';
  const open = 'Open the Setting';
  const show = 'Show the Log';
  const actions = [...(command === undefined ? [] : [copy]), ...(setting === undefined ? [] : [open]), show];
  const message = `Assay was not installed: ${problem}${command === undefined ? '' : ` This may mend it: ${command}`}`;
  log.error(message);
  const chosen = await vscode.window.showErrorMessage(message, ...actions);
  if (chosen === copy && command !== undefined) await vscode.env.clipboard.writeText(command);
  else if (chosen === open && setting !== undefined)
    await vscode.commands.executeCommand('workbench.action.openSettings', `@id:${setting}`);
  else if (chosen === show) log.show();
}

function expanded(requirement: string): string {
  return /^~[/\\]/.test(requirement) ? path.join(homedir(), requirement.slice(1)) : requirement;
}
