// Loads a branch of the tree of groups when it is opened, and keeps it open when the page is read
// again. Without this module a branch holds a link.

const main = document.querySelector("main");
const open = new Map(); // what open branches hold, by their addresses

async function load(branch) {
  const address = branch.dataset.branch;
  const kept = open.get(address);
  if (!kept) open.set(address, null);
  const answer = await fetch(address, { headers: { accept: "text/html" } });
  if (!answer.ok || answer.redirected || !open.has(address)) return; // the link is still there
  const text = await answer.text();
  open.set(address, text);
  // Nobody's hands are taken from what they are doing.
  if (text !== kept && branch.open && !isInUse(branch)) show(branch, text);
}

function isInUse(branch) {
  return branch.contains(document.activeElement) && document.activeElement !== branch.querySelector("summary")
    || branch.querySelector("details.ask[open]") !== null;
}

function show(branch, text) {
  const parts = new DOMParser().parseFromString(text, "text/html").body.childNodes;
  const summary = branch.querySelector("summary"); // it stays where it is: else it would lose the focus
  while (summary.nextSibling) summary.nextSibling.remove();
  summary.after(...parts);
  openAgain(branch);
}

function openAgain(root) {
  for (const one of root.querySelectorAll("details.branch:not([open])")) {
    if (!open.has(one.dataset.branch)) continue;
    one.open = true; // which loads it, a little later
    const kept = open.get(one.dataset.branch);
    if (kept) show(one, kept);
  }
}

// The event does not bubble.
main?.addEventListener("toggle", (event) => {
  const branch = event.target;
  if (!branch.matches?.("details.branch") || !branch.isConnected) return;
  if (branch.open) load(branch).catch(() => {});
  else open.delete(branch.dataset.branch);
}, true);

if (main) new MutationObserver(() => openAgain(main)).observe(main, { childList: true });
