import assert from "node:assert/strict";
import test from "node:test";
import type { Block } from "../src/answers";
import { COLOURS, Palette, stripes } from "../src/palette";

const block = (start_line: number, end_line: number, id: string | null, tool?: string) =>
  ({ start_line, end_line, intent: id && { id, name: null }, record: id && "r", tool, contributor: tool && { entity_type: "AI" } }) as unknown as Block;

test("an inner block has its own colour, and what nobody recorded has none", () => {
  const blocks = [block(1, 6, "INT-001", "codex"), block(3, 4, "INT-002", "gemini-cli"), block(5, 5, null), block(8, 9, "INT-001", "gemini-cli")];
  assert.deepEqual(stripes(blocks, "intent"), [
    { start: 0, end: 1, owner: "INT-001" },
    { start: 2, end: 3, owner: "INT-002" },
    { start: 5, end: 5, owner: "INT-001" },
    { start: 7, end: 8, owner: "INT-001" },
  ]);
  assert.deepEqual(stripes(blocks, "contributor").map(({ owner }) => owner), ["codex", "gemini-cli", "codex", "gemini-cli"]);
  assert.deepEqual(stripes(blocks, "off"), []);
});

test("what only a commit tells has no colour", () => {
  assert.deepEqual(stripes([{ ...block(1, 2, "INT-001"), record: null }], "intent"), []);
});

test("an owner keeps its colour, and colours come round", () => {
  const palette = new Palette();
  const given = ["a", "b", "a"].map((owner) => palette.of(owner));
  assert.deepEqual(given, [0, 1, 0]);
  for (let more = 0; more < COLOURS.length; more += 1) palette.of(`more ${more}`);
  assert.equal(palette.of("more 6"), 0);
});
