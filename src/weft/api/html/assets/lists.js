// Completes the query of a search, and ticks all rows of a list. Lists work without this module.

const LAST_TERM = /^(.*(?:\(|\b(?:and|or|not)\b)\s*)?(.*)$/is;

// A browser offers options for the whole field, so each begins with the terms that are written.
function complete(input) {
  const list = input.list;
  list.known ??= [...list.options].map((one) => one.value);
  const [, before = ""] = LAST_TERM.exec(input.value);
  if (list.before === before) return;
  list.before = before;
  list.replaceChildren(...list.known.map((word) => new Option("", before + word)));
}

function tickAll(form) {
  const boxes = [...form.elements].filter((one) => one.name === "b");
  const head = boxes[0]?.closest("table").querySelector("th");
  if (!head || head.querySelector("input")) return;
  const all = Object.assign(document.createElement("input"), { type: "checkbox", ariaLabel: "Tick all" });
  all.addEventListener("change", () => { for (const one of boxes) one.checked = all.checked; });
  head.replaceChildren(all);
}

const main = document.querySelector("main");
main.addEventListener("input", (event) => { if (event.target.list) complete(event.target); });
function prepare() {
  for (const form of main.querySelectorAll("form[data-many]")) tickAll(form);
}
new MutationObserver(prepare).observe(main, { childList: true });
prepare();
