// The charts: a bar of shares, the map, and the columns over time. Each of them is also available
// as text.

/// How many colours are used. More cannot be told apart, so the last colour is for all other
/// values.
const COLOURS = 7;

/// Assigns colours by count: the most frequent values have their own, all others share one, and
/// "none" has one.
function palette(counts, name) {
  const order = [...counts.entries()].filter(([key]) => key !== "").sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
  const own = new Map(order.slice(0, COLOURS - 1).map(([key], at) => [key, `c${at + 1}`]));
  const rest = order.length - own.size;
  const colour = (key) => (key === "" ? "c8" : own.get(key) ?? `c${COLOURS}`);
  const legend = [...own.entries()].map(([key, colour]) => [colour, name(key), counts.get(key)]);
  if (rest > 0) legend.push([`c${COLOURS}`, counted(rest, "other"), sum(order.slice(COLOURS - 1).map(([, count]) => count))]);
  return { colour, legend };
}

function legendOf(entries) {
  return el("ul", { class: "legend" }, entries.map(([colour, words, count]) =>
    el("li", {}, el("span", { class: `dot ${colour}`, "aria-hidden": "true" }), `${words} `, el("span", { class: "dim" }, count.toLocaleString("en")))));
}

const verdictWords = (counts) => VERDICT_NAMES.filter((verdict) => counts[verdict] > 0)
  .map((verdict) => `${counts[verdict].toLocaleString("en")} ${verdict}`).join(", ");

/// Makes one bar that shows the share of each verdict.
function verdictBar(counts, label) {
  const bar = el("div", { class: "shares", role: "img", "aria-label": `${label}: ${verdictWords(counts) || "no blocks"}` });
  for (const verdict of VERDICT_NAMES) {
    if (counts[verdict] === 0) continue;
    const share = el("span", { class: `v-${verdict}`, title: `${counts[verdict]} ${verdict}` });
    share.style.flexGrow = String(counts[verdict]);
    bar.append(share);
  }
  return bar;
}

// -- The map
// ----------------------------------------------------------------------------------------

const MAP = { width: 1160, head: 15, most: 1500 };
/// The height of the map. Few files need little room.
const mapHeight = (files) => (files <= 4 ? 110 : files <= 20 ? 240 : 400);

/// Divides a box into rectangles with these weights, each as square as possible ("squarified
/// treemaps", after Bruls, Huizing and van Wijk).
function squarified(nodes, box, place) {
  const sorted = nodes.filter((node) => node.weight > 0).sort((a, b) => b.weight - a.weight);
  let { x, y, width, height } = box;
  let left = sum(sorted.map((node) => node.weight));
  let at = 0;
  while (at < sorted.length && width > 0.5 && height > 0.5) {
    const short = Math.min(width, height);
    const scale = (width * height) / left;
    let row = 0;
    let worst = Infinity;
    let end = at;
    while (end < sorted.length) {
      const grown = row + sorted[end].weight * scale;
      const ratio = Math.max(
        (short * short * sorted[at].weight * scale) / (grown * grown),
        (grown * grown) / (short * short * sorted[end].weight * scale),
      );
      if (ratio > worst) break;
      [row, worst, end] = [grown, ratio, end + 1];
    }
    const thick = row / short;
    let along = 0;
    for (; at < end; at += 1) {
      const long = (sorted[at].weight * scale) / thick;
      place(sorted[at], width >= height
        ? { x, y: y + along, width: thick, height: long }
        : { x: x + along, y, width: long, height: thick });
      along += long;
      left -= sorted[at].weight;
    }
    if (width >= height) [x, width] = [x + thick, width - thick];
    else [y, height] = [y + thick, height - thick];
  }
}

/// Returns the folders and files that contain blocks which pass the filter, each with their number
/// as its weight.
function weighed(folder) {
  const children = [...folder.folders.map(weighed), ...folder.files.map((file) => {
    const inside = [...shownIn(file)];
    return { file, inside, weight: inside.length };
  })].filter((child) => child.weight > 0);
  return { folder, children, weight: sum(children.map((child) => child.weight)) };
}

function countedBy(list, key) {
  const counts = new Map();
  for (const one of list) counts.set(key(one), (counts.get(key(one)) ?? 0) + 1);
  return counts;
}

const cut = (text, width, size) => {
  const fit = Math.floor(width / size);
  return text.length <= fit ? text : fit < 6 ? "" : `${text.slice(0, fit - 1)}…`;
};

