// The data of the report, and the words for it. Text that others wrote reaches the page only
// through `el`, which never reads it as markup.

const report = JSON.parse(document.getElementById("data").textContent);

// For each verdict, a sign, so that colour is never the only difference, and the meaning of the
// word.
const VERDICTS = {
  exact: ["✓", "as recorded"],
  reformatted: ["≈", "as recorded but for formatting"],
  moved: ["→", "as recorded, elsewhere"],
  renamed: ["✎", "as recorded but for names"],
  inside: ["◦", "as recorded; only blocks inside changed"],
  modified: ["△", "changed since it was recorded"],
  ambiguous: ["?", "two intents brought half of its lines each"],
  unrecorded: ["·", "no intent brought half of its lines"],
};
const VERDICT_NAMES = Object.keys(VERDICTS);
const STANDING = ["exact", "reformatted", "moved", "renamed", "inside"];

const byId = (id) => document.getElementById(id);

/// Makes an element. A child that is a string becomes text, and nothing is ever read as markup.
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

/// Makes a link to a place on this page. Links to other places are never made.
function link(kind, value, ...children) {
  return el("a", { href: `#${kind}=${encodeURIComponent(value)}` }, ...children);
}

const counted = (count, noun) => `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;

/// Formats a time as `2026-02-18 12:00 UTC`. A text that is not a time is returned unchanged.
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

/// All blocks of all files in one list, each with the lower-case text that the filter searches.
const blocks = [];
for (const file of report.files) {
  file.first = blocks.length;
  for (const told of file.blocks) {
    const record = told.record ?? null;
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

/// For each block, its key in links: the path, the name and, from the second block of that name on,
/// a number.
const keys = (() => {
  const seen = new Map();
  return blocks.map(({ file, told }) => {
    const key = `${file.path}::${told.name}`;
    const number = (seen.get(key) ?? 0) + 1;
    seen.set(key, number);
    return number === 1 ? key : `${key}~${number}`;
  });
})();

/// The current filter. `shown[at]` is 1 for each block that passes it.
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

/// Yields the blocks of a file that pass the filter.
function* shownIn(file) {
  for (let at = file.first; at < file.end; at += 1) if (shown[at]) yield blocks[at];
}
