"""The door for clients of JobWeaver: `/api/jobs`, `/internal` and `/actuator`.

Each of its jobs is a simulated job in a batch of its own; its UUID is kept as the batch's
`foreign_id`. `docs/guides/coming-from-jobweaver.md` says what is the same and what differs.
"""

from typing import TYPE_CHECKING, Final

from weft.registry.door import Door

if TYPE_CHECKING:
    from weft.api.http.doors import ApiDoor


def _api() -> "ApiDoor":
    from weft_jobweaver.routes import SERVED  # noqa: PLC0415 (the api alone needs routes)

    return SERVED


DOOR: Final = Door(
    name="jobweaver", title="JobWeaver's clients", api=_api, workers_group="jobweaver-workers"
)
