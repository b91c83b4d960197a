// Keeps a page live, and shows times in the reader's zone. Every page works without this module.

const main = document.querySelector("main");
const isLive = Boolean(main?.dataset.events); // of other pages a module may own a part: they stay
const status = document.getElementById("live");
const QUIET_MS = 50; // after the first event of a burst the page is read again
const REST_MS = 250; // at least between two readings
const PACE = 20; // a page that takes 50 ms to read is read at most once a second
const SPREAD = 0.25; // many pages are not read all at once: each waits up to this part of its rest
const IN_USE_MS = 500; // how often a page that is in use is asked whether it still is
const AGAIN_MS = 3000;
const OLD_MS = 5000; // a page that is older says so
const READ_MS = 4000; // so it is read again after this time, as not all that it shows is told by events
const AGO_MS = 10000; // how often it is said again how long ago things were
const DAY_S = 86400;
const NARROW = matchMedia("(max-width: 40rem)");
const SCROLLED = ".wide, pre.log";

function localTimes(root) {
  const form = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
  for (const time of root.querySelectorAll("time")) {
    const local = form.format(new Date(time.dateTime));
    time.title = time.matches(".ago") ? `${local} (${time.textContent})` : time.textContent;
    time.textContent = local;
  }
  sayAgo(root);
}

// Of a day ago the date says more.
function sayAgo(root) {
  for (const time of root.querySelectorAll("time.ago")) {
    const seconds = Math.max(0, Math.round((Date.now() - new Date(time.dateTime)) / 1000));
    const [n, unit] = seconds < 60 ? [seconds, "s"] : seconds < 3600 ? [seconds / 60, "min"] : [seconds / 3600, "h"];
    if (seconds < DAY_S) time.textContent = `${Math.floor(n)} ${unit} ago`;
  }
}

// On a narrow screen a table that is wider becomes a list, in which each cell says what it is.
function stack(table) {
  table.classList.add("stack");
  const labels = [...table.querySelectorAll("thead th")].map((head) => head.querySelector(".skip") ? "" : head.textContent);
  for (const row of table.tBodies[0]?.rows ?? []) {
    [...row.cells].forEach((cell, i) => {
      if (i && labels[i] && !cell.matches(".name, :has(.badge)") && cell.textContent.trim()) cell.dataset.label ??= labels[i];
    });
  }
}

// A table that is wider than the screen otherwise can be scrolled with keys, and says what it is.
function reachable(root) {
  for (const wide of root.querySelectorAll(".wide")) {
    const table = wide.querySelector(":scope > table:not(.stack, .aside)");
    if (table && NARROW.matches && wide.scrollWidth > wide.clientWidth) stack(table);
    if (wide.scrollWidth <= wide.clientWidth) {
      for (const name of ["tabindex", "role", "aria-label"]) wide.removeAttribute(name);
      continue;
    }
    wide.tabIndex = 0;
    wide.setAttribute("role", "region");
    const before = wide.previousElementSibling;
    wide.setAttribute("aria-label", before?.matches("h1, h2, h3") ? before.textContent : "Table");
  }
}

// What a reader is in the middle of must not be taken from under their hands.
function isInUse() {
  const active = document.activeElement;
  const writes = active && main.contains(active) && active.matches("input, textarea, select");
  const selects = String(getSelection()) !== "" && main.contains(getSelection().anchorNode);
  const changed = [...main.querySelectorAll("input, textarea, select")].some(isChanged);
  return writes || changed || selects || main.querySelector("details[open]:not(.branch)") !== null;
}

function isChanged(field) {
  if (field.matches("[type=checkbox], [type=radio]")) return field.checked !== field.defaultChecked;
  if (!field.matches("select")) return field.value !== field.defaultValue;
  const usual = [...field.options].find((one) => one.defaultSelected) ?? field.options[0];
  return field.value !== usual?.value;
}

// Where the keyboard is: the same link, button or part of the new content takes its place.
function placeOf(active) {
  if (!active || !main.contains(active)) return "";
  const named = (name) => `${active.localName}[${name}="${CSS.escape(active.getAttribute(name))}"]`;
  if (active.id) return `#${CSS.escape(active.id)}`;
  if (active.matches("a[href]")) return named("href");
  if (active.matches("[aria-label]")) return named("aria-label");
  const branch = active.matches("summary") && active.parentElement.dataset.branch;
  if (branch) return `[data-branch="${CSS.escape(branch)}"] > summary`;
  const form = active.closest("form[action]");
  return form ? `form[action="${CSS.escape(form.getAttribute("action"))}"] ${active.tagName}` : "";
}

// Of tables and outputs: they stay where they are, and an output that was at its end stays there.
function placesOf(root) {
  return [...root.querySelectorAll(SCROLLED)].map((one) => ({
    left: one.scrollLeft, top: one.scrollTop, end: one.scrollHeight - one.scrollTop - one.clientHeight < 8,
  }));
}

function scrollTo(root, places) {
  root.querySelectorAll(SCROLLED).forEach((one, i) => {
    const { left, top, end } = places[i] ?? { left: 0, top: 0, end: true };
    one.scrollLeft = left;
    one.scrollTop = end && one.matches("pre") ? one.scrollHeight : top;
  });
}

