// What to do if no `intent` program is found: say so once, if a repository here is governed, and offer ways to get it.
// Nothing is downloaded or built unless the person asks for it.

import * as fs from "node:fs/promises";
import * as path from "node:path";
import * as vscode from "vscode";
import { cargoBin, findOnPath, surroundings } from "./find";
import { task } from "./program";
import type { Server } from "./server";

const BUILD = "Build from a Clone…";
const SETTINGS = "Open Settings";
const RETRY = "Try Again";

/** Whether a folder that is open, or one around it, is governed: only there the program is missed. */
async function isMissed(): Promise<boolean> {
  for (const folder of vscode.workspace.workspaceFolders ?? []) {
    if (folder.uri.scheme !== "file") continue;
    for (let at = folder.uri.fsPath; ; at = path.dirname(at)) {
      const there = await fs.stat(path.join(at, ".orchestration")).catch(() => undefined);
      if (there?.isDirectory()) return true;
      if (path.dirname(at) === at) break;
    }
  }
  return false;
}

/** Says that the program is missing. */
export async function sayMissing(server: Server): Promise<void> {
  if (!(await isMissed())) return;
  const what = server.tried === "intent" ? "no `intent` program was found on your PATH" : `\`${server.tried}\`, which "intent.server.path" names, is no program with an absolute path`;
  const chosen = await vscode.window.showWarningMessage(`Intent: this repository says why its code is there, but ${what}.`, BUILD, SETTINGS, RETRY);
  if (chosen === BUILD) await vscode.commands.executeCommand("intent.editor.install");
  if (chosen === SETTINGS) await vscode.commands.executeCommand("workbench.action.openSettings", "intent.server.path");
  if (chosen === RETRY) await server.restart();
}

/** Builds and installs the program from a clone that a person picks, in a terminal that they see. */
export async function install(server: Server): Promise<void> {
  const around = surroundings();
  const folder = cargoBin(around);
  const cargo = findOnPath("cargo", around) ?? findOnPath("cargo", { ...around, path: folder });
  if (!cargo) throw new Error("there is no `cargo` on your PATH; install Rust first");
  const picked = await vscode.window.showOpenDialog({ canSelectFolders: true, canSelectFiles: false, openLabel: "Build This", title: "The clone of intent-lsp" });
  const clone = picked?.[0]?.fsPath;
  if (!clone) return;
  const manifest = await fs.readFile(path.join(clone, "Cargo.toml"), "utf8").catch(() => "");
  if (!/^name = "intent-lsp"$/m.test(manifest)) throw new Error(`${clone} is no clone of intent-lsp: its Cargo.toml does not say so`);
  const code = await task("install intent", cargo, ["install", "--locked", "--features", "all-languages", "--path", clone], clone);
  if (code !== 0) throw new Error("the program was not installed; the terminal says why");
  await server.restart();
}
