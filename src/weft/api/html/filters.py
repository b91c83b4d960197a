"""Values as pages show them."""

import re
import shlex
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import quote

from markupsafe import Markup, escape

from weft.core.billing.rates import HOURS_OF, hours_used, written_hours
from weft.core.deliveries.sinks import unsent
from weft.core.ends.end_words import explain_reason
from weft.core.progress_file import progress_of
from weft.core.states import shown_state
from weft.core.text.amounts import duration, money, size
from weft.core.text.texts import harmless

_SECONDS: Final = len("2026-11-22 10:00:00")


def number(value: int | None) -> str:
    """Write a count: `1,234,567`."""
    return "–" if value is None else f"{value:,}"


def moment(at: datetime | str | None) -> Markup:
    """Write a time in UTC; a module of the page turns it into the reader's zone. Times within
    documents of the database come as text.
    """
    return _time(at, "")


def ago(at: datetime | str | None) -> Markup:
    """Write a time as `moment` does; the module says how long ago that was, and the date to those
    who point at it.
    """
    return _time(at, ' class="ago"')


def _time(at: datetime | str | None, attribute: str) -> Markup:
    if at is None:
        return Markup("–")
    utc = (datetime.fromisoformat(at) if isinstance(at, str) else at).astimezone(UTC)
    seconds = utc.isoformat(" ", "seconds")[:_SECONDS]
    # Digits only, so there is nothing to escape: a page may show hundreds.
    when = f'datetime="{seconds.replace(" ", "T")}+00:00"'
    return Markup(f"<time{attribute} {when}>{seconds} UTC</time>")  # noqa: S704


def ended(one: Mapping[str, Any]) -> str:
    """Write how an attempt, or each job of a cause, ended."""
    document = {"state": "failed", **one}
    return explain_reason(document).removeprefix(f"{document['state']}: ")


def shown(text: object) -> Markup:
    """Write a text of somebody else: without what could steer, and apart from what is around it,
    so that letters which are written from right to left move nothing but themselves.
    """
    return Markup(f"<bdi>{escape('–' if text is None else harmless(str(text)))}</bdi>")  # noqa: S704


def with_code(text: str) -> Markup:
    """Write a text of weft in which commands stand between backticks."""
    parts = text.split("`")
    if len(parts) % 2 == 0:
        return shown(text)
    return Markup().join(
        Markup("<code>{}</code>").format(harmless(part)) if number % 2 else shown(part)
        for number, part in enumerate(parts)
    )


def hours(used: Mapping[str, Any]) -> str:
    """Write how much of a resource was used, in the units of its price: `1.25 core h`."""
    resource = used["resource"]
    return f"{written_hours(hours_used(resource, used['usage']))} {HOURS_OF[resource]}"


def duration_or_dash(milliseconds: int | None) -> str:
    """Write a time span, or that there is none."""
    return duration(milliseconds) or "–"


def shares(counted: Mapping[str, Any]) -> list[tuple[str, int, float]]:
    """Return the states of a batch or group that have jobs: state, jobs, and percent of all."""
    states = (
        ("success", "n_succeeded"),
        ("failed", "n_failed"),
        ("error", "n_errored"),
        ("cancelled", "n_cancelled"),
        ("running", "n_running"),
        ("creating", "n_creating"),
        ("queued", "n_queued"),
        ("ready", "n_ready"),
        ("blocked", "n_blocked"),
        ("pending", "n_pending"),
    )
    total = counted["n_jobs"]
    return [
        (state, counted[field], 100 * counted[field] / total)
        for state, field in states
        if counted[field]
    ]


_REFERENCE: Final = re.compile(r"b([1-9]\d{0,17})(?:\.j([1-9]\d{0,8}))?(?:/.*)?")
_OF_JOBS: Final = frozenset(
    {
        "answer",
        "cancel",
        "jobs",
        "logs",
        "release",
        "status",
        "usage",
        "why",
    }
)
"""Commands about the batch or job that they name."""
_PAGES: Final = {
    "worker": (2, "/ui/workers/{}"),
    "pool": (2, "/ui/pools/{}"),
    "queue": (1, "/ui/queues"),
    "condition": (2, "/ui/conditions/{}"),
    "line": (1, "/ui/lines"),
    "billing": (3, "/ui/costs/{}"),
}
"""Of what a command is about: where its name stands in it, and its page."""


def page_of(cause: Mapping[str, Any]) -> str | None:
    """Return the page of what the command of a cause is about; None: there is none."""
    words = shlex.split(cause["command"] or "")[1:]
    if words and words[0] in _PAGES:
        at, page = _PAGES[words[0]]
        is_named = len(words) > at and not words[1].startswith("-")
        return page.format(quote(words[at], safe="")) if is_named else None
    references = map(_REFERENCE.fullmatch, words if words and words[0] in _OF_JOBS else ())
    for reference in filter(None, references):
        batch, job = reference.groups()
        return f"/ui/batches/{batch}" + (f"/jobs/{job}" if job else "")
    return None


FILTERS: Final = {
    "page_of": page_of,
    "state": shown_state,
    "end": ended,
    "number": number,
    "duration": duration_or_dash,
    "money": money,
    "size": lambda n_bytes: size(n_bytes) or "–",
    "moment": moment,
    "ago": ago,
    "shown": shown,
    "with_code": with_code,
    "harmless": harmless,
    "hours": hours,
    "shares": shares,
    "unsent": unsent,
    "progress": progress_of,
}
"""By the names that templates use."""
