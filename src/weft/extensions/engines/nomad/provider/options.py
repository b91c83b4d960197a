"""The options that a pool has for the provider `nomad`."""

from collections.abc import Mapping
from typing import Final

from weft.core.pools.pool import Option
from weft.plugins.providers.pool_options import (
    raise_first,
    wrong_lines,
    wrong_names,
    wrong_program,
    wrong_slots,
)

TEXTS: Final = frozenset({"node_pool", "program"})


def wrong_options(options: Mapping[str, Option]) -> Mapping[str, str]:
    """Return what is wrong with the options of a pool, as far as it shows without Nomad."""
    return {
        **wrong_names("nomad", options, TEXTS | {"slots"}),
        **wrong_lines(options, TEXTS),
        **wrong_slots(options),
        **wrong_program(options, "on the nodes"),
    }


def check_options(options: Mapping[str, Option]) -> None:
    """Raise `ProviderError` for the first wrong option."""
    raise_first(wrong_options(options))
