// How intents are put in groups, filtered and told in a row. Plain data in, plain data out.

import type { Intent } from "./answers";
import { count, statusName, visible } from "./words";

/** The states in the order of the tree: what somebody works on comes first. */
const STATES = ["IN_PROGRESS", "BLOCKED", "PENDING", "DRAFT", "COMPLETED", "ARCHIVED"];

const SOURCES: Record<string, string> = {
  openspec: "OpenSpec",
  speckit: "Spec Kit",
  kiro: "Kiro",
  backlog: "Backlog.md",
  bmad: "BMAD",
  taskmaster: "Taskmaster",
  conductor: "Conductor",
  adr: "decision record",
};

/** What the tree shows. An empty set leaves everything. */
export interface Filter {
  states: ReadonlySet<string>;
  agents: ReadonlySet<string>;
}

export const NO_FILTER: Filter = { states: new Set(), agents: new Set() };

/** For each agent or person, the ids of the intents under which something of theirs was recorded. */
export type Authors = ReadonlyMap<string, ReadonlySet<string>>;

export interface Group {
  state: string;
  intents: Intent[];
}

export function isFiltered({ states, agents }: Filter): boolean {
  return states.size + agents.size > 0;
}

export function stateOf(intent: Intent): string {
  return intent.status ?? "";
}

/** `In progress`. */
export function stateName(state: string): string {
  const name = statusName(state);
  return name.charAt(0).toUpperCase() + name.slice(1);
}

/** What the filter is, in a few words: `in progress, by codex`. */
export function filterWords({ states, agents }: Filter): string {
  const by = agents.size ? `by ${[...agents].map(visible).join(" or ")}` : "";
  return [[...states].map(statusName).join(" or "), by].filter(Boolean).join(", ");
}

export function passes(intent: Intent, { states, agents }: Filter, authors: Authors): boolean {
  const isOfState = states.size === 0 || states.has(stateOf(intent));
  const isOfAgent = agents.size === 0 || [...agents].some((agent) => authors.get(agent)?.has(intent.id));
  return isOfState && isOfAgent;
}

/** The groups that are not empty. The intents of a group stay in their order. */
export function grouped(intents: Intent[]): Group[] {
  const groups = new Map<string, Intent[]>();
  for (const intent of intents) groups.set(stateOf(intent), [...(groups.get(stateOf(intent)) ?? []), intent]);
  const place = ({ state }: Group) => (STATES.includes(state) ? STATES.indexOf(state) : STATES.length);
  return [...groups].map(([state, intents]) => ({ state, intents })).sort((one, other) => place(one) - place(other));
}

/** Where the intent is kept, if not in the registry. */
export function sourceName({ source }: Intent): string {
  return source ? (SOURCES[source] ?? visible(source)) : "";
}

/** How far it is: `1 of 3 criteria`, which a passed test shows, `3 of 5 tasks`, `4 files`, `120 lines`. What is not known is left out. */
export function progress({ criteria, tasks, tasks_done, files, lines }: Intent): string[] {
  const shown = criteria && `${criteria.shown === null ? "" : `${criteria.shown} of `}${count(criteria.all, "criterion", "criteria")}`;
  const done = tasks && `${tasks_done ?? 0} of ${count(tasks, "task")}`;
  const made = files === 0 ? ["nothing yet"] : [files && count(files, "file"), lines && count(lines, "line")];
  return [shown, done, ...made].filter((part) => typeof part === "string");
}

/** Whether `intent start` may be offered: one of another format is adopted first. */
export function canStart(intent: Intent): boolean {
  return intent.status !== "IN_PROGRESS" && isOwn(intent);
}

export function canComplete(intent: Intent): boolean {
  return intent.status === "IN_PROGRESS" && isOwn(intent);
}

function isOwn({ source, owned_scope }: Intent): boolean {
  return !source || owned_scope.length > 0;
}
