"""Callbacks by HTTP/1.1: only the head of the answer is read, and no redirection is followed."""

import os
import ssl
from collections.abc import Mapping
from dataclasses import dataclass

from weft.core.addresses import AllowedHosts
from weft.core.deliveries.callback_url import parse_callback_url
from weft.net import failures
from weft.net.exchange import AnswerHead
from weft.net.foreign_http import ForeignHttp, Resolve
from weft.net.threads import resolve
from weft.ports.senders import Answered

PIECE_BYTES = 16 << 10


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
        http = ForeignHttp(
            self.allowed,
            self.timeout_s,
            self.timeout_s,
            self.connect_timeout_s,
            self.tls,
            self.resolve,
            PIECE_BYTES,
        )
        try:
            target = parse_callback_url(url)
            async with http.asked("POST", target, headers.items(), body) as exchange:
                head = await exchange.head()
                return Answered(status=head.status, location=_location(head))
        except ValueError as error:
            return Answered(error=str(error))
        except failures.NetFailure as failure:
            return Answered(error=self._why(failure))

    def _why(self, failure: failures.NetFailure) -> str:
        is_silent = isinstance(failure.why, TimeoutError)
        match failure:
            case failures.NameUnknown():
                return f"the name cannot be resolved: {_reason(failure.why)}"
            case failures.AddressRefused():
                return "the address is private, and callback_private_hosts does not allow it"
            case failures.NotConnected() if is_silent:
                return f"could not connect: no answer within {self.connect_timeout_s:g} s"
            case failures.NotConnected():
                return f"could not connect: {_reason(failure.why)}"
            case failures.Broken() if is_silent:
                return f"no answer within {self.timeout_s:g} s"
            case failures.Broken():
                return f"the connection broke: {_reason(failure.why)}"
            case _:
                return "the answer is not HTTP"


def _location(head: AnswerHead) -> str | None:
    is_moved = head.status // 100 == 3  # noqa: PLR2004 (3xx)
    return head.fields.get("location") if is_moved else None


def _reason(error: Exception | None) -> str:
    """Return the reason for the receiver's owner: short, on one line, without an address."""
    if isinstance(error, failures.RemoteDisconnected):
        return "the receiver closed the connection without an answer"
    number = error.errno if isinstance(error, OSError) else None
    if number is not None and number > 0 and not isinstance(error, ssl.SSLError):
        return os.strerror(number)
    text = str(error or "") or type(error).__name__
    return " ".join(text.split())[:200]
