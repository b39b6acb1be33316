import assert from "node:assert/strict";
import test from "node:test";
import type { Intent } from "../src/answers";
import { NO_FILTER, canComplete, canStart, filterWords, grouped, passes, progress, sourceName, stateName } from "../src/intents";

const intent = (id: string, status: string | null, more: Partial<Intent> = {}): Intent => ({ id, name: "", status, owned_scope: [], owner: null, selected: false, ...more });

test("intents stand by state, what is worked on first, each group in the order of the registry", () => {
  const all = [intent("A", "COMPLETED"), intent("B", "IN_PROGRESS"), intent("C", null), intent("D", "IN_PROGRESS"), intent("E", "BLOCKED")];
  const told = grouped(all).map(({ state, intents }) => `${stateName(state)}: ${intents.map(({ id }) => id).join(" ")}`);
  assert.deepEqual(told, ["In progress: B D", "Blocked: E", "Completed: A", "No known status: C"]);
});

test("progress says only what is known", () => {
  assert.deepEqual(progress(intent("A", null)), []);
  assert.deepEqual(progress(intent("A", null, { criteria: { shown: null, all: 3 } })), ["3 criteria"]);
  assert.deepEqual(progress(intent("A", null, { criteria: { shown: 1, all: 1 }, files: 1, lines: 120 })), ["1 of 1 criterion", "1 file", "120 lines"]);
  assert.deepEqual(progress(intent("A", null, { tasks: 5, files: 0, lines: 0 })), ["0 of 5 tasks", "nothing yet"]);
  assert.equal(sourceName(intent("A", null, { source: "speckit" })), "Spec Kit");
  assert.equal(sourceName(intent("A", null)), "");
});

test("a filter leaves intents of its states that one of its agents has worked under", () => {
  const authors = new Map([["codex", new Set(["A"])]]);
  const by = (...agents: string[]) => ({ ...NO_FILTER, agents: new Set(agents) });
  assert.ok(passes(intent("B", "DRAFT"), NO_FILTER, authors));
  assert.ok(passes(intent("A", "DRAFT"), by("codex", "gemini-cli"), authors));
  assert.ok(!passes(intent("B", "DRAFT"), by("codex"), authors));
  assert.ok(!passes(intent("A", "DRAFT"), { states: new Set(["IN_PROGRESS"]), agents: new Set(["codex"]) }, authors));
  assert.equal(filterWords({ states: new Set(["IN_PROGRESS", "BLOCKED"]), agents: new Set(["codex"]) }), "in progress or blocked, by codex");
});

test("an intent of another format is adopted before it is started", () => {
  assert.ok(canStart(intent("A", "DRAFT")) && !canStart(intent("A", "IN_PROGRESS")));
  assert.ok(!canStart(intent("openspec:a", "PENDING", { source: "openspec" })));
  assert.ok(canComplete(intent("openspec:a", "IN_PROGRESS", { source: "openspec", owned_scope: ["src/**"] })));
});
