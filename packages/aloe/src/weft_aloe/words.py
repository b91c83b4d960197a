"""The words of Aloe: names of files, instants, and who did something."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from uuid import NAMESPACE_URL, uuid4, uuid5

NAME: Final = "aloe"
LOCAL: Final = "local"
"""The execution system of an application that names none."""
STORE: Final = "weft"
"""The storage system: weft's own store."""
QUEUE: Final = "default"
GB: Final = 1 << 30
ENDED: Final = frozenset({"FINISHED", "FAILED", "STOPPED"})
STATUSES: Final = (
    "ACCEPTED",
    "PENDING",
    "PROCESSING_INPUTS",
    "STAGING_INPUTS",
    "STAGED",
    "STAGING_JOB",
    "SUBMITTING",
    "QUEUED",
    "RUNNING",
    "CLEANING_UP",
    "ARCHIVING",
    "FINISHED",
    "STOPPED",
    "FAILED",
    "BLOCKED",
    "PAUSED",
)
EVENTS: Final = ("PERMISSION_GRANT", "PERMISSION_REVOKE", "DELETED", "RESTORED")
"""What happens to a job besides."""
OLD_STATUSES: Final = {
    "KILLED": "STOPPED",
    "ARCHIVING_FINISHED": "FINISHED",
    "ARCHIVING_FAILED": "FAILED",
    "HEARTBEAT": "RUNNING",
}
"""Those that Aloe has removed, as old clients still name them."""
_DURATION: Final = re.compile(r"(\d{1,4}):([0-5]\d):([0-5]\d)")
ID_CHARS_MAX: Final = 64


def new_id() -> str:
    """Return the id of a new job. It ends in what clients do not cut off an address."""
    return f"{uuid4()}-007"


def app_uuid(app: str) -> str:
    """Return the same id for an application whenever it is asked for."""
    return f"{uuid5(NAMESPACE_URL, f'weft app {app}')}-005"


def slug(name: str) -> str:
    """Return a name as names of files have it."""
    return re.sub(r"[^a-z0-9_.-]", "", re.sub(r"\s+", "-", name.strip().lower())) or "job"


def instant(at: datetime | None) -> str | None:
    """Return an instant in UTC, as `2026-11-23T22:00:00.123456Z`."""
    return None if at is None else at.astimezone(UTC).isoformat().replace("+00:00", "Z")


def duration(seconds: float) -> str:
    """Return `HH:mm:ss`."""
    whole = int(timedelta(seconds=seconds).total_seconds())
    return f"{whole // 3600:02d}:{whole // 60 % 60:02d}:{whole % 60:02d}"


def seconds_of(text: str) -> int | None:
    """Return what `HH:mm:ss` says; None: that is not its form."""
    match = _DURATION.fullmatch(text)
    if match is None or not text.isascii():
        return None
    hours, minutes, seconds = map(int, match.groups())
    return hours * 3600 + minutes * 60 + seconds


def user_of(actor: str) -> str:
    """Return the name of whoever did something; what weft did itself is nobody's."""
    return actor.removeprefix("user ")


def user_and_word(message: str) -> tuple[str, str]:
    """Return the user of a change, and what they may do then, in the words of Agave."""
    user, _, word = message.partition(": ")
    ours, _, said = word.partition(" (")
    return user, said.rstrip(")") or ours.upper()


def words_given(facts: Mapping[str, Any]) -> dict[str, str]:
    """Return the word by which each user got what they may do last, or lost it."""
    return dict(
        user_and_word(change["message"])
        for change in facts["changes"]
        if change["kind"] in {"shared", "unshared"} and change["message"]
    )
