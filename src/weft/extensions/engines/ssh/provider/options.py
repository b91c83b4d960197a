"""The options that a pool has for the provider `ssh`."""

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Final

from weft.core.pools.pool import Option
from weft.plugins.providers.pool_options import wrong_usual

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
