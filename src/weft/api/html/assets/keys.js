// Keys for those who read without a mouse, and the choice of colours. Every page works without this module.

const GO_MS = 1500; // how long `g` waits for the second key
const dialog = document.getElementById("keys");
const switched = document.getElementById("keys-on");
const scheme = document.getElementById("scheme");
let wentAt = -Infinity;

function kept(name) {
  try { return localStorage.getItem(name) ?? ""; } catch { return ""; }
}

function keep(name, value) {
  try {
    if (value) localStorage.setItem(name, value);
    else localStorage.removeItem(name);
  } catch { /* it holds for this page only */ }
}

function showKeys() {
  if (!dialog.open) dialog.showModal();
}

function writeQuery() {
  const field = document.querySelector("main .search input:not([type=hidden])");
  field?.focus();
  field?.select();
  return Boolean(field);
}

function moveRow(step) {
  const rows = [...document.querySelectorAll("main tbody tr")].filter((row) => row.querySelector("a[href]"));
  if (!rows.length) return false;
  const at = rows.findIndex((row) => row.contains(document.activeElement));
  const next = at < 0 ? (step > 0 ? 0 : rows.length - 1) : Math.min(rows.length - 1, Math.max(0, at + step));
  rows[next].querySelector("a[href]").focus();
  rows[next].scrollIntoView({ block: "nearest" });
  return true;
}

function go(key) {
  const link = dialog.querySelector(`a[data-key="${CSS.escape(key)}"]`);
  if (link) location.assign(link.href);
  return Boolean(link);
}

function press(key) {
  if (performance.now() - wentAt < GO_MS) {
    wentAt = -Infinity;
    return go(key);
  }
  switch (key) {
    case "g": wentAt = performance.now(); return true;
    case "/": return writeQuery();
    case "j": return moveRow(1);
    case "k": return moveRow(-1);
    case "?": showKeys(); return true;
    default: return false;
  }
}

addEventListener("keydown", (event) => {
  const target = event.target;
  const writes = target instanceof Element && (target.closest("input, textarea, select") || target.isContentEditable);
  if (event.key === "Escape" && writes && target.closest(".search")) { target.blur(); return; }
  if (writes || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (dialog.open || !switched.checked) return;
  if (press(event.key)) event.preventDefault();
});

switched.checked = kept("weft.keys") !== "off";
switched.addEventListener("change", () => keep("weft.keys", switched.checked ? "" : "off"));
document.getElementById("keys-open").addEventListener("click", showKeys);
scheme.value = document.documentElement.dataset.scheme ?? "";
scheme.addEventListener("change", () => {
  if (scheme.value) document.documentElement.dataset.scheme = scheme.value;
  else delete document.documentElement.dataset.scheme;
  keep("weft.scheme", scheme.value);
});
document.querySelector(".reading").hidden = false;
