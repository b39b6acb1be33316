// What the report holds, and the words for it. Everything of others is text: it reaches the page through `el` alone.

const report = JSON.parse(document.getElementById("data").textContent);

// By verdict: a sign, so that colour is never alone, and what the word means.
const VERDICTS = {
  exact: ["✓", "as recorded"],
  reformatted: ["≈", "as recorded but for formatting"],
  moved: ["→", "as recorded, elsewhere"],
  renamed: ["✎", "as recorded but for names"],
  inside: ["◦", "as recorded; changed are blocks inside it"],
  modified: ["△", "changed since it was recorded"],
  ambiguous: ["?", "several records fit equally well"],
  unrecorded: ["·", "no record speaks of it"],
};
const VERDICT_NAMES = Object.keys(VERDICTS);
const STANDING = ["exact", "reformatted", "moved", "renamed", "inside"];

const byId = (id) => document.getElementById(id);

/// An element. A string child becomes text; nothing is ever read as markup.
function el(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

function svg(tag, attributes = {}, ...children) {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== ""));
  return element;
}

/// A link to a place of this page, and to nowhere else.
function link(kind, value, ...children) {
  return el("a", { href: `#${kind}=${encodeURIComponent(value)}` }, ...children);
}

const counted = (count, noun) => `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;

/// `2026-02-18 12:00 UTC`; what cannot be read as a time is shown as it is written.
function when(written) {
  const time = new Date(written);
  return Number.isNaN(time.getTime()) ? written : `${time.toISOString().slice(0, 16).replace("T", " ")} UTC`;
}

function authorName(who) {
  const person = who.name ?? "a person";
  const kind = { AI: "AI", HUMAN: person, MIXED: `${person} and AI` }[who.entity_type] ?? "unknown author";
  return who.model_identifier ? `${kind} (${who.model_identifier})` : kind;
}

const authors = report.contributors.map(authorName);
const intents = new Map();
for (const intent of report.intents) if (!intents.has(intent.id)) intents.set(intent.id, intent);

const statusWord = (intent) => {
  if (intent && intent.in_registry === null) return "unknown";
  if (intent && !intent.in_registry) return "not in the registry";
  return intent?.status ? intent.status.toLowerCase().replaceAll("_", " ") : "no known status";
};
const intentName = (id) => intents.get(id)?.name ?? "";
const verdictOf = (block) => (block.verdict === "modified" && block.only_inside ? "inside" : block.verdict);
const sum = (numbers) => numbers.reduce((all, number) => all + number, 0);
const standing = (counts) => sum(STANDING.map((verdict) => counts[verdict]));
const total = (counts) => sum(VERDICT_NAMES.map((verdict) => counts[verdict]));

/// The blocks in a row, each with what it is found by.
const blocks = [];
for (const file of report.files) {
  file.first = blocks.length;
  for (const told of file.blocks) {
    const record = told.lineage?.[0]?.record ?? null;
    const author = record === null ? null : report.records[record].contributor;
    const verdict = verdictOf(told);
    const words = [file.path, told.name, told.kind, verdict, told.intent ?? "", intentName(told.intent), author === null ? "" : authors[author]];
    blocks.push({
      at: blocks.length, file, told, record, author, verdict,
      when: record === null ? "" : when(report.records[record].timestamp),
      text: words.join("\n").toLowerCase(),
    });
  }
  file.end = blocks.length;
}

/// What a block is linked by: its file, its name, and which of several alike.
const keys = (() => {
  const seen = new Map();
  return blocks.map(({ file, told }) => {
    const key = `${file.path}::${told.name}`;
    const number = (seen.get(key) ?? 0) + 1;
    seen.set(key, number);
    return number === 1 ? key : `${key}~${number}`;
  });
})();

/// What is looked for. `shown[at]` is 1 for the blocks that fit.
const filter = { query: "", intent: "", verdict: "", author: "" };
const shown = new Uint8Array(blocks.length).fill(1);
const isFiltered = () => Object.values(filter).some((value) => value !== "");
const terms = () => filter.query.toLowerCase().split(/\s+/).filter((term) => term !== "");

function applyFilter() {
  const wanted = terms();
  const author = filter.author === "" ? null : Number(filter.author);
  let fit = 0;
  for (const block of blocks) {
    const fits = (filter.intent === "" || (block.told.intent ?? "") === filter.intent.slice(1))
      && (filter.verdict === "" || block.verdict === filter.verdict)
      && (author === null || block.author === author)
      && wanted.every((term) => block.text.includes(term));
    shown[block.at] = fits ? 1 : 0;
    fit += fits ? 1 : 0;
  }
  return fit;
}

/// The blocks of a file that fit.
function* shownIn(file) {
  for (let at = file.first; at < file.end; at += 1) if (shown[at]) yield blocks[at];
}
