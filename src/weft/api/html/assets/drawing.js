// Buttons and keys that make a picture larger and smaller. It begins whole, and keeps place and size when
// the page is read again. Without this module a picture is scrolled.

const main = document.querySelector("main");
const SMALLEST = 0.05;
let zoom = null; // null: it was not drawn yet
let place = null;

function furnish() {
  const drawing = main.querySelector(".drawing");
  const svg = drawing?.querySelector("svg");
  if (!svg || drawing.dataset.furnished) return;
  drawing.dataset.furnished = "yes";
  const { width, height } = svg.viewBox.baseVal;
  const scale = (to) => {
    zoom = Math.min(Math.max(to, SMALLEST), 2);
    const x = (drawing.scrollLeft + drawing.clientWidth / 2) / drawing.scrollWidth;
    const y = (drawing.scrollTop + drawing.clientHeight / 2) / drawing.scrollHeight;
    svg.setAttribute("width", width * zoom);
    svg.setAttribute("height", height * zoom);
    drawing.scrollTo(x * drawing.scrollWidth - drawing.clientWidth / 2, y * drawing.scrollHeight - drawing.clientHeight / 2);
  };
  const whole = () => Math.min(drawing.clientWidth / width, drawing.clientHeight / height, 1);
  const bar = document.createElement("p");
  bar.className = "zoom";
  const presses = {};
  for (const [label, title, key, press] of [
    ["−", "Smaller", "-", () => scale(zoom / 1.5)],
    ["+", "Larger", "+", () => scale(zoom * 1.5)],
    ["Whole", "The whole picture", "0", () => scale(whole())],
    ["1:1", "1:1, its own size", "1", () => scale(1)],
  ]) {
    presses[key] = press;
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = label;
    button.title = `${title} (${key} in the picture)`;
    button.ariaKeyShortcuts = key;
    button.setAttribute("aria-label", title);
    button.addEventListener("click", press);
    bar.append(button);
  }
  drawing.before(bar);
  scale(zoom ?? whole());
  if (place) drawing.scrollTo(...place);
  drawing.addEventListener("keydown", (event) => {
    if (!(event.key in presses) || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    presses[event.key]();
  });
  drawing.addEventListener("scroll", () => { place = [drawing.scrollLeft, drawing.scrollTop]; }, { passive: true });
}

if (main) {
  furnish();
  new MutationObserver(furnish).observe(main, { childList: true });
}
