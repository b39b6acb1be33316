import assert from "node:assert/strict";
import test from "node:test";
import type { Block } from "../src/answers";
import { acceptedBy, ago, changed, claims, difference, lines, markdown, newer, ofCommit, shares, shorten, visible, who } from "../src/words";

test("ages are told as the server tells them", () => {
  const now = Date.parse("2026-11-22T12:00:00Z");
  for (const [then, said] of [
    ["2026-11-22T11:59:30Z", "just now"],
    ["2026-11-22T11:59:00Z", "1 minute ago"],
    ["2026-11-22T10:00:00Z", "2 hours ago"],
    ["2026-11-12T12:00:00Z", "10 days ago"],
    ["2026-11-08T12:00:00Z", "2 weeks ago"],
    ["2026-09-01T12:00:00Z", "2 months ago"],
    ["2024-11-01T12:00:00Z", "2 years ago"],
    ["2027-01-01T00:00:00Z", "just now"],
    ["yesterday", ""],
  ] as const) {
    assert.equal(ago(then, now), said, then);
  }
});

test("nobody is guessed", () => {
  assert.equal(who({ entity_type: "UNKNOWN" }), "unknown author");
  assert.equal(who({ entity_type: "AI", model_identifier: "vendor/model" }, "intent"), "model");
  assert.equal(who({ entity_type: "MIXED" }, null), "a person and AI");
  assert.equal(who(null), "");
  assert.equal(who({ entity_type: "HUMAN", name: "Ada" }, "intent"), "Ada");
  assert.equal(who({ entity_type: "HUMAN" }), "a person");
  assert.equal(acceptedBy({ entity_type: "HUMAN", name: "Ada" }), "accepted by Ada");
  assert.equal(acceptedBy({ entity_type: "UNKNOWN", name: "Ada" }), "accepted by somebody unknown");
});

test("a difference says how many lines nobody recorded", () => {
  const block = (more: Partial<Block> = {}) => ({ verdict: "modified", candidates: [], ...more }) as unknown as Block;
  assert.equal(changed(block({ newer: 1 })), "1 line");
  assert.equal(changed(block()), "");
  assert.equal(difference(block({ newer: 3 })), "modified, 3 lines since");
  assert.equal(difference(block()), "modified");
  assert.equal(difference(block({ cut: true })), "modified, lines removed since");
  assert.equal(difference(block({ newer: 3, only_inside: true })), "");
  const accepted = { contributor: { entity_type: "HUMAN" }, timestamp: "2026-11-22T12:00:00Z", record: "r" };
  assert.equal(difference(block({ newer: 3, accepted })), "accepted");
  const candidates = ["INT-001", "INT-002"].map((intent) => ({ record: intent, kind: "mutation", intent }));
  assert.equal(difference(block({ verdict: "ambiguous", candidates })), "INT-001 and INT-002 brought half of the lines each");
  assert.equal(difference(block({ verdict: "exact", candidates, accepted })), "INT-001 and INT-002 brought half of the lines each, accepted");
});

test("each line is somebody's, or nobody's", () => {
  const block = (...shares: object[]) => ({ shares }) as unknown as Block;
  const commit = { id: "0123456789abcdef", author: "Ada" };
  assert.equal(shares(block({ lines: 3, intent: "INT-001" })), "");
  assert.equal(shares(block({ lines: 3, intent: "INT-001" }, { lines: 1, commit })), "3 lines INT-001, 1 line git: Ada 0123456789");
  assert.equal(shares(block({ lines: 2, uncommitted: true })), "2 lines not committed");
  const missing = { lines: 2, history_missing: true };
  assert.equal(shares(block(missing, { lines: 1, commit })), "2 lines history is missing here, 1 line git: Ada 0123456789");
});

test("what is not recorded is told by the word of its strength", () => {
  const block = (more: object) => more as unknown as Block;
  assert.equal(newer(block({ newer: 1, newer_by: [{ lines: 1, author: "Ada" }] })), "since then 1 line by Ada (no record)");
  assert.equal(newer(block({ newer: 2, newer_by: [{ lines: 2, uncommitted: true }] })), "since then 2 lines, not committed yet (no record)");
  assert.equal(newer(block({ newer: 0 })), "");
  const run = (start: number, end: number, intent?: string) => ({ start, end, state: intent ? "as_recorded" : "unrecorded", from: intent ? { intent } : null });
  const runs = [run(15, 20, "INT-001"), run(21, 31, "INT-001"), run(32, 32)];
  assert.equal(lines(block({ lines: { runs } })), "lines 15–31 INT-001, 32 no record");
  assert.equal(lines(block({ lines: { runs: runs.slice(0, 2) } })), "");
  const commit = { id: "0123456789abcdef", author: "Ada", subject: "auth: sign in" };
  assert.equal(ofCommit(block({ origin: { commit, known_by: "git" } })), "git says: 0123456789 Ada: auth: sign in");
  const inferred = { commit, known_by: "inferred", intent: { id: "INT-001", name: "Sign in" } };
  assert.equal(ofCommit(block({ origin: inferred })), "inferred from the commit: INT-001 Sign in · git says: 0123456789 Ada: auth: sign in");
  assert.deepEqual(claims(block({ claims: [{ lines: 2, tool: "git-ai", agent: "codex" }] })), ["claimed by git-ai: codex, 2 lines"]);
  const found = { lines: 1, tool: "transcript", agent: "claude", model: "opus", human: "Ada" };
  assert.deepEqual(claims(block({ claims: [found] })), ["inferred by transcript: claude with opus, for Ada, 1 line"]);
});

test("texts of others mean themselves", () => {
  assert.equal(markdown("[x](command:y) $(zap) `a`"), "\\[x\\]\\(command:y\\) \\$\\(zap\\) \\`a\\`");
  assert.equal(visible("a\u0007\u200bb\r\n c"), "aU+0007U+200Bb  c");
  assert.equal(shorten("abcdef", 4), "abc…");
});
