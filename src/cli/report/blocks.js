// The tree of files and blocks, and the details of the open one. Only the rows in sight are in the
// document.

/// The tree of folders. A chain of folders that contain only one folder each becomes one node.
const tree = (() => {
  const root = { path: "", folders: new Map(), files: [], gap: 0 };
  const folderOf = (path) => {
    let at = root;
    for (const name of path === "" ? [] : path.split("/")) {
      if (!at.folders.has(name)) at.folders.set(name, { path: at.path === "" ? name : `${at.path}/${name}`, folders: new Map(), files: [], gap: 0 });
      at = at.folders.get(name);
    }
    return at;
  };
  for (const file of report.files) folderOf(file.path.slice(0, Math.max(file.path.lastIndexOf("/"), 0))).files.push(file);
  for (const gap of report.without_records) folderOf(gap.folder).gap += gap.files;
  const settled = (folder, above) => {
    while (folder.folders.size === 1 && folder.files.length === 0 && folder.gap === 0 && above !== null) [folder] = folder.folders.values();
    const folders = [...folder.folders.values()].map((inner) => settled(inner, folder));
    folders.sort((a, b) => (a.path < b.path ? -1 : 1));
    const label = above === null || above.path === "" ? folder.path : folder.path.slice(above.path.length + 1);
    const all = { kind: "folder", key: `folder ${folder.path}`, path: folder.path, label, folders, files: folder.files, gap: folder.gap };
    all.gaps = all.gap + sum(folders.map((inner) => inner.gaps));
    all.blocks = sum(folder.files.map((file) => file.blocks.length)) + sum(folders.map((inner) => inner.blocks));
    return all;
  };
  return settled(root, null);
})();

