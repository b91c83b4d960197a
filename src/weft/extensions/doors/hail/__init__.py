"""The door for Hail's own client: `/api/v1alpha` and `/api/v2alpha`, as `hailtop` 0.2.139 uses
them.

Its routes answer by Hail's contract: errors are a status and a text, lists have pages of exactly
fifty, and a request with a token that is known is a repeat, whatever else it says.
`docs/guides/coming-from-hail.md` says what is the same and what differs.
"""

from typing import TYPE_CHECKING, Final

from weft.extensions.doors.hail.client_files import setup
from weft.registry.door import ClientFiles, Door

if TYPE_CHECKING:
    from weft.api.http.doors import ApiDoor
    from weft.driver.callback_forms import CallbackForm


def _api() -> "ApiDoor":
    from weft.extensions.doors.hail.routes import SERVED  # noqa: PLC0415 (the api alone needs routes)

    return SERVED


def _callbacks() -> "CallbackForm":
    from weft.extensions.doors.hail.callbacks import FORM  # noqa: PLC0415 (the driver alone needs it)

    return FORM


DOOR: Final = Door(
    name="hail",
    title="Hail's client",
    api=_api,
    callbacks=_callbacks,
    client=ClientFiles(
        sentence="Write what Hail's own client needs to reach this server.",
        page="Write the files with which Hail's own client reaches this server: `env`, which sets "
        "its\nvariables, and `tokens.json`.",
        setup=setup,
    ),
    own_path="/io",
)
