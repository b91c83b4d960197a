"""What an attempt used while it ran: charts and a table on the page of its job."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from weft.api.services import Services
from weft.api.use_cases.output import read_samples
from weft.core.billing.usage_points import UsagePoint, points_of
from weft.core.errors import OutputElsewhere
from weft.core.pictures.charts import steps
from weft.ports.store import Caller, Row

POINTS: Final = 200
ROWS: Final = 20
WIDTH, HEIGHT = 600, 100
_ABOVE: Final = 1.05
"""How high a chart is, as a multiple of the largest value in it."""


@dataclass(frozen=True)
class Line:
    """The chart of one resource."""

    path: str
    most: float
    reserved: float
    reserved_y: float
    """Where the amount that was reserved stands, counted from the top."""


@dataclass(frozen=True)
class Usage:
    """What one attempt used."""

    attempt: int
    cores: Line | None = None
    """None: there are no samples."""
    memory: Line | None = None
    until_ms: int = 0
    rows: Sequence[UsagePoint] = ()
    problem: OutputElsewhere | None = None
    """Why it cannot be read here."""
    width: int = WIDTH
    height: int = HEIGHT


async def usage_of(services: Services, caller: Caller, job: Row, attempt: int) -> Usage:
    """Return the charts of an attempt. Raise `AttemptNotFound`."""
    try:
        samples = await read_samples(services, caller, job["batch_id"], job["job_id"], attempt)
    except OutputElsewhere as error:
        return Usage(attempt, problem=error)
    points, reserved = points_of(samples, most=POINTS), job["resources"]
    if not points:
        return Usage(attempt)
    return Usage(
        attempt,
        _line([(point.at_ms, point.cores) for point in points], reserved["cpu"]),
        _line([(point.at_ms, point.memory_bytes) for point in points], reserved["memory"]),
        until_ms=points[-1].at_ms,
        rows=points_of(samples, most=ROWS),
    )


def _line(values: Sequence[tuple[float, float]], reserved: float) -> Line:
    most, until = max(value for _, value in values), max(1, values[-1][0])
    top = _ABOVE * max(most, reserved) or 1
    path = steps(values, until=until, top=top, width=WIDTH, height=HEIGHT)
    return Line(path, most, reserved, HEIGHT - HEIGHT * reserved / top)
