"""Sources and sinks that fail: each is an incident, beside what jobs wait for."""

from collections.abc import Sequence
from typing import Final

from weft.api.services import Services
from weft.core.lines.line import failing
from weft.ports.store import Caller, Row

LINES_MAX: Final = 1000
"""Sources, and sinks, that are looked at together, by name."""


async def failing_lines(services: Services, caller: Caller) -> Sequence[Row]:
    """Return the sources that fail, and the sinks to which messages do not get."""
    return failing(await services.store.overview_lines(caller, limit=LINES_MAX, statuses=False))
