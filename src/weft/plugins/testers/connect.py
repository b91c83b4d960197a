"""Connect to a host that a job named, at an address that was checked."""

import os
import socket
from typing import Final

from weft.core.addresses import is_host_name, parse_address, read_address
from weft.ports.tester import StillBlocked, TesterSite

PORT_MAX: Final = 65_535
_PORT_DIGITS: Final = len(str(PORT_MAX))


def connect(host: str, port: str, site: TesterSite) -> socket.socket:
    """Return a connection. Raise `StillBlocked`."""
    host = host.lower().removesuffix(".")
    if not _is_port(port):
        raise StillBlocked(f"{port[:40]!r} is not the number of a port")
    if not _is_host(host):
        raise StillBlocked(f"{host[:40]!r} is neither the name of a host nor an address")
    try:
        found = socket.getaddrinfo(host, int(port), type=socket.SOCK_STREAM)
    except OSError as error:
        raise StillBlocked(f"the name {host} cannot be resolved") from error
    good = [one for one in found if site.allowed.allow(host, read_address(str(one[4][0])))]
    if not good:
        # The address itself stays secret: it is a fact about our network.
        raise StillBlocked(f"{host} is private, and tester_private_hosts does not allow it")
    family, kind, protocol, _, address = good[0]
    connection = socket.socket(family, kind, protocol)
    connection.settimeout(site.timeout_s)
    try:
        connection.connect(address)
    except OSError as error:
        connection.close()
        raise StillBlocked(f"{host}:{port}: {reason_of(error)}") from error
    return connection


def reason_of(error: OSError) -> str:
    """Return why a connection failed, in a few words."""
    if isinstance(error, TimeoutError):
        return "no answer"
    return os.strerror(error.errno) if error.errno and error.errno > 0 else type(error).__name__


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
