"""A bucket that somebody has made, in which jobs leave files, and to which output is shipped, by a
wire.
"""

import asyncio
import hashlib
import secrets
import time
from collections.abc import AsyncIterator, Collection, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from weft.core.errors import Invalid
from weft_siege.evidence import SAID, STORED, STORING, Line
from weft_siege.network import Wire

if TYPE_CHECKING:
    from weft_siege.load import Batch

STORE = "siege"
PART_BYTES = 5 << 20
"""What is larger goes in parts; S3 takes no smaller ones."""
SHIPPED_WITHIN_S = 60.0
_FILES, _LOGS = "files", "logs"
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
        self._host = at.hostname

    @property
    def settings(self) -> Mapping[str, str]:
        """Return those of weft, when it can reach the bucket."""
        settings = {
            "WEFT_STORE_BUCKETS": self._name,
            "WEFT_STORE_SINGLE_BYTES_MAX": str(PART_BYTES),
            "WEFT_LOG_BUCKET": f"s3://{self._name}/{self._prefix}/{_LOGS}",
        }
        if at := self._at:
            settings["WEFT_STORE_PRIVATE_HOSTS"] = f"127.0.0.1, {self._host}"
            settings["WEFT_LOG_BUCKET_ENDPOINT"] = at
        return settings

    @property
    def _at(self) -> str | None:
        return f"http://127.0.0.1:{self.wire.port}" if self._is_plain else self._endpoint

    @asynccontextmanager
    async def carried(self) -> AsyncIterator[None]:
        """Let weft reach it by the wire; by TLS, which knows it by its name, it does so itself."""
        async with self.wire.carrying():
            yield

    @property
    def words(self) -> Sequence[str]:
        """Return the command that makes it a store of weft."""
        url, at = f"s3://{self._name}/{self._prefix}/{_FILES}", self._at
        words = ("store", "add", STORE, url, "--access", "write", "--env")
        return [*words, *(("--endpoint", at) if at else ())]

    def opened(self) -> "Bucket":
        """Return it; refuse one that is not there, or that our environment does not open."""
        from obstore.exceptions import BaseError  # noqa: PLC0415 (an extra)

        try:
            self._names(_FILES)
        except BaseError as error:
            raise Invalid(
                "the bucket cannot be read",
                detail=str(error).partition("\n")[0],
                hint="Make it, and set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.",
            ) from error
        return self

    async def wrong(self, batches: Sequence["Batch"]) -> Mapping[str, list[str]]:
        """Return what is not in it as jobs wrote it, and what no job left there; else empty it."""
        try:
            await asyncio.to_thread(self.opened)
        except Invalid as error:  # what else was found is told all the same
            return {"objects": [f"{error}: {error.detail}"]}
        kept = await asyncio.to_thread(self._digests)
        wrong = {
            "objects": list(wrong_objects(expected(batches), kept)),
            "shipped": await self._unshipped(said(batches)),
        }
        if not any(wrong.values()):
            await asyncio.to_thread(self._empty)
        return wrong

    async def _unshipped(self, due: Collection[bytes]) -> list[str]:
        """Return output that does not come in time. What was shipped may be packed anew."""
        deadline = time.monotonic() + SHIPPED_WITHIN_S
        left, seen = set(due), set[str]()
        while left and time.monotonic() < deadline:
            for name in await asyncio.to_thread(self._names, _LOGS):
                if name not in seen:
                    pack = await asyncio.to_thread(self._read, _LOGS, name)
                    left = {line for line in left if line not in pack}
                    seen.add(name)
            await asyncio.sleep(1)
        return [line.decode() for line in sorted(left)]

    def _part(self, folder: str) -> Any:  # noqa: ANN401 (of an extra)
        from obstore.store import S3Store  # noqa: PLC0415 (an extra)

        options: Any = {"endpoint": self._endpoint} if self._endpoint else {}
        options["client_options"] = {"allow_http": self._is_plain}
        return S3Store(self._name, prefix=f"{self._prefix}/{folder}", **options)

    def _names(self, folder: str) -> Sequence[str]:
        return [one["path"] for part in self._part(folder).list() for one in part]

    def _read(self, folder: str, name: str) -> bytes:
        """Return an object; nothing if it was packed anew meanwhile."""
        try:
            return bytes(self._part(folder).get(name).bytes())
        except FileNotFoundError:
            return b""

    def _digests(self) -> Mapping[str, str]:
        return {
            name: hashlib.sha256(self._read(_FILES, name)).hexdigest()
            for name in self._names(_FILES)
        }

    def _empty(self) -> None:
        for folder in (_FILES, _LOGS):
            if names := self._names(folder):
                self._part(folder).delete(list(names))


def expected(batches: Sequence["Batch"]) -> Mapping[str, str]:
    """Return the digest of each object, as the last run of its job has written it down."""
    return {
        f"{batch.evidence.path.name}/j{line.job_id}": word
        for batch, line, word in _last_words(batches, STORED)
    }


def said(batches: Sequence["Batch"]) -> Collection[bytes]:
    """Return what the last run of each job has printed, as it wrote down itself."""
    return [
        f"b{batch.batch_id}.j{line.job_id} {line.attempt} {word}\n".encode()
        for batch, line, word in _last_words(batches, SAID)
    ]


def _last_words(batches: Sequence["Batch"], before: str) -> Iterator[tuple["Batch", Line, str]]:
    """Yield what the last run of each job that leaves files wrote behind such a word."""
    for batch in batches:
        if batch.kind == STORING:
            lines = sorted(batch.evidence.lines(), key=lambda line: line.attempt)
            of_job = {line.job_id: line for line in lines if line.word.startswith(before)}
            for line in of_job.values():
                yield batch, line, line.word.removeprefix(before)


def wrong_objects(written: Mapping[str, str], kept: Mapping[str, str]) -> Iterator[str]:
    """Yield how what is kept differs from what was written."""
    for name, digest in written.items():
        if name not in kept:
            yield f"{name} is not there"
        elif kept[name] != digest:
            yield f"{name} has other bytes than the last run wrote"
    yield from (f"{name} belongs to no job" for name in kept.keys() - written.keys())
