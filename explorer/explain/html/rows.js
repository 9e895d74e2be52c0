// The two schedules side by side, one row per step. Equal steps are folded, and so are long parts.

const CONTEXT = 2, PIECE = 40, LONGEST = 120;
const list = make("div", {class: "rows", role: "group", "aria-label": "Steps of both schedules"});

// Rows that are never folded: the steps of the cause and the other flips, and the step at which the failure became
// inevitable.
const marked = new Map();  // number of the row: set of class names
function mark(row, name) {
  if (row === undefined || row < 0) return;
  if (!marked.has(row)) marked.set(row, new Set());
  marked.get(row).add(name);
}

const momentChoice = report.inevitable === null ? Infinity : report.curve[report.inevitable].choice;
const momentStep = steps.failing.find((step) => step.choice >= momentChoice);

function markAll() {
  const markEvents = (events, name) => {
    for (const event of events)
      for (const step of [findStep(event), findOther(event)]) if (step) mark(step.row, name);
  };
  const together = report.together ? report.together.orders : [];
  for (const order of together) markEvents([order.first, order.then], "cause");
  report.flips.forEach((flip, index) =>
    markEvents([flip.first, flip.then, ...Object.values(flip.block || {})],
               index === 0 && !together.length ? "cause" : "pair"));
  for (const wait of report.deadlock) markEvents(Object.values(wait), "cause");
  if (momentStep) mark(momentStep.row, "moment");
}

const isWrite = (step) => !["reads", "accesses"].includes(step.code.does);
const isAccess = (step) => ["reads", "writes", "accesses", "frees"].includes(step.code.does);

function lanes(step) {
  const dot = make("i", {class: `dot ${colour(step.thread)} ${isWrite(step) ? "writes" : "reads"}` +
                                (isAccess(step) ? "" : " sync")});
  dot.style.left = `calc(var(--lane) * ${laneOf.get(step.thread)} + var(--lane) / 2)`;
  return make("span", {class: "lanes", "aria-hidden": "true"}, dot);
}

const KINDS = {equal: "", moved: ", elsewhere in the other schedule", only: ", only in this schedule"};

function cell(side, step) {
  if (!step) return make("span", {class: `cell ${side} none`}, make("span", {class: "lanes", "aria-hidden": "true"}));
  const id = `${side}-${step.choice}`;
  const remark = report.passing === null ? "" : KINDS[step.kind];
  return make("a", {class: `cell ${side} ${step.kind}`, id, href: `#${id}`, tabindex: "-1",
                    "aria-label": `${side}: ${sentence(step)}${remark}`}, lanes(step),
              make("span", {class: "what"},
                   make("span", {class: "does"}, `${step.code.does} `, make("b", {text: step.object})),
                   make("span", {class: "place", text: shortPlace(step.code),
                                 title: `${step.code.place} ${step.code.file || ""}`}),
                   make("code", {class: "source", text: step.code.source || ""})));
}

function rowElement(number) {
  const row = rows[number];
  const names = ["row", row.equal ? "equal" : "differs", ...(marked.get(number) || [])];
  const element = make("div", {class: names.join(" "), "data-row": number});
  element.append(cell("failing", row.failing));
  if (report.passing !== null) element.append(cell("passing", row.passing));
  return element;
}

// differing[number]: the number of rows before `number` that differ.
const differing = [0];
for (const row of rows) differing.push(differing[differing.length - 1] + (row.equal ? 0 : 1));

function foldText(from, to) {
  const different = differing[to] - differing[from];
  if (!different) return plural(to - from, "equal step");
  return report.passing === null || different === to - from ? plural(to - from, "more step")
                                                            : `${plural(to - from, "step")}, ${different} of which differ`;
}

function foldElement(from, to) {
  const element = make("button", {class: "fold", type: "button", "data-from": from, "data-to": to, tabindex: "-1",
                                  text: foldText(from, to), "aria-expanded": "false"});
  element.addEventListener("click", () => unfold(element));
  return element;
}

// Returns the elements of the rows [from, to). Of a part longer than LONGEST, only the two ends, with a fold between
// them.
function elements(from, to) {
  const all = [];
  const plain = (end, start) => { for (let i = start; i < end; i++) all.push(rowElement(i)); };
  if (to - from <= LONGEST) plain(to, from);
  else {
    plain(from + PIECE, from);
    all.push(foldElement(from + PIECE, to - PIECE));
    plain(to, to - PIECE);
  }
  return all;
}

function unfold(fold) {
  const shown = elements(Number(fold.dataset.from), Number(fold.dataset.to));
  fold.replaceWith(...shown);
  const first = shown[0].querySelector("a") || shown[0];
  changed();
  setCurrent(first);
}

// If the row is folded away, unfolds it and some rows around it.
function reveal(number) {
  for (const fold of list.querySelectorAll(".fold")) {
    const from = Number(fold.dataset.from), to = Number(fold.dataset.to);
    if (number < from || number >= to) continue;
    const start = Math.max(from, number - CONTEXT), end = Math.min(to, number + CONTEXT + 1);
    const parts = [];
    if (start > from) parts.push(foldElement(from, start));
    for (let i = start; i < end; i++) parts.push(rowElement(i));
    if (end < to) parts.push(foldElement(end, to));
    fold.replaceWith(...parts);
    changed();
  }
  return list.querySelector(`[data-row="${number}"]`);
}

// If more than MANY rows differ, only rows near marked ones are shown.
const MANY = 300, NEAR = 15;
function keptRows() {
  const kept = new Uint8Array(rows.length);
  const keep = (number, around) => kept.fill(1, Math.max(0, number - around), Math.min(rows.length, number + around + 1));
  const few = differing[rows.length] <= MANY;
  for (const number of marked.keys()) keep(number, few ? CONTEXT : NEAR);
  if (few) rows.forEach((row, number) => { if (!row.equal) keep(number, CONTEXT); });
  return kept;
}

function foldAll() {
  const parts = [], kept = keptRows();
  for (let start = 0; start < rows.length;) {
    let end = start + 1;
    while (end < rows.length && kept[end] === kept[start]) end++;
    if (!kept[start] && end - start > CONTEXT) parts.push(foldElement(start, end));
    else for (let i = start; i < end; i++) parts.push(rowElement(i));
    start = end;
  }
  if (!rows.length) parts.push(make("p", {class: "empty", text: "No step conflicts with one of another thread."}));
  parts.push(make("div", {class: "row ends"}, ...SIDES.filter((side) => report[side]).map((side) =>
    make("span", {class: `cell ${side} end`}, make("span", {class: "lanes"}, make("i", {class: "stop"})),
         make("span", {class: "what", text: report[side].outcome.split("\n")[0]})))));
  list.replaceChildren(...parts);
  changed();
}
