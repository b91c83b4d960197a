"""The options that a pool has for the provider `kubernetes`."""

from collections.abc import Mapping
from typing import Final

from weft.core.pools.pool import Option
from weft.ports.provider import ProviderError

TEXTS: Final = frozenset(
    {
        "image", "program", "node_selector", "tolerations", "priority_class", "service_account",
        "pull_secret",
    }
)  # fmt: skip
SLOTS_MAX: Final = 1_000_000
"""As of a worker."""
TEXT_MAX: Final = 1000
PROGRAM: Final = "/usr/local/bin/weft"


def wrong_options(options: Mapping[str, Option]) -> Mapping[str, str]:
    """Return what is wrong with the options of a pool, as far as it shows without a cluster."""
    known = ", ".join(sorted(TEXTS | {"slots"}))
    none = f"the provider kubernetes has no such option; known: {known}"
    wrong = dict.fromkeys(options.keys() - TEXTS - {"slots"}, none)
    for name in TEXTS & options.keys():
        text = options[name]
        if not isinstance(text, str) or not 1 <= len(text) <= TEXT_MAX or not text.isprintable():
            wrong[name] = f"expected a text of one line and at most {TEXT_MAX} characters"
    slots = options.get("slots", 1)
    if isinstance(slots, bool) or not isinstance(slots, int) or not 1 <= slots <= SLOTS_MAX:
        wrong["slots"] = f"expected a whole number from 1 to {SLOTS_MAX:,}"
    if not str(options.get("program", "/")).startswith("/"):
        wrong["program"] = "expected an absolute path in the image"
    if any(not value for value in words_in(options, "node_selector").values()):
        wrong["node_selector"] = "expected labels of nodes, as disk=ssd,zone=a"
    return wrong


def check_options(options: Mapping[str, Option]) -> None:
    """Raise `ProviderError` for the first wrong option."""
    for name, why in sorted(wrong_options(options).items()):
        raise ProviderError(f"option {name}: {why}")


def words_in(options: Mapping[str, Option], name: str) -> dict[str, str]:
    """Return an option of words as `a=b,c`; a word without a value has an empty one."""
    words = (one.strip().partition("=") for one in str(options.get(name, "")).split(","))
    return {word: value for word, _, value in words if word}
