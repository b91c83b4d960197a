"""The options that a pool has for the provider `openstack`."""

import re
from collections.abc import Mapping
from typing import Final

from weft.core.pools.pool import Option
from weft.ports.provider import ProviderError

TEXTS: Final = frozenset(
    {
        "image", "image_prefix", "template", "networks", "security_groups", "keypair",
        "availability_zone", "user", "program",
    }
)  # fmt: skip
SLOTS_MAX: Final = 1_000_000
"""As of a worker."""
TEXT_MAX: Final = 1000
USER: Final = "weft"
PROGRAM: Final = "/usr/local/bin/weft"


def wrong_options(options: Mapping[str, Option]) -> Mapping[str, str]:
    """Return what is wrong with the options of a pool, as far as it shows without the cloud."""
    known = ", ".join(sorted(TEXTS | {"slots"}))
    none = f"the provider openstack has no such option; known: {known}"
    wrong = dict.fromkeys(options.keys() - TEXTS - {"slots"}, none)
    for name in TEXTS & options.keys():
        if not isinstance(options[name], str) or not 1 <= len(str(options[name])) <= TEXT_MAX:
            wrong[name] = f"expected a text of at most {TEXT_MAX} characters"
    slots = options.get("slots", 1)
    if isinstance(slots, bool) or not isinstance(slots, int) or not 1 <= slots <= SLOTS_MAX:
        wrong["slots"] = f"expected a whole number from 1 to {SLOTS_MAX:,}"
    if ("image" in options) == ("image_prefix" in options):
        wrong["image"] = "name either an image, or an image_prefix for the newest of its images"
    if "template" in options and "image_prefix" not in options:
        wrong["template"] = "it needs an image_prefix, which begins the names of its images"
    if not re.fullmatch(r"[a-z_][a-z0-9_-]{0,30}", str(options.get("user", USER))):
        wrong["user"] = "expected the name of an account"
    if not str(options.get("program", "/")).startswith("/"):
        wrong["program"] = "expected an absolute path on the machine"
    return wrong


def check_options(options: Mapping[str, Option]) -> None:
    """Raise `ProviderError` for the first wrong option."""
    for name, why in sorted(wrong_options(options).items()):
        raise ProviderError(f"option {name}: {why}")


def text_of(options: Mapping[str, Option], name: str, default: str = "") -> str:
    """Return an option that is a text."""
    return str(options.get(name, default))


def names_in(options: Mapping[str, Option], name: str) -> list[str]:
    """Return the names of an option that has several, separated by commas."""
    return [one.strip() for one in text_of(options, name).split(",") if one.strip()]
