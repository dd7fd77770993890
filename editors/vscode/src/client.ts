/** The conversation with the server: its options, and what is seen of it on its way. */
import { homedir } from 'node:os';
import { createInterface } from 'node:readline';
import * as vscode from 'vscode';
import {
  CloseAction,
  ErrorAction,
  LanguageClient,
  RevealOutputChannelOn,
  State,
  type ErrorHandler,
  type LanguageClientOptions,
} from 'vscode-languageclient/node';
import type { Offered } from './onScreen';
import { DOCUMENTS, suggestionOf } from './protocol';
import { afterDeath } from './restarts';
import { linesOf, type RepairLines } from './repairItems';
import type { Screen } from './screen';
import { withoutOwn } from './ownSettings';

export const ACCEPTED = 'assay.accepted';
/** A command of the server's for editors without a list of their own; here the extension has one. */
const CHOOSE_REPAIR = 'assay.chooseRepair';

export interface Heard {
  /** A suggestion is on the screen that was not before, or not as the chosen one. */
  readonly shown: (id: string) => void;
  /** A code action is to have the user choose a repair of these lines. */
  readonly choosing: (lines: RepairLines) => Promise<void>;
  /** The server ended too often. */
  readonly givenUp: () => void;
  /** A line that the server wrote to its standard error. */
  readonly complained: (line: string) => void;
}

/** Its errors are written to the log alone: what a user has to know of them, and what mends it, the extension says itself. */
class Client extends LanguageClient {
  override error(message: string, data?: unknown): void {
    super.error(message, data, false);
  }
}

export function makeClient(program: string, log: vscode.LogOutputChannel, screen: Screen, heard: Heard): LanguageClient {
  // Not the workspace: no program of an opened project may come before the server's own.
  const run = { command: program, args: ['serve'], options: { cwd: homedir() } };
  let ran = false;
  const client = new Client(
    'assay',
    'Assay',
    run,
    options(log, screen, heard, () => ran),
  );
  client.onDidChangeState(({ newState }) => {
    ran ||= newState === State.Running;
  });
  return client;
}

function options(log: vscode.LogOutputChannel, screen: Screen, heard: Heard, hasRun: () => boolean): LanguageClientOptions {
  return {
    documentSelector: DOCUMENTS,
    // Asked at each start, for the user may have come to trust the workspace since.
    initializationOptions: () => ({ workspaceTrusted: vscode.workspace.isTrusted, choosesModels: true }),
    outputChannel: log,
    revealOutputChannelOn: RevealOutputChannelOn.Never,
    errorHandler: errorHandler(heard.givenUp, hasRun),
    initializationFailedHandler: () => false,
    stdioOptions: {
      stdout: () => undefined,
      stderr: (input) => {
        createInterface({ input }).on('line', (line) => {
          log.warn(line);
          heard.complained(line);
        });
      },
    },
    markdown: { isTrusted: false, supportHtml: false },
    middleware: {
      workspace: {
        configuration: async (params, token, next) => {
          const answer = await next(params, token);
          return Array.isArray(answer) ? answer.map(withoutOwn) : answer;
        },
      },
      executeCommand: (command, args, next) => {
        if (command === ACCEPTED) screen.forget();
        const lines = command === CHOOSE_REPAIR ? linesOf(args[0]) : undefined;
        if (lines !== undefined) return heard.choosing(lines);
        return next(command, args) as unknown;
      },
      provideInlineCompletionItems: async (document, position, context, token, next) => {
        const version = document.version;
        const { clearings } = screen;
        const answer = await next(document, position, context, token);
        // Of an answer to a question that was taken back, the newer question's answer will tell; after Escape the editor shows none.
        if (token.isCancellationRequested || screen.clearings !== clearings) return answer;
        const items = Array.isArray(answer) ? answer : (answer?.items ?? []);
        const invoked = context.triggerKind === vscode.InlineCompletionTriggerKind.Invoke;
        const found = items.flatMap((item) => offered(document, position, item));
        const now = screen.answer(
          document,
          version,
          position,
          found.map(({ item: _, ...each }) => each),
          invoked,
        );
        if (now !== undefined) heard.shown(now.suggestion.id);
        // Newer editors put what they show to the front of the list, older ones turn to its first. In front it is right for all.
        const [front] = screen.current?.alternatives ?? [];
        const first = found.find(({ suggestion }) => suggestion.id === front?.suggestion.id)?.item;
        return first === undefined ? answer : [first, ...items.filter((item) => item !== first)];
      },
    },
  };
}

/** The suggestion of an item, if it is one of Assay's. */
function offered(
  document: vscode.TextDocument,
  cursor: vscode.Position,
  item: vscode.InlineCompletionItem,
): (Offered & { readonly item: vscode.InlineCompletionItem })[] {
  const suggestion = suggestionOf((item.command?.arguments as unknown[] | undefined)?.[0]);
  if (suggestion === undefined || typeof item.insertText !== 'string') return [];
  const before = item.range === undefined ? '' : document.getText(new vscode.Range(item.range.start, cursor));
  return [{ suggestion, text: item.insertText, before, item }];
}

function errorHandler(givenUp: () => void, hasRun: () => boolean): ErrorHandler {
  let deaths: readonly number[] = [];
  return {
    error: (_error, _message, count) => ({
      action: count !== undefined && count <= 3 ? ErrorAction.Continue : ErrorAction.Shutdown,
      handled: true,
    }),
    closed: () => {
      // One that never answered would not answer the next time either.
      if (!hasRun()) return { action: CloseAction.DoNotRestart, handled: true, message: 'The server ended before it answered.' };
      const next = afterDeath(deaths, Date.now());
      deaths = next.deaths;
      if (!next.givenUp) return { action: CloseAction.Restart, handled: true, message: 'The server ended and is started again.' };
      givenUp();
      return { action: CloseAction.DoNotRestart, handled: true, message: 'The server ended too often and is not started again.' };
    },
  };
}
