/** The commands of the palette and of the status bar's menu. */
import * as vscode from 'vscode';
import { calibrateModel } from './calibrateModel';
import { chooseModel } from './chooseModel';
import type { Connection } from './connection';
import { chooseDial } from './dial';
import { openDoctor } from './doctor';
import { createEnvironment } from './environment';
import { showMenu } from './menu';
import { pauseFor, resume, toggleAutomatic } from './modes';
import type { Panel } from './panel';
import { recalibrate } from './recalibrate';
import type { RepairList } from './repairs';
import type { Screen } from './screen';
import type { SurpriseMarks } from './surprise';
import { forbidTests, repairTests, runTests } from './tests';

export interface Parts {
  readonly connection: Connection;
  readonly screen: Screen;
  readonly panel: Panel;
  readonly repairs: RepairList;
  readonly surprise: SurpriseMarks;
  readonly log: vscode.LogOutputChannel;
  /** The environment that the extension makes. */
  readonly environment: string;
}

export function registerCommands({ connection, screen, panel, repairs, surprise, log, environment }: Parts): vscode.Disposable {
  // A list takes the focus from the text, and with it the editor its suggestion off the screen, of which no extension is told.
  const leaveText = () => {
    screen.clear();
  };
  const commands: Readonly<Record<string, (...args: unknown[]) => unknown>> = {
    menu: () => showMenu(connection, screen),
    chooseDial: () => {
      leaveText();
      return chooseDial(connection);
    },
    chooseModel: () => {
      leaveText();
      return chooseModel(connection);
    },
    calibrateModel: () => calibrateModel(connection),
    toggleAutomatic,
    pauseFor: (minutes) => {
      leaveText();
      return pauseFor(connection, typeof minutes === 'number' ? minutes : undefined);
    },
    resume: () => {
      resume(connection);
    },
    showConfidence: () => {
      panel.show();
    },
    repairHere: () => {
      leaveText();
      return repairs.chooseHere();
    },
    showSurprise: () => surprise.show(),
    testHere: () => runTests(connection, true),
    testAccepted: () => runTests(connection, false),
    repairTestsHere: () => {
      leaveText();
      return repairTests(connection);
    },
    forbidTestsHere: () => forbidTests(connection),
    recalibrateNow: async () => {
      const words = await recalibrate(connection);
      if (words !== undefined) void vscode.window.showInformationMessage(`Assay: ${words}`);
    },
    createEnvironment: async () => {
      // While none runs: on Windows the programs of a running server can't be replaced.
      await connection.start(() => createEnvironment(environment, log));
    },
    restartServer: () => connection.start(),
    showLog: () => {
      log.show();
    },
    doctor: async () => {
      const found = await connection.find();
      if ('program' in found) openDoctor(found.program);
      else void vscode.window.showWarningMessage(`Assay: ${found.missing}`);
    },
  };
  return vscode.Disposable.from(...Object.entries(commands).map(([name, run]) => vscode.commands.registerCommand(`assay.${name}`, run)));
}