// A part says when time alone will change it.
function waitForTime() {
  clearTimeout(changeTimer);
  const changeMs = Number(main?.querySelector("[data-due-ms]")?.dataset.dueMs);
  if (changeMs) changeTimer = setTimeout(schedule, changeMs);
}

async function readAgain() {
  const begun = performance.now();
  const answer = await fetch(location.href, { headers: { accept: "text/html" } });
  if (answer.status === 401 || answer.redirected) { end("Logged out"); return; }
  if (answer.status === 404) { end("What this page shows is gone"); return; }
  if (answer.status >= 500 || answer.status === 429) throw new Error(`the server replies ${answer.status}`);
  if (!answer.ok) return;
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("main");
  if (!fresh) return;
  if (isInUse()) { schedule(); return; }
  madeAt = begun;
  isStale = false;
  Object.assign(main.dataset, { since: fresh.dataset.since, restMs: fresh.dataset.restMs });
  const html = fresh.innerHTML.replace(TOKENS, "");
  if (html === made) { waitForTime(); return; }
  made = html;
  localTimes(fresh);
  const places = placesOf(main);
  const place = placeOf(document.activeElement);
  main.replaceChildren(...fresh.childNodes);
  reachable(main);
  scrollTo(main, places);
  waitForTime();
  await null; // modules complete the new content first
  if (place && !main.contains(document.activeElement)) main.querySelector(place)?.focus({ preventScroll: true });
}

let source = null;
let isOver = false; // the session has ended, or what the page shows is gone
let timer = null;
let busy = false;
let isStale = false; // the page could not be read again
let dueAgain = false;
let changeTimer = null; // of a part that changes though nothing happens
let restMs = REST_MS;
let readAt = -Infinity;
let madeAt = performance.now(); // what is shown is of this moment
let made = null;
const TOKENS = /name="csrf_token" value="\w*"/g; // each page has others for the same session

async function refresh() {
  if (busy) { dueAgain = true; return; }
  busy = isStale = true;
  const begun = performance.now();
  try {
    await readAgain();
    if (source?.readyState === EventSource.OPEN) status.textContent = "Live";
  } catch {
    status.textContent = "The server is away";
    timer ??= setTimeout(due, AGAIN_MS);
  }
  readAt = performance.now();
  restMs = Math.max(REST_MS, PACE * (readAt - begun), Number(main.dataset.restMs) || 0);
  busy = false;
  if (dueAgain) { dueAgain = false; schedule(); }
}

function schedule() {
  const spreadMs = SPREAD * Math.random() * Math.max(0, Number(main.dataset.restMs) - 2 * REST_MS);
  const waitMs = isInUse() ? IN_USE_MS : spreadMs + Math.max(QUIET_MS, readAt + restMs - performance.now());
  timer ??= setTimeout(due, waitMs);
}

function due() {
  timer = null;
  if (document.hidden || isOver) return; // `again` reads it
  if (isInUse()) schedule();
  else refresh();
}

function heard(event) {
  document.dispatchEvent(new CustomEvent("weft-event", { detail: event.data })); // for other modules
  schedule();
}

// Events after the moment at which the page was made: none is missed between the two.
function addressOf({ events, since }) {
  const address = new URL(events, location);
  if (since) address.searchParams.set("since", since);
  return address;
}

function start() {
  if (source !== null || document.hidden || !isLive) return;
  source = new EventSource(addressOf(main.dataset));
  source.onopen = () => {
    status.textContent = "Live";
    if (isStale || !main.dataset.since) schedule(); // something may have happened that no event tells
  };
  source.onmessage = heard;
  source.onerror = () => {
    status.textContent = "The server is away";
    if (source?.readyState !== EventSource.CLOSED) return;
    stop();
    delete main.dataset.since; // those events may be removed: the page is read again instead
    setTimeout(again, AGAIN_MS);
  };
}

function stop() {
  source?.close();
  source = null;
}

function end(why) {
  isOver = true;
  stop();
  status.textContent = why;
}

// The page says whether the session lasts; a stream of events that is refused does not say why.
async function again() {
  if (document.hidden || isOver) return;
  await refresh();
  if (!isOver) start();
}

function sayAge() {
  const ageMs = performance.now() - madeAt;
  document.getElementById("age").textContent = ageMs > OLD_MS ? `${Math.floor(ageMs / 1000)} s old` : "";
  if (ageMs > READ_MS && source?.readyState === EventSource.OPEN) schedule();
}

localTimes(document);
reachable(document);
if (isLive) setInterval(() => document.hidden || sayAge(), 500);
setInterval(() => document.hidden || sayAgo(document), AGO_MS);
addEventListener("resize", () => reachable(document));
document.addEventListener("visibilitychange", () => {
  if (!isLive) return;
  stop();
  isOver = false; // somebody may have logged in with another tab
  again();
});
addEventListener("pageshow", (event) => { if (event.persisted && isLive) { stop(); again(); } });
for (const one of main?.querySelectorAll("pre.log") ?? []) one.scrollTop = one.scrollHeight;
waitForTime();
start();
