"""The calls of the api about stores of objects."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from weft.ports.store.callers import Caller, Row
from weft.ports.store.worker import StoredFileStore


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


class FileStoreStore(Protocol):
    """The stores of a tenant; no document of one has a credential."""

    async def save_store(
        self, caller: Caller, new: NewFileStore, *, stores_max: int
    ) -> Row | None:
        """Set a store, in place of one of the same name; return its document. None: the tenant
        has `stores_max` others.
        """

    async def list_stores(self, caller: Caller, name: str | None = None) -> Sequence[Row]:
        """Return the stores of the tenant by name; or the one of this name."""

    async def find_store(self, caller: Caller, name: str) -> StoredFileStore | None:
        """Return a store with its secret, encrypted, to try it."""

    async def remove_store(self, caller: Caller, name: str) -> bool:
        """Forget a store; return whether there was one."""
