"""The secrets of users, in the api's store."""

from collections.abc import Sequence

from weft.ports.store import Caller, Row
from weft.ports.store.callers import Sealed
from weft.store.database import StorePart
from weft.store.declared import calls, column, documents, number, truth, user_id, value
from weft.wire.sealed import SecretRow


class Secrets(StorePart):
    """The secrets of a caller. Values come encrypted, and no call returns one."""

    @calls(value, name="of_name", body="of_body", user_id=user_id)
    async def set_secret(self, caller: Caller, name: str, body: bytes, *, secrets_max: int) -> Row:
        """Keep a value, which replaces that of a secret with the same name; return the secret's
        document. Raise `TooManySecrets` if the caller has `secrets_max` others, and
        `Unauthenticated` if they are removed.
        """

    @calls(documents, user_id=user_id)
    async def list_secrets(self, caller: Caller) -> Sequence[Row]:
        """Return the caller's secrets by name."""

    @calls(truth, name="of_name", user_id=user_id)
    async def remove_secret(self, caller: Caller, name: str) -> bool:
        """Forget a secret of the caller; return whether there was one."""

    @calls(
        lambda rows: [
            (SecretRow(row["tenant_id"], row["user_id"], row["name"]), row["body"]) for row in rows
        ],
        caller=None,
        limit="limit_rows",
        by_user_id=user_id,
    )
    async def list_stale_secrets(
        self, caller: Caller, key_id: bytes, *, limit: int
    ) -> Sequence[Sealed]:
        """Return secrets of all tenants that another key encrypted; none unless the caller is an
        administrator of the site.
        """

    @calls(
        number,
        caller=None,
        by_user_id=user_id,
        user_ids=lambda former: [row.user_id for row, _ in former],
        names=lambda former: [row.name for row, _ in former],
        former=column("former", 1),
    )
    async def reseal_secrets(
        self, caller: Caller, former: Sequence[Sealed], bodies: Sequence[bytes]
    ) -> int:
        """Replace these values by the same ones, encrypted anew; return how many of them still
        had the former one.
        """