function drawMap(by) {
  const body = byId("map-body");
  const fitting = blocks.filter((block) => shown[block.at]);
  if (fitting.length === 0) {
    body.replaceChildren(el("p", {}, "No block fits what is looked for."));
    return;
  }
  const ofIntent = by === "intent";
  const key = ofIntent ? (block) => block.told.intent ?? "" : (block) => block.verdict;
  const counts = countedBy(fitting, key);
  const named = palette(counts, (id) => [id, intentName(id)].filter(Boolean).join(" "));
  const colour = ofIntent ? named.colour : (verdict) => `v-${verdict}`;
  const legend = ofIntent
    ? [...named.legend, ...(counts.has("") ? [["c8", "no intent", counts.get("")]] : [])]
    : VERDICT_NAMES.filter((verdict) => counts.has(verdict)).map((verdict) => [`v-${verdict}`, `${VERDICTS[verdict][0]} ${verdict}`, counts.get(verdict)]);
  const root = weighed(tree);
  const files = countedBy(fitting, (block) => block.file.path).size;
  const height = mapHeight(files);
  const picture = svg("svg", {
    viewBox: `0 0 ${MAP.width} ${height}`, role: "img",
    "aria-label": `Map of ${counted(fitting.length, "block")} by ${by}; the table below says the same`,
  });
  let cells = 0;
  const place = (node, box) => {
    if (cells >= MAP.most) return;
    if (node.file) {
      cells += 1;
      picture.append(cellOf(node, box, key, colour, ofIntent));
      return;
    }
    const label = box.width > 60 && box.height > 36 ? cut(node.folder.label, box.width - 8, 6.2) : "";
    const head = label === "" ? 0 : MAP.head;
    if (head > 0) picture.append(svg("text", { class: "folder", x: box.x + 3, y: box.y + 11 }, label));
    squarified(node.children, { x: box.x + 1, y: box.y + head, width: box.width - 2, height: box.height - head - 1 }, place);
  };
  squarified(root.children, { x: 0, y: 0, width: MAP.width, height }, place);
  body.replaceChildren(
    legendOf(legend), picture,
    el("p", { class: "hint" }, `A field is a file, as large as it has blocks. ${counted(files, "file")}`
      + (files > cells ? `, ${(files - cells).toLocaleString("en")} of them too small to be drawn.` : ".")),
    onDemand("The map as a table", () => mapTable()),
  );
}

function cellOf({ file, inside }, box, key, colour, ofIntent) {
  const parts = [...countedBy(inside, key).entries()].sort((a, b) => b[1] - a[1]);
  const words = parts.map(([name, count]) => `${count} ${name || "no intent"}`).join(", ");
  const cell = svg("g", { class: "cell" }, svg("title", {}, `${file.path}: ${words}`));
  let x = box.x;
  for (const [name, count] of parts) {
    const width = (box.width * count) / inside.length;
    cell.append(svg("rect", { class: colour(name), x, y: box.y, width: Math.max(width, 0), height: Math.max(box.height, 0) }));
    x += width;
  }
  cell.append(svg("rect", { class: "edge", x: box.x, y: box.y, width: Math.max(box.width, 0), height: Math.max(box.height, 0) }));
  const name = box.height > 15 ? cut(file.path.slice(file.path.lastIndexOf("/") + 1), box.width - 8, 6.4) : "";
  if (name !== "") {
    cell.append(svg("text", { x: box.x + 4, y: box.y + 12 }, name));
    const second = ofIntent ? parts[0][0] || "no intent" : parts.map(([verdict, count]) => `${VERDICTS[verdict][0]}${count}`).join(" ");
    if (box.height > 30) cell.append(svg("text", { x: box.x + 4, y: box.y + 26 }, cut(second, box.width - 8, 6.4)));
  }
  cell.addEventListener("click", () => goTo("file", file.path));
  return cell;
}

function mapTable() {
  const rows = report.files.map((file) => [file, [...shownIn(file)]]).filter(([, inside]) => inside.length > 0);
  return table("Files, their blocks, intents and verdicts", ["File", "Blocks", "Intents", "Verdicts"], rows.map(([file, inside]) => [
    link("file", file.path, file.path),
    String(inside.length),
    [...countedBy(inside, (block) => block.told.intent ?? "no intent").entries()].map(([id, count]) => `${id} (${count})`).join(", "),
    [...countedBy(inside, (block) => block.verdict).entries()].map(([verdict, count]) => `${count} ${verdict}`).join(", "),
  ]));
}

// -- Over time
// --------------------------------------------------------------------------------------

const DAY = 86_400_000;

/// Returns the unit of time and how a day maps to it: days, weeks (from Monday), months or years.
/// So there are few columns, whatever times the records claim.
function periods(days) {
  const span = (Date.parse(days.at(-1)) - Date.parse(days[0])) / DAY;
  if (span <= 45) return ["day", (day) => day];
  if (span > 7500) return ["year", (day) => day.slice(0, 4)];
  if (span > 500) return ["month", (day) => day.slice(0, 7)];
  return ["week", (day) => {
    const time = new Date(day);
    return new Date(time.getTime() - ((time.getUTCDay() + 6) % 7) * DAY).toISOString().slice(0, 10);
  }];
}

