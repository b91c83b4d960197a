// Shows the events that a page's stream tells of, the newest first.

const SHOWN_MAX = 50;
const seen = []; // the newest first
const main = document.querySelector("main");

function named(prefix, numbers, count) {
  if (!count) return "";
  const first = numbers.map((one) => prefix + one).join(", ");
  const more = count - numbers.length;
  return more > 0 ? ` ${first} and ${more.toLocaleString()} more` : ` ${first}`;
}

function line(event) {
  const item = document.createElement("li");
  const time = document.createElement("time");
  time.dateTime = event.at;
  time.title = event.at;
  time.textContent = new Date(event.at).toLocaleTimeString();
  item.append(time, event.kind + named("j", event.jobs, event.n_jobs) + named("g", event.groups, event.n_groups));
  return item;
}

function show() {
  const section = main.querySelector("#events");
  if (!section || !seen.length) return;
  section.hidden = false;
  section.querySelector("ol").replaceChildren(...seen.map(line));
}

document.addEventListener("weft-event", ({ detail }) => {
  for (const event of JSON.parse(detail)) seen.unshift(event);
  seen.splice(SHOWN_MAX);
  show();
});
new MutationObserver(show).observe(main, { childList: true });
