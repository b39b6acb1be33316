"use strict";
// The page has two kinds of views: the overview, and one for each intent. Text that others wrote
// reaches the page only through `el`, which never reads it as markup.

const report = JSON.parse(document.getElementById("data").textContent);
const main = document.getElementById("main");

/// The kinds of contributors, in the order in which they are shown.
const KINDS = { AI: "agents", HUMAN: "people", MIXED: "agent and person together", UNKNOWN: "not known" };
const CRITERIA = {
  passed: ["✓", "shown at this commit"],
  passed_unclean: ["✓", "shown, with changes that are in no commit"],
  passed_elsewhere: ["✓", "shown at another commit"],
  failed: ["✗", "its command failed"],
  never_run: ["·", "not shown: its command never ran"],
  no_command: ["·", "not shown: it names no command, so a person judges it"],
};
const isShown = (criterion) => criterion.standing.startsWith("passed");
/// The order of intents in the overview, by status.
const STATUSES = ["IN_PROGRESS", "BLOCKED", "PENDING", "DRAFT", "COMPLETED", "ARCHIVED"];

/// Makes an element. A child that is a string becomes text, and nothing is ever read as markup.
function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== ""));
  return element;
}

/// Makes a link to a view of this page. Links to other places are never made.
const link = (kind, value, ...children) => el("a", { href: `#${kind}=${encodeURIComponent(value)}` }, ...children);

const number = (count) => count.toLocaleString("en");
const counted = (count, noun) => `${number(count)} ${noun}${count === 1 ? "" : "s"}`;
const sum = (numbers) => numbers.reduce((all, one) => all + one, 0);
const linesOf = (list) => sum(list.map((one) => one.lines));

/// Says a share as the command line does: rounded down, so that 100 % means all.
function percent(part, all) {
  const share = all === 0 ? 0 : Math.floor((100 * part) / all);
  return share === 0 && part > 0 ? "under 1\u00a0%" : `${share}\u00a0%`;
}

/// Says the parts of a whole as the command line does, so that they add up.
function percents(parts) {
  const all = sum(parts);
  const shares = parts.map((part) => Math.floor((100 * part) / Math.max(all, 1)));
  const small = parts.filter((part, at) => part > 0 && shares[at] === 0);
  const remainder = (at) => (100 * parts[at]) % all;
  const large = [...parts.keys()].filter((at) => shares[at] > 0).sort((one, other) => remainder(other) - remainder(one));
  for (const at of large.slice(0, Math.max(0, 100 - sum(shares) - small.length))) shares[at] += 1;
  return shares.map((share, at) => (share === 0 && parts[at] > 0 ? "under 1\u00a0%" : `${share}\u00a0%`));
}

/// Adds up lines by a key. The result is sorted, most lines first.
function linesBy(list, key) {
  const lines = new Map();
  for (const one of list) lines.set(key(one), (lines.get(key(one)) ?? 0) + one.lines);
  return [...lines].sort((one, other) => other[1] - one[1]);
}

function grouped(list, key) {
  const groups = new Map();
  for (const one of list) {
    if (!groups.has(key(one))) groups.set(key(one), []);
    groups.get(key(one)).push(one);
  }
  return groups;
}

const brought = grouped(report.brought, (one) => one.intent);
const findings = grouped(report.findings, (one) => one.intent);
const intents = new Map(report.intents.map((intent) => [intent.id, intent]));

/// Makes a bar of parts: the class of each, and its lines.
function bar(parts, wide) {
  const element = el("div", { class: wide ? "bar wide" : "bar", "aria-hidden": "true" });
  for (const [name, lines] of parts.filter(([, lines]) => lines > 0)) {
    const part = el("span", { class: `k-${name}` });
    part.style.flexGrow = lines;
    element.append(part);
  }
  return element;
}

