"""The document that moves waiting jobs to other queues."""

from typing import Annotated

from msgspec import Struct

from weft.wire.description import says
from weft.wire.patterns import QueueName


class RerouteDocument(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """`POST /v1/queue-reroute`: move the next jobs that wait."""

    queue: Annotated[QueueName | None, says("Only jobs of this queue.", "short")] = None
    to: Annotated[
        QueueName | None, says("To this queue; without it to those that guards choose.", "large")
    ] = None
    dry_run: Annotated[bool, says("Only count.")] = False
    cursor: Annotated[str | None, says("From the previous answer: go on there.", "b7.j1000")] = (
        None
    )
