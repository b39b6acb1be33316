// The status bar: the selected intent, and whether something needs attention. It follows the server's notifications,
// and asks the server only about a workspace that had no notification yet.

import * as fs from "node:fs/promises";
import * as path from "node:path";
import * as vscode from "vscode";
import type { Status } from "./answers";
import { waitingWords } from "./requests";
import { here } from "./server";
import type { Condition, Server } from "./server";
import { count, markdown, statusName } from "./words";

/** Opens the list of problems. */
const PROBLEMS = "workbench.actions.view.problems";

export class StatusBar implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem("intent.status", vscode.StatusBarAlignment.Left, 10);
  private readonly known = new Map<string, Status>();
  private readonly changed = new vscode.EventEmitter<Status | undefined>();
  private readonly owned: vscode.Disposable[];
  /** How many folders of the window have intents. */
  private governed = 0;
  /** The state of the workspace of the active editor. */
  readonly onDidChange = this.changed.event;

  constructor(private readonly server: Server) {
    this.item.name = "Intent";
    this.owned = [
      this.item,
      this.changed,
      server.onStatus((status) => {
        this.known.set(status.root, status);
        this.show();
      }),
      server.onDidChange((condition) => this.serverIs(condition)),
      vscode.window.onDidChangeActiveTextEditor(() => void this.follow()),
      vscode.workspace.onDidChangeWorkspaceFolders(() => void this.lookAtFolders().then(() => this.follow())),
    ];
    void this.lookAtFolders();
  }

  dispose(): void {
    for (const one of this.owned) one.dispose();
  }

  /** The state of the workspace that is looked at, where it is governed. */
  get current(): Status | undefined {
    const file = here()?.fsPath;
    const roots = [...this.known.keys()].filter((root) => file === root || file?.startsWith(root + path.sep));
    const nearest = roots.sort((one, other) => other.length - one.length)[0];
    const status = nearest === undefined ? undefined : this.known.get(nearest);
    return status?.governed ? status : undefined;
  }

  /** The state of each governed workspace that the server has spoken of, in the order of their roots. */
  get all(): Status[] {
    return [...this.known.values()].filter((status) => status.governed).sort((one, other) => (one.root < other.root ? -1 : 1));
  }

  /** What is said until the server has spoken of the workspace that is looked at, or of all. Empty afterwards. */
  get reading(): string {
    const isReading = this.server.condition === "starting" || this.server.condition === "running";
    return isReading && !this.current && this.all.length < this.governed ? "reading the intents…" : "";
  }

  private async lookAtFolders(): Promise<void> {
    const folders = (vscode.workspace.workspaceFolders ?? []).filter(({ uri }) => uri.scheme === "file");
    const found = await Promise.all(folders.map(({ uri }) => isGoverned(uri.fsPath)));
    this.governed = found.filter(Boolean).length;
    this.show();
  }

  private serverIs(condition: Condition): void {
    if (condition === "running") void this.follow();
    else if (condition !== "starting") this.known.clear();
    this.show();
  }

  /** Asks once for a workspace that nothing is known of. */
  private async follow(): Promise<void> {
    if (this.server.condition === "running" && here() && !this.current) {
      try {
        const status = await this.server.ask<Status>("intent.status", {});
        this.known.set(status.root, status);
      } catch {
        // Outside every workspace there is no state to show.
      }
    }
    this.show();
  }

  private show(): void {
    const status = this.current;
    const set = (key: string, value: unknown) => void vscode.commands.executeCommand("setContext", key, value);
    const { reading } = this;
    set("intent.governed", status !== undefined);
    set("intent.reading", reading !== "");
    set("intent.selected", status?.selection !== null && status !== undefined);
    set("intent.waiting", (status?.waiting ?? 0) > 0);
    this.changed.fire(status);
    if (status) {
      this.item.text = text(status);
      this.item.tooltip = tooltip(status);
      this.item.command = "intent.editor.select";
      this.item.backgroundColor = background(status);
      return this.item.show();
    }
    if (!reading) return this.item.hide();
    this.item.text = `$(loading~spin) ${reading}`;
    this.item.tooltip = "Until then nothing is known about the code";
    this.item.command = undefined;
    this.item.backgroundColor = undefined;
    this.item.show();
  }
}

async function isGoverned(folder: string): Promise<boolean> {
  const stat = await fs.stat(path.join(folder, ".orchestration")).catch(() => undefined);
  return stat?.isDirectory() ?? false;
}

function text(status: Status): string {
  const parts = [`$(target) ${status.selection ?? "no intent"}`];
  if (status.errors) parts.push(`$(error) ${status.errors}`);
  if (status.warnings) parts.push(`$(warning) ${status.warnings}`);
  if (status.waiting) parts.push(`$(bell-dot) ${status.waiting}`);
  if (status.off) parts.push("$(circle-slash) gate off");
  return parts.join("  ");
}

function openWords(status: Status): string {
  return status.head && status.open_records ? ` · ${count(status.open_records, "record")} in no commit` : "";
}

function background(status: Status): vscode.ThemeColor | undefined {
  if (status.errors) return new vscode.ThemeColor("statusBarItem.errorBackground");
  if (status.waiting || status.off) return new vscode.ThemeColor("statusBarItem.warningBackground");
  return undefined;
}

/** What is wrong first, where, what to do, and how much else there is. */
function wrongWords({ errors, warnings, worst }: Status): string[] {
  if (!worst) return ["Nothing is wrong here"];
  const place = worst.path ? ` (${worst.path}${worst.start_line ? `:${worst.start_line}` : ""})` : "";
  const others = errors + warnings - 1;
  const more = others ? `${count(others, "more problem")} · ` : "";
  return [`$(${errors ? "error" : "warning"}) ${markdown(worst.message + place)}`, markdown(worst.help), `${more}[Show the Problems](command:${PROBLEMS})`].filter(Boolean);
}

function tooltip(status: Status): vscode.MarkdownString {
  const { selected, selection } = status;
  const lines = [
    selected
      ? `**${markdown(selected.id)} ${markdown(selected.name)}** · ${markdown(statusName(selected.status))}`
      : selection
        ? `**${markdown(selection)}** is selected, and the registry does not hold it`
        : "No intent is selected",
  ];
  if (status.older_registry) lines.push(`$(warning) ${markdown(status.older_registry)}`);
  if (status.waiting) lines.push(`$(bell-dot) ${waitingWords(status.waiting)}`);
  if (status.off) lines.push(`$(circle-slash) The gate is off until ${markdown(status.off.until)}`);
  lines.push(...wrongWords(status));
  if (status.git_hooks === false) lines.push("$(info) Commits carry no records · [Install the Hooks](command:intent.editor.gitHooks)");
  lines.push(`${count(status.intents, "intent")}, ${status.in_progress} in progress${openWords(status)}`);
  const shown = new vscode.MarkdownString(lines.join("\n\n"), true);
  shown.supportThemeIcons = true;
  shown.isTrusted = { enabledCommands: ["intent.editor.gitHooks", PROBLEMS] };
  return shown;
}
