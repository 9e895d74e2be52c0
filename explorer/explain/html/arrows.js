// Arrows between the steps of the selected pair or of the cause, in their order in the failing run and in the passing
// one.

const overlay = drawing("svg", {class: "arrows", "aria-hidden": "true"});
const TOGETHER = -1;  // selects the orders that fail only together
const CAUSE = report.together ? TOGETHER : 0;
let looked = CAUSE;  // index of the flip, or TOGETHER

function inOrder(events) {
  return events.sort((a, b) => a.choice - b.choice);
}

// The events that the arrows connect.
function chain() {
  if (looked === TOGETHER) return inOrder(report.together.orders.flatMap((order) => [order.first, order.then]));
  const flip = report.flips[looked];
  if (!flip) return [];
  if (looked === 0 && report.deadlock.length)
    return inOrder(report.deadlock.flatMap((wait) => [wait.holds, wait.wants]));
  return flip.block ? [flip.block.begin, flip.block.between, flip.block.end] : [flip.first, flip.then];
}

// The elements in a column that arrows connect, in the order of that schedule. An event that the failing run did not
// reach is drawn at the run's end.
function anchors(side) {
  const events = chain();
  const found = events.map(side === "failing" ? findStep : findOther).filter(Boolean);
  const shown = [...new Set(found)].sort((a, b) => a.index - b.index);
  const dots = shown.map((step) => document.getElementById(`${side}-${step.choice}`)).filter(Boolean)
    .map((element) => element.querySelector(".dot"));
  if (side === "failing" && dots.length && events.some((event) => event.not_reached))
    dots.push(list.querySelector(".ends .failing .stop"));
  return dots;
}

function centre(element, frame) {
  const box = element.getBoundingClientRect();
  return {x: box.left + box.width / 2 - frame.left, y: box.top + box.height / 2 - frame.top};
}

function arrow(from, to, side) {
  const bend = Math.min(60, 12 + Math.abs(to.y - from.y) / 6);
  const goesDown = to.y > from.y ? 1 : -1;
  const path = drawing("path", {
    class: `arrow ${side}`,
    d: `M${from.x} ${from.y + 7 * goesDown} C${from.x} ${from.y + bend * goesDown} ${to.x} ${to.y - bend * goesDown} ` +
       `${to.x} ${to.y - 10 * goesDown}`,
    "marker-end": `url(#tip-${side})`,
  });
  return path;
}

function tip(side) {
  const marker = drawing("marker", {id: `tip-${side}`, viewBox: "0 0 8 8", refX: 5, refY: 4, markerWidth: 5,
                                    markerHeight: 5, orient: "auto"});
  marker.append(drawing("path", {class: `tip ${side}`, d: "M0 0 L8 4 L0 8 z"}));
  return marker;
}

function drawArrows() {
  const frame = list.getBoundingClientRect();
  const parts = [tip("failing"), tip("passing")];
  for (const element of list.querySelectorAll(".looked")) element.classList.remove("looked");
  for (const side of SIDES) {
    const dots = anchors(side);
    for (const dot of dots) dot.closest(".cell").classList.add("looked");
    for (let i = 0; i + 1 < dots.length; i++)
      parts.push(arrow(centre(dots[i], frame), centre(dots[i + 1], frame), side));
  }
  overlay.setAttribute("width", frame.width);
  overlay.setAttribute("height", frame.height);
  overlay.replaceChildren(...parts);
  list.append(overlay);
}

let waiting = false;
// Redraws the arrows in the next frame, once for many changes.
function changed() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => {
    waiting = false;
    drawArrows();
  });
}

function look(index) {
  looked = index;
  for (const row of document.querySelectorAll("tr[data-flip]"))
    row.setAttribute("aria-current", String(Number(row.dataset.flip) === index));
  const first = chain().map(findStep).find(Boolean);
  for (const event of chain()) {
    for (const step of [findStep(event), findOther(event)]) if (step) reveal(step.row);
  }
  changed();
  drawMaps();
  return first;
}
