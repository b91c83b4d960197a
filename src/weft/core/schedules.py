"""When schedules are due: cron expressions in a time zone, exact on days when its clock changes.

An expression names times on a wall clock. Where minute or hour begin with `*` it names every such
time that the clock shows: none in a gap, both of a repeat. Otherwise it names points of a day: one
that falls into a gap is due when the gap ends, and of a repeat the first one counts.
"""

import heapq
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import islice, pairwise, takewhile
from typing import Final, Literal
from zoneinfo import ZoneInfo, available_timezones

from cronsim import CronSim, CronSimError

from weft.core.text.texts import nearest

Missed = Literal["skip", "last", "all"]
FIELDS: Final = {
    "minute": "0 to 59",
    "hour": "0 to 23",
    "day of the month": "1 to 31, L for the last one",
    "month": "1 to 12 or JAN to DEC",
    "day of the week": "0 to 7 or SUN to SAT",
}
"""What each may be."""
LOOKED_MAX: Final = 1000
"""Due times that are looked at after a long outage."""
NEAR: Final = timedelta(days=366)
NEAR_MAX: Final = 400
RARE_MAX: Final = 50
"""For the shortest interval, the due times of a year are looked at: at most `NEAR_MAX`, and at
least `RARE_MAX`, however far away. A leap day takes ten times as long to find as the next day.
"""
DAY: Final = timedelta(days=1)
SECOND: Final = timedelta(seconds=1)
_ANY_WALL_TIME: Final = datetime.fromisoformat("2000-01-01")


class WrongCron(ValueError):
    """The expression cannot be used; the text says why."""


class WrongZone(ValueError):
    """There is no such time zone; the text says which one may be meant."""


def zone_of(name: str) -> ZoneInfo:
    """Return a time zone of the IANA database. Raise `WrongZone`."""
    known = _zone_names()
    if name not in known:
        meant = nearest(name, sorted(known)) or _zone_of_city(name, known)
        raise WrongZone(
            f"there is no time zone {name[:80]!r}"
            + (f"; did you mean {meant}?" if meant else "; names are such as Europe/Berlin")
        )
    return ZoneInfo(name)


@cache
def _zone_names() -> frozenset[str]:
    return frozenset(available_timezones())


def _zone_of_city(name: str, known: Iterable[str]) -> str | None:
    by_city = {one.rpartition("/")[2].lower(): one for one in sorted(known)}
    city = nearest(name.rpartition("/")[2].lower().replace(" ", "_"), by_city)
    return None if city is None else by_city[city]


def check_cron(expression: str) -> None:
    """Raise `WrongCron` if it has no five fields that can be used."""
    parts = expression.split()
    if len(parts) != len(FIELDS):
        raise WrongCron(f"it has {len(parts)} fields instead of five: {', '.join(FIELDS)}")
    for position, (part, (field, allowed)) in enumerate(zip(parts, FIELDS.items(), strict=True)):
        alone = ["*"] * len(FIELDS)
        alone[position] = part
        if not _is_readable(alone):
            raise WrongCron(
                f"the {field} cannot be {part[:40]!r}; allowed are {allowed}, and lists, ranges "
                "and steps of them"
            )
    if not _is_readable(parts) or next(_wall_times(expression, _ANY_WALL_TIME), None) is None:
        raise WrongCron("no date matches it, so it never comes true")


def _is_readable(parts: Sequence[str]) -> bool:
    try:
        CronSim(" ".join(parts), _ANY_WALL_TIME)
    except (CronSimError, ValueError, TypeError, AssertionError):
        return False
    return True


