"""Licences: list, set and remove what all pools share."""

from weft.api.services import Services
from weft.core.errors import BadLicenceName, LicenceNotFound
from weft.core.scheduling.offers import wrong_licence_name
from weft.ports.store import Caller
from weft.submission.services import Answer
from weft.telemetry.log import get_logger

log = get_logger()


async def set_licence(services: Services, caller: Caller, name: str, n: int) -> Answer:
    """Say how many there are; return the licence. Raise `BadLicenceName`."""
    if wrong := wrong_licence_name(name):
        raise BadLicenceName(
            "this cannot be the name of a licence", detail=wrong, hint="Choose another name."
        )
    await services.store.set_licence(caller, name, n)
    services.forget_licences()
    log.info("licence.set", licence=name, n=n, user=caller.user_name)
    return await get_licence(services, caller, name)


async def get_licence(services: Services, caller: Caller, name: str) -> Answer:
    """Return a licence. Raise `LicenceNotFound`."""
    for row in await services.store.list_licences(caller):
        if row["licence"] == name:
            return {**row}
    raise _not_found(name)


async def remove_licence(services: Services, caller: Caller, name: str) -> Answer:
    """Forget a licence. Raise `LicenceNotFound`."""
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
