// Keyboard navigation, and the current step.

let current = null;
let side = "failing";

function setCurrent(element) {
  if (current) current.tabIndex = -1;
  current = element;
  if (!element) return;
  element.tabIndex = 0;
  if (element.classList.contains("passing")) side = "passing";
  if (element.classList.contains("failing")) side = "failing";
  element.focus({preventScroll: true});
  element.scrollIntoView({block: "nearest"});
}

// The part of the list entry `child` that can get the focus: a fold, or the step in the current column; null if there
// is none.
const target = (child) => (child.classList.contains("fold") ? child : child.querySelector(`a.${side}`));

function firstStep() {
  const step = chain().map(findStep).find(Boolean) || steps.failing[0];
  return step && document.getElementById(`failing-${step.choice}`);
}

function move(direction, accepts = () => true) {
  if (!current || !current.isConnected) return setCurrent(firstStep() || target(list.firstElementChild));
  let child = current.closest(".rows > *");
  while ((child = direction > 0 ? child.nextElementSibling : child.previousElementSibling)) {
    if (child === overlay || !accepts(child)) continue;
    const found = target(child);
    if (found) return setCurrent(found);
  }
}

function changeSide(to) {
  if (!current || !current.isConnected || !report[to]) return;
  side = to;
  const row = current.closest(".row");
  const found = row && row.querySelector(`a.${to}`);
  if (found) return setCurrent(found);
  move(1);
}

// Shows or hides the details of a step.
function toggleDetail(element) {
  const open = element.querySelector(".detail");
  if (open) open.remove();
  else {
    const [at, choice] = element.id.split("-");
    const step = steps[at].find((one) => one.choice === Number(choice));
    const other = step.other ? `; choice ${step.other.choice} in the other schedule` : "";
    const file = step.code.file ? `; ${step.code.file}:${step.code.line}` : "";
    element.querySelector(".what").append(make("span", {
      class: "detail", text: `choice ${step.choice}; the ${ordinal(step.number)} time that the thread does this${other}${file}`}));
  }
  changed();
}

const HELP = [["j, ↓", "next step"], ["k, ↑", "step before"], ["h, ←", "the failing schedule"],
              ["l, →", "the passing schedule"], ["n, p", "next difference, difference before"],
              ["Enter", "unfold; more about a step"], ["c", "the cause"], ["f", "fold again"], ["?", "this help"],
              ["Esc", "close it"]];
const help = make("dialog", {id: "help", "aria-label": "Keys"}, make("h2", {text: "Keys"}),
                  make("dl", {}, ...HELP.flatMap(([key, text]) => [make("dt", {}, make("kbd", {text: key})), make("dd", {text})])),
                  make("form", {method: "dialog"}, make("button", {text: "Close"})));

const differs = (child) => child.classList.contains("differs") || child.classList.contains("cause");
const KEYS = {
  j: () => move(1), ArrowDown: () => move(1), k: () => move(-1), ArrowUp: () => move(-1),
  h: () => changeSide("failing"), ArrowLeft: () => changeSide("failing"),
  l: () => changeSide("passing"), ArrowRight: () => changeSide("passing"),
  n: () => move(1, differs), p: () => move(-1, differs),
  c: () => { const step = look(CAUSE); if (step) goTo(step); },
  f: () => { foldAll(); setCurrent(firstStep()); },
  "?": () => help.showModal(),
};

function onKey(event) {
  if (event.ctrlKey || event.altKey || event.metaKey || help.open) return;
  const inList = list.contains(document.activeElement);
  // Outside the list, arrow keys scroll as usual.
  if (event.key.startsWith("Arrow") && !inList) return;
  if (event.key === "Enter" && inList && current && current.matches("a")) {
    toggleDetail(current);
    return event.preventDefault();
  }
  const action = KEYS[event.key];
  if (!action) return;
  action();
  event.preventDefault();
}

function goTo(step) {
  reveal(step.row);
  const element = document.getElementById(`${step.side}-${step.choice}`);
  setCurrent(element);
  element.scrollIntoView({block: "center"});
}
