"""What an extension adds to the api."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from weft.api.calls.call import Call
from weft.api.http.routing import Route


@dataclass(frozen=True, kw_only=True)
class ApiPart:
    """Declared calls, and routes."""

    calls: Sequence[Call] = ()
    routes: Sequence[Route] = ()
    templates: Path | None = None
    """The folder of those that its pages are made of, beside those of `api/html`."""
