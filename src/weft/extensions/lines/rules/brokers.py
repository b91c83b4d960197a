"""Addresses of brokers in sinks of a setup: the entry of `transports_file` that goes there is
meant, which has the login.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final, NamedTuple
from urllib.parse import quote

from weft.core.lines.line import Setup

_ADDRESS: Final = re.compile(r"(amqp(s?))://([\w.-]+|\[[0-9a-f:]+\])(?::(\d{1,5}))?/?")
_PORTS: Final = {"": "5672", "s": "5671"}


class Broker(NamedTuple):
    """An entry: where it goes."""

    address: str
    virtual_host: str


def addresses_of(setup: Setup) -> Mapping[str, str]:
    """Return the addresses that stand where a transport should be named, by sink."""
    return {
        name: sink.options["transport"]
        for name, sink in setup.sinks.items()
        if "://" in sink.options.get("transport", "")
    }


def with_transports(setup: Setup, brokers: Mapping[str, Broker]) -> Setup:
    """Return a setup that names transports instead, where one alone goes there. `brokers`: the
    entries, by name.
    """
    sinks = {**setup.sinks}
    for sink, address in addresses_of(setup).items():
        found = [name for name, one in brokers.items() if _is_there(address, one)]
        if len(found) == 1:
            options = {**sinks[sink].options, "transport": found[0]}
            sinks[sink] = replace(
                sinks[sink], url=f"{sinks[sink].kind}:{found[0]}", options=options
            )
    return replace(setup, sinks=sinks)


def without_transport(setup: Setup) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield where an address still stands."""
    what = "not one entry of transports_file that has this tenant goes there, but none or several"
    for name in addresses_of(setup):
        yield ("sink", name, "url"), f"{what}: write transport = NAME"


def _is_there(address: str, broker: Broker) -> bool:
    scheme, _, rest = address.partition("://")
    server, _, host = rest.partition("/")
    wanted = _form(f"{scheme}://{server}")
    is_same = wanted is not None and wanted == _form(broker.address)
    return is_same and host in {"", quote(broker.virtual_host, safe="")}


def _form(address: str) -> tuple[str, ...] | None:
    match = _ADDRESS.fullmatch(address.lower())
    return None if match is None else (match[1], match[3], match[4] or _PORTS[match[2]])
