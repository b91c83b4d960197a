"""The calls of the api about applications."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class NewApp:
    """An application whose parts are there."""

    name: str
    for_user: str | None
    """The user who may run it; None: everybody in the tenant."""
    digest: bytes
    n_bytes: int
    description: dict[str, Any]
