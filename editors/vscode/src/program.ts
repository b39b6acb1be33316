// Runs `intent` for what a person does in a terminal, and for what only the command line can do. It runs only in a
// trusted workspace, by the absolute path that was found, and never through a shell.

import { execFile, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import * as vscode from "vscode";
import type { Server } from "./server";

const LONGEST = 60_000;
const MOST = 64 * 1024 * 1024;

function programOf(server: Server): string {
  if (!vscode.workspace.isTrusted) throw new Error("this workspace is not trusted, so no program is run in it");
  if (!server.program) throw new Error("no `intent` program was found");
  return server.program;
}

/** What a command printed. Exit code 1 is an answer, too: it has something to say. */
export function output(server: Server, args: string[], cwd: string): Promise<string> {
  const program = programOf(server);
  return new Promise((resolve, reject) => {
    execFile(program, args, { cwd, timeout: LONGEST, maxBuffer: MOST, windowsHide: true }, (error, printed, complaint) => {
      if (!error || error.code === (1 as unknown)) return resolve(printed);
      reject(new Error(said(printed) ?? (complaint.trim() || error.message)));
    });
  });
}

/** Takes what a command prints line by line: for answers that are too long to be held. */
export async function lines(server: Server, args: string[], cwd: string, take: (line: string) => void): Promise<void> {
  const running = spawn(programOf(server), args, { cwd, timeout: LONGEST, windowsHide: true, stdio: ["ignore", "pipe", "ignore"] });
  const ended = new Promise<number | null>((resolve, reject) => running.once("close", resolve).once("error", reject));
  const [code] = await Promise.all([
    ended,
    (async () => {
      for await (const line of createInterface({ input: running.stdout })) take(line);
    })(),
  ]);
  if (code !== 0) throw new Error(`intent ${args[0] ?? ""} ended with ${code ?? "a signal"}`);
}

/** The message of an error that was printed as JSON. */
function said(printed: string): string | undefined {
  try {
    const error = (JSON.parse(printed) as { error?: { message: string; help?: string } }).error;
    return error && [error.message, error.help].filter(Boolean).join(". ");
  } catch {
    return undefined;
  }
}

/** Runs a command in a terminal where a person can read and answer; it stays open at the end. */
export function inTerminal(server: Server, args: string[], cwd: string): Promise<number | undefined> {
  return task(`intent ${args[0] ?? ""}`, programOf(server), args, cwd);
}

/** The exit code of a program in a terminal of its own. */
export async function task(name: string, program: string, args: string[], cwd: string): Promise<number | undefined> {
  const run = new vscode.Task({ type: "intent" }, vscode.TaskScope.Workspace, name, "Intent", new vscode.ProcessExecution(program, args, { cwd }));
  run.presentationOptions = { reveal: vscode.TaskRevealKind.Always, focus: true, panel: vscode.TaskPanelKind.Dedicated, clear: true };
  const execution = await vscode.tasks.executeTask(run);
  return new Promise((resolve) => {
    const over = vscode.tasks.onDidEndTaskProcess((event) => {
      if (event.execution !== execution) return;
      over.dispose();
      resolve(event.exitCode);
    });
  });
}
