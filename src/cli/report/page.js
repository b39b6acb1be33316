// The page: its sections, the filter, links to places on the page, and the keyboard.

/// Makes a table. Cells are strings or elements.
function table(caption, heads, rows, attributes = {}) {
  return el("table", attributes,
    el("caption", {}, caption),
    el("thead", {}, el("tr", {}, heads.map((head) => el("th", { scope: "col" }, head)))),
    el("tbody", {}, rows.map(([first, ...rest]) => el("tr", {}, el("th", { scope: "row" }, first), rest.map((cell) => el("td", {}, cell))))));
}

/// Makes a closed section whose content is created when it is opened for the first time.
function onDemand(title, make) {
  const details = el("details", {}, el("summary", {}, title));
  details.addEventListener("toggle", () => {
    if (details.open && details.children.length === 1) details.append(scrolls(title, make()));
  });
  return details;
}

/// Wraps wide or long content so that it scrolls by itself, with the keyboard, too.
const scrolls = (label, ...inside) => el("div", { class: "scrolls", tabindex: "0", role: "region", "aria-label": label }, ...inside);

/// How many rows of a long list are shown at first. A button shows the others.
const AT_FIRST = 25;

function longTable(caption, heads, rows, row, attributes) {
  const make = (some) => table(caption, heads, some.map(row), attributes);
  if (rows.length <= AT_FIRST) return [make(rows)];
  const holder = el("div", {}, make(rows.slice(0, AT_FIRST)));
  const more = el("button", { type: "button" }, `Show all ${rows.length.toLocaleString("en")}`);
  more.addEventListener("click", () => { holder.replaceChildren(make(rows)); more.remove(); });
  return [holder, more];
}

// -- Summary
// ----------------------------------------------------------------------------------------

function drawSummary() {
  const { summary } = report;
  const all = total(summary.blocks);
  const active = report.intents.filter((intent) => intent.status === "IN_PROGRESS").length;
  byId("workspace").textContent = report.workspace;
  byId("made").textContent = `Made ${when(report.generated)}${report.head ? `, based on commit ${report.head.slice(0, 12)}` : ""}.`;
  const figure = (name, value, words) => el("div", {}, el("dt", {}, name), el("dd", {}, el("b", {}, value), ` ${words}`));
  byId("figures").append(
    figure("Intents", String(report.intents.length), `${active} in progress`),
    figure("Blocks", all.toLocaleString("en"), `in ${counted(summary.files, "file")}`),
    figure("As recorded", all === 0 ? "–" : `${Math.floor((standing(summary.blocks) / all) * 100)} %`, `${standing(summary.blocks).toLocaleString("en")} of ${all.toLocaleString("en")}`),
    figure("Records", summary.records.toLocaleString("en"), `in ${counted(summary.ledger_files, "file")}`),
    figure("Findings", String(summary.errors + summary.warnings), `${counted(summary.errors, "error")}, ${counted(summary.warnings, "warning")}`),
    figure("Not known", summary.without_records.toLocaleString("en"), "files without recorded lines"),
  );
  const buttons = VERDICT_NAMES.filter((verdict) => summary.blocks[verdict] > 0).map((verdict) => {
    const button = el("button", { type: "button", class: "plain", title: `${VERDICTS[verdict][1]}: show them` },
      el("span", { class: `dot v-${verdict}`, "aria-hidden": "true" }), `${VERDICTS[verdict][0]} ${verdict} `, el("span", { class: "dim" }, summary.blocks[verdict].toLocaleString("en")));
    button.addEventListener("click", () => { choose({ verdict }); goToSection("blocks"); });
    return el("li", {}, button);
  });
  byId("verdicts").append(verdictBar(summary.blocks, "Blocks by verdict"), el("ul", { class: "legend" }, buttons));
  byId("notes").append(...report.notes.map((note) => el("li", {}, note)));
}

// -- Intents
// ----------------------------------------------------------------------------------------

function progress(intent) {
  const all = total(intent.blocks);
  const words = all === 0 ? "no block yet" : `${standing(intent.blocks)} of ${counted(all, "block")} as recorded`;
  const files = intent.in_registry ? `${intent.worked_files} of ${counted(intent.owned_files, "file")} of its scope` : "";
  return el("div", { class: "progress" },
    all > 0 ? verdictBar(intent.blocks, "Its blocks by verdict") : "",
    el("div", {}, words), el("div", { class: "dim" }, files));
}

const listOf = (values) => el("ul", { class: "plainlist" }, values.map((value) => el("li", {}, value)));

function asked(intent) {
  const parts = [["Constraints", intent.constraints], ["Done when", intent.acceptance_criteria], ["Serves", intent.related_specs]].filter(([, values]) => values.length > 0);
  if (parts.length === 0) return el("span", { class: "dim" }, "nothing written");
  return el("div", { class: "asked" }, parts.flatMap(([title, values]) => [el("div", { class: "label" }, title), listOf(values)]));
}

/// How many entries of a scope are shown at first.
const SCOPE = 5;

