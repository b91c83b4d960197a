"""The options that a pool has for the provider `openstack`."""

import re
from collections.abc import Mapping
from typing import Final

from weft.core.pools.pool import Option
from weft.plugins.providers.pool_options import TEXT_MAX, wrong_names, wrong_program, wrong_slots

TEXTS: Final = frozenset(
    {
        "image", "image_prefix", "template", "ready_when", "networks", "security_groups",
        "keypair", "availability_zone", "user", "program",
    }
)  # fmt: skip
USER: Final = "weft"
READY_S: Final = "ready_within_s"
READY_USUAL_S: Final = 600


def wrong_options(options: Mapping[str, Option]) -> Mapping[str, str]:
    """Return what is wrong with the options of a pool, as far as it shows without the cloud."""
    wrong = {
        **wrong_names("openstack", options, TEXTS | {"slots", READY_S}),
        **wrong_slots(options),
    }
    for name in TEXTS & options.keys():
        if not isinstance(options[name], str) or not 1 <= len(str(options[name])) <= TEXT_MAX:
            wrong[name] = f"expected a text of at most {TEXT_MAX} characters"
    if ("image" in options) == ("image_prefix" in options):
        wrong["image"] = "name either an image, or an image_prefix for the newest of its images"
    if "template" in options and "image_prefix" not in options:
        wrong["template"] = "it needs an image_prefix, which begins the names of its images"
    if "ready_when" in options and "template" not in options:
        wrong["ready_when"] = "it needs a template, on whose console it should stand"
    within_s = options.get(READY_S, READY_USUAL_S)
    if isinstance(within_s, bool) or not isinstance(within_s, int | float) or not within_s > 0:
        wrong[READY_S] = "expected a number of seconds"
    if not re.fullmatch(r"[a-z_][a-z0-9_-]{0,30}", str(options.get("user", USER))):
        wrong["user"] = "expected the name of an account"
    return {**wrong, **wrong_program(options, "on the machine")}


def text_of(options: Mapping[str, Option], name: str, default: str = "") -> str:
    """Return an option that is a text."""
    return str(options.get(name, default))


def names_in(options: Mapping[str, Option], name: str) -> list[str]:
    """Return the names of an option that has several, separated by commas."""
    return [one.strip() for one in text_of(options, name).split(",") if one.strip()]
