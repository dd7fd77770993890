/**
 * As much of the editor as the parts that follow it need: events that a test fires, and records of what was asked for. What the real one
 * does with it is tested in the real one, in e2e/.
 */

export class Position {
  constructor(
    readonly line: number,
    readonly character: number,
  ) {}
  isEqual(other: Position): boolean {
    return this.line === other.line && this.character === other.character;
  }
}

export class Range {
  constructor(
    readonly start: Position,
    readonly end: Position,
  ) {}
}

export class ThemeColor {
  constructor(readonly id: string) {}
}

export class EventEmitter<T> {
  private readonly listeners = new Set<(value: T) => void>();
  readonly event = (listener: (value: T) => void) => {
    this.listeners.add(listener);
    return { dispose: () => this.listeners.delete(listener) };
  };
  fire(value: T): void {
    for (const listener of [...this.listeners]) listener(value);
  }
  dispose(): void {
    this.listeners.clear();
  }
}

export const Disposable = {
  from: (...parts: { dispose: () => unknown }[]) => ({
    dispose: () => {
      for (const part of parts) part.dispose();
    },
  }),
};

export enum DecorationRangeBehavior {
  ClosedClosed = 1,
  ClosedOpen = 3,
}

export enum ViewColumn {
  Active = -1,
}

export enum ProgressLocation {
  Notification = 15,
}

export class CancellationTokenSource {
  readonly token = { isCancellationRequested: false };
  cancel(): void {
    this.token.isCancellationRequested = true;
  }
  dispose(): void {
    return;
  }
}

export class TabInputTextDiff {
  constructor(
    readonly original: unknown,
    readonly modified: { scheme: string },
  ) {}
}

/** The list that was opened last: a test chooses from it as a user does. */
export class QuickPick {
  items: readonly { label: string }[] = [];
  activeItems: readonly unknown[] = [];
  busy = false;
  private readonly accepted = new EventEmitter<undefined>();
  private readonly hidden = new EventEmitter<undefined>();
  private readonly active = new EventEmitter<readonly unknown[]>();
  readonly onDidAccept = this.accepted.event;
  readonly onDidHide = this.hidden.event;
  readonly onDidChangeActive = this.active.event;
  show(): void {
    return;
  }
  hide(): void {
    this.hidden.fire(undefined);
  }
  dispose(): void {
    return;
  }
  turnTo(index: number): void {
    this.activeItems = [this.items[index]];
    this.active.fire(this.activeItems);
  }
  accept(): void {
    this.accepted.fire(undefined);
  }
}

function cursorAt(active: Position) {
  return { active, start: active, end: active, isEmpty: true };
}

/** A document of one text, and the editor that shows it. */
export class Editor {
  version = 1;
  selection: { active: Position; start: Position; end: Position; isEmpty: boolean };
  readonly decorations: unknown[][] = [];
  visibleRanges: Range[] = [];
  readonly document = {
    uri: { scheme: 'file', toString: () => 'file:///a.py', with: ({ scheme }: { scheme: string }) => ({ scheme }) },
    version: 1,
    lineCount: 1,
    getText: () => this.lines.join('\n'),
    offsetAt: ({ line, character }: Position) => this.lines.slice(0, line).join('\n').length + (line > 0 ? 1 : 0) + character,
  };
  constructor(private readonly lines: string[]) {
    this.document.lineCount = lines.length;
    this.selection = cursorAt(new Position(lines.length - 1, lines.at(-1)?.length ?? 0));
  }

  setDecorations(_type: unknown, options: unknown[]): void {
    this.decorations.push(options);
  }

  /** Types at the cursor, as the editor tells of it: first the edit, then the cursor. */
  type(text: string): void {
    const { line, character } = this.selection.active;
    this.lines[line] = (this.lines[line] ?? '') + text;
    this.document.version += 1;
    fired.edited.fire({
      document: this.document,
      contentChanges: [{ range: { start: this.selection.active }, rangeLength: 0, text }],
      reason: undefined,
    });
    this.moveTo(line, character + text.length);
  }

  moveTo(line: number, character: number): void {
    this.selection = cursorAt(new Position(line, character));
    fired.moved.fire({ textEditor: { document: this.document, selections: [this.selection] } });
  }
}

export const fired = {
  edited: new EventEmitter<unknown>(),
  moved: new EventEmitter<unknown>(),
  editor: new EventEmitter<unknown>(),
  focus: new EventEmitter<{ focused: boolean }>(),
  terminal: new EventEmitter<unknown>(),
  configuration: new EventEmitter<unknown>(),
};

/** What the user has set, without `assay.`. */
export const settings: Record<string, unknown> = {};

/** Commands that were run, with their arguments. */
export const ran: unknown[][] = [];
export const registered = new Map<string, (...args: unknown[]) => unknown>();

/** What the user was told, and the lists that were opened. */
export const told: string[] = [];
export const picks: QuickPick[] = [];
/** Gives the texts of the documents that the extension itself provides. */
export const provided: { provideTextDocumentContent: () => string }[] = [];
export const tabs: { input: unknown }[] = [];

export const window = {
  state: { focused: true },
  tabGroups: {
    all: [{ tabs }],
    close: (closed: readonly { input: unknown }[]) => {
      for (const tab of closed) tabs.splice(tabs.indexOf(tab), 1);
      return Promise.resolve(true);
    },
  },
  createQuickPick: () => {
    const pick = new QuickPick();
    picks.push(pick);
    return pick;
  },
  showTextDocument: () => Promise.resolve(),
  showInformationMessage: (message: string) => {
    told.push(message);
    return Promise.resolve();
  },
  withProgress: (_: unknown, work: (progress: unknown, token: unknown) => unknown) => work({}, new CancellationTokenSource().token),
  activeTextEditor: undefined as Editor | undefined,
  createTextEditorDecorationType: () => ({ dispose: () => undefined }),
  onDidChangeTextEditorSelection: fired.moved.event,
  onDidChangeActiveTextEditor: fired.editor.event,
  onDidChangeWindowState: fired.focus.event,
  onDidChangeActiveTerminal: fired.terminal.event,
};

export const workspace = {
  onDidChangeTextDocument: fired.edited.event,
  onDidChangeConfiguration: fired.configuration.event,
  textDocuments: [] as unknown[],
  registerTextDocumentContentProvider: (_: string, provider: { provideTextDocumentContent: () => string }) => {
    provided.push(provider);
    return { dispose: () => undefined };
  },
  getConfiguration: () => ({ get: (name: string, other: unknown) => settings[name] ?? other }),
};

export const languages = { registerHoverProvider: () => ({ dispose: () => undefined }) };

export const commands = {
  executeCommand: (...call: unknown[]) => {
    ran.push(call);
    if (call[0] === 'vscode.diff') tabs.push({ input: new TabInputTextDiff(call[1], call[2] as { scheme: string }) });
    return Promise.resolve();
  },
  registerCommand: (name: string, run: (...args: unknown[]) => unknown) => {
    registered.set(name, run);
    return { dispose: () => registered.delete(name) };
  },
};
