// Sets the colours that this browser has chosen. Not a module: it must run before the page is drawn.
(() => {
  try {
    const chosen = localStorage.getItem("weft.scheme");
    if (chosen === "light" || chosen === "dark") document.documentElement.dataset.scheme = chosen;
  } catch { /* storage is switched off: the system's colours stay */ }
})();
