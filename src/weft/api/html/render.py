"""Templates turned into pages. All text is escaped unless it is `Markup`."""

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from weft.api.html.assets import assets
from weft.core.errors import WeftError
from weft.ports.extension import parts

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
    from weft.api.html.job_cells import job_cells  # noqa: PLC0415

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
