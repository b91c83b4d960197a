"""The options that a pool has for the provider `ssh`."""

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Final

from weft.core.pools.pool import Option
from weft.plugins.providers.pool_options import (
    raise_first,
    wrong_lines,
    wrong_names,
    wrong_program,
    wrong_slots,
)

TEXTS: Final = frozenset({"hosts", "program"})


def wrong_options(options: Mapping[str, Option]) -> Mapping[str, str]:
    """Return what is wrong with the options of a pool, as far as it shows without the hosts."""
    wrong = {
        **wrong_names("ssh", options, TEXTS | {"slots"}),
        **wrong_lines(options, TEXTS),
        **wrong_slots(options),
        **wrong_program(options, "on the hosts"),
    }
    if "hosts" in options and "hosts" not in wrong and not _patterns(options):
        wrong["hosts"] = "expected names of hosts or patterns of them, as rack4-*,node7"
    return wrong


def check_options(options: Mapping[str, Option]) -> None:
    """Raise `ProviderError` for the first wrong option."""
    raise_first(wrong_options(options))


def may_use(options: Mapping[str, Option], host: str) -> bool:
    """Say whether a pool may use a host."""
    return any(fnmatchcase(host, pattern) for pattern in _patterns(options))


def _patterns(options: Mapping[str, Option]) -> list[str]:
    return [one.strip() for one in str(options.get("hosts", "*")).split(",") if one.strip()]
