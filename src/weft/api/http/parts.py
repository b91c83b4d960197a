"""What an extension adds to the api."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from weft.api.calls.call import Call
from weft.api.http.routing import Route
from weft.core.access.permissions import Permission
from weft.core.access.rights import Right


@dataclass(frozen=True, kw_only=True)
class ApiPart:
    """Declared calls; routes, and what they need, by method and path. A route without a right is
    not served.
    """

    calls: Sequence[Call] = ()
    routes: Sequence[Route] = ()
    rights: Mapping[str, Right | None] = field(default_factory=dict)
    permissions: Mapping[str, Permission] = field(default_factory=dict)
    """On the batch that a route names."""
    unrecorded: frozenset[str] = frozenset()
    """Routes whose calls leave no entry in the trail."""
    templates: Path | None = None
    """The folder of those that its pages are made of, beside those of `api/html`."""
