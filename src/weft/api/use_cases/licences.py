"""Licences of all pools."""

from collections.abc import Sequence

from weft.api.calls.call import call
from weft.api.calls.path_ids import (
    LicenceName,
)
from weft.api.services import Services
from weft.core.access.rights import Right
from weft.core.errors import (
    BadLicenceName,
    LicenceNotFound,
)
from weft.core.scheduling.offers import wrong_licence_name
from weft.ports.store import Caller, Row
from weft.submission.services import Answer
from weft.telemetry.log import log
from weft.wire.answers.licences import Licence, LicenceRemoved
from weft.wire.documents.licences import LicenceDocument


@call("GET /v1/licences", Right.READ, page=Licence)
async def list_licences(services: Services, caller: Caller) -> Sequence[Row]:
    """Return the licences by name, and how many of each are used."""
    return await services.store.list_licences(caller)


@call("PUT /v1/licences/{l}", Right.ADMINISTER, Licence)
async def set_licence(
    services: Services, caller: Caller, name: LicenceName, document: LicenceDocument
) -> Answer:
    """Set how many licences jobs may use at a time, in all pools together; return it. Jobs that
    have one go on if there are fewer now. Only for administrators. Raise `BadLicenceName`.
    """
    if wrong := wrong_licence_name(name):
        raise BadLicenceName(
            "this cannot be the name of a licence", detail=wrong, hint="Choose another name."
        )
    await services.store.set_licence(caller, name, document.n)
    services.forget_licences()
    log.info("licence.set", licence=name, n=document.n, user=caller.user_name)
    return await get_licence(services, caller, name)


async def get_licence(services: Services, caller: Caller, name: str) -> Answer:
    """Return a licence. Raise `LicenceNotFound`."""
    for row in await services.store.list_licences(caller):
        if row["licence"] == name:
            return {**row}
    raise _not_found(name)


@call("DELETE /v1/licences/{l}", Right.ADMINISTER, LicenceRemoved, silent=True)
async def remove_licence(services: Services, caller: Caller, name: LicenceName) -> Answer:
    """Forget a licence; who waits for it waits on. For administrators. Raise `LicenceNotFound`."""
    if not await services.store.remove_licence(name):
        raise _not_found(name)
    services.forget_licences()
    log.info("licence.removed", licence=name, user=caller.user_name)
    return {"licence": name}


def _not_found(name: str) -> LicenceNotFound:
    return LicenceNotFound(
        f'licence "{name[:64]}" does not exist',
        detail="No licence of this name was set.",
        hint="List them with `weft licence ls`.",
    )