function scopeCell(intent) {
  if (intent.owned_scope.length === 0) return el("span", { class: "dim" }, "none");
  const entries = (some) => el("ul", { class: "plainlist" }, some.map((entry) => el("li", {}, el("code", {}, entry))));
  if (intent.owned_scope.length <= SCOPE + 1) return entries(intent.owned_scope);
  return el("div", {}, entries(intent.owned_scope.slice(0, SCOPE)),
    onDemand(`${intent.owned_scope.length - SCOPE} more`, () => entries(intent.owned_scope.slice(SCOPE))));
}

function intentCell(intent) {
  return el("div", { class: "who" },
    link("intent", intent.id, intent.id || "(no id)"), intent.selected ? " ● selected" : "",
    el("div", {}, intent.name ?? el("span", { class: "dim" }, "no name")),
    intent.owner ? el("div", { class: "dim" }, intent.owner) : "");
}

function statusCell(intent) {
  const sign = { IN_PROGRESS: "▶", COMPLETED: "✓", BLOCKED: "■", DRAFT: "○", PENDING: "○", ARCHIVED: "–" }[intent.status] ?? "?";
  return el("span", { class: `status s-${intent.status ? intent.status.toLowerCase() : "none"}` }, `${sign} ${statusWord(intent)}`);
}

let drawnFor = null;

function drawIntents() {
  if (drawnFor === filter.intent) return;
  drawnFor = filter.intent;
  const chosen = filter.intent === "" ? report.intents : report.intents.filter((intent) => intent.id === filter.intent.slice(1));
  const row = (intent) => [intentCell(intent), statusCell(intent), progress(intent), scopeCell(intent), asked(intent)];
  byId("intents-body").replaceChildren(...(chosen.length === 0
    ? [el("p", {}, report.intents.length === 0 ? "There are no intents yet: intent new makes one." : "These blocks have no intent.")]
    : longTable(filter.intent === "" ? "What was asked for, and what came of it" : "The intent that is looked for", ["Intent", "Status", "Progress", "Scope", "Asked for"], chosen, row, { class: "intents" })));
}

// -- Findings and overlaps
// --------------------------------------------------------------------------

function drawFindings() {
  const wanted = terms();
  const fits = (finding) => (filter.intent === "" || finding.intent === filter.intent.slice(1))
    && wanted.every((term) => [finding.path, finding.code, finding.level, finding.message, finding.intent].some((text) => text?.toLowerCase().includes(term)));
  const fitting = report.findings.filter(fits);
  const sign = { error: "✗", warning: "!", info: "i", hint: "·" };
  const row = (finding) => [
    el("span", { class: `level-${finding.level}` }, `${sign[finding.level] ?? "·"} ${finding.level}`),
    el("code", {}, finding.code),
    finding.path ? `${finding.path}${finding.start_line ? `:${finding.start_line}` : ""}` : "the workspace",
    finding.message, finding.help,
  ];
  byId("findings-body").replaceChildren(...(fitting.length === 0
    ? [el("p", {}, report.findings.length === 0 ? "✓ Check, verify and the registry's lints have nothing to say." : `None of ${counted(report.findings.length, "finding")} fits what is looked for.`)]
    : longTable("What check, verify and the registry's lints say, the gravest first", ["Level", "Code", "Where", "What", "What to do"], fitting, row, { class: "findings" })));
}

/// The most intents that are shown as a matrix. A larger matrix would be unreadable, so a list is
/// shown.
const MATRIX = 24;

function drawOverlaps() {
  const body = byId("overlaps-body");
  const ids = [...new Set(report.overlaps.flatMap(({ first, second }) => [first, second]))];
  if (ids.length === 0) {
    body.append(el("p", {}, "✓ No two intents own the same file while in progress, or have blocks in the same file."));
    return;
  }
  const list = () => longTable("Pairs of intents, those that share most first", ["Intents", "Files both own", "Files with blocks of both", "One of them"], report.overlaps,
    ({ first, second, owned, worked, example }) => [`${first} and ${second}`, String(owned), String(worked), el("code", {}, example)]);
  if (ids.length > MATRIX) {
    body.append(el("p", { class: "hint" }, `${ids.length} intents meet, too many for a matrix.`), ...list());
    return;
  }
  const most = Math.max(...report.overlaps.map(({ owned, worked }) => owned + worked));
  const met = new Map(report.overlaps.flatMap((one) => [[`${one.first}\n${one.second}`, one], [`${one.second}\n${one.first}`, one]]));
  const cell = (row, column) => {
    const one = met.get(`${row}\n${column}`);
    if (!one) return el("td", { class: "empty" }, row === column ? "" : "–");
    const heat = Math.ceil((3 * (one.owned + one.worked)) / most);
    return el("td", { class: `heat${heat}`, title: `for example ${one.example}` },
      `${one.owned} / ${one.worked}`, el("span", { class: "unseen" }, ` ${row} and ${column}: both own ${one.owned}, both have blocks in ${one.worked}`));
  };
  body.append(
    scrolls("Overlap matrix", el("table", { class: "matrix" },
      el("caption", {}, "Files that both own while in progress / files that hold blocks of both"),
      el("thead", {}, el("tr", {}, el("td"), ids.map((id) => el("th", { scope: "col" }, id)))),
      el("tbody", {}, ids.map((row) => el("tr", {}, el("th", { scope: "row" }, row), ids.map((column) => cell(row, column))))))),
    onDemand("The pairs as a list", () => el("div", {}, ...list())));
}

