"""The options that a pool has for the provider `nomad`."""

from collections.abc import Mapping
from typing import Final

from weft.core.pools.pool import Option
from weft.plugins.providers.pool_options import wrong_usual

TEXTS: Final = frozenset({"node_pool", "program"})


def wrong_options(options: Mapping[str, Option]) -> Mapping[str, str]:
    """Return what is wrong with the options of a pool, as far as it shows without Nomad."""
    return wrong_usual("nomad", options, TEXTS, "on the nodes")
