"""The part of a client for stores of objects."""

from typing import TYPE_CHECKING

from weft.client.api import Api
from weft.client.http.listing import Document


class StoreCalls:
    """Stores, from which jobs get files and in which they leave them."""

    if TYPE_CHECKING:
        api: Api

    async def list_stores(self) -> list[Document]:
        """Return the stores of the tenant by name. None shows a credential."""
        return await self.api.list_stores()

    async def get_store(self, name: str) -> Document:
        """Return a store. Raise `FileStoreNotFound`."""
        return await self.api.get_store(name)

    async def add_store(
        self,
        name: str,
        url: str,
        *,
        access: str,
        secret: str | None = None,
        credentials: str = "secret",
        endpoint: str | None = None,
        region: str | None = None,
    ) -> Document:
        """Set a store, in place of one of the same name. `secret`: the name of a secret of one's
        own; without it `credentials` are those of the worker (`env`) or its machine
        (`instance-role`). Only for operators. Raise `InvalidValue`.
        """
        return await self.api.add_store(
            name, url, access=access, secret=secret, credentials=credentials, endpoint=endpoint,
            region=region,
        )  # fmt: skip

    async def test_store(self, name: str) -> Document:
        """Try a store from the api's host; return what works. Only for operators. Raise
        `FileStoreNotFound`.
        """
        return await self.api.test_store(name)

    async def check_files(self, document: Document) -> Document:
        """Look for the files that the jobs of a batch document will need, as far as the server
        sees them; nothing is submitted. Keys: `looked_at`, `not_looked_at`, `problems`, each with
        `pointer`, `file` and `problem`. Raise `msgspec.ValidationError`.
        """
        from weft.client.submission.wanted_files import look_for_files  # noqa: PLC0415 (5 ms)

        return await look_for_files(self.api, document)

    async def remove_store(self, name: str) -> None:
        """Forget a store; its objects stay. Only for operators. Raise `FileStoreNotFound`."""
        await self.api.remove_store(name)
