"""The door for clients of the Agave and Aloe Jobs API: `/jobs` and `/jobs/v2`.

Each of its jobs runs an application, in a batch of its own; what it is in Aloe's words is kept as
the batch's `foreign_document`, its id as its `foreign_id`. `story.py` is the one place that turns
weft's history into Aloe's: document, status and history are read from it.
`docs/guides/coming-from-agave.md` says what is the same and what differs.
"""

from typing import TYPE_CHECKING, Final

from weft.registry.door import Door, DumpFormat

if TYPE_CHECKING:
    from weft.api.http.doors import ApiDoor
    from weft.driver.callback_forms import NoticeForm


def _api() -> "ApiDoor":
    from weft_aloe.routes import SERVED  # noqa: PLC0415 (the api alone needs routes)

    return SERVED


def _notices() -> "NoticeForm":
    from weft_aloe.notices import NOTICES  # noqa: PLC0415 (the driver alone needs them)

    return NOTICES


def _dumps() -> DumpFormat:
    from weft_aloe.dumps import DUMPS  # noqa: PLC0415 (`weft import` alone needs it)

    return DUMPS


DOOR: Final = Door(
    name="aloe", title="clients of Agave and Aloe", api=_api, notices=_notices, dumps=_dumps
)
