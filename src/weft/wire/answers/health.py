"""The answers about the health of an api."""

from typing import Literal

from msgspec import Struct


class Health(Struct, kw_only=True):
    """Whether this process is alive, and whether it can serve requests."""

    status: Literal["alive", "ready"]
