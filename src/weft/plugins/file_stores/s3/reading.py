"""Read the objects of one store where its credentials are; see the port `FileReader`."""

from collections.abc import AsyncIterator
from dataclasses import dataclass

from weft.plugins.file_stores.s3.carrying import HttpCarrier
from weft.plugins.file_stores.s3.signing import NotSigned, ObjectUrls, Verb
from weft.ports.file_store import FileFacts, FileRefused, StoreAway
from weft.ports.store import StoredFileStore


@dataclass(frozen=True)
class S3Reader:
    """Signs a URL for each object that is asked for."""

    store: StoredFileStore
    urls: ObjectUrls
    carrier: HttpCarrier

    async def facts(self, path: str) -> FileFacts:
        """Return what is known of an object."""
        return FileFacts(await self.carrier.size(await self._url("HEAD", path)))

    async def read(self, path: str, offset: int = 0) -> AsyncIterator[bytes]:
        """Yield the bytes of an object."""
        async for piece in self.carrier.read(await self._url("GET", path), offset):
            yield piece

    async def _url(self, verb: Verb, path: str) -> str:
        try:
            return await self.urls.url_of(verb, self.store, path)
        except NotSigned as error:
            raise (StoreAway if error.is_away else FileRefused)(str(error)) from error