/// Shows who brought these lines, as a bar and in words.
function byKind(list) {
  const lines = new Map(linesBy(list, (one) => one.contributor));
  const kinds = Object.keys(KINDS).filter((kind) => lines.has(kind));
  if (kinds.length === 0) return [];
  const shares = percents(kinds.map((kind) => lines.get(kind)));
  return [
    bar(kinds.map((kind) => [kind, lines.get(kind)])),
    kinds.map((kind, at) => `${KINDS[kind]} ${shares[at]}`).join(", "),
  ];
}

/// Makes a table. A head is a text, or a text and a class. A cell is a text, an element, or a list
/// of them.
function table(caption, heads, rows) {
  const columns = heads.map((head) => [head].flat());
  const style = ([, name]) => (name ? { class: name } : {});
  return el("table", {},
    el("caption", {}, caption),
    el("thead", {}, el("tr", {}, columns.map((column) => el("th", { scope: "col", ...style(column) }, column[0])))),
    el("tbody", {}, rows.map(([first, ...rest]) => el("tr", {},
      el("th", { scope: "row" }, first),
      rest.map((cell, at) => el("td", { "data-head": columns[at + 1][0], ...style(columns[at + 1]) }, cell))))));
}

const section = (title, ...children) => el("section", {}, el("h3", {}, title), ...children);
const list = (values) => el("ul", {}, values.map((value) => el("li", {}, value)));
const more = (all, some) => (all > some ? el("p", { class: "dim" }, `${number(all - some)} more are not listed.`) : "");

function statusOf(intent) {
  if (intent.in_registry === null) return "unknown";
  if (!intent.in_registry) return "not in the registry";
  return intent.status ? intent.status.toLowerCase().replaceAll("_", " ") : "no known status";
}

/// Says how many criteria were shown to hold: `2 of 3`.
function criteriaOf(all) {
  const criteria = all.flatMap((intent) => intent.criteria);
  return criteria.length === 0 ? "none" : `${criteria.filter(isShown).length} of ${criteria.length}`;
}

const gravest = (list) => list.filter(({ level }) => level === "error" || level === "warning");

// -- The overview

function figures() {
  const { summary } = report;
  const kinds = new Map(linesBy(report.brought, (one) => one.contributor));
  const all = Object.keys(KINDS).filter((kind) => kind === "AI" || kinds.has(kind));
  const shares = new Map(percents(all.map((kind) => kinds.get(kind) ?? 0)).map((share, at) => [all[at], share]));
  const others = all.filter((kind) => kind !== "AI");
  const byOthers = others.map((kind) => `, ${KINDS[kind]} ${shares.get(kind)}`).join("");
  const active = report.intents.filter((intent) => intent.status === "IN_PROGRESS").length;
  const figure = (name, value, words) => el("div", {}, el("dt", {}, name), el("dd", {}, el("b", {}, value), words));
  const criteria = report.intents.flatMap((intent) => intent.criteria);
  return el("dl", { class: "figures" },
    figure("Lines under an intent", percent(summary.under_intent, summary.lines), `${number(summary.under_intent)} of ${counted(summary.lines, "line")}`),
    figure("Written by agents", shares.get("AI"), `of ${counted(summary.recorded, "recorded line")}${byOthers}`),
    figure("Intents", number(report.intents.length), `${number(active)} in progress`),
    figure("Criteria shown", number(criteria.filter(isShown).length), `of ${number(criteria.length)}, by tests that passed`),
    figure("Errors, warnings", number(summary.errors + summary.warnings), `${counted(summary.errors, "error")}, ${counted(summary.warnings, "warning")}`),
    figure("Suspect lines", number(summary.suspect), "intent changed since"));
}

function coverage() {
  const { lines, recorded, unknown, under_intent: under, files } = report.summary;
  const parts = [["under", under, "under an intent"], ["without", recorded - under, "recorded without an intent"], ["none", lines - recorded - unknown, "without a record"], ["UNKNOWN", unknown, "unknown here"]];
  const legend = ([name, count, words]) => el("li", {}, el("span", { class: `dot k-${name}`, "aria-hidden": "true" }), `${words} ${number(count)}`);
  return section(`All ${counted(lines, "line")} of ${counted(files, "file")}`, bar(parts, true), el("ul", { class: "legend" }, parts.filter(([, count]) => count > 0).map(legend)));
}

