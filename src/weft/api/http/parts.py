"""What an extension adds to the api."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from litestar.types import ControllerRouterHandler

from weft.core.access.permissions import Permission
from weft.core.access.rights import Right


@dataclass(frozen=True, kw_only=True)
class ApiPart:
    """Routes, and what they need, by method and path; a route without a right is not served."""

    routes: Sequence[ControllerRouterHandler]
    rights: Mapping[str, Right]
    permissions: Mapping[str, Permission] = field(default_factory=dict)
    """On the batch that a route names."""
