"""Ask servers of others. The name is resolved once, each of its addresses is checked
(`core/addresses.py`), and the connection goes to one that passed, so changing the name in between
achieves nothing. TLS still requires a certificate for the name.

Redirections are not followed: whoever does so asks again, and the new address is checked as well.
Proxies named in the environment are not used.
"""

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cache
from typing import Final, NamedTuple

import h11

from weft.core.addresses import Address, AllowedHosts
from weft.core.deliveries.callback_url import CallbackTarget
from weft.net.exchange import AnswerHead, Exchange
from weft.net.failures import AddressRefused, Late, NameUnknown, NotConnected, WrongRequest, plain
from weft.net.threads import resolve

ANYWHERE: Final = AllowedHosts(everything=True)
"""For servers that the deployment itself names."""
ADDRESSES_MAX: Final = 4
"""One attempt tries at most this many addresses of a name."""

_SENDING: Final = frozenset({"POST", "PUT", "PATCH"})
"""They say how long their body is even if it is empty."""

Fields = Iterable[tuple[str, str]]
Resolve = Callable[[str, int], Awaitable[Sequence[Address]]]
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Answer(NamedTuple):
    """A whole answer."""

    head: AnswerHead
    body: bytes


@dataclass(frozen=True)
class ForeignHttp:
    """Asks those that may be asked."""

    allowed: AllowedHosts
    silent_s: float
    """The limit without any progress, also of a connection."""
    within_s: float | None = None
    """The limit of everything together: name, connection, request, answer."""
    connect_s: float | None = None
    """The limit of a connection, if it is another."""
    tls: ssl.SSLContext | None = None
    """None: trust the system's certificate authorities."""
    resolve: Resolve = resolve
    piece_bytes: int = 64 << 10

    @asynccontextmanager
    async def asked(
        self, method: str, target: CallbackTarget, fields: Fields = (), body: bytes | None = b""
    ) -> AsyncIterator[Exchange]:
        """Send a request and give its exchange. `body`: None, the caller sends it. Raise
        `NetFailure`.
        """
        if body or (body is not None and method in _SENDING):
            fields = [("Content-Length", str(len(body))), *fields]
        request = _request(method, target, fields)
        deadline = asyncio.timeout(self.within_s)
        try:
            async with deadline:
                tls = (self.tls or _system_tls()) if target.scheme == "https" else None
                reader, writer = await self.connect(target.host, target.port, tls)
                try:
                    exchange = Exchange(
                        reader, writer, target.authority, self.silent_s, self.piece_bytes
                    )
                    exchange.begin(request, body)
                    yield exchange
                finally:
                    writer.transport.abort()  # drops the rest of the answer
        except TimeoutError as error:
            if not deadline.expired():
                raise
            raise Late(TimeoutError("timed out")) from error

    async def answer(
        self,
        method: str,
        target: CallbackTarget,
        fields: Fields = (),
        body: bytes = b"",
        *,
        bytes_max: int,
    ) -> Answer:
        """Return a whole answer. Raise `NetFailure`."""
        async with self.asked(method, target, fields, body) as exchange:
            return Answer(await exchange.head(), await exchange.body(bytes_max))

    async def connect(self, host: str, port: int, tls: ssl.SSLContext | None) -> Streams:
        """Connect to a host. Raise `NetFailure`."""
        why: Exception | None = None
        for address in (await self.addresses(host, port))[:ADDRESSES_MAX]:
            try:
                async with asyncio.timeout(self.connect_s or self.silent_s):
                    return await asyncio.open_connection(
                        str(address),
                        port,
                        ssl=tls,
                        server_hostname=host if tls else None,
                        limit=self.piece_bytes,
                    )
            except (OSError, ValueError) as error:  # ssl.SSLError is an OSError
                why = plain(error)
        raise NotConnected(why) from why

    async def addresses(self, host: str, port: int) -> Sequence[Address]:
        """Return the addresses of a host that may be asked. Raise `NetFailure`."""
        try:
            async with asyncio.timeout(self.silent_s):
                found = await self.resolve(host, port)
        except OSError as error:
            raise NameUnknown(plain(error)) from error
        good = [address for address in found if self.allowed.allow(host, address)]
        if found and not good:
            raise AddressRefused
        return good


@cache
def _system_tls() -> ssl.SSLContext:
    """Return one context for all: it costs megabytes, so it is made on first use."""
    return ssl.create_default_context()


def _request(method: str, target: CallbackTarget, fields: Fields) -> h11.Request:
    own = [("Host", target.authority), ("Connection", "close")]
    try:
        named = [
            (name.encode("ascii"), value.encode("latin-1")) for name, value in [*own, *fields]
        ]
        return h11.Request(method=method, target=target.path, headers=named)
    except (h11.LocalProtocolError, UnicodeError):
        raise WrongRequest from None
