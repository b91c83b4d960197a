"""Templates turned into pages. All text is escaped unless it is `Markup`.

The cells of the table of jobs, the longest of all: written by functions, they take a fifth of
the time that macros take.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from markupsafe import Markup, escape

from weft.api.html.assets import assets
from weft.api.html.filters import duration_or_dash, ended, moment, shown
from weft.core.errors import WeftError
from weft.core.states import shown_state
from weft.core.text.amounts import money
from weft.ports.extension import parts

Job = Mapping[str, Any]
_NAMES: Final = frozenset({"name", "message", "attributes"})
"""Columns of long texts."""


def job_cells(job: Job, columns: Sequence[str], numbers: frozenset[str]) -> Markup:
    """Return the cells of a row; `numbers`: the columns that stand at the right."""
    cells = [f"<td{_class_of(column, numbers)}>{_CELLS[column](job)}</td>\n" for column in columns]
    return Markup("".join(cells))  # noqa: S704 (each function below escapes its texts)


def _class_of(column: str, numbers: frozenset[str]) -> str:
    if column in numbers:
        return ' class="n"'
    return ' class="name"' if column in _NAMES else ""


def _name(job: Job) -> str:
    index = "" if job["index"] is None else f"[{job['index']:d}]"
    return f"{shown(job['name'])}{index}" if job["name"] or not index else index


def _state(job: Job) -> str:
    held = ' <span class="badge">held</span>' if job["held"] else ""
    word = escape(shown_state(job))
    return f'<span class="badge s-{word}">{word}</span>{held}'


def _reason(job: Job) -> str:
    return escape(ended(job)) if job["reason"] else ""


def _attributes(job: Job) -> str:
    return ", ".join(f"{shown(key)} = {shown(value)}" for key, value in job["attributes"].items())


_CELLS: Final[Mapping[str, Callable[[Job], str]]] = {
    "name": _name,
    "state": _state,
    "reason": _reason,
    "attempt": lambda job: f"{job['attempt']:d}",
    "duration": lambda job: duration_or_dash(job["duration_ms"]),
    "started": lambda job: moment(job["started_at"]),
    "ended": lambda job: moment(job["ended_at"]),
    "ready": lambda job: moment(job["ready_at"]),
    "user": lambda job: shown(job["user"]),
    "queue": lambda job: shown(job["queue"]),
    "priority": lambda job: f"{job['priority']:d}",
    "cost": lambda job: escape(money(job["cost"])),
    "group": lambda job: f"g{job['group_id']:d}",
    "message": lambda job: shown(job["message"]),
    "attributes": _attributes,
}
"""What stands in the cell of a column, as HTML."""


if TYPE_CHECKING:
    from jinja2 import Environment

HTML: Final = "text/html; charset=utf-8"
_TEMPLATES: Final = Path(__file__).parent / "templates"


def render(template: str, **values: Any) -> bytes:  # noqa: ANN401 (what a template shows)
    """Return the page that a template makes of these values."""
    return _environment().get_template(template).render(values).encode()


def render_error(error: WeftError, trace_id: str) -> bytes:
    """Return the page that tells an error."""
    return render("error.html", error=error, trace_id=trace_id)


@cache
def _environment() -> "Environment":
    # Jinja takes some 40 ms to load, which a server whose pages nobody opens need not spend.
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # noqa: PLC0415

    from weft.api.html.filters import FILTERS  # noqa: PLC0415
    from weft.api.html.render import job_cells  # noqa: PLC0415

    folders = [folder for part in parts("api") if (folder := part.templates)]
    environment = Environment(
        loader=FileSystemLoader([_TEMPLATES, *folders]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    environment.filters.update(FILTERS, job_cells=job_cells)
    environment.globals["asset"] = lambda name: assets()[name].path
    return environment
