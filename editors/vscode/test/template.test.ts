import assert from "node:assert/strict";
import test from "node:test";
import type { Block } from "../src/answers";
import { render, unknownTokens } from "../src/template";

const NOW = Date.parse("2026-11-22T12:00:00Z");

function block(change: Partial<Block> = {}): Block {
  return {
    kind: "method",
    name: "verify",
    qualified_name: "AuthMiddleware.verify",
    start_line: 6,
    end_line: 10,
    verdict: "exact",
    intent: { id: "INT-001", name: "JWT Authentication Migration", status: "IN_PROGRESS" },
    contributor: { entity_type: "AI", model_identifier: "example/model-1" },
    timestamp: "2026-11-20T11:00:00Z",
    record: "r",
    tool: "claude-code",
    strength: "declared",
    lineage: [{ record: "r", kind: "mutation" }],
    candidates: [],
    ...change,
  };
}

const DEFAULT = "${intent} ${name} · ${who} · ${when} · ${verdict}";

test("the default template says intent, author, age and verdict", () => {
  assert.equal(render(DEFAULT, block(), NOW), "INT-001 JWT Authentication Migration · claude-code · 2 days ago · exact");
  assert.equal(render(DEFAULT, block({ verdict: "modified", newer: 2 }), NOW), "INT-001 JWT Authentication Migration · claude-code · 2 days ago · modified, 2 lines since");
});

test("a part with nothing to say is left out", () => {
  assert.equal(render(DEFAULT, block({ intent: null, timestamp: null }), NOW), "claude-code · exact");
  assert.equal(render("${intent} · by ${who} · ${difference}", block({ contributor: null }), NOW), "INT-001");
  assert.equal(render("${who}", block({ contributor: null }), NOW), "");
  assert.equal(render("no tokens", block(), NOW), "no tokens");
});

test("an unknown token is named once and stays as typed", () => {
  assert.deepEqual(unknownTokens("${intent} ${colour} ${colour} ${toString}"), ["colour", "toString"]);
  assert.equal(render("${intent} ${colour}", block(), NOW), "INT-001 ${colour}");
  assert.deepEqual(unknownTokens(DEFAULT), []);
});

test("what cannot be seen is spelt out", () => {
  assert.equal(render("${name}", block({ intent: { id: "X", name: "a\u202eb\nc", status: null } }), NOW), "aU+202Eb c");
});