// -- The filter
// -------------------------------------------------------------------------------------

const controls = { query: byId("query"), intent: byId("by-intent"), verdict: byId("by-verdict"), author: byId("by-author") };

function fillControls() {
  const option = (value, words) => el("option", { value }, words);
  const short = (words) => (words.length > 60 ? `${words.slice(0, 59)}…` : words);
  // The value has a mark before the id, so that "no intent" differs from an intent with an empty
  // id.
  controls.intent.append(option("", "all"), ...[...intents.keys()].map((id) => option(`=${id}`, short([id, intentName(id)].join(" ")))), option("=", "no intent"));
  controls.verdict.append(option("", "all"), ...VERDICT_NAMES.map((verdict) => option(verdict, `${VERDICTS[verdict][0]} ${verdict}`)));
  controls.author.append(option("", "all"), ...authors.map((name, at) => option(String(at), short(name))));
}

let later = 0;

/// Applies the filter: to the rows at once, to the charts after a pause in typing.
function filtered() {
  for (const [name, control] of Object.entries(controls)) filter[name] = control.value;
  const fit = applyFilter();
  grid.refresh();
  byId("count").textContent = isFiltered() ? `${fit.toLocaleString("en")} of ${counted(blocks.length, "block")}` : counted(blocks.length, "block");
  clearTimeout(later);
  later = setTimeout(drawPictures, 250);
}

function drawPictures() {
  drawMap(chosenIn("map-by"));
  drawFindings();
  drawIntents();
}

const chosenIn = (name) => document.querySelector(`input[name="${name}"]:checked`).value;

function choose(wanted) {
  for (const [name, value] of Object.entries(wanted)) controls[name].value = value;
  filtered();
}

const clearFilter = () => choose({ query: "", intent: "", verdict: "", author: "" });

// -- Places
// -----------------------------------------------------------------------------------------

function goToSection(id) {
  byId(id).scrollIntoView();
  byId(id).focus({ preventScroll: true });
}

/// Moves to a file, a block or an intent by its key in links. Returns false if there is none.
function goTo(kind, value) {
  if (kind === "intent") {
    if (!intents.has(value)) return false;
    choose({ query: "", intent: `=${value}`, verdict: "", author: "" });
    drawPictures();
    goToSection("intents");
    return true;
  }
  const at = kind === "block" ? keys.indexOf(value) : -1;
  const file = kind === "block" ? blocks[at]?.file : report.files.find((file) => file.path === value);
  if (!file) return false;
  if (!grid.reveal(kind, file, blocks[at])) {
    clearFilter();
    grid.reveal(kind, file, blocks[at]);
  }
  byId("blocks").scrollIntoView();
  grid.focus();
  if (kind === "block") showBlock(blocks[at]);
  else showFile(file);
  return true;
}

function followHash() {
  const [, kind, value] = /^#(block|file|intent)=(.*)$/s.exec(location.hash) ?? [];
  if (!kind) return;
  let decoded;
  try {
    decoded = decodeURIComponent(value);
  } catch {
    decoded = value;
  }
  if (!goTo(kind, decoded)) byId("count").textContent = `There is no such ${kind} in this report.`;
}

// -- Start
// ------------------------------------------------------------------------------------------

fillControls();
drawSummary();
drawOverlaps();
drawTime("author");
filtered();
clearTimeout(later);
drawPictures();
byId("details").append(el("p", { class: "hint" }, "Choose a block to see who wrote it, when, and what it was before."));

for (const control of Object.values(controls)) control.addEventListener("input", filtered);
byId("clear").addEventListener("click", () => { clearFilter(); controls.query.focus(); });
byId("map-choice").addEventListener("change", () => drawMap(chosenIn("map-by")));
byId("time-choice").addEventListener("change", () => drawTime(chosenIn("time-by")));
byId("theme").addEventListener("change", ({ target }) => { document.documentElement.dataset.theme = target.value; });
document.addEventListener("keydown", (event) => {
  const typing = event.target.closest("input, select, textarea");
  if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    controls.query.focus();
    controls.query.select();
  }
  if (event.key === "Escape" && event.target.closest("#details")) grid.focus();
});
// A second click on the same link does not change the address, so it is handled here.
document.addEventListener("click", (event) => {
  const anchor = event.target.closest("a");
  if (anchor && anchor.hash === location.hash && /^#(block|file|intent)=/.test(anchor.hash)) followHash();
});
addEventListener("hashchange", followHash);
addEventListener("beforeprint", () => grid.print(true));
addEventListener("afterprint", () => grid.print(false));
followHash();
