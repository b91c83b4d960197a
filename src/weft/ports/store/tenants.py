"""The calls of the api about tenants, most of them for administrators of the site."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Visited:
    """A tenant into which an administrator of the site looks."""

    tenant_id: int
    tenant: str
    """Its name."""
    user_name: str
    """What its trail calls them: it may have a user with their name."""
