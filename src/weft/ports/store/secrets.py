"""The calls of the api about secrets."""

from collections.abc import Sequence
from typing import Protocol

from weft.ports.store.callers import Caller, Row
from weft.wire.sealed import SecretRow

Sealed = tuple[SecretRow, bytes]
"""A secret of any tenant, as it is stored."""


class SecretStore(Protocol):
    """The secrets of a caller. Values come encrypted, and no call returns one."""

    async def set_secret(self, caller: Caller, name: str, body: bytes, *, secrets_max: int) -> Row:
        """Keep a value, which replaces that of a secret with the same name; return the secret's
        document. Raise `TooManySecrets` if the caller has `secrets_max` others, and
        `Unauthenticated` if they are removed.
        """

    async def list_secrets(self, caller: Caller) -> Sequence[Row]:
        """Return the caller's secrets by name."""

    async def remove_secret(self, caller: Caller, name: str) -> bool:
        """Forget a secret of the caller; return whether there was one."""

    async def list_stale_secrets(
        self, caller: Caller, key_id: bytes, *, limit: int
    ) -> Sequence[Sealed]:
        """Return secrets of all tenants that another key encrypted; none unless the caller is an
        administrator of the site.
        """

    async def reseal_secrets(
        self, caller: Caller, former: Sequence[Sealed], bodies: Sequence[bytes]
    ) -> int:
        """Replace these values by the same ones, encrypted anew; return how many of them still
        had the former one.
        """
