// The words for the server's answers, the same as in its own lenses. Plain data in, plain text out.

import type { Block, Contributor, LineRun, Share, Verdict } from "./answers";

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

export function count(number: number, what: string, several = `${what}s`): string {
  return `${number} ${number === 1 ? what : several}`;
}

/** The value after the present one; the first after the last, and for one that is not among them. */
export function nextOf(values: string[], present: string): string {
  return values[(values.indexOf(present) + 1) % values.length] ?? present;
}

/** `2 days ago`; empty where there is no such time. */
export function ago(timestamp: string | null | undefined, now = Date.now()): string {
  const then = Date.parse(timestamp ?? "");
  if (Number.isNaN(then)) return "";
  const seconds = Math.max(0, Math.floor((now - then) / 1000));
  if (seconds < MINUTE) return "just now";
  if (seconds < HOUR) return `${count(Math.floor(seconds / MINUTE), "minute")} ago`;
  if (seconds < DAY) return `${count(Math.floor(seconds / HOUR), "hour")} ago`;
  const days = Math.floor(seconds / DAY);
  // As the server says it: weeks, months and years from two of them on.
  const [length, unit] = days < 14 ? [1, "day"] : days < 60 ? [7, "week"] : days < 730 ? [30, "month"] : [365, "year"];
  return `${count(Math.floor(days / Number(length)), String(unit))} ago`;
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

export function author(block: Block): string {
  return who(block.contributor, block.tool);
}

/** Who asked, and what for: `asked by @ada for REQ-001`. */
export function askedFor({ asked }: Block): string {
  const reasons = [...(asked?.tickets ?? []), ...(asked?.related_specs ?? [])].map(visible).join(", ");
  const by = asked?.owner ? `asked by ${visible(asked.owner)}` : "";
  return [by, reasons && `for ${reasons}`].filter(Boolean).join(" ");
}

/** Who brought how many lines: `3 lines INT-001, 1 line git: Ada abc1234567`; empty where one intent brought all. */
export function shares({ shares = [] }: Block): string {
  const whose = ({ intent, commit, uncommitted, history_missing }: Share) => {
    if (intent) return visible(intent);
    if (uncommitted) return "not committed";
    if (history_missing) return "history is missing here";
    return commit ? `git: ${visible(commit.author)} ${visible(commit.id.slice(0, 10))}` : "no intent";
  };
  if (shares.length === 1 && shares[0]?.intent) return "";
  return shares.map((share) => `${count(share.lines, "line")} ${whose(share)}`).join(", ");
}

/** The commit that brought it, its author and its subject. */
export function commitOf({ commit, uncommitted }: Block): string {
  if (commit) return `${visible(commit.id.slice(0, 10))} ${visible(commit.author)}: ${visible(commit.subject)}`;
  return uncommitted ? "in no commit yet" : "";
}

/** What the commit of a block without a record tells, with the word of its strength; empty where a record names the intent. */
export function ofCommit({ origin }: Block): string {
  if (!origin) return "";
  const { commit, intent, known_by } = origin;
  const strength = known_by === "inferred" ? "inferred from the commit" : "the commit says";
  const git = `git says: ${visible(commit.id.slice(0, 10))} ${visible(commit.author)}: ${visible(commit.subject)}`;
  return [intent && `${strength}: ${titleOf(intent)}`, git].filter(Boolean).join(" · ");
}

/** Which lines are whose: `lines 15–31 INT-001, 32 no record`; empty where all have one owner. */
export function lines({ lines }: Block): string {
  const owner = ({ from, state }: LineRun) => {
    if (from) return from.intent ? visible(from.intent) : "a record without an intent";
    return state === "history_missing" ? "history is missing here" : "no record";
  };
  const runs: { start: number; end: number; owner: string }[] = [];
  for (const run of lines?.runs ?? []) {
    const last = runs.at(-1);
    if (last?.owner === owner(run) && last.end + 1 === run.start) last.end = run.end;
    else runs.push({ start: run.start, end: run.end, owner: owner(run) });
  }
  if (new Set(runs.map((run) => run.owner)).size < 2) return "";
  return `lines ${runs.map(({ start, end, owner }) => `${start === end ? start : `${start}–${end}`} ${owner}`).join(", ")}`;
}

/** What other tools claim about lines without a record, each with the word of its strength. */
export function claims({ claims = [] }: Block): string[] {
  return claims.map(({ lines, tool, agent, model, human }) => {
    const writer = [agent, model].flatMap((part) => (part ? [visible(part)] : [])).join(" with ");
    const person = human ? visible(human) : "";
    const by = writer && person ? `${writer}, for ${person}` : writer || person || "an agent";
    return `${tool === "transcript" ? "inferred" : "claimed"} by ${visible(tool)}: ${by}, ${count(lines, "line")}`;
  });
}

/** Who brought the lines that are newer than the record: `since then 1 line by Ada (no record)`; empty where there are none. */
export function newer({ newer: lines, newer_by = [] }: Block): string {
  if (!lines) return "";
  const authors = newer_by.flatMap(({ author }) => (author ? [visible(author)] : []));
  const uncommitted = newer_by.some((one) => one.uncommitted) ? "not committed yet" : "";
  const by = authors.length ? ` by ${[authors.join(", "), uncommitted].filter(Boolean).join(" and ")}` : uncommitted && `, ${uncommitted}`;
  return `since then ${count(lines, "line")}${by} (no record)`;
}

/** How many lines of a modified block nobody recorded; empty where there are none. */
export function changed(block: Block): string {
  return block.verdict === "modified" && block.newer ? count(block.newer, "line") : "";
}

/** What differs from the record, as the lens says it; empty where nothing does. */
export function difference(block: Block): string {
  const owners = block.candidates.map(({ intent }) => visible(intent ?? "no intent")).join(" and ");
  const tie = owners && `${owners} brought half of the lines each`;
  if (block.accepted) return tie ? `${tie}, accepted` : "accepted";
  switch (block.verdict) {
    case "exact":
    case "unrecorded":
      return "";
    case "modified":
      if (block.only_inside) return "";
      if (!block.newer && !block.cut) return "modified";
      return `modified, ${changed(block) || "lines removed"} since`;
    case "ambiguous":
      return tie;
    default:
      return block.verdict;
  }
}

/** The one word, with how much where that is known. */
export function verdict(block: Block): string {
  return difference(block) || block.verdict;
}

const MEANINGS: Record<Verdict, string> = {
  exact: "as recorded",
  reformatted: "as recorded, but for layout and comments",
  renamed: "as recorded, but for names that changed throughout",
  moved: "as recorded, in another place",
  modified: "changed since, by nobody that is recorded",
  ambiguous: "two intents brought half of its lines each",
  unrecorded: "no intent brought half of its lines",
};

export function meaning(block: Block): string {
  if (block.verdict === "modified" && block.only_inside) return "its own text is as recorded; blocks inside it differ";
  if (block.verdict === "modified" && !block.newer) return block.cut ? "lines were removed since" : "changed since it was recorded";
  if (block.verdict === "unrecorded" && block.history_missing) return "history is missing here";
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
