"""Callbacks by HTTP/1.1: each has its own connection, to an address that was checked.

The name is resolved once, each address is checked (`core/addresses.py`), and the connection goes
to one that passed, so changing the name in between achieves nothing. TLS still requires a
certificate for the name. Only the head of the answer is read. Proxies named in the environment are
not used.
"""

import asyncio
import os
import ssl
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import h11

from weft.core.addresses import Address, AllowedHosts
from weft.core.deliveries.callback_url import CallbackTarget, parse_callback_url
from weft.plugins.callback_senders.http.resolve import resolve
from weft.ports.callback_sender import Answered

READ_BYTES = 4096
HEAD_BYTES_MAX = 16 << 10
ADDRESSES_MAX = 4
"""One attempt tries at most this many addresses of a name."""
_EARLY_HINTS_MAX = 8

Resolve = Callable[[str, int], Awaitable[Sequence[Address]]]


class _NotSent(Exception):
    """Why there is no answer, in a few words without a full stop."""


@dataclass(frozen=True)
class HttpCallbackSender:
    """Sends callbacks by HTTP and HTTPS."""

    allowed: AllowedHosts
    connect_timeout_s: float
    timeout_s: float
    """The limit of everything together: name, connection, request, head of the answer."""
    resolve: Resolve = resolve
    tls: ssl.SSLContext | None = None
    """None: trust the system's certificate authorities."""

    async def send(self, url: str, headers: Mapping[str, str], body: bytes) -> Answered:
        """Send once."""
        try:
            async with asyncio.timeout(self.timeout_s):
                return await self._send(parse_callback_url(url), headers, body)
        except TimeoutError:
            return Answered(error=f"no answer within {self.timeout_s:g} s")
        except (_NotSent, ValueError) as error:
            return Answered(error=str(error))

    async def _send(
        self, target: CallbackTarget, headers: Mapping[str, str], body: bytes
    ) -> Answered:
        reader, writer = await self._connect(target)
        try:
            return await _exchange(reader, writer, _request(target, headers, body), body)
        except (OSError, EOFError) as error:
            raise _NotSent(f"the connection broke: {_reason(error)}") from error
        except h11.ProtocolError as error:
            raise _NotSent("the answer is not HTTP") from error
        finally:
            writer.transport.abort()  # drops the rest of the answer

    async def _connect(
        self, target: CallbackTarget
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        tls = (self.tls or _system_tls()) if target.scheme == "https" else None
        why: Exception | None = None
        for address in await self._addresses(target):
            try:
                async with asyncio.timeout(self.connect_timeout_s):
                    return await asyncio.open_connection(
                        str(address), target.port, ssl=tls,
                        server_hostname=target.host if tls else None, limit=HEAD_BYTES_MAX,
                    )  # fmt: skip
            except TimeoutError:
                why = TimeoutError(f"no answer within {self.connect_timeout_s:g} s")
            except (OSError, ValueError) as error:  # ssl.SSLError is an OSError
                why = error
        raise _NotSent(f"could not connect: {_reason(why)}") from why

    async def _addresses(self, target: CallbackTarget) -> Sequence[Address]:
        """Return the addresses of the target that may be called."""
        try:
            found = await self.resolve(target.host, target.port)
        except OSError as error:
            raise _NotSent(f"the name cannot be resolved: {_reason(error)}") from error
        good = [address for address in found if self.allowed.allow(target.host, address)]
        if found and not good:
            # The address itself stays secret: it is a fact about our network.
            raise _NotSent("the address is private, and callback_private_hosts does not allow it")
        return good[:ADDRESSES_MAX]


@cache
def _system_tls() -> ssl.SSLContext:
    """Return one context for all: it costs megabytes, so it is made on first use."""
    return ssl.create_default_context()


def _request(target: CallbackTarget, headers: Mapping[str, str], body: bytes) -> h11.Request:
    return h11.Request(
        method="POST",
        target=target.path,
        headers=[
            ("Host", target.authority),
            ("Content-Length", str(len(body))),
            ("Connection", "close"),
            *headers.items(),
        ],
    )


async def _exchange(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: h11.Request, body: bytes
) -> Answered:
    """Send a request; return the head of the answer, whose body is not read.

    Bytes that the kernel does not take at once, less than a megabyte, are sent while we read, so a
    receiver may answer before it has read the whole request.
    """
    protocol = h11.Connection(h11.CLIENT, max_incomplete_event_size=HEAD_BYTES_MAX)
    events = (request, h11.Data(data=body), h11.EndOfMessage())
    writer.write(b"".join(protocol.send(event) or b"" for event in events))
    return await _status(reader, protocol)


async def _status(reader: asyncio.StreamReader, protocol: h11.Connection) -> Answered:
    hints = 0
    while True:
        event = protocol.next_event()
        if event is h11.NEED_DATA:
            data = await reader.read(READ_BYTES)
            if not data:
                raise EOFError("the receiver closed the connection without an answer")
            protocol.receive_data(data)
        elif isinstance(event, h11.Response):
            return Answered(status=event.status_code, location=_location(event))
        elif isinstance(event, h11.InformationalResponse) and hints < _EARLY_HINTS_MAX:
            hints += 1
        else:
            raise h11.RemoteProtocolError("too many interim responses and no answer")


def _location(answer: h11.Response) -> str | None:
    if answer.status_code // 100 != 3:  # noqa: PLR2004 (3xx)
        return None
    found = next((value for name, value in answer.headers if name == b"location"), None)
    return None if found is None else found.decode("latin-1")


def _reason(error: Exception | None) -> str:
    """Return the reason for the receiver's owner: short, on one line, without an address."""
    number = error.errno if isinstance(error, OSError) else None
    if number is not None and number > 0 and not isinstance(error, ssl.SSLError):
        return os.strerror(number)
    text = str(error or "") or type(error).__name__
    return " ".join(text.split())[:200]
