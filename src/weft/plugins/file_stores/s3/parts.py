"""Store a large object in parts: it appears when the last step is answered, and what did not
arrive is sent again, also by the next process.
"""

import asyncio
import hashlib
import re
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from typing import Final, NamedTuple

from weft.net.failures import TooLong
from weft.net.foreign_http import Fields
from weft.plugins.file_stores.s3.carrying import GOOD, PIECE_BYTES, HttpCarrier, accepted
from weft.ports import file_store
from weft.ports.file_store import PartUrls

_TRIES: Final = 3
_ANSWER_BYTES_MAX: Final = 4 << 20
_UPLOAD: Final = re.compile(r"<UploadId>([^<]{1,2000})</UploadId>")
_PART: Final = re.compile(r"<Part>(.*?)</Part>", re.DOTALL)
_FIELDS: Final = {
    name: re.compile(rf"<{name}>(?:&quot;|\"|&#34;)?([0-9A-Za-z-]+)")
    for name in ("PartNumber", "ETag", "Size")
}
_MORE: Final = "<IsTruncated>true</IsTruncated>"
_ERROR: Final = "<Error>"


class _Kept(NamedTuple):
    """A part that has arrived."""

    tag: str
    n_bytes: int


class ObjectHttpCarrier(HttpCarrier):
    """Transfers objects of any size."""

    async def write_parts(
        self,
        sign: PartUrls,
        file: file_store.HeldFile,
        *,
        part_bytes: int,
        upload: str,
        begun: Callable[[str], None],
    ) -> None:
        """Store an object in parts; see the port."""
        await _PartsUpload(self, sign, file, part_bytes).run(upload, begun)


class _PartsUpload:
    """One upload of one file."""

    def __init__(
        self, carrier: HttpCarrier, sign: PartUrls, file: file_store.HeldFile, part_bytes: int
    ) -> None:
        self._carrier = carrier
        self._sign = sign
        self._file = file
        self._part_bytes = part_bytes

    async def run(self, upload: str, begun: Callable[[str], None]) -> None:
        """Go on with an upload; empty: begin one, which `begun` is told. Raise `FileDiffers`,
        `FileRefused`, `StoreAway`; after the last one it may go on.
        """
        kept = await self._listed(upload) if upload else None
        if kept is None:
            upload, kept = await self._begin(), {}
            begun(upload)
        try:
            tags = await self._send_all(upload, kept)
            await self._end(upload, tags)
        except file_store.StoreAway:
            raise
        except file_store.FileProblem:
            with suppress(file_store.FileProblem):
                await self._carrier.remove(await self._sign("DELETE", upload))
            raise

    async def _begin(self) -> str:
        answer = await self._asked("POST", await self._sign("POST"))
        match = _UPLOAD.search(answer)
        if match is None:
            raise file_store.FileRefused("its store does not take objects in parts")
        return match[1]

    async def _listed(self, upload: str) -> Mapping[int, _Kept] | None:
        """Return the parts that have arrived, by number; None: there is no such upload."""
        found: dict[int, _Kept] = {}
        while True:
            url = await self._sign("GET", upload, max(found, default=0))
            try:
                answer = await self._asked("GET", url)
            except file_store.FileMissing:
                return None
            parts = _PART.findall(answer)
            for part in parts:
                fields = {name: form.search(part) for name, form in _FIELDS.items()}
                number, tag, size = (field and field[1] for field in fields.values())
                if number and tag and size:
                    found[int(number)] = _Kept(tag, int(size))
            if not parts or _MORE not in answer:
                return found

    async def _send_all(self, upload: str, kept: Mapping[int, _Kept]) -> list[str]:
        """Send what is missing; return the tags of all parts."""
        tags, found = [], hashlib.sha256()
        for number, start in enumerate(range(0, self._file.n_bytes, self._part_bytes), 1):
            stop = min(start + self._part_bytes, self._file.n_bytes)
            known = kept.get(number)
            tag, after = None, found
            if known is not None and known.n_bytes == stop - start:
                tag, after = await self._compared(start, stop, known, found.copy())
            for n_tried in range(1, _TRIES + 1):
                if tag is not None:
                    break
                after = found.copy()
                try:
                    tag = await self._send(upload, number, start, stop, after)
                except file_store.StoreAway:
                    if n_tried == _TRIES:
                        raise
            assert tag is not None
            tags.append(tag)
            found = after
        if found.digest() != self._file.digest:
            raise file_store.FileDiffers("it was changed while it was stored")
        return tags

    async def _compared(
        self, start: int, stop: int, known: _Kept, found: "hashlib._Hash"
    ) -> tuple[str | None, "hashlib._Hash"]:
        """Return the tag of a part if it is as the file is now."""
        md5 = hashlib.md5(usedforsecurity=False)
        async for piece in self._pieces(start, stop):
            found.update(piece)
            md5.update(piece)
        return (known.tag if known.tag == md5.hexdigest() else None), found

    async def _send(
        self, upload: str, number: int, start: int, stop: int, found: "hashlib._Hash"
    ) -> str:
        url = await self._sign("PUT", upload, number)
        length = ("Content-Length", str(stop - start))
        async with self._carrier.asked("PUT", url, [length], None) as exchange:
            with exchange.sending():
                async for piece in self._pieces(start, stop):
                    found.update(piece)
                    await exchange.send(piece)
                await exchange.end()
            tag = (await accepted(exchange, GOOD)).get("etag").strip('"')
            if not tag:
                raise file_store.FileRefused("its store does not take objects in parts")
            return tag

    async def _pieces(self, start: int, stop: int) -> AsyncIterator[bytes]:
        while start < stop:
            n_bytes = min(PIECE_BYTES, stop - start)
            piece = await asyncio.to_thread(self._file.read, start, n_bytes)
            if not piece:
                raise file_store.FileDiffers("it was changed while it was stored")
            yield piece
            start += len(piece)

    async def _end(self, upload: str, tags: list[str]) -> None:
        parts = "".join(
            f'<Part><PartNumber>{number}</PartNumber><ETag>"{tag}"</ETag></Part>'
            for number, tag in enumerate(tags, 1)
        )
        body = f"<CompleteMultipartUpload>{parts}</CompleteMultipartUpload>".encode()
        async for condition in self._carrier.conditions(self._sign):
            url = await self._sign("POST", upload)
            try:
                answer = await self._asked("POST", url, body, condition)
            except file_store.Overtaken:
                continue
            except file_store.FileMissing as error:
                raise file_store.StoreAway("its store has given the parts up") from error
            if _ERROR in answer:  # behind a status that was sent before it was known
                raise file_store.StoreAway("its store did not put the parts together")
            return

    async def _asked(
        self, method: str, url: str, body: bytes = b"", condition: Fields = ()
    ) -> str:
        length = [("Content-Length", str(len(body)))] if method == "POST" else []
        async with self._carrier.asked(method, url, [*length, *condition], None) as exchange:
            with exchange.sending():
                if body:  # with it the object appears
                    self._file.check()
                    await exchange.send(body)
                await exchange.end()
            await accepted(exchange, GOOD, self._carrier.plain if condition else None)
            try:
                return (await exchange.body(_ANSWER_BYTES_MAX)).decode(errors="replace")
            except TooLong as error:
                raise file_store.FileRefused("its store answers too much") from error
