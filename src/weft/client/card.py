"""A batch or a group as a notebook shows it: HTML.

It brings no script and no style sheet. Text has the colours of the page, light or dark; those of
the bar differ from both, and what they mean stands below in words. Names are escaped.
"""

from collections.abc import Mapping
from html import escape
from typing import Any, Final

from weft.core.progress_file import parts_of, progress_words
from weft.core.states import shown_state
from weft.core.text.amounts import duration, money
from weft.core.text.texts import harmless

Document = Mapping[str, Any]
PARTS: Final = (
    ("n_succeeded", "succeeded", "#2a9d5c"),
    ("n_failed", "failed", "#d1495b"),
    ("n_errored", "errored", "#b5179e"),
    ("n_cancelled", "cancelled", "#c9a227"),
    ("n_running", "running", "#3a86c8"),
)
WAITING: Final = "rgba(128,128,128,.35)"
NAME_CHARS: Final = 200
TOLD_MAX: Final = 5
_BAR = "display:flex;height:.7em;width:min(100%,32em);border-radius:.35em;overflow:hidden"
_DOT = "display:inline-block;width:.7em;height:.7em;border-radius:50%;margin:0 .3em 0 .8em"


def card_html(title: str, document: Document) -> str:
    """Return the progress of a batch or a group."""
    total = document["n_jobs"]
    parts = [(document[name], word, colour) for name, word, colour in PARTS]
    parts.append((total - sum(count for count, *_ in parts), "waiting", WAITING))
    shown = [part for part in parts if part[0] > 0]
    bar = "".join(
        f'<span style="flex:{count} 0 0;background:{colour}"></span>' for count, _, colour in shown
    )
    words = "".join(
        f'<span><span style="{_DOT};background:{colour}"></span>{count:,} {word}</span>'
        for count, word, colour in shown
    )
    name = harmless(str(document.get("name") or ""))[:NAME_CHARS]
    return (
        f'<div class="weft-batch" role="group" aria-label="{escape(title)}">'
        f"<div><b>{escape(title)}</b> {escape(name)} · {_words(document)}</div>"
        f'<div style="{_BAR};background:{WAITING}" aria-hidden="true">{bar}</div>'
        f"<div>{words}</div>{_told(document)}</div>"
    )


def _told(document: Document) -> str:
    """Return a line for each running job that says how far it is."""
    reports = document.get("progress", ())[:TOLD_MAX]
    return "".join(
        f"<div>j{job['job_id']}: {escape(progress_words(job))}</div>" for job in reports
    )


def _words(document: Document) -> str:
    done, total = document["n_completed"], document["n_jobs"]
    parts = done + parts_of(document.get("progress", ()), document["n_running"])
    facts = [
        shown_state(document),
        f"{done:,}/{total:,}" + (f" ({int(parts * 100 / total)}%)" if total else ""),
        f"cost {money(document.get('cost'))}",
        duration(document.get("duration_ms")),
    ]
    return escape(" · ".join(fact for fact in facts if fact))
