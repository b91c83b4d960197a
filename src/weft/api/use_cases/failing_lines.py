"""Sources and sinks that fail: each is an incident, beside what jobs wait for."""

from collections.abc import Sequence
from typing import Final

from weft.api.services import Services
from weft.core.lines.line import is_failing
from weft.ports.store import Caller, Row

LINES_MAX: Final = 1000
"""Sources, and sinks, that are looked at together, by name."""


async def failing_lines(services: Services, caller: Caller) -> Sequence[Row]:
    """Return the sources that fail, and the sinks to which messages do not get."""
    found = await services.store.overview_lines(caller, limit=LINES_MAX, statuses=False)
    sources = [one for one in found["sources"] if is_failing(one)]
    sinks = [one for one in found["sinks"] if one["n_failed"] or one["last_error"]]
    return [*sources, *sinks]
