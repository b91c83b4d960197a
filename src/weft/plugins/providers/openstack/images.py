"""Images of a cloud: which of several is used, and which may still become ready."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any, Final

READY: Final = "active"
_COMES: Final = frozenset({"queued", "saving", "uploading", "importing"})
_STUCK_S: Final = 3600.0
"""After which an image that is not ready counts as stuck, and another one is made."""


def image_name(prefix: str, server_id: str) -> str:
    """Name the image of a template."""
    return f"{prefix}{server_id[:8]}"


def newest(images: Iterable[Any]) -> str | None:
    """Return the id of the newest image that is ready."""
    ready = [(one.created_at, one.id) for one in images if one.status == READY]
    return str(max(ready)[1]) if ready else None


def is_being_made(image: Any) -> bool:  # noqa: ANN401 (the SDK's)
    """Say whether an image may become ready: others are broken, or are so for too long."""
    if image.status not in _COMES:
        return False
    age = datetime.now(UTC) - datetime.fromisoformat(image.created_at).replace(tzinfo=UTC)
    return age.total_seconds() < _STUCK_S
