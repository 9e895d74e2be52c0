// Puts the page together.

function copy(text, button) {
  const done = () => {
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  };
  const byHand = () => {  // if the clipboard is not available, as in some pages from files
    const field = make("textarea", {"aria-hidden": "true", class: "unseen"});
    field.value = text;
    document.body.append(field);
    field.select();
    if (document.execCommand("copy")) done();
    field.remove();
  };
  if (navigator.clipboard) navigator.clipboard.writeText(text).then(done, byHand);
  else byHand();
}

function addCopyButtons() {
  for (const code of document.querySelectorAll("code.command")) {
    const button = make("button", {type: "button", class: "copy", text: "Copy", "aria-label": `Copy: ${code.textContent}`});
    button.addEventListener("click", () => copy(code.textContent, button));
    code.after(button);
  }
}

function addFlipButtons() {
  for (const row of document.querySelectorAll("tr[data-flip]")) {
    const index = Number(row.dataset.flip);
    const show = () => { const step = look(index); if (step) goTo(step); };
    row.firstElementChild.append(make("button", {type: "button", text: "Show in the schedules", onclick: show}));
  }
}

function followHash() {
  const match = /^#(failing|passing)-(\d+)$/.exec(location.hash);
  if (!match) return;
  const step = steps[match[1]].find((one) => one.choice === Number(match[2]));
  if (step) goTo(step);
}

function build() {
  const width = 2 * Math.round(Math.max(3, Math.min(10, 80 / Math.max(1, threads.length))));
  const frame = document.getElementById("schedules");
  frame.style.setProperty("--lane", `${width}px`);
  frame.style.setProperty("--lanes", String(Math.max(1, threads.length)));
  if (report.passing === null) frame.classList.add("alone");
  const keys = make("p", {class: "keys"}, make("kbd", {text: "j"}), " ", make("kbd", {text: "k"}), " move, ",
                    make("kbd", {text: "Enter"}), " unfolds, ",
                    make("button", {type: "button", text: "All keys (?)", onclick: () => help.showModal()}));
  const dots = [["writes", "writes"], ["reads", "reads"], ["sync writes", "locks, waits, ..."]];
  const legend = make("p", {class: "legend dots"}, ...dots.flatMap(([look_, text]) =>
    [make("i", {class: `dot ${look_}`, "aria-hidden": "true"}), make("span", {text})]));
  frame.append(make("div", {class: "bar"}, legend, keys), heads(), list, tables());
  document.body.append(help);
  markAll();
  foldAll();
  addFlipButtons();
  look(CAUSE);
  addCopyButtons();
  list.addEventListener("focusin", (event) => { current = event.target.closest("a, button") || current; });
  list.addEventListener("click", (event) => {
    const element = event.target.closest("a.cell");
    if (!element || !list.contains(element)) return;
    event.preventDefault();  // change the address without scrolling
    history.replaceState(null, "", element.hash);
    setCurrent(element);
    toggleDetail(element);
  });
  document.addEventListener("keydown", onKey);
  window.addEventListener("resize", changed);
  window.addEventListener("hashchange", followHash);
  const first = firstStep();
  if (first) first.tabIndex = 0;
  if (location.hash) followHash();
  document.documentElement.dataset.ready = "yes";
}

build();
