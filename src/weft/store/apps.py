"""The part of `ApiStore` for applications."""

from collections.abc import Sequence

from weft.ports.store import Caller, Row
from weft.ports.store.apps import NewApp
from weft.store.database import Database
from weft.wire.payload import PART_BYTES


class Apps:
    """The api's calls about applications. The methods are documented at the port."""

    _database: Database

    async def add_app_part(
        self, caller: Caller, digest: bytes, part: int, body: bytes, *, n_bytes: int
    ) -> None:
        """Keep a part of a folder."""
        await self._database.call(
            "add_app_part",
            caller=caller,
            user_id=caller.user_id,
            digest=digest,
            part=part,
            n_bytes=n_bytes,
            body=body,
        )

    async def read_app_part(
        self, caller: Caller, digest: bytes, part: int
    ) -> tuple[int, bytes] | None:
        """Return a part of a folder."""
        rows = await self._database.call(
            "read_app_part", caller=caller, of_digest=digest, of_part=part
        )
        return (rows[0]["n_bytes"], rows[0]["body"]) if rows else None

    async def save_app(self, caller: Caller, new: NewApp, *, apps_max: int) -> Row:
        """Make a folder what new jobs get."""
        document: Row = await self._database.value(
            "save_app",
            caller=caller,
            user_id=caller.user_id,
            of_name=new.name,
            for_user=new.for_user,
            of_digest=new.digest,
            of_bytes=new.n_bytes,
            of_description=new.description,
            part_bytes=PART_BYTES,
            apps_max=apps_max,
        )
        return document

    async def find_apps(self, caller: Caller, names: Sequence[str]) -> Sequence[Row]:
        """Return what the caller may run."""
        rows = await self._database.call(
            "find_apps", caller=caller, user_id=caller.user_id, names=list(names)
        )
        return [dict(row) for row in rows]

    async def list_apps(self, caller: Caller, *, sees_all: bool) -> Sequence[Row]:
        """Return applications."""
        rows = await self._database.call(
            "list_apps", caller=caller, user_id=caller.user_id, sees_all=sees_all
        )
        return [row[0] for row in rows]

    async def get_app(self, caller: Caller, name: str, *, sees_all: bool) -> Row:
        """Return an application."""
        document: Row = await self._database.value(
            "get_app", caller=caller, user_id=caller.user_id, of_name=name, sees_all=sees_all
        )
        return document

    async def remove_app(self, caller: Caller, name: str, *, for_user: str | None) -> None:
        """Forget an application."""
        await self._database.call("remove_app", caller=caller, of_name=name, for_user=for_user)