/// Returns every period from the first to the last, including periods without a record.
function allPeriods(days, unit, of) {
  const all = new Set();
  const last = Date.parse(days.at(-1));
  // No year is shorter than this step, and the last period is added below.
  const step = unit === "year" ? 360 * DAY : DAY;
  for (let time = Date.parse(days[0]); time <= last; time += step) all.add(of(new Date(time).toISOString().slice(0, 10)));
  return [...all.add(of(days.at(-1)))];
}

function drawTime(by) {
  const body = byId("time-body");
  const dated = report.activity.filter((one) => one.day && !Number.isNaN(Date.parse(one.day)));
  const undated = report.activity.length - dated.length;
  if (dated.length === 0) {
    body.replaceChildren(el("p", {}, "Nothing is recorded with a date."));
    return;
  }
  const days = [...new Set(dated.map((one) => one.day))].sort();
  const [unit, of] = periods(days);
  const key = by === "author" ? (one) => String(one.contributor) : (one) => one.intent ?? "";
  const name = by === "author" ? (at) => authors[Number(at)] : (id) => [id, intentName(id)].filter(Boolean).join(" ");
  const counts = new Map();
  const columns = new Map(allPeriods(days, unit, of).map((period) => [period, new Map()]));
  for (const one of dated) {
    counts.set(key(one), (counts.get(key(one)) ?? 0) + one.blocks);
    const column = columns.get(of(one.day));
    column.set(key(one), (column.get(key(one)) ?? 0) + one.blocks);
  }
  const { colour, legend } = palette(counts, name);
  if (counts.has("")) legend.push(["c8", "no intent", counts.get("")]);
  const order = [...counts.keys()].sort((a, b) => counts.get(b) - counts.get(a));
  body.replaceChildren(
    legendOf(legend),
    columnsOf(columns, order, colour, unit),
    el("p", { class: "hint" }, `Blocks in records, by ${unit}, in UTC.`
      + (undated > 0 ? ` ${counted(undated, "entry").replace("entrys", "entries")} without a readable date ${undated === 1 ? "is" : "are"} not drawn.` : "")),
    onDemand("The columns as a table", () => table(`Recorded blocks by ${unit}`, [unit[0].toUpperCase() + unit.slice(1), "Blocks", by === "author" ? "Authors" : "Intents"],
      [...columns.entries()].filter(([, column]) => column.size > 0).map(([period, column]) => [
        period, String(sum([...column.values()])),
        order.filter((one) => column.has(one)).map((one) => `${name(one) || "no intent"} (${column.get(one)})`).join(", "),
      ]))),
  );
}

function columnsOf(columns, order, colour, unit) {
  const [width, height, foot, left] = [1160, 210, 20, 44];
  const sums = [...columns.values()].map((column) => sum([...column.values()]));
  const most = Math.max(...sums, 1);
  const step = (width - left) / columns.size;
  const busiest = [...columns.keys()][sums.indexOf(Math.max(...sums))];
  const picture = svg("svg", {
    viewBox: `0 0 ${width} ${height}`, role: "img",
    "aria-label": `${counted(sum(sums), "block")} in ${counted(columns.size, unit)}, most in ${busiest}; the table below says the same`,
  });
  for (const share of [0, 0.5, 1]) {
    const y = 12 + (1 - share) * (height - foot - 12);
    picture.append(svg("line", { class: "rule", x1: left, x2: width, y1: y, y2: y }),
      svg("text", { class: "axis", x: left - 6, y: y + 4, "text-anchor": "end" }, Math.round(most * share).toLocaleString("en")));
  }
  const every = Math.ceil(columns.size / 14);
  [...columns.entries()].forEach(([period, column], at) => {
    let y = height - foot;
    const thick = Math.min(step * 0.8, 80);
    const x = left + at * step + (step - thick) / 2;
    const group = svg("g", {}, svg("title", {}, `${period}: ${counted(sums[at], "block")}`));
    for (const one of order) {
      if (!column.has(one)) continue;
      const long = (column.get(one) / most) * (height - foot - 12);
      y -= long;
      group.append(svg("rect", { class: colour(one), x, y, width: thick, height: long }));
    }
    picture.append(group);
    if (at % every === 0) picture.append(svg("text", { class: "axis", x, y: height - 5 }, period.slice(unit === "day" || unit === "week" ? 5 : 0)));
  });
  return picture;
}
