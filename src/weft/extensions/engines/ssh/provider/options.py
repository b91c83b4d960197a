"""The options that a pool has for the provider `ssh`, and the file that lists hosts: who they are,
and by which key each is known.

[[host]]
name = "node1"
address = "weft@node1.example.org:22"
key = "ssh-ed25519 AAAA…"
region = "rack4"
"""

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Final

import msgspec

from weft.core.bounded import read_toml
from weft.core.pools.pool import Option
from weft.plugins.providers.pool_options import wrong_usual
from weft.ports.provider import ProviderError

TEXTS: Final = frozenset({"hosts", "program"})


def wrong_options(options: Mapping[str, Option]) -> Mapping[str, str]:
    """Return what is wrong with the options of a pool, as far as it shows without the hosts."""
    wrong = wrong_usual("ssh", options, TEXTS, "on the hosts")
    if "hosts" in options and "hosts" not in wrong and not _patterns(options):
        wrong["hosts"] = "expected names of hosts or patterns of them, as rack4-*,node7"
    return wrong


def may_use(options: Mapping[str, Option], host: str) -> bool:
    """Say whether a pool may use a host."""
    return any(fnmatchcase(host, pattern) for pattern in _patterns(options))


def _patterns(options: Mapping[str, Option]) -> list[str]:
    return [one.strip() for one in str(options.get("hosts", "*")).split(",") if one.strip()]


_Word = Annotated[str, msgspec.Meta(min_length=1, max_length=256, pattern=r"^[^\s,/]+$")]


class Host(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A host of the file."""

    name: _Word
    address: Annotated[str, msgspec.Meta(min_length=1, max_length=512)]
    key: Annotated[str, msgspec.Meta(min_length=1, max_length=4096)]
    region: _Word | None = None


class _File(msgspec.Struct, forbid_unknown_fields=True):
    host: list[Host]


def hosts_in(path: Path | None) -> Sequence[Host]:
    """Return the hosts of a file. Raise `ProviderError`."""
    if path is None:
        raise ProviderError("the setting ssh_hosts_file is missing: it names the hosts")
    try:
        hosts = msgspec.convert(read_toml(path.read_text()), _File).host
    except OSError as error:
        raise ProviderError(f"ssh_hosts_file {path}: {error.strerror}") from None
    except (ValueError, msgspec.ValidationError) as error:
        raise ProviderError(f"ssh_hosts_file {path}: {error}") from None
    names = [host.name for host in hosts]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ProviderError(f"ssh_hosts_file {path}: host {twice[0]} is there twice")
    return hosts
