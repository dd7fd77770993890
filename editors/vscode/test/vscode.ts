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
  ClosedOpen = 3,
}

/** A document of one text, and the editor that shows it. */
export class Editor {
  version = 1;
  selection: { active: Position; isEmpty: boolean };
  readonly decorations: unknown[][] = [];
  readonly document = {
    uri: { toString: () => 'file:///a.py' },
    version: 1,
    lineCount: 1,
  };
  constructor(private readonly lines: string[]) {
    this.document.lineCount = lines.length;
    this.selection = { active: new Position(lines.length - 1, lines.at(-1)?.length ?? 0), isEmpty: true };
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
    this.selection = { active: new Position(line, character), isEmpty: true };
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

/** Commands that were run, with their arguments. */
export const ran: unknown[][] = [];
export const registered = new Map<string, (...args: unknown[]) => unknown>();

export const window = {
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
  getConfiguration: () => ({ get: (_name: string, other: unknown) => other }),
};

export const languages = { registerHoverProvider: () => ({ dispose: () => undefined }) };

export const commands = {
  executeCommand: (...call: unknown[]) => {
    ran.push(call);
    return Promise.resolve();
  },
  registerCommand: (name: string, run: (...args: unknown[]) => unknown) => {
    registered.set(name, run);
    return { dispose: () => registered.delete(name) };
  },
};
