// The words for the server's answers, the same as in its own lenses. Plain data in, plain text out.

import type { Block, Contributor, Verdict } from "./answers";

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Text as a person may see it: on one line, with what cannot be seen or turns the line around spelt out. */
export function visible(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, (odd) =>
    /^[\t\r\n ]+$/.test(odd) ? " " : [...odd].map((one) => `U+${code(one)}`).join(""),
  );
}

function code(character: string): string {
  return (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
}

export function shorten(text: string, most: number): string {
  const letters = [...text];
  return letters.length <= most ? text : `${letters.slice(0, most - 1).join("")}…`;
}

/** Text in Markdown that means itself. */
export function markdown(text: string): string {
  return visible(text).replace(/[\\`*_{}[\]()#+\-.!|<>&~$]/g, "\\$&");
}

export function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? "" : "s"}`;
}

/** `2 days ago`; empty where there is no such time. */
export function ago(timestamp: string | null | undefined, now = Date.now()): string {
  const then = Date.parse(timestamp ?? "");
  if (Number.isNaN(then)) return "";
  const seconds = Math.max(0, Math.floor((now - then) / 1000));
  if (seconds < MINUTE) return "just now";
  if (seconds < HOUR) return `${count(Math.floor(seconds / MINUTE), "minute")} ago`;
  if (seconds < DAY) return `${count(Math.floor(seconds / HOUR), "hour")} ago`;
  return `${count(Math.floor(seconds / DAY), "day")} ago`;
}

/** `2026-11-22 13:23 UTC`. */
export function moment(timestamp: string | null | undefined): string {
  const found = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)/.exec(timestamp ?? "");
  return found ? `${found[1]} ${found[2]} UTC` : "";
}

/** Who wrote, as far as the record says: a person by the name that git has, an AI by its tool or model; never a guess. */
export function who(contributor: Contributor | null | undefined, tool?: string | null): string {
  if (!contributor) return "";
  // The tool is named `intent` if a person or a script ran the command line. That says nothing about the author.
  const named = tool && tool !== "intent" ? tool : contributor.model_identifier?.split("/").pop();
  const agent = named ? visible(named) : "";
  const person = contributor.name ? visible(contributor.name) : "a person";
  switch (contributor.entity_type) {
    case "AI":
      return agent || "AI";
    case "HUMAN":
      return person;
    case "MIXED":
      return `${person} and ${agent || "AI"}`;
    default:
      return "unknown author";
  }
}

/** Who accepted a block. Without a terminal nobody knows whether a person did. */
export function acceptedBy(contributor: Contributor | null | undefined): string {
  const name = contributor?.name ? visible(contributor.name) : "a person";
  return `accepted by ${contributor?.entity_type === "UNKNOWN" ? "somebody unknown" : name}`;
}

/** Whether the last word on a block is a person's acceptance, which says nothing of who wrote it. */
export function isAccepted(block: Block): boolean {
  const last = block.lineage[0];
  return last?.type === "record" && last.kind === "ack";
}

export function author(block: Block): string {
  return isAccepted(block) ? "accepted" : who(block.contributor, block.tool);
}

/** Who asked, and what for: `asked by @ada for REQ-001`. */
export function askedFor({ asked }: Block): string {
  const reasons = [...(asked?.tickets ?? []), ...(asked?.related_specs ?? [])].map(visible).join(", ");
  const by = asked?.owner ? `asked by ${visible(asked.owner)}` : "";
  return [by, reasons && `for ${reasons}`].filter(Boolean).join(" ");
}

/** How much of the block its record brought; empty where that is all, or not known. */
export function brought({ brought }: Block): string {
  return brought && brought.lines < brought.of ? `brought ${brought.lines} of ${brought.of} lines` : "";
}

/** The commit that brought it, its author and its subject. */
export function commitOf({ commit, uncommitted }: Block): string {
  if (commit) return `${visible(commit.id.slice(0, 10))} ${visible(commit.author)}: ${visible(commit.subject)}`;
  return uncommitted ? "in no commit yet" : "";
}

/** The share of a modified block that is not what was recorded, in per cent; never nothing and never all. */
export function changed(block: Block): number | undefined {
  if (block.kept === null) return undefined;
  return Math.min(99, Math.max(1, Math.round((1 - block.kept) * 100)));
}

/** What differs from the record, as the lens says it; empty where nothing does. */
export function difference(block: Block): string {
  const moved = block.place === "moved" && block.verdict !== "moved" ? "moved" : "";
  return [differs(block), moved].filter(Boolean).join(", ");
}

function differs(block: Block): string {
  switch (block.verdict) {
    case "exact":
    case "unrecorded":
      return "";
    case "modified":
      if (block.only_inside) return "";
      return changed(block) === undefined ? "modified" : `modified ${changed(block)} %`;
    case "ambiguous":
      return `${block.candidates.length} records fit`;
    default:
      return block.verdict;
  }
}

/** The one word, with how much where that is known. */
export function verdict(block: Block): string {
  return differs(block) || block.verdict;
}

const MEANINGS: Record<Verdict, string> = {
  exact: "as recorded",
  reformatted: "as recorded, but for layout and comments",
  renamed: "as recorded, but for names that changed throughout",
  moved: "as recorded, in another place",
  modified: "changed since, and no record covers the change",
  ambiguous: "several records fit equally well",
  unrecorded: "no record names it",
};

export function meaning(block: Block): string {
  if (block.verdict === "modified" && block.only_inside) return "its own text is as recorded; blocks inside it differ";
  return MEANINGS[block.verdict] ?? "";
}

export function titleOf(intent: { id: string; name?: string | null }): string {
  return [visible(intent.id), shorten(visible(intent.name ?? ""), 60)].filter(Boolean).join(" ");
}

const STATUSES: Record<string, string> = {
  DRAFT: "draft",
  PENDING: "pending",
  IN_PROGRESS: "in progress",
  BLOCKED: "blocked",
  COMPLETED: "completed",
  ARCHIVED: "archived",
};

export function statusName(status: string | null | undefined): string {
  if (!status) return "no known status";
  return STATUSES[status] ?? visible(status);
}

const KINDS: Record<string, string> = {
  mutation: "changed",
  approval: "approved",
  selection: "selected",
  registry: "registry",
};

export function kindOf(step: { kind: string }): string {
  return KINDS[step.kind] ?? visible(step.kind);
}
