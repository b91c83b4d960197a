"""The options that a pool has for the provider `openstack`; images of a cloud: which of several is
used, which may still become ready, and whether a server is ready for one.
"""

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, Final

from weft.core.pools.pool import Option
from weft.plugins.providers.pool_options import TEXT_MAX, wrong_names, wrong_program, wrong_slots
from weft.ports.provider import ProviderError

TEXTS: Final = frozenset(
    {
        "image",
        "image_prefix",
        "template",
        "ready_when",
        "networks",
        "security_groups",
        "keypair",
        "availability_zone",
        "user",
        "program",
    }
)
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


READY: Final = "active"
_COMES: Final = frozenset({"queued", "saving", "uploading", "importing"})
_STUCK_S: Final = 3600.0
"""After which an image that is not ready counts as stuck, and another one is made."""


def image_name(prefix: str, server_id: str) -> str:
    """Name the image of a template."""
    return f"{prefix}{server_id[:8]}"


def newest(images: Iterable[Any]) -> str | None:
    """Return the id of the newest image that is ready."""
    ready = [(image.created_at, image.id) for image in images if image.status == READY]
    return str(max(ready)[1]) if ready else None


def is_being_made(image: Any) -> bool:  # noqa: ANN401 (the SDK's)
    """Say whether an image may become ready: others are broken, or are so for too long."""
    if image.status not in _COMES:
        return False
    return _age_s(image) < _STUCK_S


def check_ready(cloud: Any, server: str, options: Mapping[str, Any]) -> None:  # noqa: ANN401 (the SDK's)
    """Raise `ProviderError` while the console of a template does not say what it should."""
    text = text_of(options, "ready_when")
    if not text or text in str(cloud.compute.get_server_console_output(server).get("output")):
        return
    said = f"its console does not say {text!r}"
    within_s = float(options.get(READY_S, READY_USUAL_S))
    if _age_s(cloud.compute.get_server(server)) > within_s:
        raise ProviderError(f"the template {server} is frozen: {said} after {within_s:g} s")
    raise ProviderError(f"the template {server} is not ready: {said} yet")


def _age_s(one: Any) -> float:  # noqa: ANN401 (the SDK's)
    made_at = datetime.fromisoformat(one.created_at).replace(tzinfo=UTC)
    return (datetime.now(UTC) - made_at).total_seconds()
