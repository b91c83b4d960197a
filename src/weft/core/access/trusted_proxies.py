"""What proxies say of a request, and which of them is believed.

A proxy appends to `X-Forwarded-For` the address that it serves. Whoever sends the request may have
begun that list, so it is read from its end, and only as far as the proxies are trusted.
"""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from ipaddress import IPv6Address, ip_address, ip_network

from weft.core.addresses import Address, Network

_HOST = re.compile(r"([A-Za-z0-9_.-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(:[0-9]{1,5})?")
_WITH_PORT = re.compile(r"\[([^\]]*)\](?::[0-9]+)?|([0-9.]+):[0-9]+")


@lru_cache(maxsize=16)
def parse_networks(text: str) -> tuple[Network, ...]:
    """Read a list such as `10.0.0.0/8, ::1`. Raise `ValueError` that names what is no network."""
    found = []
    for part in re.split(r"[\s,]+", text.strip()):
        try:
            found += [ip_network(part)] if part else []
        except ValueError as error:
            raise ValueError(f"{part!r} is not a network: {error}") from error
    return tuple(found)


def is_trusted(address: str, networks: Sequence[Network]) -> bool:
    """Say whether a peer is a proxy that is believed."""
    found = _parse(address)
    return found is not None and any(found in network for network in networks)


def origin_of(peer: str, forwarded_for: Iterable[str], networks: Sequence[Network]) -> str:
    """Return the address from which a request comes: the last in the headers `X-Forwarded-For`
    that is no trusted proxy.
    """
    known = peer
    chain = [one.strip() for header in forwarded_for for one in header.split(",")]
    for one in reversed(chain):
        if not is_trusted(known, networks) or (found := _parse(one)) is None:
            break
        known = str(found)
    return known


def scheme_of(forwarded_proto: Sequence[str]) -> str | None:
    """Return what the nearest proxy says in `X-Forwarded-Proto`; None: nothing that counts."""
    said = _last(forwarded_proto).lower()
    return said if said in {"http", "https"} else None


def host_of(forwarded_host: Sequence[str]) -> str | None:
    """Return what the nearest proxy says in `X-Forwarded-Host`; None: nothing that counts."""
    said = _last(forwarded_host)
    return said if _HOST.fullmatch(said) else None


def _last(headers: Sequence[str]) -> str:
    return headers[-1].rpartition(",")[2].strip() if headers else ""


def _parse(text: str) -> Address | None:
    """Read an address, perhaps with a port; one of IPv4 that is mapped to IPv6 as what it is."""
    if with_port := _WITH_PORT.fullmatch(text):
        text = with_port[1] or with_port[2]
    try:
        found = ip_address(text)
    except ValueError:
        return None
    return (found.ipv4_mapped or found) if isinstance(found, IPv6Address) else found
