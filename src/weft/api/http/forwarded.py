"""Requests through proxies: where they come from, and at which address they were sent."""

from collections.abc import Sequence

from weft.api.http.middleware import App
from weft.api.http.routing import Receive, Scope, Send
from weft.core.access.trusted_proxies import host_of, is_trusted, origin_of, scheme_of
from weft.core.addresses import Network


class ReadForwarded:
    """Put into the scope what trusted proxies say of a request. Nobody else is believed."""

    def __init__(self, app: App, trusted: Sequence[Network]) -> None:
        self._app = app
        self._trusted = trusted

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        peer = scope.get("client")
        if self._trusted and scope["type"] == "http" and peer is not None:
            _read_headers(scope, peer, self._trusted)
        await self._app(scope, receive, send)


def _read_headers(scope: Scope, peer: tuple[str, int], trusted: Sequence[Network]) -> None:
    if not is_trusted(peer[0], trusted):
        return
    scope["client"] = (origin_of(peer[0], _values(scope, b"x-forwarded-for"), trusted), 0)
    scope["scheme"] = scheme_of(_values(scope, b"x-forwarded-proto")) or scope["scheme"]
    if host := host_of(_values(scope, b"x-forwarded-host")):
        others = [one for one in scope["headers"] if one[0] != b"host"]
        scope["headers"] = [(b"host", host.encode()), *others]


def _values(scope: Scope, name: bytes) -> list[str]:
    return [value.decode("latin-1") for one, value in scope["headers"] if one == name]