const grid = (() => {
  const ROW = 28;
  const BESIDE = 8;
  /// With at most this many blocks, all files are open at first.
  const FEW = 60;
  const COLUMNS = ["Name", "Intent", "Verdict", "Author", "Recorded"];
  const element = byId("grid");
  const head = el("div", { role: "row", class: "row heads", "aria-rowindex": "1" }, COLUMNS.map((name) => el("span", { role: "columnheader" }, name)));
  const sheet = el("div", { role: "rowgroup", class: "sheet" });
  element.append(el("div", { role: "rowgroup", class: "headrow" }, head), sheet);

  let rows = [];
  let places = new Map();
  let active = 0;
  let whole = false;
  const open = new Set();
  const closed = new Set();
  // In a small report all folders are open at first, in a large one only the topmost.
  const opensItself = (node) => node.kind === "folder" && (report.files.length <= 200 || !node.path.includes("/"));
  const isOpen = (node) => (isFiltered() ? !closed.has(node.key) : open.has(node.key));
  (function openAtFirst(folder) {
    if (opensItself(folder)) open.add(folder.key);
    if (blocks.length <= FEW) folder.files.forEach((file) => open.add(`file ${file.path}`));
    folder.folders.forEach(openAtFirst);
  })(tree);

  /// Lists the rows that are not inside a closed folder or file, in order.
  function flatten() {
    rows = [];
    const fits = isFiltered() ? (file) => !shownIn(file).next().done : () => true;
    const folderFits = (folder) => !isFiltered() || folder.files.some(fits) || folder.folders.some(folderFits);
    const inside = (folder, level) => {
      const folders = folder.folders.filter((inner) => folderFits(inner));
      const files = folder.files.filter(fits);
      const gap = !isFiltered() && folder.gap > 0 ? [{ kind: "gap", key: `gap ${folder.path}`, count: folder.gap }] : [];
      const all = [...folders, ...files.map((file) => ({ kind: "file", key: `file ${file.path}`, file, path: file.path })), ...gap];
      all.forEach((node, place) => {
        add(node, level, place, all.length);
        if (node.kind === "folder" && isOpen(node)) inside(node, level + 1);
        if (node.kind === "file" && isOpen(node)) leaves(node.file, level + 1);
      });
    };
    const leaves = (file, level) => {
      const all = [...shownIn(file)];
      all.forEach((block, place) => add({ kind: "block", key: `block ${block.at}`, block }, level, place, all.length));
    };
    const add = (node, level, place, of) => rows.push({ node, level, place, of });
    inside(tree, 1);
    places = new Map(rows.map((row, at) => [row.node.key, at]));
    // The height is set now, because a caller may scroll to a row next.
    sheet.style.height = `${rows.length * ROW}px`;
  }

  function cells({ node }) {
    if (node.kind === "folder") return [node.label, "", "", "", ""];
    if (node.kind === "gap") return [`${counted(node.count, "file")} without recorded lines`, "", "· no record", "", ""];
    if (node.kind === "file") {
      const { file } = node;
      const gap = file.unrecorded > 0 ? `· ${file.unrecorded} unrecorded` : "";
      return [file.path.slice(file.path.lastIndexOf("/") + 1), "", gap, "", ""];
    }
    const { told, verdict, author, when: time } = node.block;
    return [
      `${told.kind} ${told.name}`, told.intent ?? (verdict === "unrecorded" ? "" : "no intent"),
      `${VERDICTS[verdict][0]} ${verdict}`, author === null ? "" : authors[author], time.slice(0, 10),
    ];
  }

  function rowOf(row, at) {
    const { node, level } = row;
    const inner = node.kind === "folder" || node.kind === "file";
    const words = cells(row);
    const element = el("div", {
      role: "row", id: `row-${at}`, class: `row ${node.kind}${at === active ? " active" : ""}`,
      "aria-level": level, "aria-posinset": row.place + 1, "aria-setsize": row.of, "aria-rowindex": at + 2,
      "aria-expanded": inner ? String(isOpen(node)) : null, "aria-selected": String(at === active),
    }, words.map((text, column) => el("span", { role: "gridcell", title: text === "" ? null : text }, text)));
    const name = element.firstElementChild;
    name.style.paddingLeft = `${(level - 1) * 16 + 20}px`;
    if (inner) {
      const many = node.blocks ?? node.file.blocks.length;
      name.classList.add(isOpen(node) ? "opened" : "shut");
      name.append(el("span", { class: "many" }, ` ${many === 0 ? "" : counted(many, "block")}`));
    }
    if (node.kind === "block") element.children[2].classList.add(`ink-${node.block.verdict}`);
    if (!whole) element.style.top = `${at * ROW}px`;
    element.addEventListener("mousedown", (event) => { event.preventDefault(); element.parentElement?.parentElement?.focus({ preventScroll: true }); });
    element.addEventListener("click", () => { move(at); act(); });
    return element;
  }

  function draw() {
    const first = whole ? 0 : Math.max(Math.floor(element.scrollTop / ROW) - BESIDE, 0);
    const last = whole ? rows.length : Math.min(Math.ceil((element.scrollTop + element.clientHeight) / ROW) + BESIDE, rows.length);
    const wanted = [];
    for (let at = first; at < last; at += 1) wanted.push(rowOf(rows[at], at));
    sheet.replaceChildren(...wanted);
    if (whole) sheet.style.height = "auto";
    element.setAttribute("aria-rowcount", rows.length + 1);
    if (active >= first && active < last) element.setAttribute("aria-activedescendant", `row-${active}`);
    else element.removeAttribute("aria-activedescendant");
  }

  function move(to) {
    if (rows.length === 0) return draw();
    active = Math.min(Math.max(to, 0), rows.length - 1);
    const [top, seen] = [active * ROW, element.clientHeight - ROW];
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top + ROW > element.scrollTop + seen) element.scrollTop = top + ROW - seen;
    draw();
  }

  function toggle(node, to) {
    const set = isFiltered() ? closed : open;
    if (to === !isFiltered()) set.add(node.key);
    else set.delete(node.key);
    const key = rows[active]?.node.key;
    flatten();
    move(places.get(key) ?? active);
  }

  /// Handles a click or Enter. A folder opens or closes. A file opens or closes, and its details
  /// are shown. The details of a block are shown. Returns true for a block.
  function act() {
    const node = rows[active]?.node;
    if (!node) return false;
    if (node.kind === "folder" || node.kind === "file") toggle(node, !isOpen(node));
    if (node.kind === "file") showFile(node.file);
    if (node.kind === "block") showBlock(node.block);
    return node.kind === "block";
  }

  element.addEventListener("scroll", draw, { passive: true });
  element.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || event.target !== element) return;
    const row = rows[active];
    const page = Math.max(Math.floor(element.clientHeight / ROW) - 2, 1);
    const inner = row && (row.node.kind === "folder" || row.node.kind === "file");
    const deed = {
      ArrowDown: () => move(active + 1),
      ArrowUp: () => move(active - 1),
      PageDown: () => move(active + page),
      PageUp: () => move(active - page),
      Home: () => move(0),
      End: () => move(rows.length - 1),
      ArrowRight: () => { if (inner && !isOpen(row.node)) toggle(row.node, true); else if (inner) move(active + 1); },
      ArrowLeft: () => { if (inner && isOpen(row.node)) toggle(row.node, false); else if (row) move(above(active)); },
      Enter: () => { if (act()) byId("details").focus(); },
      " ": () => act(),
    }[event.key];
    if (!deed) return;
    event.preventDefault();
    deed();
  });

  function above(from) {
    for (let at = from - 1; at >= 0; at -= 1) if (rows[at].level < rows[from].level) return at;
    return from;
  }

  // A small tree gets only the height that it needs when everything is open.
  const everything = (folder) => folder.folders.length + sum(folder.folders.map(everything))
    + sum(folder.files.map((file) => 1 + file.blocks.length)) + (folder.gap > 0 ? 1 : 0);
  element.style.height = `${Math.min(476, Math.max(220, (everything(tree) + 1) * ROW + 6))}px`;

  return {
    /// Shows the rows anew, at first and after a change of the filter.
    refresh() {
      const key = rows[active]?.node.key;
      closed.clear();
      flatten();
      active = places.get(key) ?? 0;
      element.scrollTop = Math.min(element.scrollTop, rows.length * ROW);
      move(active);
    },
    /// Opens the folders and the file that contain a row, and moves to it. Returns false if the
    /// filter hides the row.
    reveal(kind, file, block) {
      for (let end = file.path.indexOf("/"); end > 0; end = file.path.indexOf("/", end + 1)) {
        open.add(`folder ${file.path.slice(0, end)}`);
        closed.delete(`folder ${file.path.slice(0, end)}`);
      }
      open.add(`file ${file.path}`);
      closed.delete(`file ${file.path}`);
      flatten();
      const at = places.get(kind === "file" ? `file ${file.path}` : `block ${block.at}`);
      if (at === undefined) return false;
      move(at);
      return true;
    },
    /// Shows all rows before printing, and only those in sight afterwards. Above 5,000 rows, shows
    /// only those in sight.
    print(all) {
      whole = all && rows.length <= 5000;
      sheet.style.height = `${rows.length * ROW}px`;
      draw();
    },
    focus: () => element.focus(),
  };
})();