function intentsTable() {
  if (report.intents.length === 0) return el("p", {}, report.unread_registry ? "The intents cannot be read." : "There are no intents yet: intent new makes one.");
  const place = ({ status }) => (STATUSES.indexOf(status) + STATUSES.length + 1) % (STATUSES.length + 1);
  const sorted = [...report.intents].sort((one, other) => place(one) - place(other) || other.lines - one.lines);
  const row = (intent) => [
    [link("intent", intent.id, intent.id || "(no id)"), ` ${intent.name ?? ""}`],
    statusOf(intent), number(intent.lines), byKind(brought.get(intent.id) ?? []), criteriaOf([intent]),
    number(gravest(findings.get(intent.id) ?? []).length), number(intent.suspect),
  ];
  const rows = sorted.map(row);
  const without = report.brought.filter((one) => !one.intent);
  if (without.length > 0) rows.push([el("span", { class: "dim" }, "recorded without an intent"), "", number(linesOf(without)), byKind(without), "", "", ""]);
  return table("Those in progress first, then by lines", ["Intent", ["Status", "s"], ["Lines", "n"], ["Written by", "w"], ["Criteria shown", "n"], ["Errors, warnings", "n"], ["Suspect lines", "n"]], rows);
}

/// How many intents are named for a month.
const NAMED = 5;

function months(list, last) {
  const byMonth = [...grouped(list, (one) => one.month ?? "unknown")].sort(([one], [other]) => (one < other ? 1 : -1));
  const row = ([month, ofMonth]) => [month, number(linesOf(ofMonth)), byKind(ofMonth), last[1](ofMonth)];
  return table("Lines that are still there, by the month in which they were recorded", ["Month", ["Lines", "n"], ["Written by", "w"], last[0]], byMonth.map(row));
}

function namedIntents(ofMonth) {
  const all = linesBy(ofMonth.filter((one) => one.intent), (one) => one.intent);
  const named = all.slice(0, NAMED).flatMap(([id, lines], at) => [at > 0 ? ", " : "", link("intent", id, id || "(no id)"), ` ${number(lines)}`]);
  return [...named, all.length > NAMED ? ` and ${number(all.length - NAMED)} more` : ""];
}

const namedContributors = (ofMonth) => linesBy(ofMonth, (one) => one.name).map(([name, lines]) => `${name} ${number(lines)}`).join(", ");

function findingsTable(list, caption) {
  const row = (finding) => [
    el("span", finding.level === "error" ? { class: "bad" } : {}, finding.level),
    el("code", {}, `${finding.path ?? "workspace"}${finding.start_line ? `:${finding.start_line}` : ""}`),
    [finding.message, el("div", { class: "dim" }, finding.help)],
  ];
  return table(caption, ["Level", "Where", "What, and what to do"], list.map(row));
}

/// Shows errors and warnings, and the others when they are asked for.
function findingsSection(all) {
  const grave = gravest(all);
  const others = all.filter((finding) => !grave.includes(finding));
  return section("Findings",
    grave.length > 0 ? findingsTable(grave, "Errors and warnings") : el("p", {}, el("span", { class: "good" }, "✓"), " No error and no warning."),
    others.length > 0 ? el("details", {}, el("summary", {}, `${counted(others.length, "finding")} of lower levels`), findingsTable(others, "Findings of lower levels")) : "");
}

function overview() {
  return [
    el("h2", {}, "What was asked for, and what came of it"), figures(), coverage(),
    section("Intents", intentsTable()),
    report.brought.length > 0 ? section("By month", months(report.brought, ["Intents and their lines", namedIntents])) : "",
    findingsSection(report.findings),
    report.notes.length > 0 ? section("Notes", list(report.notes)) : "",
  ];
}

// -- An intent

