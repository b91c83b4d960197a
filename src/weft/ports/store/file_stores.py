"""The calls of the api about stores of objects."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class NewFileStore:
    """A store, as it is set."""

    name: str
    url: str
    endpoint: str | None
    region: str | None
    access: str
    """`read` or `write`."""
    credentials: str
    """`secret`, `env` or `instance-role`."""
    secret: str | None
    """The name of a secret of who sets it."""
