// Shows the events of a page's stream as they come, the newest first.

const SHOWN_MAX = 50;
const NAMED_MAX = 5;
const seen = []; // the newest first
const main = document.querySelector("main");

function named(prefix, numbers) {
  if (!numbers.length) return "";
  const first = numbers.slice(0, NAMED_MAX).map((one) => prefix + one).join(", ");
  const more = numbers.length - NAMED_MAX;
  return more > 0 ? ` ${first} and ${more.toLocaleString()} more` : ` ${first}`;
}

function line(event) {
  const item = document.createElement("li");
  const time = document.createElement("time");
  time.dateTime = event.at;
  time.title = event.at;
  time.textContent = new Date(event.at).toLocaleTimeString();
  item.append(time, event.kind + named("j", event.jobs ?? []) + named("g", event.groups ?? []));
  return item;
}

function show() {
  const section = main.querySelector("#events");
  if (!section || !seen.length) return;
  section.hidden = false;
  section.querySelector("ol").replaceChildren(...seen.map(line));
}

document.addEventListener("weft-event", ({ detail }) => {
  try { seen.unshift(JSON.parse(detail)); } catch { return; }
  seen.splice(SHOWN_MAX);
  show();
});
new MutationObserver(show).observe(main, { childList: true });
