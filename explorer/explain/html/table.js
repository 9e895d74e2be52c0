// The steps as tables, for readers who cannot see the drawing.

const BATCH = 500;
const TITLE_ROW = ["Choice", "Thread", "Does", "Object", "Place", "Source", "In the other schedule"];
const OTHERS = {equal: "at the same place", moved: "in another order", only: "not at all"};

function tableRow(step) {
  const id = `${step.side}-${step.choice}`;
  const values = [step.thread, step.code.does, step.object, step.code.place, step.code.source || "",
                  report.passing === null ? "" : OTHERS[step.kind]];
  return make("tr", {}, make("th", {scope: "row"}, make("a", {href: `#${id}`, text: String(step.choice)})),
              ...values.map((value) => make("td", {text: String(value)})));
}

function stepTable(side) {
  const body = make("tbody");
  const more = make("button", {type: "button"});
  let shown = 0;
  const add = () => {
    const end = Math.min(shown + BATCH, steps[side].length);
    for (; shown < end; shown++) body.append(tableRow(steps[side][shown]));
    more.hidden = shown === steps[side].length;
    more.textContent = `${steps[side].length - shown} more steps`;
  };
  more.addEventListener("click", add);
  add();
  const head = make("tr", {}, ...TITLE_ROW.map((text) => make("th", {scope: "col", text})));
  const table = make("table", {class: "plain"}, make("caption", {text: `Steps of the ${side} schedule`}),
                     make("thead", {}, head), body);
  return make("div", {class: "wide", tabindex: "0", role: "region", "aria-label": `Steps of the ${side} schedule`}, table, more);
}

function tables() {
  const details = make("details", {id: "step-tables"}, make("summary", {text: "The steps as tables"}));
  details.addEventListener("toggle", () => {
    if (details.open && details.children.length === 1)
      details.append(...SIDES.filter((side) => report[side]).map(stepTable));
  });
  return details;
}
