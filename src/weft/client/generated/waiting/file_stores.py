"""Calls of `weft.api.use_cases.file_stores`, for programs that wait.

Made by `tools/generate_client.py`; do not edit.
"""

from weft.client.generated.calls import CallsT_co
from weft.client.http.listing import Document
from weft.client.loop_thread import Twin


class FileStoresWaits(Twin[CallsT_co]):
    """Calls of `weft.api.use_cases.file_stores`, for programs that wait."""

    def list_stores(self) -> list[Document]:
        """Return the stores of the tenant by name. None shows a credential.

        Use case: `weft.api.use_cases.file_stores.list_stores`.
        """
        return self._loop_thread.wait(self._async.list_stores())

    def add_store(
        self,
        name: str,
        url: str,
        *,
        access: str,
        credentials: str = "secret",
        secret: str | None = None,
        endpoint: str | None = None,
        region: str | None = None,
    ) -> Document:
        """Set a store, in place of one of the same name. Jobs that start from now on use it. Only
        for operators. Raise `InvalidValue`, `TooManyFileStores`.

        Use case: `weft.api.use_cases.file_stores.save_store`.

        Args:
            name: The name of a store of files.
            url: The bucket, and the beginning of all keys in it.
            access: `write`: jobs leave files there, too.
            credentials: What opens it: a secret, the environment of the worker, or the role of its
                machine; the last two where the setting `store_buckets` allows the bucket.
            secret: The name of a secret of who sets the store; its value is `KEY_ID:SECRET_KEY`,
                or `KEY_ID:SECRET_KEY:SESSION_TOKEN`.
            endpoint: The server, if it is not that of AWS.
            region: The region of the bucket; without it us-east-1.
        """
        return self._loop_thread.wait(
            self._async.add_store(
                name,
                url,
                access=access,
                credentials=credentials,
                secret=secret,
                endpoint=endpoint,
                region=region,
            )
        )

    def get_store(self, name: str) -> Document:
        """Return a store. Raise `FileStoreNotFound`.

        Use case: `weft.api.use_cases.file_stores.get_store`.

        Args:
            name: The name of a store of files.
        """
        return self._loop_thread.wait(self._async.get_store(name))

    def test_store(self, name: str) -> Document:
        """Try a store as a job would, from the api's host: write, read and remove a small object;
        in one that is only read, ask for an object. What does not work is in the answer. Only
        for operators. Raise `FileStoreNotFound`.

        Use case: `weft.api.use_cases.file_stores.try_store`.

        Args:
            name: The name of a store of files.
        """
        return self._loop_thread.wait(self._async.test_store(name))

    def remove_store(self, name: str) -> None:
        """Forget a store. Its objects stay; jobs that name it and start later fail. Only for
        operators. Raise `FileStoreNotFound`.

        Use case: `weft.api.use_cases.file_stores.remove_store`.

        Args:
            name: The name of a store of files.
        """
        self._loop_thread.wait(self._async.remove_store(name))
