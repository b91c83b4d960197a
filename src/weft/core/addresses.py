"""Which addresses belong to the public internet, and which private ones a deployment allows.

A callback must not reach what only this host or its network can: the machine itself, private
networks, the metadata of a cloud. So an address passes if it is public by the registries below, or
if the setting `callback_private_hosts` names it. IPv6 addresses that carry one of IPv4 are judged
by that.

The lists are written out, because `ipaddress.is_global` differs between releases of Python.
Source: the IANA registries of special-purpose addresses for IPv4 and IPv6.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

_NOT_PUBLIC_4 = tuple(
    IPv4Network(text)
    for text in (
        "0.0.0.0/8",  # this host
        "10.0.0.0/8",
        "100.64.0.0/10",  # carriers; the metadata of Alibaba Cloud
        "127.0.0.0/8",
        "168.63.129.16/32",  # public by its number, but Azure answers its machines there
        "169.254.0.0/16",  # link-local; the metadata of most clouds
        "172.16.0.0/12",
        "192.0.0.0/24",  # the metadata of Oracle Cloud
        "192.0.2.0/24",
        "192.88.99.0/24",
        "192.168.0.0/16",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/3",  # multicast, reserved, broadcast
    )
)
_PUBLIC_6 = IPv6Network("2000::/3")
_NOT_PUBLIC_6 = tuple(
    IPv6Network(text)
    for text in (
        "2001::/23",  # protocols: Teredo, ORCHID
        "2001:db8::/32",
        "2002::/16",  # 6to4
        "3fff::/20",
    )
)
_CARRIERS_OF_4 = tuple(
    IPv6Network(text)
    for text in (
        "::ffff:0:0/96",  # mapped: the kernel connects by IPv4
        "64:ff9b::/96",  # NAT64: a gateway does
    )
)
_HOST_NAME = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)(\.(?!-)[a-z0-9_-]{1,63}(?<!-))*")
HOST_CHARS_MAX = 253


def is_public(address: Address) -> bool:
    """Say whether an address belongs to the public internet."""
    if isinstance(address, IPv4Address):
        return not any(address in network for network in _NOT_PUBLIC_4)
    if any(address in network for network in _CARRIERS_OF_4):
        return is_public(_carried(address))
    return address in _PUBLIC_6 and not any(address in network for network in _NOT_PUBLIC_6)


def _carried(address: IPv6Address) -> IPv4Address:
    """Return the IPv4 address in the last 32 bits."""
    return IPv4Address(int(address) & 0xFFFFFFFF)


def parse_address(host: str) -> Address | None:
    """Return the address that a host is written as, or None for a name.

    Raise `ValueError` for what is neither: `2130706433`, `0x7f.1`, `127.1` and `0177.0.0.1` are
    names to us and addresses to the system's resolver.
    """
    if host.startswith("["):
        if not host.endswith("]") or "%" in host:
            raise ValueError("not an address of IPv6")
        return IPv6Address(host[1:-1])
    if _looks_numeric(host.rstrip(".").rpartition(".")[2]):
        return IPv4Address(host)
    return None


def _looks_numeric(label: str) -> bool:
    """Say whether a resolver would take a host that ends with this for an address."""
    return label.isdecimal() or re.fullmatch(r"0[xX][0-9a-fA-F]*", label) is not None


def is_host_name(host: str) -> bool:
    """Say whether this is a name of a host, in lower case."""
    return len(host) <= HOST_CHARS_MAX and _HOST_NAME.fullmatch(host) is not None


@dataclass(frozen=True)
class AllowedHosts:
    """What a deployment allows beside the public internet: networks, names, or everything."""

    networks: tuple[Network, ...] = ()
    names: frozenset[str] = frozenset()
    everything: bool = False

    def allow_name(self, host: str) -> bool:
        """Say whether this name may stand for any address."""
        return self.everything or host in self.names

    def allow(self, host: str, address: Address) -> bool:
        """Say whether this host may be called at this address."""
        if self.allow_name(host) or is_public(address):
            return True
        if isinstance(address, IPv6Address) and any(address in n for n in _CARRIERS_OF_4):
            address = _carried(address)
        return any(address in network for network in self.networks)


@lru_cache(maxsize=16)
def parse_allowed_hosts(text: str) -> AllowedHosts:
    """Read a list such as `10.0.0.0/8, hooks.internal, localhost`; `*`: everything.

    Raise `ValueError` that names the part which is neither a network nor a name.
    """
    networks: list[Network] = []
    names: set[str] = set()
    parts = [part for part in re.split(r"[\s,]+", text.strip().lower()) if part]
    for part in parts:
        if part == "*":
            continue
        try:
            networks.append(ip_network(part.strip("[]")))
        except ValueError as error:
            if "/" in part or _looks_numeric(part.rpartition(".")[2]) or not is_host_name(part):
                raise ValueError(
                    f"{part!r} is neither a network nor the name of a host"
                ) from error
            names.add(part)
    return AllowedHosts(tuple(networks), frozenset(names), everything="*" in parts)


def read_address(text: str) -> Address:
    """Return an address as a resolver writes it; the scope of a link-local one is left out."""
    return ip_address(text.partition("%")[0])
