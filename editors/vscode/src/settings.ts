// The user's settings, and those of them that the server gets.

import * as vscode from "vscode";
import type { Lines } from "./glance";
import type { ColouredBy } from "./palette";
import { nextOf } from "./words";

export const SECTION = "intent";

/** Where provenance is shown. One place at a time. */
export type Surface = "lens" | "endOfLine" | "gutter" | "inlay" | "off";

export type Trace = "off" | "messages" | "verbose";

function section(scope?: vscode.Uri): vscode.WorkspaceConfiguration {
  return vscode.workspace.getConfiguration(SECTION, scope ?? null);
}

/** The program that a person chose for this machine. What a workspace says does not count. */
export function chosenProgram(): string {
  const value = section().inspect<unknown>("server.path")?.globalValue;
  return typeof value === "string" ? value.trim() : "";
}

export function surface(): Surface {
  return section().get<Surface>("provenance.surface", "lens");
}

export function template(): string {
  return section().get<string>("provenance.template", "");
}

/** Which lines say at their end whose they are. */
export function lines(): Lines {
  return section().get<Lines>("lines", "line");
}

/** What the colours beside the lines are by. */
export function colouredBy(): ColouredBy {
  return section().get<ColouredBy>("colours", "off");
}

/** Chooses the next of these values of a setting, where the present one was chosen. */
export async function chooseNext(key: string, values: string[]): Promise<string> {
  const next = nextOf(values, section().get<string>(key, ""));
  const inWorkspace = section().inspect(key)?.workspaceValue !== undefined;
  await section().update(key, next, inWorkspace ? vscode.ConfigurationTarget.Workspace : vscode.ConfigurationTarget.Global);
  return next;
}

/** Which blocks have lenses and hints besides those that an intent produced. */
function alsoLabelled(): { constants: boolean; unrecorded: boolean } {
  const also = (name: string) => section().get<boolean>(`provenance.${name}`, false);
  return { constants: also("constants"), unrecorded: also("unrecorded") };
}

/** Levels that were set; the server knows the defaults. */
function levels(scope?: vscode.Uri): Record<string, string> {
  const all = section(scope).get<Record<string, unknown>>("levels", {});
  const set = Object.entries(all).filter(([, level]) => typeof level === "string" && level !== "default");
  return Object.fromEntries(set) as Record<string, string>;
}

/**
 * The section as the server understands it. Lenses stay on, for those of the registry: the lenses of blocks are left out
 * by the client where another surface was chosen (`server.ts`).
 */
export function forServer(scope?: vscode.Uri): Record<string, unknown> {
  return {
    levels: levels(scope),
    codeLens: { enable: true, ...alsoLabelled() },
    hover: section().get<string>("hover", "names"),
    inlayHints: surface() === "inlay",
    trace: section().get<Trace>("trace.server", "off"),
  };
}
