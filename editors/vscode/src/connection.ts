/** The server's life: found, started, started again, given up; and what can be asked of it. */
import { homedir } from 'node:os';
import * as vscode from 'vscode';
import { ResponseError, State, type LanguageClient } from 'vscode-languageclient/node';
import { makeClient } from './client';
import { STATUS_CHANGED, statusAfter, type Status } from './protocol';
import type { RepairLines } from './repairItems';
import { GIVEN_UP } from './restarts';
import type { Screen } from './screen';
import { findServer, type Found } from './server';
import { serverPath } from './settings';
import { escaped } from './unseen';

export type Stage = 'starting' | 'running' | 'missing' | 'ended';

/** Set while the server answers: commands that need it are offered then. */
const RUNNING = 'assay.running';
const PAUSED = 'assay.paused';
const TRUST_GRANTED = 'assay/didGrantWorkspaceTrust';
const METHOD_NOT_FOUND = -32601;
/** Python on a cold disk takes 10 seconds to begin. */
const ANSWERS_WITHIN_MS = 60_000;
const NOTHING: Status = { state: 'loading', reason: '', busy: false, silent: null, hidden: 0, paused: null, tests: null, notes: [] };

export class Connection implements vscode.Disposable {
  /** For which stage, in words: empty while the server runs. */
  reason = '';
  status: Status = NOTHING;
  program: string | undefined;
  /** Called where a code action is to have the user choose a repair. */
  onChoosing: (lines: RepairLines) => Promise<void> = () => Promise.resolve();
  private at: Stage = 'starting';
  private ran = false;
  /** The last that the server wrote besides its answers: if it never answers, that is likely why. */
  private complaint = '';
  private client: LanguageClient | undefined;
  private turn: Promise<void> = Promise.resolve();
  private readonly changes = new vscode.EventEmitter<undefined>();
  readonly onChange = this.changes.event;

  constructor(
    private readonly log: vscode.LogOutputChannel,
    private readonly screen: Screen,
    /** Where the extension's own environment is, or would be. */
    private readonly environment: string,
  ) {}

  get stage(): Stage {
    return this.at;
  }

  /**
   * Finds and starts the server; one that runs is ended first. One start after the other, however fast they are asked for.
   *
   * between: what is done while none runs; it does not throw.
   */
  start(between?: () => Promise<unknown>): Promise<void> {
    this.turn = this.turn.then(async () => {
      await this.stop();
      this.enter('starting', 'The server is being started.');
      await between?.();
      await this.startNow();
    });
    return this.turn;
  }

  /** Where the server would be found now. */
  find(): Promise<Found> {
    return findServer({
      setting: serverPath(),
      trustedFolders: vscode.workspace.isTrusted ? (vscode.workspace.workspaceFolders ?? []).map(({ uri }) => uri.fsPath) : [],
      own: this.environment,
      home: homedir(),
      searched: process.env.PATH,
      windows: process.platform === 'win32',
    });
  }

  /** A request of Assay's own. Undefined where there was no answer: then the user was told why. */
  async ask<Answer>(method: string, params: object, token?: vscode.CancellationToken): Promise<Answer | undefined> {
    if (this.client === undefined || this.at !== 'running') {
      void vscode.window.showWarningMessage('Assay: the server is not running.');
      return undefined;
    }
    try {
      // An undefined behind the parameters would be one more of them.
      return await this.client.sendRequest<Answer>(method, params, ...(token === undefined ? [] : [token]));
    } catch (error) {
      if (token?.isCancellationRequested !== true) void vscode.window.showErrorMessage(escaped(`Assay: ${refusal(error, method)}`));
      return undefined;
    }
  }

  /** Runs a command of the server, if it has it; whether it does nobody waits for. */
  signal(command: string, argument: object): void {
    const commands = this.client?.initializeResult?.capabilities.executeCommandProvider?.commands ?? [];
    if (this.at !== 'running' || !commands.includes(command)) return;
    this.client?.sendRequest('workspace/executeCommand', { command, arguments: [argument] }).catch((error: unknown) => {
      this.log.debug(`${command}: ${String(error)}`);
    });
  }

  /** The user trusts the workspace from here on. A server that is started later is told when it starts. */
  trustGranted(): void {
    this.tell(TRUST_GRANTED);
  }

