// The report, and its schedules as lists of steps. docs/explanation-format.md describes the columns.

const report = JSON.parse(document.getElementById("report").textContent);
const SIDES = ["failing", "passing"];

// Makes an element with attributes, event handlers and children. Strings among the children become text, never markup.
function make(name, properties = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key === "text") element.textContent = value;
    else if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value);
  }
  element.append(...children);
  return element;
}

function drawing(name, attributes = {}) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
}

// The steps of one schedule. Steps of the two schedules that do the same have the same `key`.
function unpack(side) {
  const schedule = report[side];
  if (schedule === null) return [];
  const columns = schedule.steps;
  const numbers = new Map(), seen = new Map();
  let choice = 0;
  return columns.threads.map((thread, index) => {
    const code = columns.code[index], object = columns.objects[index];
    const place = `${thread} ${code} ${object}`;
    const number = (numbers.get(place) || 0) + columns.numbers[index];
    numbers.set(place, number);
    choice += columns.choices[index];
    // Several operations on one line are distinguished by their order.
    const name = `${place} ${number}`, occurrence = (seen.get(name) || 0) + 1;
    seen.set(name, occurrence);
    return {side, index, thread, code: report.code[code], object: report.objects[object], number, choice,
            key: `${name} ${occurrence}`, row: -1, other: null, kind: "only"};
  });
}

const steps = {failing: unpack("failing"), passing: unpack("passing")};

// Threads of both schedules, by id.
const threads = [...new Set(SIDES.flatMap((side) => steps[side].map((step) => step.thread)))].sort((a, b) => a - b);
const laneOf = new Map(threads.map((thread, lane) => [thread, lane]));
const colour = (thread) => `t${thread % 8}`;

const byChoice = new Map(steps.failing.map((step) => [step.choice, step]));

// The step of the failing schedule that a flip, a block or a deadlock names; undefined if the run did not reach it.
const findStep = (event) => (event.not_reached ? undefined : byChoice.get(event.choice));

// The same in the passing schedule.
function findOther(event) {
  const step = findStep(event);
  if (step) return step.other;
  return steps.passing.find((one) => one.thread === event.thread && one.number === event.number &&
                                     one.object === event.object && one.code.place === event.place &&
                                     one.code.does === event.does);
}

// Shortens names: functions of C++ templates can have very long ones.
function shortPlace(code) {
  const name = Array.from(code.function || "");
  if (name.length <= 56 || !code.place.startsWith(code.function)) return code.place;
  return `${name.slice(0, 56).join("")}…${code.place.slice(code.function.length)}`;
}

const plural = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;
const ordinal = (number) => {
  const ending = number % 100 >= 11 && number % 100 <= 13 ? "th" : ["th", "st", "nd", "rd"][number % 10] || "th";
  return `${number}${ending}`;
};
const sentence = (step) => `thread ${step.thread} ${step.code.does} ${step.object} in ${step.code.place}`;
