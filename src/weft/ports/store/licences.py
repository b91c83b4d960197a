"""The calls of the api about licences, which all pools share."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from weft.ports.store.callers import Caller, Row


class LicenceStore(Protocol):
    """How many jobs may use a licence at a time."""

    async def list_licences(self, caller: Caller) -> Sequence[Row]:
        """Return the licences by name: `licence`, `n`, `n_used`, `set_at`, `set_by` (for users
        of other tenants `site administrator`).
        """

    async def licence_limits(self) -> Mapping[str, int]:
        """Return how many there are of each licence."""

    async def set_licence(self, caller: Caller, name: str, n: int) -> None:
        """Say how many there are. If fewer than jobs have, those go on and no other gets one."""

    async def remove_licence(self, name: str) -> bool:
        """Forget a licence; return whether there was one. Jobs that wait for it go on waiting."""
