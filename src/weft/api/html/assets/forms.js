// Sends a form only while its session lasts, so that nothing written in it is lost. Every form works without this module.

let sent = null; // the form whose session has just been asked for

// Who looks now: a document, null when nobody is logged in. It throws while the server is away.
async function whoLooks() {
  const answer = await fetch("/v1/whoami", { headers: { accept: "application/json" } });
  if (answer.status === 401) return null;
  if (!answer.ok) throw new Error(`the server replies ${answer.status}`);
  return answer.json();
}

async function problemOf(form) {
  let who = null;
  try { who = await whoLooks(); } catch { return "The server is away: nothing was sent. Try again soon."; }
  if (who === null) return "You were logged out: nothing was sent. Log in with another tab, then try again here.";
  if (who.user !== document.querySelector("main").dataset.user)
    return `You are logged in as ${who.user} now: nothing was sent. Load the page again.`;
  // Another tab may have opened a new session since this page was made.
  const field = form.elements.namedItem("csrf_token");
  if (field && who.csrf_token) field.value = who.csrf_token;
  return "";
}

// Where the reader looks: behind the form, or its like if the page was read again meanwhile.
function say(sender, problem) {
  const alike = `main form[action="${CSS.escape(sender.getAttribute("action"))}"]`;
  const form = sender.isConnected ? sender : document.querySelector(alike) ?? document.querySelector("main").lastElementChild;
  let place = form.nextElementSibling;
  if (!place?.matches(".problem.unsent")) {
    if (!problem) return;
    place = document.createElement("p");
    place.className = "problem unsent";
    place.setAttribute("role", "alert");
    form.after(place);
  }
  if (problem) place.textContent = problem;
  else place.remove();
}

document.addEventListener("submit", async (event) => {
  const form = event.target;
  if (form.getAttribute("method")?.toLowerCase() === "dialog" || !form.closest("main")) return;
  if (sent === form) { sent = null; return; }
  event.preventDefault();
  const submitter = event.submitter;
  const problem = await problemOf(form);
  say(form, problem);
  if (problem) return;
  if (!form.isConnected) { form.hidden = true; document.body.append(form); } // the page was read again meanwhile
  sent = form;
  form.requestSubmit(submitter?.isConnected ? submitter : null);
});
