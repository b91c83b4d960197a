"""The options that a pool has for the provider `kubernetes`."""

from collections.abc import Mapping
from typing import Final

from weft.core.pools.pool import Option
from weft.plugins.providers.pool_options import wrong_usual

TEXTS: Final = frozenset(
    {
        "image", "program", "node_selector", "tolerations", "priority_class", "service_account",
        "pull_secret",
    }
)  # fmt: skip


def wrong_options(options: Mapping[str, Option]) -> Mapping[str, str]:
    """Return what is wrong with the options of a pool, as far as it shows without a cluster."""
    wrong = wrong_usual("kubernetes", options, TEXTS, "in the image")
    if any(not value for value in words_in(options, "node_selector").values()):
        wrong["node_selector"] = "expected labels of nodes, as disk=ssd,zone=a"
    return wrong


def words_in(options: Mapping[str, Option], name: str) -> dict[str, str]:
    """Return an option of words as `a=b,c`; a word without a value has an empty one."""
    words = (one.strip().partition("=") for one in str(options.get(name, "")).split(","))
    return {word: value for word, _, value in words if word}
