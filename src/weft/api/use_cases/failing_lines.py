"""Sources that fail: each is an incident, beside what jobs wait for."""

from collections.abc import Sequence
from typing import Final

from weft.api.services import Services
from weft.core.lines.source import is_failing
from weft.ports.store import Caller, Row

LINES_MAX: Final = 1000
"""Sources, and sinks, that are looked at together, by name."""


async def failing_sources(services: Services, caller: Caller) -> Sequence[Row]:
    """Return the sources that fail: each is an incident."""
    found = await services.store.list_sources(caller, after="", limit=LINES_MAX)
    return [one for one in found if is_failing(one)]
