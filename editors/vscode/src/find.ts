// Finds the program: by the person's own setting, inside this extension, on the PATH, or where cargo installs. It never
// uses a path that a workspace chose, or one that depends on the current folder.

import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";

/** The program's names: the one that no other program has, and the short one. */
const NAMES = ["intent-lsp", "intent"];

export interface Surroundings {
  path: string;
  /** Where an extension that was made for one platform has its server. */
  brought?: string;
  cargoHome?: string;
  home?: string;
  platform?: NodeJS.Platform;
}

export function surroundings(brought?: string): Surroundings {
  return { path: process.env.PATH ?? "", brought, cargoHome: process.env.CARGO_HOME, home: os.homedir() };
}

export type Found = { program: string } | { missing: "setting" | "path"; tried: string };

/** The program; `chosen` is the machine's setting and, where it is set, the only place that counts. */
export function findIntent(chosen: string, around: Surroundings): Found {
  if (chosen) {
    if (path.isAbsolute(chosen) && isProgram(chosen)) return { program: chosen };
    return { missing: "setting", tried: chosen };
  }
  const look: ((name: string) => string | undefined)[] = [
    (name) => inFolder(around.brought ?? "", name, around),
    (name) => findOnPath(name, around),
    (name) => inFolder(cargoBin(around), name, around),
  ];
  for (const place of look) {
    const program = NAMES.map(place).find((found) => found);
    if (program) return { program };
  }
  return { missing: "path", tried: "intent" };
}

/** The first on PATH. A relative entry would be looked up in the current folder, so it does not count. */
export function findOnPath(name: string, around: Surroundings): string | undefined {
  for (const folder of around.path.split(path.delimiter)) {
    const found = inFolder(folder, name, around);
    if (found) return found;
  }
  return undefined;
}

/** Where `cargo install` puts programs; an editor that was started from a menu often has no PATH to it. */
export function cargoBin(around: Surroundings): string {
  if (around.cargoHome) return path.join(around.cargoHome, "bin");
  return around.home ? path.join(around.home, ".cargo", "bin") : "";
}

function inFolder(folder: string, name: string, around: Surroundings): string | undefined {
  if (!path.isAbsolute(folder)) return undefined;
  const file = (around.platform ?? process.platform) === "win32" ? `${name}.exe` : name;
  const candidate = path.join(folder, file);
  return isProgram(candidate) ? candidate : undefined;
}

function isProgram(file: string): boolean {
  try {
    fs.accessSync(file, fs.constants.X_OK);
    return fs.statSync(file).isFile();
  } catch {
    return false;
  }
}

/** Whether a version `1.2.3` is older than another. What is no version is taken as new enough. */
export function isOlder(version: string, least: string): boolean {
  const numbers = (text: string) => /^(\d+)\.(\d+)\.(\d+)/.exec(text)?.slice(1).map(Number);
  const [has, wants] = [numbers(version), numbers(least)];
  if (!has || !wants) return false;
  for (let at = 0; at < wants.length; at += 1) {
    const difference = (has[at] ?? 0) - (wants[at] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return false;
}
