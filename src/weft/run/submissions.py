"""The queues by which batches are submitted, as the operator names them in `transports_file`."""

from collections.abc import Coroutine, Sequence
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any

from weft.ports.transport import TRANSPORT_PLUGINS, Transport
from weft.run.transports import closed_at_end
from weft.settings import Settings
from weft.settings.transports_file import SubmissionsDocument, named_sets

if TYPE_CHECKING:
    from weft.api.services import Services

Opened = tuple[str, SubmissionsDocument, Transport]
"""A connection by name, and as whom what comes by it is submitted."""


def opened_submissions(settings: Settings) -> AbstractAsyncContextManager[Sequence[Opened]]:
    """Give the connections by which batches are submitted; none are connected yet."""
    found = [
        (connection.name, terms, TRANSPORT_PLUGINS.load(connection.kind)(connection))
        for connection, terms in named_sets(settings.transports_file, "submissions")
    ]
    return closed_at_end(found, (transport for *_, transport in found))


def submission_intakes(
    services: "Services", found: Sequence[Opened]
) -> Sequence[Coroutine[Any, Any, None]]:
    """Return what takes the batches that come."""
    if not found:
        return []
    from weft.api.http.decoding import JSON, decode  # noqa: PLC0415 (heavy)
    from weft.api.use_cases.taken_submissions import TakenSubmissions  # noqa: PLC0415
    from weft.wire.documents.batches import BatchDocument  # noqa: PLC0415

    return [
        TakenSubmissions(
            services, transport, name, terms, lambda body: decode(body, JSON, BatchDocument),
        ).serve()
        for name, terms, transport in found
    ]  # fmt: skip
