"""The jobs of this door as they travel over topics, if the operator has named some."""

from typing import Final

from weft.api.services import Services
from weft.ports.store import Caller
from weft.wire import job_topics as wire

NAME: Final = "jobweaver"


def identity_of(topics: str, job_id: str, trace_id: str, *, come: bool = False) -> dict[str, str]:
    """Return by what a job is known that travels. `topics`: over which set; `come`: a record has
    brought it.
    """
    known = {wire.TOPICS: topics, wire.JOB: job_id, wire.TRACE: trace_id}
    return {**known, wire.COME: "1"} if come else known


async def travel_of(
    services: Services, caller: Caller, job_id: str, trace_id: str
) -> dict[str, str] | None:
    """Return the identity of a new job of the caller; None: it does not travel.

    It travels over the caller's own set of topics, else over the first one of their tenant.
    """
    sets = [(transport.name, each) for transport in services.transports for each in transport.jobs
            if each.door == NAME]  # fmt: skip
    if not sets:
        return None
    tenant = await services.store.tenant_name(caller)
    mine = [each.name_at(name) for name, each in sorted(
        ((name, each) for name, each in sets if each.tenant == tenant),
        key=lambda one: one[1].user != caller.user_name,
    )]  # fmt: skip
    return identity_of(mine[0], job_id, trace_id) if mine else None
