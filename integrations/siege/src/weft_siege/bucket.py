"""A bucket that somebody has made, in which jobs leave files by a wire."""

import asyncio
import hashlib
import secrets
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from weft.core.errors import Invalid
from weft_siege.evidence import STORED
from weft_siege.network import Wire

if TYPE_CHECKING:
    from weft_siege.load import Batch

STORE = "siege"
_PORTS = {"http": 80, "https": 443}


class Bucket:
    """The part of it below a name that nobody else has; our environment opens it."""

    def __init__(self, url: str, endpoint: str | None) -> None:
        parts = urlsplit(url)
        self._endpoint = endpoint
        at = urlsplit(endpoint or "https://")
        if parts.scheme != "s3" or not parts.hostname or at.scheme not in _PORTS:
            raise Invalid(
                "the bucket is no address of S3",
                detail="It begins with s3://, its endpoint with http:// or https://.",
                hint="`--bucket s3://NAME --endpoint http://127.0.0.1:9000`; AWS has none.",
            )
        self._name = parts.hostname
        self._prefix = f"{parts.path.strip('/')}/siege-{secrets.token_hex(4)}".lstrip("/")
        self.wire = Wire(at.hostname or "", at.port or _PORTS[at.scheme])
        self._is_plain = at.scheme == "http"
        self.settings = {"WEFT_STORE_BUCKETS": self._name}
        if at.hostname:
            self.settings["WEFT_STORE_PRIVATE_HOSTS"] = f"127.0.0.1, {at.hostname}"

    @asynccontextmanager
    async def carried(self) -> AsyncIterator[None]:
        """Let weft reach it by the wire; by TLS, which knows it by its name, it does so itself."""
        async with self.wire.carrying():
            yield

    @property
    def words(self) -> Sequence[str]:
        """Return the command that makes it a store of weft."""
        at = f"http://127.0.0.1:{self.wire.port}" if self._is_plain else self._endpoint
        url = f"s3://{self._name}/{self._prefix}"
        words = ("store", "add", STORE, url, "--access", "write", "--env")
        return [*words, *(("--endpoint", at) if at else ())]

    async def wrong(self, batches: Sequence["Batch"]) -> list[str]:
        """Return what is not in it as jobs wrote it, and what no job left there; else empty it."""
        kept = await asyncio.to_thread(self._digests)
        wrong = list(wrong_objects(expected(batches), kept))
        if not wrong:
            await asyncio.to_thread(self._opened().delete, list(kept))
        return wrong

    def _opened(self) -> Any:  # noqa: ANN401 (of an extra)
        from obstore.store import S3Store  # noqa: PLC0415 (an extra)

        options: Any = {"endpoint": self._endpoint} if self._endpoint else {}
        options["client_options"] = {"allow_http": self._is_plain}
        return S3Store(self._name, prefix=self._prefix, **options)

    def _digests(self) -> Mapping[str, str]:
        store = self._opened()
        names = [one["path"] for part in store.list() for one in part]
        return {name: hashlib.sha256(bytes(store.get(name).bytes())).hexdigest() for name in names}


def expected(batches: Sequence["Batch"]) -> Mapping[str, str]:
    """Return the digest of each object, as the last run of its job has written it down."""
    found = {}
    for batch in batches:
        if batch.kind == "stored":
            for line in sorted(batch.evidence.lines(), key=lambda line: line.attempt):
                if line.word.startswith(STORED):
                    name = f"{batch.evidence.path.name}/j{line.job_id}"
                    found[name] = line.word.removeprefix(STORED)
    return found


def wrong_objects(written: Mapping[str, str], kept: Mapping[str, str]) -> Iterator[str]:
    """Yield how what is kept differs from what was written."""
    for name, digest in written.items():
        if name not in kept:
            yield f"{name} is not there"
        elif kept[name] != digest:
            yield f"{name} has other bytes than the last run wrote"
    yield from (f"{name} belongs to no job" for name in kept.keys() - written.keys())
