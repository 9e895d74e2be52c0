// The two schedules side by side: a row a step, folded where they are equal, or too long to be read.

const CONTEXT = 2, PIECE = 40, LONGEST = 120;
const list = make("div", {class: "rows", role: "group", "aria-label": "Steps of both schedules"});

// Rows that are never folded away: what the cause and the other flips name, and the moment.
const marked = new Map();  // number of the row: set of class names
function mark(row, name) {
  if (row === undefined || row < 0) return;
  if (!marked.has(row)) marked.set(row, new Set());
  marked.get(row).add(name);
}

const momentChoice = report.inevitable === null ? Infinity : report.curve[report.inevitable].choice;
const momentStep = steps.failing.find((step) => step.choice >= momentChoice);

function markAll() {
  report.flips.forEach((flip, index) => {
    const events = [flip.first, flip.then, ...(flip.block ? Object.values(flip.block) : [])];
    for (const event of events) {
      const step = findStep(event);
      if (!step) continue;
      mark(step.row, index === 0 ? "cause" : "pair");
      if (step.other) mark(step.other.row, index === 0 ? "cause" : "pair");
    }
  });
  for (const wait of report.deadlock)
    for (const event of Object.values(wait)) {
      const step = findStep(event);
      if (step) mark(step.row, "cause");
    }
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
                   make("span", {class: "place", text: step.code.place, title: step.code.file || ""}),
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

function foldElement(from, to) {
  const kind = rows[from].equal ? "equal" : "more";
  const element = make("button", {class: "fold", type: "button", "data-from": from, "data-to": to, tabindex: "-1",
                                  text: `${plural(to - from, `${kind} step`)}`, "aria-expanded": "false"});
  element.addEventListener("click", () => unfold(element));
  return element;
}

// The elements of the rows [from, to): all of them, or the ends of a long piece around a fold.
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

// Shows the row, with some around it, if it is folded away.
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

// Where a stretch of rows that is not to be folded begins or ends.
function isKept(number) {
  for (let i = number - CONTEXT; i <= number + CONTEXT; i++)
    if (marked.has(i) || (rows[i] && !rows[i].equal)) return true;
  return false;
}

// Rows that differ are shown around what is marked; the middle of a long stretch of others is folded.
function foldAll() {
  const parts = [];
  let number = 0;
  while (number < rows.length) {
    const kept = isKept(number);
    let end = number + 1;
    while (end < rows.length && isKept(end) === kept) end++;
    if (!kept && end - number > CONTEXT) parts.push(foldElement(number, end));
    else parts.push(...keptElements(number, end));
    number = end;
  }
  if (!rows.length) parts.push(make("p", {class: "empty", text: "No step conflicts with one of another thread."}));
  parts.push(make("div", {class: "row ends"}, ...SIDES.filter((side) => report[side]).map((side) =>
    make("span", {class: `cell ${side} end`}, make("span", {class: "lanes"}),
         make("span", {class: "what", text: report[side].outcome.split("\n")[0]})))));
  list.replaceChildren(...parts);
  changed();
}

function keptElements(from, to) {
  const all = [];
  let start = from;
  for (let i = from; i <= to; i++) {
    if (i < to && !marked.has(i)) continue;
    all.push(...elements(start, i));
    if (i < to) all.push(rowElement(i));
    start = i + 1;
  }
  return all;
}
