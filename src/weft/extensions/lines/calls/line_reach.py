"""What sources and sinks of a setup may reach, said when it is applied. Whoever reads or sends
checks it again.

An address of a broker in a sink means the entry of `transports_file` that goes there, which has
the login. An address of a file that names a bucket, `s3://BUCKET/…`, means the tenant's store of
that bucket, as jobs reach buckets by stores alone.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final, NamedTuple
from urllib.parse import quote

from weft.core.addresses import parse_allowed_hosts
from weft.core.ends.conditions import parse_tester_commands
from weft.core.files.file_stores import stored_at
from weft.core.lines.line import Setup
from weft.core.text.texts import parse_paths
from weft.extensions.lines.rules.setup import Problem
from weft.extensions.lines.rules.sink import SINK_KINDS
from weft.extensions.lines.rules.source import SOURCE_KINDS
from weft.ports.line_kinds import wrong_program
from weft.ports.source import SourceSite
from weft.settings import Settings

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
    """Return a setup with transports named where only one goes. `brokers`: the entries by name."""
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


_SCHEME: Final = "s3://"
_FILES: Final[Mapping[str, str]] = {"inputs": "from", "outputs": "to"}
"""Where the address of a file stands in the two fields."""


def names_buckets(setup: Setup) -> bool:
    """Say whether files of its jobs are addressed by buckets."""
    return any(True for job in setup.jobs.values() for _ in _in_buckets(job))


def with_stores(setup: Setup, stores: Mapping[str, str]) -> Setup:
    """Return a setup that names stores instead of their buckets, where there is one. `stores`:
    addresses by name.
    """
    names = {url: name for name, url in stores.items()}
    jobs = {}
    for name, job in setup.jobs.items():
        changed = {**job}
        for field, index, address in _in_buckets(job):
            files = [*changed[field]]
            files[index] = {**files[index], _FILES[field]: stored_at(address, names) or address}
            changed[field] = files
        jobs[name] = changed
    return replace(setup, jobs=jobs)


def without_store(setup: Setup) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield where files are in buckets that no store has, and what is to be done."""
    for name, job in setup.jobs.items():
        for field, index, address in _in_buckets(job):
            bucket = "/".join(address.split("/")[:3])
            what = (
                f"no store of the tenant is in {bucket}: `weft store add NAME {bucket}` makes one"
            )
            yield ("job", name, field, str(index)), what


def _in_buckets(job: Mapping[str, Any]) -> Iterator[tuple[str, int, str]]:
    for field, name in _FILES.items():
        files = job.get(field)
        for index, one in enumerate(files if isinstance(files, list) else ()):
            address = one.get(name) if isinstance(one, Mapping) else None
            if isinstance(address, str) and address.startswith(_SCHEME):
                yield field, index, address


def out_of_reach(settings: Settings, setup: Setup) -> Iterator[Problem]:
    """Yield what the settings of this api do not allow; empty: they allow that."""
    site = SourceSite(
        paths=parse_paths(settings.source_paths),
        allowed=parse_allowed_hosts(settings.source_private_hosts),
        commands=parse_tester_commands(settings.source_commands),
    )
    for name, source in setup.sources.items():
        if (kind := SOURCE_KINDS.get(source.kind)) is not None:
            for field, what in kind.reach(site, source.options).items():
                yield ("source", name, field), what
    site = SourceSite(
        allowed=parse_allowed_hosts(settings.callback_private_hosts),
        setting="callback_private_hosts",
        commands=parse_tester_commands(settings.sink_commands),
    )
    for name, sink in setup.sinks.items():
        for field, what in SINK_KINDS[sink.kind].reach(site, sink).items():
            yield ("sink", name, field), what
        for command in sink.checks.values():
            what = wrong_program(site, "sink_commands", command[0])
            yield ("sink", name, "checks"), what
