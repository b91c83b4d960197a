"""Try a store of objects: what a job would do, with one small object and the store's credentials.

Nothing is listed: no job does, so a key without that right is a good key.
"""

import hashlib
import os
import re
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from tempfile import TemporaryFile
from typing import Final

from weft.core.files.file_stores import parse_bucket
from weft.plugins.file_stores.s3.carrying import HttpCarrier
from weft.plugins.file_stores.s3.signing import NotSigned, ObjectUrls
from weft.ports import file_store
from weft.ports.object_stores import Tried
from weft.ports.store import StoredFileStore


@dataclass(frozen=True)
class S3Reader:
    """Signs a URL for each object that is asked for."""

    store: StoredFileStore
    urls: ObjectUrls
    carrier: HttpCarrier

    async def facts(self, path: str) -> file_store.FileFacts:
        return file_store.FileFacts(await self.carrier.size(await self._url("HEAD", path)))

    async def read(self, path: str, offset: int = 0) -> AsyncIterator[bytes]:
        async for piece in self.carrier.read(await self._url("GET", path), offset):
            yield piece

    async def _url(self, method: file_store.Method, path: str) -> str:
        try:
            return await self.urls.url_of(method, self.store, path)
        except NotSigned as error:
            raise (file_store.StoreAway if error.is_away else file_store.FileRefused)(
                str(error)
            ) from error


TIMEOUT_S: Final = 10.0
_NO_BUCKET: Final = "Make the bucket, or set the store again with the right name and region."
_SAID: Final = {
    "NoSuchBucket": ("the bucket {bucket} does not exist", _NO_BUCKET),
    "AccessDenied": (
        "the key may not {step} objects there",
        "Give its owner the right in the policy of the bucket.",
    ),
    "InvalidAccessKeyId": (
        "the server does not know the key",
        "Set the secret to KEY_ID:SECRET_KEY of a key that exists.",
    ),
    "SignatureDoesNotMatch": (
        "the secret part of the key is wrong",
        "Set the secret to KEY_ID:SECRET_KEY as the server gave it.",
    ),
    "InvalidToken": ("the session token is wrong", "Set the secret again."),
    "ExpiredToken": ("the session token has expired", "Set the secret again."),
    "AuthorizationHeaderMalformed": (
        "the bucket is in another region",
        "Set the store again with `--region`.",
    ),
    "PermanentRedirect": ("the bucket is elsewhere", "Set the store again with `--region`."),
}
_CODE: Final = re.compile(r"\(([A-Za-z0-9]+)\)$")
_HIDDEN: Final = "AccessDenied"


class S3Objects:
    """Opens stores with what this process may use."""

    def __init__(self, urls: ObjectUrls, carrier: HttpCarrier) -> None:
        self._urls = urls
        self._carrier = carrier

    async def attempt(self, store: StoredFileStore) -> Sequence[Tried]:
        """Try it; see the port."""
        name = f".weft-trial-{os.urandom(8).hex()}"
        if store.access == "read":
            return [await self._absent(store, name)]
        done: list[Tried] = []
        data = os.urandom(64)
        for step in ("write", "read", "remove"):
            done.append(await self._step(store, name, step, data))
            if done[-1].problem is not None and step == "write":
                break
        return done

    def reader(self, store: StoredFileStore) -> S3Reader:
        return S3Reader(store, self._urls, self._carrier)

    async def _step(self, store: StoredFileStore, name: str, step: str, data: bytes) -> Tried:
        try:
            if step == "write":
                url = await self._urls.url_of("PUT", store, name)
                with TemporaryFile() as file:
                    file.write(data)
                    file.flush()
                    held = file_store.HeldFile(
                        file.fileno(), len(data), hashlib.sha256(data).digest()
                    )
                    await self._carrier.write(url, held)
            elif step == "read":
                url = await self._urls.url_of("GET", store, name)
                if b"".join([piece async for piece in self._carrier.read(url)]) != data:
                    return Tried(step, "the object that was read is not what was written")
            else:
                await self._carrier.remove(await self._urls.url_of("DELETE", store, name))
        except (file_store.FileProblem, NotSigned) as error:
            return _failed(store, step, error)
        return Tried(step)

    async def _absent(self, store: StoredFileStore, name: str) -> Tried:
        try:
            url = await self._urls.url_of("GET", store, name)
            async for _ in self._carrier.read(url):
                break
        except file_store.FileMissing:
            return Tried("read")
        except (file_store.FileProblem, NotSigned) as error:
            failed = _failed(store, "read", error)
            if _code_of(error) != _HIDDEN:
                return failed
            hint = (
                "A key that may read but not list is told the same of an object that is missing, "
                "as the one asked for is: let it list, or try with a job."
            )
            return failed._replace(hint=hint)
        return Tried("read")


def _failed(store: StoredFileStore, step: str, error: Exception) -> Tried:
    code = _code_of(error)
    if code in _SAID:
        problem, hint = _SAID[code]
        bucket = parse_bucket(store.url).name
        return Tried(step, f"{problem.format(step=step, bucket=bucket)} ({code})", hint)
    if isinstance(error, file_store.StoreAway):
        return Tried(step, f"{error}", "Is the endpoint right, and reached from the api's host?")
    return Tried(step, f"{error}")


def _code_of(error: Exception) -> str:
    match = _CODE.search(str(error))
    return match[1] if match else ""