// -- Details
// ----------------------------------------------------------------------------------------

function fact(name, ...value) {
  return value.every((part) => part === null || part === "") ? [] : [el("dt", {}, name), el("dd", {}, ...value)];
}

function recordFacts(at) {
  const record = report.records[at];
  return [
    el("strong", {}, record.kind === "ack" ? "accepted" : "recorded"), ` ${when(record.timestamp)}`,
    el("br"), authors[record.contributor], record.tool ? ` with ${record.tool}` : "", record.session ? ` in ${record.session}` : "", record.strength ? `, ${record.strength}` : "",
    el("br"), ...(record.intent ? [link("intent", record.intent, record.intent), ` ${intentName(record.intent)}`] : ["no intent"]),
    ...(record.commit ? [el("br"), el("code", {}, record.commit.id.slice(0, 10)), ` ${record.commit.author}: ${record.commit.subject}`] : []),
    ...(record.reassigned ?? []).flatMap((one) => [el("br"), `under ${one.from} before ${one.by ?? "a person"} reassigned it ${when(one.timestamp)}`]),
    el("br"), el("code", {}, record.id),
  ];
}

function since({ newer, cut, history_missing: missing }) {
  if (missing) return "history is missing here";
  if (newer) return `${counted(newer, "line")} by nobody that is recorded`;
  return cut ? "lines were removed" : "";
}

function showBlock(block) {
  const { told, file, verdict, record } = block;
  const lineage = told.lineage ?? [];
  const elsewhere = told.recorded && `${told.recorded.kind} ${told.recorded.name} in ${told.recorded.path}, lines ${told.recorded.start_line} to ${told.recorded.end_line}`;
  byId("details").replaceChildren(
    el("h3", {}, told.name),
    el("dl", {},
      fact("Kind", told.kind),
      fact("File", link("file", file.path, file.path)),
      fact("Lines", `${told.start_line} to ${told.end_line}`),
      fact("Verdict", el("span", { class: `ink-${verdict}` }, `${VERDICTS[verdict][0]} ${verdict}`), `: ${VERDICTS[verdict][1]}`),
      fact("Brought", told.brought ? `${told.brought.lines} of ${counted(told.brought.of, "line")}` : ""),
      fact("Since", since(told)),
      fact("Intent", ...(told.intent ? [link("intent", told.intent, told.intent), ` ${intentName(told.intent)}`] : [verdict === "unrecorded" ? "" : "none"])),
      fact("Author", record === null ? "" : authors[block.author]),
      fact("Recorded", block.when),
      fact("Without a record", told.origin === undefined ? "" : report.origins[told.origin].in_words),
      fact("Recorded as", elsewhere ?? ""),
      fact("Suspect", told.suspect ?? ""),
      fact("Trust", told.claimed ? "claimed: this clone did not write the record" : ""),
      fact("Link", link("block", keys[block.at], "to this block"))),
    lineage.length > 0 ? el("h4", {}, "Records that brought its lines, newest first") : "",
    lineage.length > 0 ? el("ol", { class: "lineage" }, lineage.map((at) => el("li", {}, ...recordFacts(at)))) : "",
    told.earlier ? el("p", { class: "hint" }, `${counted(told.earlier, "older record")} left out; `, el("code", {}, "intent why"), " tells them.") : "",
    told.candidates ? el("h4", {}, "Records that brought half of its lines each") : "",
    told.candidates ? el("ol", { class: "lineage" }, told.candidates.map((at) => el("li", {}, ...recordFacts(at)))) : "",
  );
}

function showFile(file) {
  const inside = blocks.slice(file.first, file.end);
  const of = (key) => [...countedBy(inside, key).entries()].map(([name, count]) => `${name} ${count}`).join(", ");
  byId("details").replaceChildren(
    el("h3", {}, file.path),
    el("dl", {},
      fact("Blocks", `${inside.length}, ${file.unrecorded} of them unrecorded`),
      fact("Verdicts", of((block) => block.verdict)),
      fact("Intents", of((block) => block.told.intent ?? "no intent")),
      fact("Owned by", file.owners.length === 0 ? "no intent in progress" : file.owners.join(", "))),
  );
}