  /** Sends a notification, where there is a server. */
  tell(method: string, params?: object): void {
    this.client?.sendNotification(method, params).catch((error: unknown) => {
      this.log.debug(`${method}: ${String(error)}`);
    });
  }

  /** What an explanation is, of a suggestion that may be gone by now: undefined without a word to the user. */
  async explain(id: string, token: vscode.CancellationToken): Promise<string | undefined> {
    try {
      const answer = await this.client?.sendRequest<{ readonly markdown?: unknown }>('assay/explain', { id }, token);
      return typeof answer?.markdown === 'string' ? answer.markdown : undefined;
    } catch (error) {
      this.log.debug(`assay/explain: ${String(error)}`);
      return undefined;
    }
  }

  /** Ends the server, after what was begun before. */
  dispose(): Promise<void> {
    this.changes.dispose();
    this.turn = this.turn.then(() => this.stop());
    return this.turn;
  }

  private async startNow(): Promise<void> {
    const found = await this.find();
    if ('missing' in found) {
      this.program = undefined;
      this.enter('missing', found.missing);
      return;
    }
    this.program = found.program;
    this.log.info(`The server is ${found.program} (${found.origin}).`);
    const client = makeClient(found.program, this.log, this.screen, {
      shown: (id) => {
        this.signal('assay.shown', { id });
      },
      choosing: (lines) => this.onChoosing(lines),
      givenUp: () => {
        this.enter('ended', GIVEN_UP);
      },
      complained: (line) => {
        this.complaint = line;
      },
    });
    this.client = client;
    this.complaint = '';
    this.ran = false;
    client.onNotification(STATUS_CHANGED, (message: unknown) => {
      this.take(message);
    });
    client.onNotification('assay/chooseModel', () => void vscode.commands.executeCommand('assay.chooseModel'));
    client.onDidChangeState(({ newState }) => {
      if (client === this.client) this.follow(newState);
    });
    // Killed, its start fails; a program that is no server may else be waited for without end.
    const limit = setTimeout(() => client.serverProcess?.kill(), ANSWERS_WITHIN_MS);
    try {
      await client.start();
    } catch (error) {
      const why = this.complaint !== '' ? this.complaint : error instanceof Error ? error.message : String(error);
      this.enter('ended', `“${found.program} serve” did not answer: ${why}`);
    } finally {
      clearTimeout(limit);
    }
  }

  private follow(state: State): void {
    if (state === State.Running) {
      this.ran = true;
      void this.greet();
      return;
    }
    this.screen.clear();
    if (state === State.Starting) this.enter('starting', 'The server is being started.');
    else if (this.ran && this.at !== 'ended') this.enter('ended', 'The server has ended.');
  }

  /** A server that was started again knows nothing of the pause. */
  private async greet(): Promise<void> {
    const until = this.status.paused === null ? 0 : Date.parse(this.status.paused);
    this.status = NOTHING;
    this.enter('running', '');
    const minutes = (until - Date.now()) / 60_000;
    if (minutes > 0) this.signal('assay.pause', { minutes });
    try {
      this.take(await this.client?.sendRequest('assay/status', {}));
    } catch (error) {
      this.log.debug(`assay/status: ${String(error)}`);
    }
  }

  private take(message: unknown): void {
    this.status = statusAfter(this.status, message);
    void vscode.commands.executeCommand('setContext', PAUSED, this.status.paused !== null);
    this.changes.fire(undefined);
  }

  private enter(stage: Stage, reason: string): void {
    this.at = stage;
    this.reason = escaped(reason);
    void vscode.commands.executeCommand('setContext', RUNNING, stage === 'running');
    this.changes.fire(undefined);
  }

  private async stop(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    this.screen.clear();
    try {
      // One that is being started can't be stopped yet, and its process would stay.
      if (client?.state === State.Starting) await client.start();
    } catch {
      // Whoever started it tells of that.
    }
    try {
      await client?.dispose();
    } catch (error) {
      // One that never ran, or does not answer: its process is ended all the same.
      this.log.debug(`Ending the server: ${String(error)}`);
    }
  }
}

function refusal(error: unknown, method: string): string {
  if (error instanceof ResponseError && error.code === METHOD_NOT_FOUND)
    return `the server does not know ${method}: it is older than this extension.`;
  return error instanceof Error ? error.message : String(error);
}
