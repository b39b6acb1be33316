// The list in which a person chooses what the tree shows: states of intents, and agents or people.

import * as vscode from "vscode";
import type { Intent } from "./answers";
import { grouped, stateName } from "./intents";
import type { Authors, Filter } from "./intents";
import { count, visible } from "./words";

interface Row extends vscode.QuickPickItem {
  state?: string;
  agent?: string;
}

function separator(label: string): Row {
  return { label, kind: vscode.QuickPickItemKind.Separator };
}

/** The chosen filter, and the authors that it is about; undefined where a person closed the list. */
export async function pickFilter(intents: () => Promise<Intent[]>, authors: () => Promise<Authors>, chosen: Filter): Promise<{ filter: Filter; authors: Authors } | undefined> {
  let known: Authors = new Map();
  const rows = async (): Promise<Row[]> => {
    const [all, found] = await Promise.all([intents(), authors()]);
    known = found;
    const states = grouped(all).map(({ state, intents }) => ({ label: stateName(state), description: count(intents.length, "intent"), state, picked: chosen.states.has(state) }));
    const agents = [...found].sort(([one], [other]) => one.localeCompare(other));
    return [
      separator("state"),
      ...states,
      separator("who recorded something under it"),
      ...agents.map(([agent, ids]) => ({ label: visible(agent), description: count(ids.size, "intent"), agent, picked: chosen.agents.has(agent) })),
    ];
  };
  const picked = await vscode.window.showQuickPick(rows(), { title: "Which intents does the tree show?", placeHolder: "None ticked: all of them", canPickMany: true });
  if (!picked) return undefined;
  const filter = { states: new Set(picked.flatMap(({ state }) => state ?? [])), agents: new Set(picked.flatMap(({ agent }) => agent ?? [])) };
  return { filter, authors: known };
}
