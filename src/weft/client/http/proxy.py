"""The way to a server through a proxy of the network, which is asked with CONNECT: it passes TLS
on and reads none of it. `HTTPS_PROXY` and `NO_PROXY` name it, as for other programs.
"""

import asyncio
import base64
import ssl
import urllib.request as proxies
from typing import Final, NamedTuple
from urllib.parse import unquote, urlsplit

from weft.client.http.address import LOOPBACK, Endpoint, is_sent_as_is
from weft.settings import InvalidSetting

_GOOD: Final = b"200"


class HttpProxy(NamedTuple):
    """A proxy that is asked with CONNECT."""

    host: str
    port: int
    authorization: str | None = None


def find_proxy(endpoint: Endpoint) -> HttpProxy | None:
    """Return the proxy to this server; None: there is none, or not for this server. Raise
    `InvalidSetting`, which does not repeat the variable: it may hold a password.
    """
    known = proxies.getproxies_environment()
    url = known.get("https") or known.get("all")
    if endpoint.scheme != "https" or not url or endpoint.host in LOOPBACK:
        return None
    server = f"{endpoint.host}:{endpoint.port}"
    if proxies.proxy_bypass_environment(server, known):  # type: ignore[attr-defined]  # not in typeshed
        return None
    wrong = InvalidSetting(
        "HTTPS_PROXY does not name a proxy that weft can use",
        detail="It is not like http://proxy.example.org:3128.",
        hint="Write it so; NO_PROXY names the hosts that are reached without it.",
    )
    try:
        parts = urlsplit(url if "://" in url else f"http://{url}")
        host, port = parts.hostname, parts.port or 80
    except ValueError:
        raise wrong from None
    if not host or not is_sent_as_is(host) or parts.scheme != "http":
        raise wrong
    if parts.username is None:
        return HttpProxy(host, port)
    user, password = unquote(parts.username), unquote(parts.password or "")
    coded = base64.b64encode(f"{user}:{password}".encode()).decode()
    return HttpProxy(host, port, f"Basic {coded}")


async def open_through(
    proxy: HttpProxy, endpoint: Endpoint, tls: ssl.SSLContext, *, limit: int
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Connect to the server. Raise `OSError`."""
    name = f"the proxy {proxy.host}:{proxy.port}"
    try:
        reader, writer = await asyncio.open_connection(proxy.host, proxy.port, limit=limit)
    except OSError as error:
        raise OSError(f"{name} of HTTPS_PROXY: {error.strerror or error}") from error
    try:
        host = f"[{endpoint.host}]" if ":" in endpoint.host else endpoint.host
        lines = [f"CONNECT {host}:{endpoint.port} HTTP/1.1", f"Host: {host}:{endpoint.port}"]
        if proxy.authorization is not None:
            lines.append(f"Proxy-Authorization: {proxy.authorization}")
        writer.write("\r\n".join([*lines, "", ""]).encode())
        await _take_answer(reader, name)
        await writer.start_tls(tls, server_hostname=endpoint.host)
    except BaseException:
        writer.close()
        raise
    return reader, writer


async def _take_answer(reader: asyncio.StreamReader, name: str) -> None:
    """Read what the proxy answers. Raise `OSError` if there is no way."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError) as error:
        raise OSError(f"{name} of HTTPS_PROXY does not answer as one") from error
    _, status, *words = [*head.split(b"\r\n", 1)[0].split(), b""]
    if status != _GOOD:
        said = b" ".join([status, *words])[:80].decode("latin-1").strip()
        raise OSError(f"{name} of HTTPS_PROXY refuses the way there: {said or 'it says nothing'}")
