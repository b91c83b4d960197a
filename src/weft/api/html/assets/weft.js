// Keeps a page live, and shows times in the reader's zone. Every page works without this module.

const main = document.querySelector("main");
const isLive = Boolean(main?.dataset.events); // of other pages a module may own a part: they stay
const status = document.getElementById("live");
const QUIET_MS = 50; // after the first event of a burst the page is read again
const REST_MS = 250; // at least between two readings
const PACE = 20; // a page that takes 50 ms to read is read at most once a second
const AGAIN_MS = 3000;

function localTimes(root) {
  const form = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
  for (const time of root.querySelectorAll("time")) {
    time.title = time.textContent;
    time.textContent = form.format(new Date(time.dateTime));
  }
}

// A table that is wider than the screen can be scrolled with keys, and says what it is.
function reachable(root) {
  for (const wide of root.querySelectorAll(".wide")) {
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
  const changed = [...main.querySelectorAll("input")].some(
    (one) => one.matches("[type=checkbox], [type=radio]") ? one.checked !== one.defaultChecked : one.value !== one.defaultValue,
  );
  return writes || changed || selects || main.querySelector("details[open]:not(.branch)") !== null;
}

// Where the keyboard is: the same link or button of the new content takes its place.
function placeOf(active) {
  if (!active || !main.contains(active)) return "";
  if (active.id) return `#${CSS.escape(active.id)}`;
  if (active.matches("a[href]")) return `a[href="${CSS.escape(active.getAttribute("href"))}"]`;
  const form = active.closest("form[action]");
  return form ? `form[action="${CSS.escape(form.getAttribute("action"))}"] ${active.tagName}` : "";
}

async function readAgain() {
  const answer = await fetch(location.href, { headers: { accept: "text/html" } });
  isOut = answer.status === 401 || answer.redirected;
  if (isOut) { status.textContent = "Logged out"; stop(); return; }
  if (!answer.ok || isInUse()) return;
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("main");
  if (!fresh) return;
  localTimes(fresh);
  const places = [...main.querySelectorAll("pre.log")].map((one) => ({
    top: one.scrollTop, end: one.scrollHeight - one.scrollTop - one.clientHeight < 8,
  }));
  const place = placeOf(document.activeElement);
  main.replaceChildren(...fresh.childNodes);
  reachable(main);
  if (place) main.querySelector(place)?.focus({ preventScroll: true });
  main.querySelectorAll("pre.log").forEach((one, i) => {
    const place = places[i] ?? { end: true };
    one.scrollTop = place.end ? one.scrollHeight : place.top;
  });
}

let source = null;
let isOut = false; // the session has ended
let timer = null;
let busy = false;
let dueAgain = false;
let restMs = REST_MS;
let readAt = -Infinity;

async function refresh() {
  timer = null;
  if (busy) { dueAgain = true; return; }
  busy = true;
  const begun = performance.now();
  try { await readAgain(); } catch { status.textContent = "The server is away"; }
  readAt = performance.now();
  restMs = Math.max(REST_MS, PACE * (readAt - begun));
  busy = false;
  if (dueAgain) { dueAgain = false; schedule(); }
}

function schedule() {
  if (timer === null) timer = setTimeout(refresh, Math.max(QUIET_MS, readAt + restMs - performance.now()));
}

function heard(event) {
  document.dispatchEvent(new CustomEvent("weft-event", { detail: event.data })); // for other modules
  schedule();
}

function start() {
  if (source !== null || document.hidden || !isLive) return;
  source = new EventSource(main.dataset.events);
  source.onopen = () => { status.textContent = "Live"; };
  source.onmessage = schedule;
  for (const kind of (main.dataset.kinds ?? "").split(" ").filter(Boolean)) source.addEventListener(kind, heard);
  source.onerror = () => {
    status.textContent = "The server is away";
    if (source?.readyState === EventSource.CLOSED) { stop(); setTimeout(again, AGAIN_MS); }
  };
}

function stop() {
  source?.close();
  source = null;
}

// The page says whether the session lasts; a stream of events that is refused does not say why.
async function again() {
  if (document.hidden || isOut) return;
  await refresh();
  if (isOut) return;
  start();
  schedule(); // for what has changed between the two
}

localTimes(document);
reachable(document);
addEventListener("resize", () => reachable(document));
document.addEventListener("visibilitychange", () => {
  if (!isLive) return;
  if (document.hidden) { stop(); return; }
  if (!isOut) { start(); schedule(); return; }
  isOut = false; // somebody may have logged in with another tab
  again();
});
addEventListener("pageshow", (event) => { if (event.persisted && isLive) schedule(); });
for (const one of main?.querySelectorAll("pre.log") ?? []) one.scrollTop = one.scrollHeight;
start();
