// A map of each schedule: time from left to right, one strip per thread.

const maps = new Map(SIDES.map((side) => [side, drawing("svg", {class: "map", preserveAspectRatio: "none"})]));

// One path per thread, with the intervals in which it runs.
function strips(side) {
  const paths = new Map();
  const all = steps[side];
  for (let i = 0; i < all.length;) {
    let end = i + 1;
    while (end < all.length && all[end].thread === all[i].thread) end++;
    const lane = laneOf.get(all[i].thread);
    paths.set(all[i].thread, `${paths.get(all[i].thread) || ""}M${i} ${lane + 0.15}h${end - i}v0.7h${i - end}z`);
    i = end;
  }
  return [...paths].map(([thread, d]) => drawing("path", {class: `strip ${colour(thread)}`, d}));
}

function upright(look, x) {
  return drawing("line", {class: look, x1: x, x2: x, y1: 0, y2: threads.length, "vector-effect": "non-scaling-stroke"});
}

const drawn = new Map();
function drawMaps() {
  for (const [side, map] of maps) {
    if (!steps[side].length) continue;
    if (!drawn.has(side)) drawn.set(side, strips(side));
    map.setAttribute("viewBox", `0 0 ${steps[side].length} ${threads.length}`);
    const marks = chain().map(side === "failing" ? findStep : findOther);
    map.replaceChildren(...drawn.get(side), ...marks.filter(Boolean).map((step) => upright("mark", step.index + 0.5)));
    if (side === "failing" && momentStep) map.append(upright("moment", momentStep.index));
  }
}

function mapOf(side) {
  const map = maps.get(side);
  map.setAttribute("role", "img");
  map.setAttribute("aria-label", `When each thread runs in the ${side} schedule`);
  map.addEventListener("click", (event) => {
    const box = map.getBoundingClientRect();
    const index = Math.floor((event.clientX - box.left) / box.width * steps[side].length);
    const step = steps[side][Math.min(Math.max(index, 0), steps[side].length - 1)];
    if (step) goTo(step);
  });
  return map;
}

function laneNames() {
  const names = make("span", {class: "lanes", "aria-hidden": "true"});
  for (const thread of threads) {
    const name = make("i", {class: `name ${colour(thread)}`, text: String(thread)});
    name.style.left = `calc(var(--lane) * ${laneOf.get(thread)} + var(--lane) / 2)`;
    names.append(name);
  }
  return names;
}

const TITLES = {failing: "Failing", passing: "Nearest passing"};

function heads() {
  return make("div", {class: "row heads"}, ...SIDES.filter((side) => report[side]).map((side) => {
    const {before, behind} = report[side].steps;
    const hidden = before + behind ? `; ${before} before and ${behind} behind are not in this file` : "";
    return make("div", {class: `head ${side}`},
      make("h3", {}, TITLES[side], make("small", {text: ` ${report[side].outcome.split("\n")[0]}`})),
      mapOf(side),
      make("p", {class: "legend"}, laneNames(),
           make("span", {text: `threads; ${plural(steps[side].length, "step")} of ` +
                               `${plural(report[side].events, "event")}${hidden}`})));
  }));
}
