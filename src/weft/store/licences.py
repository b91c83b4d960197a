"""Licences, in the api's store."""

from collections.abc import Mapping, Sequence

from weft.core.access.actors import shown_actor, site_actor
from weft.ports.store import Caller, Row
from weft.store.database import StorePart
from weft.store.declared import calls, truth
from weft.store.pools import pools_of


class Licences(StorePart):
    """How many jobs may use a licence at a time."""

    async def list_licences(self, caller: Caller) -> Sequence[Row]:
        """Return the licences by name: `licence`, `n`, `n_used`, `set_at`, `set_by` (for users
        of other tenants `site administrator`).
        """
        tenant = pools_of(caller)
        return [
            {**row[0], "set_by": shown_actor(row[0]["set_by"], to_tenant_id=tenant)}
            for row in await self._database.call("list_licences")
        ]

    @calls(lambda rows: {row["name"]: row["n"] for row in rows})
    async def licence_limits(self) -> Mapping[str, int]:
        """Return how many there are of each licence."""

    async def set_licence(self, caller: Caller, name: str, n: int) -> None:
        """Say how many there are. If fewer than jobs have, those go on and no other gets one."""
        actor = site_actor(caller.user_name, tenant_id=caller.tenant_id)
        await self._database.call("set_licence", of_name=name, count=n, actor=actor)

    @calls(truth, name="of_name")
    async def remove_licence(self, name: str) -> bool:
        """Forget a licence; return whether there was one. Jobs that wait for it go on waiting."""
