"""The jobs of this door as they travel over topics, if the operator has named some."""

from typing import Final

from weft.api.services import Services
from weft.ports.store import Caller
from weft.wire import job_topics as wire

NAME: Final = "jobweaver"


def identity_of(
    connection: str, job_id: str, trace_id: str, *, come: bool = False
) -> dict[str, str]:
    """Return by what a job is known that travels. `come`: a record has brought it."""
    known = {wire.TOPICS: connection, wire.JOB: job_id, wire.TRACE: trace_id}
    return {**known, wire.COME: "1"} if come else known


async def travel_of(
    services: Services, caller: Caller, job_id: str, trace_id: str
) -> dict[str, str] | None:
    """Return the identity of a new job of the caller; None: it does not travel."""
    for one in services.transports:
        if one.jobs is not None and one.jobs.door == NAME:
            if one.jobs.tenant != await services.store.tenant_name(caller):
                return None
            return identity_of(one.name, job_id, trace_id)
    return None
