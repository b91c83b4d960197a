"""The file stores of tenants, in the api's store."""

from collections.abc import Sequence

from weft.ports.store import Caller, Row, StoredFileStore
from weft.store.database import StorePart
from weft.store.declared import calls, documents, parts, truth, user_id, value
from weft.store.worker_files import store_of
from weft.wire.documents.file_stores import NewFileStore


class FileStores(StorePart):
    """The file stores of a tenant, without any credential."""

    @calls(
        value,
        user_id=user_id,
        **parts(
            "new",
            of_name="name",
            of_url="url",
            of_endpoint="endpoint",
            of_region="region",
            of_access="access",
            of_credentials="credentials",
            secret_name="secret",  # noqa: S106 (its name)
        ),
    )
    async def save_store(
        self, caller: Caller, new: NewFileStore, *, stores_max: int
    ) -> Row | None:
        """Set a store, in place of one of the same name; return its document. None: the tenant
        has `stores_max` others.
        """

    @calls(documents, name="of_name")
    async def list_stores(self, caller: Caller, name: str | None = None) -> Sequence[Row]:
        """Return the stores of the tenant by name; or the one of this name."""

    @calls(lambda rows: store_of(rows[0]) if rows else None, name="of_name")
    async def find_store(self, caller: Caller, name: str) -> StoredFileStore | None:
        """Return a store with its secret, encrypted, to try it."""

    @calls(truth, name="of_name")
    async def remove_store(self, caller: Caller, name: str) -> bool:
        """Forget a store; return whether there was one."""
