"""Images of a cloud: which of several is used, which may still become ready, and whether a server
is ready for one.
"""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, Final

from weft.extensions.engines.openstack.provider.options import READY_S, READY_USUAL_S, text_of
from weft.ports.provider import ProviderError

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
