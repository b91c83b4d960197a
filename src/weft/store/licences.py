"""The part of `ApiStore` for licences."""

from collections.abc import Mapping, Sequence

from weft.ports.store import Caller, Row
from weft.store.database import Database


class Licences:
    """The api's calls about licences. The methods are documented at the port."""

    _database: Database

    async def list_licences(self) -> Sequence[Row]:
        """Return the licences by name."""
        return [row[0] for row in await self._database.call("list_licences")]

    async def licence_limits(self) -> Mapping[str, int]:
        """Return how many there are of each licence."""
        return {row["name"]: row["n"] for row in await self._database.call("licence_limits")}

    async def set_licence(self, caller: Caller, name: str, n: int) -> None:
        """Say how many there are."""
        await self._database.call(
            "set_licence", of_name=name, count=n, actor=f"user {caller.user_name}"
        )

    async def remove_licence(self, name: str) -> bool:
        """Forget a licence."""
        return bool(await self._database.value("remove_licence", of_name=name))