def due_times(expression: str, zone: ZoneInfo, after: datetime) -> Iterator[datetime]:
    """Yield the due times after a moment, ascending, each once, in UTC."""
    shows_all = any(part.startswith("*") for part in expression.split()[:2])
    last = after.astimezone(UTC)
    # Times that the clock has shown already, and will show again before long.
    falls_back = last.astimezone(zone).utcoffset() - (last + DAY).astimezone(zone).utcoffset()  # type: ignore[operator]  # zones have offsets
    start = last.astimezone(zone).replace(tzinfo=None) - max(falls_back, timedelta())
    repeats: list[datetime] = []
    for wall in _wall_times(expression, start):
        first, second = _moments(wall, zone)
        in_gap = second < first
        if not in_gap:
            due = first
            if shows_all and second > first:
                heapq.heappush(repeats, second)
        else:
            due = _end_of_gap(second, first, zone)
        while repeats and repeats[0] <= due:
            if (repeat := heapq.heappop(repeats)) > last:
                yield (last := repeat)
        if due > last and not (in_gap and shows_all):
            yield (last := due)
    while repeats:
        yield heapq.heappop(repeats)


def _wall_times(expression: str, after: datetime) -> Iterator[datetime]:
    """Yield the times of the expression on a wall clock, without a zone."""
    yield from CronSim(expression, after)


def _moments(wall: datetime, zone: ZoneInfo) -> tuple[datetime, datetime]:
    """Return the moments of a wall time by the offset before and after a change; without a change
    they are one, and in a gap the second is the earlier one.
    """
    return (
        wall.replace(tzinfo=zone).astimezone(UTC),
        wall.replace(tzinfo=zone, fold=1).astimezone(UTC),
    )


def _end_of_gap(before: datetime, after: datetime, zone: ZoneInfo) -> datetime:
    """Return the first moment of the new offset, by bisection."""
    old = before.astimezone(zone).utcoffset()
    while after - before > SECOND:
        middle = before + ((after - before) // 2 // SECOND or 1) * SECOND
        if middle.astimezone(zone).utcoffset() == old:
            before = middle
        else:
            after = middle
    return after


def next_due(expression: str, zone: ZoneInfo, after: datetime) -> datetime | None:
    """Return the first due time after a moment; None: there is none in the next 50 years."""
    return next(due_times(expression, zone, after), None)


def shortest_interval(expression: str, zone: ZoneInfo, after: datetime) -> timedelta | None:
    """Return the shortest time between two of the next due times; None: there is one at most."""
    found = next_times(expression, zone, after)
    return min((later - earlier for earlier, later in pairwise(found)), default=None)


def next_times(expression: str, zone: ZoneInfo, after: datetime) -> Iterator[datetime]:
    """Yield due times until they tell how often it is due."""
    near = after + NEAR
    for number, due in enumerate(islice(due_times(expression, zone, after), NEAR_MAX), 1):
        yield due
        if number >= RARE_MAX and due > near:
            return


def _until(now: datetime, expression: str, zone: ZoneInfo, after: datetime) -> Iterator[datetime]:
    return takewhile(lambda due: due <= now, due_times(expression, zone, after))


@dataclass(frozen=True, kw_only=True)
class DuePlan:
    """What to do with a schedule that is due."""

    runs: Sequence[datetime]
    """The due times to submit for, ascending."""
    next_at: datetime | None
    """None: never again."""
    n_missed: int
    """Due times without a run."""


def plan_runs(
    expression: str,
    zone: ZoneInfo,
    missed: Missed,
    *,
    next_at: datetime,
    now: datetime,
    late_s: float,
    runs_max: int,
) -> DuePlan:
    """Decide which of the due times from `next_at` to `now` get a run.

    One that is at most `late_s` old is not missed. Of the others `last` runs the newest, unless a
    later one is due, and `all` the newest `runs_max`. After a very long outage only the first and
    the last `LOOKED_MAX` or so are looked at and counted.
    """
    times = [next_at, *islice(_until(now, expression, zone, next_at), LOOKED_MAX)]
    if len(times) > LOOKED_MAX:
        pause = (times[-1] - next_at) / LOOKED_MAX
        times += _until(now, expression, zone, max(times[-1], now - LOOKED_MAX * pause))
    count = {"skip": 1, "last": 1, "all": runs_max}[missed]
    runs = times[-count:]
    if missed == "skip" and runs[-1] < now - timedelta(seconds=late_s):
        runs = []
    return DuePlan(
        runs=runs, next_at=next_due(expression, zone, times[-1]), n_missed=len(times) - len(runs)
    )
