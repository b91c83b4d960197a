"""Testers that connect to a host that a job named, at an address that was checked: `tcp`, passed
when a connection can be made, `ssh`, when a server of SSH greets (nobody logs in), and `http`,
when a server answers.
"""

import asyncio
import ssl
from collections.abc import Mapping
from typing import Final

from weft.core.addresses import is_host_name, parse_address
from weft.core.deliveries.callback_url import CallbackTarget, parse_callback_url
from weft.core.ends.conditions import Tested
from weft.net.failures import NetFailure, NotConnected
from weft.net.foreign_http import ForeignHttp
from weft.ports.tester import StillBlocked, TesterSite

SETTING: Final = "tester_private_hosts"
PORT_MAX: Final = 65_535
_PORT_DIGITS: Final = len(str(PORT_MAX))


def http_of(site: TesterSite) -> ForeignHttp:
    """Return what asks as a site allows it."""
    return ForeignHttp(site.allowed, site.timeout_s, site.timeout_s)


def greeted(host: str, port: str, site: TesterSite, n_bytes: int = 0) -> bytes:
    """Connect, and return the first bytes that the other side sends. Raise `StillBlocked`."""
    host = host.lower().removesuffix(".")
    if not _is_port(port):
        raise StillBlocked(f"{port[:40]!r} is not the number of a port")
    if not _is_host(host):
        raise StillBlocked(f"{host[:40]!r} is neither the name of a host nor an address")
    try:
        return asyncio.run(_greeting(host, int(port), site, n_bytes))
    except NetFailure as failure:
        raise StillBlocked(failure.told(host, f"{host}:{port}", SETTING)) from failure


async def _greeting(host: str, port: int, site: TesterSite, n_bytes: int) -> bytes:
    reader, writer = await http_of(site).connect(host, port, None)
    try:
        async with asyncio.timeout(site.timeout_s):
            return await reader.readexactly(n_bytes)
    except asyncio.IncompleteReadError as error:
        return error.partial
    except OSError as error:
        raise NetFailure(error) from error
    finally:
        writer.transport.abort()


def _is_port(text: str) -> bool:
    is_number = text.isascii() and text.isdecimal() and len(text) <= _PORT_DIGITS
    return is_number and 0 < int(text) <= PORT_MAX


def _is_host(text: str) -> bool:
    try:
        return parse_address(f"[{text}]" if ":" in text else text) is not None or is_host_name(
            text
        )
    except ValueError:
        return False


class TcpTester:
    """Connects, and hangs up."""

    parameters = ("host", "port")
    optional = ()

    def test(self, parameters: Mapping[str, str], site: TesterSite) -> Tested:
        """Try the addresses that may be reached."""
        host, port = parameters["host"], parameters["port"]
        greeted(host, port, site)
        return Tested(passed=True, message=f"{host}:{port} answers")


_GREETING: Final = b"SSH-"


class SshTester:
    """Reads how the server begins."""

    parameters = ("host",)
    optional = ("port",)

    def test(self, parameters: Mapping[str, str], site: TesterSite) -> Tested:
        """Look once."""
        host, port = parameters["host"], parameters.get("port", "22")
        if greeted(host, port, site, len(_GREETING)) != _GREETING:
            raise StillBlocked(f"{host}:{port} does not greet as a server of SSH")
        return Tested(passed=True, message=f"{host}:{port} answers")


_BAD: Final = 400
_FIELDS: Final = (("Accept-Encoding", "identity"), ("User-Agent", "weft"))


class HttpTester:
    """Sends one request without a login."""

    parameters = ("url",)
    optional = ()

    def test(self, parameters: Mapping[str, str], site: TesterSite) -> Tested:
        """Look once."""
        try:
            target = parse_callback_url(parameters["url"])
        except ValueError as error:
            raise StillBlocked(f"the parameter url: {error}") from error
        shown = target.authority
        try:
            status = asyncio.run(_status(target, site))
        except NetFailure as failure:
            if isinstance(failure, NotConnected) and not isinstance(failure.why, ssl.SSLError):
                shown = f"{target.host}:{target.port}"
            raise StillBlocked(failure.told(target.host, shown, SETTING)) from failure
        return Tested(passed=status < _BAD, message=f"{shown} answers with {status}")


async def _status(target: CallbackTarget, site: TesterSite) -> int:
    async with http_of(site).asked("GET", target, _FIELDS) as exchange:
        return (await exchange.head()).status
