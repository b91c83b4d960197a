"""A request that creates something, as it came."""

from dataclasses import dataclass

from weft.api.http.requests import Body, idempotency_key, read_body
from weft.api.services import AnyRequest, Services, caller_of, services_of, trace_id_of
from weft.ports.store import Caller


@dataclass(frozen=True)
class Creating:
    """Who asks for what, and what makes a repeat the same request."""

    services: Services
    caller: Caller
    body: Body
    key: str | None
    """The header Idempotency-Key."""
    trace_id: str


async def creating(request: AnyRequest) -> Creating:
    """Read a creating request."""
    return Creating(
        services=services_of(request),
        caller=caller_of(request),
        body=await read_body(request),
        key=idempotency_key(request),
        trace_id=trace_id_of(request),
    )
