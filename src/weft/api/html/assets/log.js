// Follows a log while its job runs, and jumps within it without loading the rest of the page again.
// The server sends it as HTML that holds spans and text only. Without this module links are pages.

const main = document.querySelector("main");
const status = document.getElementById("live");
const CHARS_MAX = 400000; // of a long log the page keeps the end: the links lead to the rest
const AGAIN_MS = 3000;
const NEAR_PX = 40;

let log = null;
let from = "";
let hasEnded = true; // also of a window that is not the last
let total = 0;
let source = null;
let timer = null;
let jumping = null; // stops the jump that is under way
let shown = ""; // the address of the window

function take() {
  log = document.getElementById("log");
  from = log?.dataset.from;
  hasEnded = !log?.dataset.live;
  total = log?.textContent.length ?? 0;
  shown = location.pathname + location.search;
  if (log?.dataset.end !== undefined) log.scrollTop = log.scrollHeight;
  start();
}

function isAtEnd() {
  return log.scrollHeight - log.scrollTop - log.clientHeight < NEAR_PX;
}

function add(node, size) {
  const follows = isAtEnd();
  document.getElementById("waits")?.remove();
  log.append(node);
  total += size;
  while (total > CHARS_MAX && log.childNodes.length > 1) {
    total -= log.firstChild.textContent.length;
    log.firstChild.remove();
  }
  if (follows) log.scrollTop = log.scrollHeight;
}

function addHtml(html) {
  if (!html) return;
  const piece = document.createElement("span");
  piece.innerHTML = html;
  add(piece, piece.textContent.length);
}

function say(text) {
  const line = document.createElement("span");
  line.className = "cut";
  line.textContent = `\n${text}\n`;
  add(line, line.textContent.length);
}

function start() {
  if (source !== null || hasEnded || document.hidden) return;
  source = new EventSource(`${log.dataset.live}&from=${encodeURIComponent(from)}`);
  source.onopen = () => { status.textContent = "Live"; };
  source.onmessage = (event) => {
    addHtml(JSON.parse(event.data).html);
    from = event.lastEventId || from;
  };
  source.addEventListener("attempt", (event) => say(`attempt ${JSON.parse(event.data).attempt}`));
  source.addEventListener("end", (event) => {
    hasEnded = true;
    stop();
    const end = JSON.parse(event.data);
    say(end.problem ? `${end.problem.title}: ${end.problem.detail}` : `The job has ended: ${end.state}.`);
    status.textContent = "";
  });
  source.onerror = () => {
    status.textContent = "The server is away";
    // The browser comes back by itself, but not after an answer that is no stream.
    if (source?.readyState === EventSource.CLOSED) {
      stop();
      timer ??= setTimeout(again, AGAIN_MS);
    }
  };
}

// A stream that is refused does not say why; the page does.
async function again() {
  const answer = await fetch(location.href, { headers: { accept: "text/html" } }).catch(() => null);
  timer = null;
  if (answer?.status === 401 || answer?.redirected) status.textContent = "Logged out";
  else if (answer?.status === 404) status.textContent = "What this page shows is gone";
  else start();
}

function stop() {
  source?.close();
  source = null;
}

function place() {
  history.replaceState({ top: log?.scrollTop ?? 0 }, "");
}

async function jump(address, top = null) {
  jumping?.abort();
  const mine = jumping = new AbortController();
  let answer = null;
  let fresh = null;
  try {
    answer = await fetch(address, { headers: { accept: "text/html" }, signal: mine.signal });
    fresh = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("main");
  } catch { /* it is loaded as a page, which says what is wrong */ }
  if (mine.signal.aborted) return;
  if (!answer?.ok || !fresh?.querySelector("#log")) { location.assign(address); return; }
  stop();
  status.textContent = "";
  main.replaceChildren(...fresh.childNodes);
  if (top === null) history.pushState(null, "", answer.url);
  take();
  log.focus({ preventScroll: true });
  if (top) log.scrollTop = top;
}

main?.addEventListener("click", (event) => {
  const link = event.target.closest?.("a[href]");
  if (!link || link.hasAttribute("download") || link.pathname !== location.pathname) return;
  if (event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  place();
  jump(link.href);
});
addEventListener("popstate", (event) => {
  if (location.pathname + location.search === shown) jumping?.abort();
  else jump(location.href, event.state?.top ?? 0);
});
document.addEventListener("visibilitychange", () => { if (document.hidden) stop(); else start(); });
addEventListener("pageshow", (event) => { if (event.persisted) start(); });
take();
