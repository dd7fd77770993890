/** `assay doctor` in a terminal of the editor, run without a shell: no quoting, and nothing of the shell's own start in between. */
import { homedir } from 'node:os';
import * as vscode from 'vscode';
import { run } from './child';

export function openDoctor(program: string): void {
  const written = new vscode.EventEmitter<string>();
  const closed = new vscode.EventEmitter<number>();
  const abort = new AbortController();
  const write = (text: string) => {
    written.fire(text.replace(/\r?\n/g, '\r\n'));
  };
  const terminal = vscode.window.createTerminal({
    name: 'Assay: doctor',
    pty: {
      onDidWrite: written.event,
      onDidClose: closed.event,
      open: () => {
        write(`${program} doctor\n\n`);
        void run(program, ['doctor'], homedir(), write, abort.signal).then(() => {
          write('\nAny key closes this.\n');
        });
      },
      close: () => {
        abort.abort();
      },
      handleInput: () => {
        closed.fire(0);
      },
    },
  });
  terminal.show();
}
