"""The part of `ApiStore` for files of jobs, and the stores that keep them."""

from collections.abc import Sequence

from weft.ports.store import Caller, Row, StoredFileStore
from weft.ports.store.callers import NewFileStore
from weft.ports.store.queries import StoredFile
from weft.store.database import StorePart
from weft.store.declared import calls, documents, parts, truth, user_id, value
from weft.store.worker_files import store_of


class JobFiles(StorePart):
    """The files of jobs that a caller sees, and a tenant's stores, without any credential."""

    @calls(documents, attempt="of_attempt", after="after_path", limit="limit_rows")
    async def list_files(
        self,
        caller: Caller,
        batch_id: int,
        job_id: int,
        *,
        attempt: int | None,
        after: str | None,
        limit: int,
    ) -> Sequence[Row]:
        """Return documents of the files that an attempt has left, by path, after one of them;
        without an attempt, of the last one that left any. Raise `BatchNotFound`, `JobNotFound`.
        """

    @calls(
        lambda rows: StoredFile(*rows[0]) if rows else None, path="of_path",
        attempt="of_attempt",
    )  # fmt: skip
    async def find_file(
        self, caller: Caller, batch_id: int, job_id: int, path: str, *, attempt: int | None
    ) -> StoredFile | None:
        """Return a file that an attempt has left; without an attempt, of the last one that left
        it. None: there is none. Raise `BatchNotFound`, `JobNotFound`.
        """

    @calls(
        value, user_id=user_id,
        **parts(
            "new", of_name="name", of_url="url", of_endpoint="endpoint", of_region="region",
            of_access="access", of_credentials="credentials", secret_name="secret",  # noqa: S106 (its name)
        ),
    )  # fmt: skip
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
