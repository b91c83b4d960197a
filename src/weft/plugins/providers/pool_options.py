"""What the options of pools have in common, whatever the provider."""

from collections.abc import Collection, Mapping
from typing import Final

from weft.core.pools.pool import Option
from weft.ports.provider import ProviderError

SLOTS_MAX: Final = 1_000_000
"""As of a worker."""
TEXT_MAX: Final = 1000
PROGRAM: Final = "/usr/local/bin/weft"
"""Where weft is on a machine, unless the option `program` says so."""


def wrong_names(
    provider: str, options: Mapping[str, Option], known: Collection[str]
) -> dict[str, str]:
    """Return what is wrong with the names of options."""
    said = ", ".join(sorted(known))
    wrong = f"the provider {provider} has no such option; known: {said}"
    return dict.fromkeys(options.keys() - known, wrong)


def wrong_lines(options: Mapping[str, Option], names: Collection[str]) -> dict[str, str]:
    """Return what is wrong with options that are texts of one line."""
    return {
        name: f"expected a text of one line and at most {TEXT_MAX} characters"
        for name in options.keys() & names
        if not isinstance(text := options[name], str)
        or not 1 <= len(text) <= TEXT_MAX
        or not text.isprintable()
    }


def wrong_slots(options: Mapping[str, Option]) -> dict[str, str]:
    """Return what is wrong with the option `slots`."""
    slots = options.get("slots", 1)
    if isinstance(slots, bool) or not isinstance(slots, int) or not 1 <= slots <= SLOTS_MAX:
        return {"slots": f"expected a whole number from 1 to {SLOTS_MAX:,}"}
    return {}


def wrong_program(options: Mapping[str, Option], where: str) -> dict[str, str]:
    """Return what is wrong with the option `program`. `where`: as in "on the nodes"."""
    if str(options.get("program", "/")).startswith("/"):
        return {}
    return {"program": f"expected an absolute path {where}"}


def raise_first(wrong: Mapping[str, str]) -> None:
    """Raise `ProviderError` for the first wrong option."""
    for name, why in sorted(wrong.items()):
        raise ProviderError(f"option {name}: {why}")
