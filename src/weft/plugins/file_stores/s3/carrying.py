"""Transfer objects by signed URLs over HTTP/1.1, in bounded memory.

Names are resolved once and each address is checked, as for callbacks, so no store leads into a
network that the setting `store_private_hosts` does not allow. Redirections are not followed. An
object appears when its last byte has come: a request that breaks off leaves none.
"""

import asyncio
import hashlib
import re
import ssl
from collections.abc import AsyncIterator, Container
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Final

from weft.core.addresses import AllowedHosts
from weft.core.deliveries.callback_url import parse_target
from weft.net import failures
from weft.net.exchange import AnswerHead, Exchange
from weft.net.foreign_http import Fields, ForeignHttp
from weft.plugins.file_stores.resumption import NOT_THE_SAME, Resumption, strong
from weft.ports import file_store
from weft.ports.file_store import ONE_REQUEST_BYTES_MAX, Head

PIECE_BYTES: Final = 256 << 10
_TRIES: Final = 4
_ERROR_BYTES_MAX: Final = 4096
_CODE: Final = re.compile(rb"<Code>([A-Za-z0-9]{1,64})</Code>")
_OK: Final = 200
_PART: Final = 206
_SAME: Final = 304
_MISSING: Final = 404
_CHANGED: Final = 412
_UNKNOWN: Final = 501
_OVERTAKEN: Final = frozenset({"ConditionalRequestConflict", "NoSuchKey", "NoSuchUpload"})
GOOD: Final = range(200, 300)
_BUSY: Final = frozenset({408, 429, 500, 502, 503, 504})
_LATER: Final = frozenset({"RequestTimeTooSkewed", "SlowDown", "InternalError", "RequestTimeout"})