function intentView(intent) {
  const own = brought.get(intent.id) ?? [];
  const fact = (name, ...value) => (value.flat().every((part) => !part) ? [] : [el("dt", {}, name), el("dd", {}, ...value)]);
  const code = (values) => list(values.map((value) => el("code", {}, value)));
  const criterion = (one) => {
    const [sign, words] = CRITERIA[one.standing];
    const style = isShown(one) ? { class: "good" } : one.standing === "failed" ? { class: "bad" } : {};
    return [el("span", style, sign), ` ${one.criterion} `, el("span", { class: "dim" }, `(${words})`)];
  };
  return [
    el("p", { class: "back" }, el("a", { href: "#" }, "← All intents")),
    el("h2", { tabindex: "-1" }, `${intent.id || "(no id)"} ${intent.name ?? ""}`),
    el("dl", { class: "facts" },
      fact("Status", `${statusOf(intent)}${intent.selected ? ", selected here" : ""}`),
      fact("Asked for by", intent.owner ?? ""),
      fact("Serves", intent.related_specs.join(", ")),
      fact("Lines", intent.lines === 0 ? "nothing yet" : `${counted(intent.lines, "line")} in ${counted(intent.files, "file")}, ${percent(intent.lines, report.summary.lines)} of all lines`),
      fact("Written by", byKind(own)),
      fact("Criteria shown", criteriaOf([intent])),
      fact("Suspect", intent.suspect > 0 ? `${counted(intent.suspect, "line")}: the intent, or a specification, changed after they were written` : "")),
    intent.criteria.length > 0 ? section("Done when", el("ul", { class: "marked" }, intent.criteria.map((one) => el("li", {}, criterion(one))))) : "",
    intent.constraints.length > 0 ? section("Must hold", list(intent.constraints)) : "",
    own.length > 0 ? section("By month", months(own, ["Contributors and their lines", namedContributors])) : "",
    findingsSection(findings.get(intent.id) ?? []),
    intent.largest.length > 0 ? section("Files", table("The files with most of its lines", ["File", ["Lines", "n"]], intent.largest.map((file) => [el("code", {}, file.path), number(file.lines)])), more(intent.files, intent.largest.length)) : "",
    intent.suspects.length > 0 ? section("Suspect blocks", table("To read again: the reason for which they were written has changed", ["Block", ["Lines", "n"], "Why"],
      intent.suspects.map((one) => [[one.name, el("div", {}, el("code", {}, `${one.path}:${one.start_line}`))], number(one.lines), one.message])),
      linesOf(intent.suspects) < intent.suspect ? el("p", { class: "dim" }, "Only those with most lines are listed.") : "") : "",
    intent.owned_scope.length > 0 ? section("Scope", code(intent.owned_scope)) : "",
  ];
}

// -- Which view is shown

const name = `Intent report: ${report.workspace}`;
let shown = null;

/// Shows the view that the address names. `#intent=INT-001` is an intent; everything else is the
/// overview.
function show() {
  const hash = /^#intent=(.*)$/.exec(location.hash);
  let id = null;
  try {
    id = hash && decodeURIComponent(hash[1]);
  } catch {
    id = hash[1];
  }
  const intent = intents.get(id);
  const missing = id !== null && !intent ? el("p", { role: "alert", class: "bad" }, "There is no such intent in this report.") : "";
  main.replaceChildren(...(intent ? intentView(intent) : [missing, ...overview()]).filter((part) => part !== ""));
  document.title = intent ? `${intent.id} – ${name}` : name;
  if (shown !== null) {
    // The focus goes to the view, or back to the link by which it was left.
    const left = [...main.querySelectorAll("tbody a")].find((one) => one.textContent === shown.id);
    const target = intent ? main.querySelector("h2") : left;
    scrollTo(0, 0);
    target?.focus();
  }
  shown = intent ?? { id: null };
}

document.getElementById("workspace").textContent = report.workspace;
const time = `${report.generated.slice(0, 16).replace("T", " ")} UTC`;
document.getElementById("made").textContent = `Made ${time}${report.head ? `, based on commit ${report.head.slice(0, 12)}` : ""}.`;
addEventListener("hashchange", show);
addEventListener("keydown", (event) => {
  if (event.key === "Escape" && shown.id !== null) location.hash = "";
});
show();
