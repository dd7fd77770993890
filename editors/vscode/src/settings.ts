/** The settings that the extension itself reads; all others are the server's. */
import * as vscode from 'vscode';
import type { ShowAbove } from './protocol';

export const SECTION = 'assay';

/** `line` and `words` are both behind the line: the short form, and that with words. */
export type BadgePlace = 'line' | 'words' | 'statusBar' | 'off';

export function badgePlace(): BadgePlace {
  return configuration().get<BadgePlace>('badge', 'line');
}

/** The program that the user named, with ~ as the home folder; undefined where none is named. */
export function serverPath(): string | undefined {
  return configuration().get<string | null>('server.path', null) ?? undefined;
}

/** What pip is asked to install. */
export function requirement(): string {
  return configuration().get<string>('server.requirement', 'assay');
}

export function showAbove(): ShowAbove {
  return configuration().get<ShowAbove>('showAbove', 'auto');
}

export function isAutomatic(): boolean {
  return configuration().get<boolean>('automatic', true);
}

/** Changes a setting where it has its value from: the folder's or the workspace's own stay what they are for other projects. */
export async function change(name: string, value: unknown): Promise<void> {
  const inspected = configuration().inspect(name);
  const target = inspected?.workspaceValue !== undefined ? vscode.ConfigurationTarget.Workspace : vscode.ConfigurationTarget.Global;
  await configuration().update(name, value, target);
}

function configuration(): vscode.WorkspaceConfiguration {
  return vscode.workspace.getConfiguration(SECTION);
}