@dataclass(frozen=True)
class HttpCarrier:
    """Transfers objects. `timeout_s`: without any progress."""

    allowed: AllowedHosts
    timeout_s: float = 60.0
    tls: ssl.SSLContext | None = None
    """None: trust the system's certificate authorities."""
    setting: str = "store_private_hosts"
    plain: set[str] = field(default_factory=set)
    """Stores that know no conditions."""

    async def size(self, url: str) -> int:
        """Return how many bytes an object has, by a URL for HEAD."""
        async with self.asked("HEAD", url) as exchange:
            return (await accepted(exchange, {_OK})).n_bytes or 0

    async def read(
        self, url: str, start: int = 0, head: Head | None = None
    ) -> AsyncIterator[bytes]:
        """Yield the bytes of an object from `start` on; go on where a connection broke."""
        head, file = head or Head(), Resumption(start)
        while True:
            again = file.has_more
            headers = [*file.fields("If-Match")]
            if head.known and not again:
                headers.append(("If-None-Match", head.known))
            good = {_OK, _PART} if file.done else {_OK, _SAME} if head.known else {_OK}
            try:
                async with self.asked("GET", url, headers) as exchange:
                    answer = await accepted(exchange, good, again=again)
                    if answer.status == _SAME:
                        head.is_known = True
                        return
                    file.take_head(answer)
                    if not again:
                        head.version, head.n_bytes = file.version, file.n_bytes
                    async for piece in exchange.pieces():
                        if fresh := file.take(piece):
                            yield fresh
                    file.end()
            except file_store.StoreAway as error:
                file.break_off(error)
            else:
                return

    async def write(self, url: str, file: file_store.HeldFile, condition: Fields = ()) -> None:
        """Store an object in one request. `condition`: see `conditions`."""
        if file.n_bytes > ONE_REQUEST_BYTES_MAX:
            most = ONE_REQUEST_BYTES_MAX >> 30
            raise file_store.FileRefused(
                f"it has {file.n_bytes} bytes; its store takes at most {most} GiB"
            )
        length = ("Content-Length", str(file.n_bytes))
        async with self.asked("PUT", url, [length, *condition], None) as exchange:
            with exchange.sending():
                await self._send(exchange, file)
            await accepted(exchange, {_OK}, self.plain if condition else None)

    async def write_once(self, sign: file_store.PartUrls, file: file_store.HeldFile) -> None:
        """Store an object in one request; see the port."""
        async for condition in self.conditions(sign):
            with suppress(file_store.Overtaken):
                await self.write(await sign("PUT"), file, condition)
                return

    async def conditions(self, sign: file_store.PartUrls) -> AsyncIterator[Fields]:
        """Yield headers by which a write replaces nothing that came after it began, each to be
        tried when one before raised `Overtaken`; the last has none: many may write one object.
        """
        for _ in range(_TRIES):
            try:
                url = await sign("HEAD")
                if parse_target(url).authority in self.plain:
                    break
                async with self.asked("HEAD", url) as exchange:
                    tag = strong((await accepted(exchange, {_OK})).get("etag"))
            except file_store.FileMissing:
                tag = "*"
            except file_store.FileRefused:  # it may not be read
                yield [("If-None-Match", "*")]
                break
            if not tag:
                break
            yield [("If-None-Match" if tag == "*" else "If-Match", tag)]
        yield ()

    async def remove(self, url: str) -> None:
        async with self.asked("DELETE", url) as exchange:
            await accepted(exchange, GOOD)

    async def _send(self, exchange: Exchange, file: file_store.HeldFile) -> None:
        found, offset = hashlib.sha256(), 0
        while offset < file.n_bytes:
            piece = await asyncio.to_thread(file.read, offset, PIECE_BYTES)
            found.update(piece)
            offset += len(piece)
            if not piece or (offset == file.n_bytes and found.digest() != file.digest):
                raise file_store.FileDiffers("it was changed while it was stored")
            file.check()
            await exchange.send(piece)
        if not file.n_bytes:
            file.check()
        await exchange.end()

    @asynccontextmanager
    async def asked(
        self, method: str, url: str, fields: Fields = (), body: bytes | None = b""
    ) -> AsyncIterator[Exchange]:
        """Send a request and give its exchange. `body`: None, the caller sends it. Raise
        `FileRefused`, `StoreAway`.
        """
        target = parse_target(url)
        http = ForeignHttp(self.allowed, self.timeout_s, tls=self.tls, piece_bytes=PIECE_BYTES)
        try:
            async with http.asked(method, target, fields, body) as exchange:
                yield exchange
        except failures.NetFailure as failure:
            raise self._problem(failure, target.host, target.authority) from failure
        except OSError as error:
            raise file_store.StoreAway(f"the connection to {target.authority} broke") from error

    def _problem(
        self, failure: failures.NetFailure, host: str, authority: str
    ) -> file_store.FileProblem:
        match failure:
            case failures.AddressRefused():
                return file_store.FileRefused(failure.told(host, authority, self.setting))
            case failures.NameUnknown():
                return file_store.StoreAway(failure.told(host, authority, self.setting))
            case failures.NotConnected():
                return file_store.StoreAway(f"{authority} does not answer")
            case failures.Broken(why=TimeoutError()):
                return file_store.StoreAway(f"{authority} is silent for {self.timeout_s:g} s")
            case failures.Broken() if not isinstance(failure.why, failures.RemoteDisconnected):
                return file_store.StoreAway(f"the connection to {authority} broke")
            case _:
                return file_store.StoreAway(f"{authority} broke off its answer")


async def accepted(
    exchange: Exchange,
    good: Container[int],
    plain: set[str] | None = None,
    *,
    again: bool = False,
) -> AnswerHead:
    """Return the head of an answer with one of these statuses. Raise what the store says else.
    `plain`: the request had a condition, and gets the host if that knows none. `again`: it was to
    go on with what has come.
    """
    head = await exchange.head()
    if head.status in good:
        return head
    body = b""
    async for piece in exchange.pieces():
        body += piece
        if len(body) >= _ERROR_BYTES_MAX:
            break
    match = _CODE.search(body)
    code = match[1].decode() if match else ""
    status = head.status
    if plain is not None and (status in {_CHANGED, _UNKNOWN} or code in _OVERTAKEN):
        plain |= {exchange.authority} if status == _UNKNOWN else set()
        raise file_store.Overtaken("another one wrote it meanwhile")
    if again and status in NOT_THE_SAME:
        raise file_store.NotResumable("it was changed while it was fetched")
    if status in _BUSY or code in _LATER:
        raise file_store.StoreAway(f"{exchange.authority} answers with {code or status}")
    if code == "NoSuchBucket":
        raise file_store.FileRefused("its store has no such bucket (NoSuchBucket)")
    if status == _MISSING:
        raise file_store.FileMissing("its store has no such object")
    if status == _CHANGED:
        raise file_store.FileDiffers("it was changed while it was fetched")
    raise file_store.FileRefused(f"its store refuses it ({code or status})")
