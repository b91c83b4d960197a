"""The bucket with output of jobs, by obstore.

The site names it, not a tenant: so obstore may connect to it by itself (as it may not to stores of
tenants, ADR 119). What it raises may quote an answer, so its text is told to nobody.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from weft.core.errors import LogBucketAway
from weft.plugins.file_stores.s3.signing import NotSigned


class PackGone(Exception):
    """There is no such object, or not any more."""


class LogBucket:
    """Objects below one prefix. All raise `LogBucketAway`."""

    def __init__(self, url: str, prefix: str, find: Callable[[], Any]) -> None:
        """`find` opens the bucket, as obstore knows it; it raises `NotSigned`."""
        self.url = url
        """As `log_bucket` says it."""
        self._prefix = prefix
        self._find = find
        self._opened: Any = None

    async def put(self, name: str, data: bytes) -> None:
        """Store an object in one request: it is there whole or not at all."""
        with self._asking() as (obstore, store):
            await obstore.put_async(store, self._prefix + name, data, use_multipart=False)

    async def get(self, name: str) -> bytes:
        """Return an object. Raise `PackGone`."""
        with self._asking(for_pack=True) as (obstore, store):
            result = await obstore.get_async(store, self._prefix + name)
            return bytes(await result.bytes_async())

    async def get_ranges(self, name: str, ranges: Sequence[tuple[int, int]]) -> Sequence[bytes]:
        """Return parts of an object, by start and end. Raise `PackGone`."""
        if not ranges:
            return ()
        with self._asking(for_pack=True) as (obstore, store):
            ranges_async = await obstore.get_ranges_async(
                store, self._prefix + name,
                starts=[start for start, _ in ranges], ends=[end for _, end in ranges],
            )  # fmt: skip
            return [bytes(one) for one in ranges_async]

    async def names(self, below: str, *, after: str = "") -> AsyncIterator[str]:
        """Yield the names of objects below a name, in order, those behind another one."""
        with self._asking() as (obstore, store):
            listed = obstore.list(
                store, self._prefix + below, offset=self._prefix + after if after else None,
                chunk_size=1000,
            )  # fmt: skip
            async for some in listed:
                for one in some:
                    yield one["path"].removeprefix(self._prefix)

    async def remove(self, name: str) -> None:
        """Remove an object; none is right, too."""
        try:
            with self._asking(for_pack=True) as (obstore, store):
                await obstore.delete_async(store, self._prefix + name)
        except PackGone:
            return

    @contextmanager
    def _asking(self, *, for_pack: bool = False) -> Iterator[tuple[Any, Any]]:
        """Give obstore and the bucket, which it has opened, and translate errors. `for_pack`: for
        an object that may be gone; else what is not found is the bucket.
        """
        try:
            if self._opened is None:
                self._opened = self._find()
            import obstore  # noqa: PLC0415 (an extra, which is there by now)

            yield obstore, self._opened
        except (asyncio.CancelledError, GeneratorExit):
            raise
        except Exception as error:  # whatever it is, nobody is told its text
            if for_pack and isinstance(error, FileNotFoundError):
                raise PackGone from error
            why = str(error) if isinstance(error, NotSigned) else type(error).__name__
            raise LogBucketAway(
                f"the bucket {self.url} with output of jobs cannot be used now",
                detail=f"It was asked in vain ({why}).",
                hint="Look at `log_bucket` and the settings beside it, and at `store_buckets`.",
            ) from error
