"""The calls, routes and pages of production lines."""

from pathlib import Path
from typing import Final

from weft.api.calls.call import calls_of
from weft.api.http.parts import ApiPart
from weft.api.http.routing import routes_in
from weft.extensions.lines.calls import lines, setup_trial, sinks, source_trial, sources
from weft.extensions.lines.pages import lines as pages
from weft.extensions.lines.routes import lines as routes

PART: Final = ApiPart(
    calls=calls_of(lines, setup_trial, sinks, sources, source_trial),
    routes=routes_in(routes, pages),
    templates=Path(pages.__file__).parent / "templates",
)
"""What the api serves of them."""
