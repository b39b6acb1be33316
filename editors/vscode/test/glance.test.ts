import assert from "node:assert/strict";
import test from "node:test";
import { textOf, textsAt } from "../src/glance";
import { nextOf } from "../src/words";

const glance = (short?: string) => ({ lines: [], ...(short === undefined ? {} : { short }) });

test("the command goes from off to line to all and back", () => {
  const values = ["off", "line", "all"];
  assert.deepEqual([...values, "odd"].map((value) => nextOf(values, value)), ["line", "all", "off", "off"]);
});

test("a line shows the server's words, and nothing if there are none", () => {
  assert.equal(textOf(glance("INT-006 · claude-code, 2 days"), false), "INT-006 · claude-code, 2 days");
  assert.equal(textOf(glance("git says: Ada, 2 days"), false), "git says: Ada, 2 days");
  assert.equal(textOf(glance("INT-006 · \u202eeve"), false), "INT-006 · U+202Eeve");
  assert.equal(textOf(glance(), false), "");
  assert.equal(textOf(undefined, false), "");
});

test("where a blame is shown, only recorded lines show something", () => {
  assert.equal(textOf(glance("INT-006 · claude-code, 2 days"), true), "INT-006 · claude-code, 2 days");
  assert.equal(textOf(glance("no intent · Ada, 2 days"), true), "no intent · Ada, 2 days");
  for (const unrecorded of ["git says: Ada, 2 days", "claimed by git-ai: codex · git says: Ada, 2 days", "not committed yet", "history is missing here"]) {
    assert.equal(textOf(glance(unrecorded), true), "");
  }
});

test("neighbours with the same text have it once, but the cursor's line always has it", () => {
  const texts = new Map([[5, "b"], [1, "a"], [2, "a"], [3, "a"], [4, ""], [6, "a"]]);
  assert.deepEqual(textsAt(texts, 2), [[1, "a"], [2, "a"], [5, "b"], [6, "a"]]);
  assert.deepEqual(textsAt(texts, 4), [[1, "a"], [5, "b"], [6, "a"]]);
});
