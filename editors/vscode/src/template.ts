// Templates for the text at the end of a line: `${intent} ${name} · ${who}`. An empty part between two ` · ` is left
// out, so a template need not know what a record contains.

import type { Block } from "./answers";
import { ago, author, changed, difference, moment, statusName, verdict, visible } from "./words";

const SEPARATOR = " · ";
const TOKEN = /\$\{([^}]*)\}/g;

const VALUES: Record<string, (block: Block, now: number) => string> = {
  intent: (block) => block.intent?.id ?? "",
  name: (block) => block.intent?.name ?? "",
  status: (block) => (block.intent?.status ? statusName(block.intent.status) : ""),
  who: (block) => author(block),
  model: (block) => block.contributor?.model_identifier ?? "",
  tool: (block) => block.tool ?? "",
  when: (block, now) => ago(block.timestamp, now),
  date: (block) => moment(block.timestamp),
  verdict: (block) => verdict(block),
  difference: (block) => difference(block),
  changed: (block) => changed(block),
  evidence: (block) => block.strength ?? "",
  block: (block) => block.qualified_name,
  kind: (block) => block.kind,
  records: (block) => String(block.lineage.length),
};

/** The tokens that there are. */
export const TOKENS = Object.keys(VALUES);

/** What a template names that nobody knows, each once. */
export function unknownTokens(template: string): string[] {
  const named = [...template.matchAll(TOKEN)].map((found) => found[1] ?? "");
  return [...new Set(named)].filter((name) => !Object.hasOwn(VALUES, name));
}

/** The line for a block. An unknown token stays as it was typed. */
export function render(template: string, block: Block, now = Date.now()): string {
  const parts = template.split(SEPARATOR).map((part) => renderPart(part, block, now));
  return parts.filter(Boolean).join(SEPARATOR);
}

function renderPart(part: string, block: Block, now: number): string {
  let tokens = 0;
  let said = 0;
  const text = part.replace(TOKEN, (typed, name: string) => {
    const value = Object.hasOwn(VALUES, name) ? VALUES[name] : undefined;
    tokens += 1;
    const words = value ? visible(value(block, now)) : typed;
    if (words) said += 1;
    return words;
  });
  return tokens > 0 && said === 0 ? "" : text.replace(/ {2,}/g, " ").trim();
}
