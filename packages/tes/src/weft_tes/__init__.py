"""The door for clients of GA4GH's TES 1.1: `/ga4gh/tes/v1`.

Each task is a job in a batch of its own; what it was asked to be is kept as the batch's
`foreign_document`. `docs/guides/with-tes.md` says what the same words mean here.
"""

from typing import TYPE_CHECKING, Final

from weft.registry.door import Door

if TYPE_CHECKING:
    from weft.api.http.doors import ApiDoor


def _api() -> "ApiDoor":
    from weft_tes.routes import SERVED  # noqa: PLC0415 (the api alone needs routes)

    return SERVED


DOOR: Final = Door(name="tes", title="TES's clients", api=_api, own_path="/data")
