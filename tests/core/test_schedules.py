"""Due times of schedules: exact when the clock changes, and what is made up for."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice, takewhile
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import cases
from weft.core.schedules import (
    Missed,
    WrongCron,
    WrongZone,
    check_cron,
    due_times,
    next_due,
    next_times,
    plan_runs,
    shortest_interval,
    zone_of,
)

BERLIN = ZoneInfo("Europe/Berlin")
MINUTE = timedelta(minutes=1)
CHANGES = {
    "Europe/Berlin": ("2026-03-29T01:00", "2026-10-25T01:00"),
    "America/New_York": ("2026-03-08T07:00", "2026-11-01T06:00"),
    "Australia/Lord_Howe": ("2026-04-04T15:00", "2026-10-03T15:30"),
    "Africa/Cairo": ("2026-04-23T22:00", "2026-10-29T21:00"),
    "Pacific/Apia": ("2011-12-30T10:00", "2012-03-31T14:00"),
    "Asia/Kathmandu": ("2026-01-01T00:00", "2026-07-01T00:00"),
}
"""Zones, and moments near which their clocks change; Apia once left a day out."""


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def local(cron: str, after: str, count: int, zone: ZoneInfo = BERLIN) -> list[str]:
    found = islice(due_times(cron, zone, at(after)), count)
    return [f"{one.astimezone(zone):%d %H:%M %Z}" for one in found]


@cases(
    ("cron", "after", "due"),
    [
        # A time in a gap is due when the gap ends.
        ("30 2 * * *", "2026-03-28T00:00", "28 02:30 CET, 29 03:00 CEST, 30 02:30 CEST"),
        ("0,30 2,3 29 * *", "2026-03-28T00:00", "29 03:00 CEST, 29 03:30 CEST, 29 02:00 CEST"),
        # One that comes twice is due the first time; between the two the second is not due either.
        ("30 2 * * *", "2026-10-24T12:00", "25 02:30 CEST, 26 02:30 CET"),
        ("30 2 * * *", "2026-10-25T00:45", "26 02:30 CET"),
        # Every hour follows the clock.
        ("0 * * * *", "2026-03-28T23:30", "29 01:00 CET, 29 03:00 CEST, 29 04:00 CEST"),
        (
            "*/30 2 * * *",
            "2026-10-24T12:00",
            "25 02:00 CEST, 25 02:30 CEST, 25 02:00 CET, 25 02:30 CET, 26 02:00 CET",
        ),
    ],
)
def test_clock_that_is_changed(cron: str, after: str, due: str) -> None:
    assert ", ".join(local(cron, after, due.count(",") + 1)) == due


@st.composite
def fields(draw: st.DrawFn) -> tuple[str, str]:
    """Give minute and hour, as stars, steps, numbers or lists."""

    def field(limit: int, steps: list[int]) -> str:
        kind = draw(st.sampled_from(["*", "step", "list"]))
        if kind == "step":
            return f"*/{draw(st.sampled_from(steps))}"
        numbers = draw(st.sets(st.integers(0, limit), min_size=1, max_size=3))
        return "*" if kind == "*" else ",".join(map(str, sorted(numbers)))

    return field(59, [7, 15, 20, 30]), field(23, [2, 3, 5])


def numbers_of(field: str, limit: int) -> set[int]:
    if field.startswith("*"):
        return set(range(0, limit, int(field.partition("/")[2] or 1)))
    return set(map(int, field.split(",")))


def expected(
    minute: str, hour: str, zone: ZoneInfo, begin: datetime, n: int
) -> Iterator[datetime]:
    """Look at the clock minute by minute: what it shows, what it leaves out, what comes again."""
    minutes, hours = numbers_of(minute, 60), numbers_of(hour, 24)

    def matches(wall: datetime) -> bool:
        return wall.minute in minutes and wall.hour in hours

    follows_clock = minute.startswith("*") or hour.startswith("*")
    # What the clock has shown up to here; long enough before for every repeat.
    moment = begin - timedelta(days=1)
    shown = moment.astimezone(zone).replace(tzinfo=None)
    while moment < begin + n * MINUTE:
        moment += MINUTE
        wall = moment.astimezone(zone).replace(tzinfo=None)
        if follows_clock:
            is_due = matches(wall)
        else:
            passed = iter(shown + k * MINUTE for k in range(1, (wall - shown) // MINUTE + 1))
            is_due = any(map(matches, passed))
            shown = max(shown, wall)
        if is_due and moment > begin:
            yield moment


@pytest.mark.slow
@given(
    fields(),
    st.sampled_from([(zone, change) for zone, changes in CHANGES.items() for change in changes]),
    st.integers(-26 * 60, 120),
)
def test_due_times_are_those_that_a_clock_shows(
    crons: tuple[str, str], place: tuple[str, str], offset: int
) -> None:
    minute, hour = crons
    zone, n = ZoneInfo(place[0]), 30 * 60
    begin = at(place[1]) + offset * MINUTE
    end = begin + n * MINUTE
    found = list(
        takewhile(lambda due: due <= end, due_times(f"{minute} {hour} * * *", zone, begin))
    )

    assert found == list(expected(minute, hour, zone, begin, n))


@pytest.mark.slow
@given(fields(), st.sampled_from(list(CHANGES)), st.integers(0, 2000))
def test_due_times_do_not_depend_on_where_one_begins(
    crons: tuple[str, str], zone: str, offset: int
) -> None:
    """The driver asks again after each of them."""
    cron, begin = f"{crons[0]} {crons[1]} * * *", at(CHANGES[zone][1])
    begin -= offset * MINUTE
    found = list(islice(due_times(cron, ZoneInfo(zone), begin), 20))
    asked = [begin]
    for _ in found:
        due = next_due(cron, ZoneInfo(zone), asked[-1])
        assert due is not None
        asked.append(due)

    assert asked[1:] == found


@cases(
    ("cron", "why"),
    [
        ("0 0 31 2 *", "never"),
        ("0 0 31 4,6 *", "never"),
        ("0 0 30 2 */2", "never"),
        ("* * *", "3 fields"),
        ("0 0 0 * * *", "6 fields"),
        ("@daily", "1 fields"),
        ("61 * * * *", "the minute cannot be '61'; allowed are 0 to 59, and"),
        ("0 24 * * *", "the hour cannot be '24'; allowed are 0 to 23,"),
        ("0 0 0 * *", "month cannot be '0'; allowed are 1 to 31, L"),
        ("0 0 * 13 *", "the month cannot be '13'; allowed are 1 to 12 or JAN to DEC"),
        ("0 0 * * 8", "week cannot be '8'; allowed are 0 to 7 or SUN to SAT"),
        ("*/0 * * * *", "minute"),
        ("L * * * *", "minute"),
        ("x" * 150 + " * * * *", "minute"),
        ("0 0 * * 1L/2,MON", "week"),
    ],
)
def test_cron_that_cannot_be_used_is_refused(cron: str, why: str) -> None:
    with pytest.raises(WrongCron, match=why):
        check_cron(cron)


@cases("cron", ["* * * * *", "0 0 29 2 *", "0 0 29 2 MON#5", "0 0 L * *"])
def test_cron_that_comes_true_at_some_time_is_taken(cron: str) -> None:
    check_cron(cron)


@cases(
    ("name", "meant"),
    [
        ("Europe/Berlni", "mean Europe/Berlin?"),
        ("Berlin", "mean Europe/Berlin?"),
        ("new york", "mean America/New_York?"),
        ("../../etc/passwd", "such as"),
        ("", "such as"),
    ],
)
def test_unknown_zone_is_refused(name: str, meant: str) -> None:
    with pytest.raises(WrongZone, match=meant.replace("?", r"\?")):
        zone_of(name)


@cases(
    ("cron", "looks", "shortest"),
    [
        ("0 0 29 2 *", 50, timedelta(days=1461)),
        ("0,7 0 29 2 *", 50, timedelta(minutes=7)),
        ("0 2 * * *", 367, timedelta(hours=23)),
        ("*/5 * * * *", 400, timedelta(minutes=5)),
    ],
)
def test_few_due_times_tell_the_shortest_interval(
    cron: str, looks: int, shortest: timedelta
) -> None:
    """Else one request with a rare date would keep all others waiting."""
    begin = datetime(2026, 11, 23, tzinfo=UTC)

    assert len(list(next_times(cron, BERLIN, begin))) == looks
    assert shortest_interval(cron, BERLIN, begin) == shortest


@cases(
    ("missed", "late_s", "runs"),
    [("skip", 3600, []), ("skip", 0, [5]), ("last", 3600, [5]), ("all", 3600, [3, 4, 5])],
)
def test_missed_runs(missed: Missed, late_s: int, runs: list[int]) -> None:
    """Due at 1, 2, 3, 4 and 5 o'clock; at most three are made up for."""
    plan = plan_runs(
        "0 * * * *",
        ZoneInfo("UTC"),
        missed,
        next_at=at("2026-05-01T01:00"),
        now=at("2026-05-01T05:00") + timedelta(seconds=late_s / 2 + (late_s > 0) * 60),
        late_s=60,
        runs_max=3,
    )

    assert [due.hour for due in plan.runs] == runs
    assert plan.n_missed == 5 - len(runs)
    assert plan.next_at == at("2026-05-01T06:00")


@pytest.mark.parametrize("missed", ["skip", "last", "all"])
def test_run_in_time_is_not_missed(missed: Missed) -> None:
    due = at("2026-05-01T01:00")
    plan = plan_runs(
        "0 * * * *",
        BERLIN,
        missed,
        next_at=due,
        now=due + timedelta(seconds=59),
        late_s=60,
        runs_max=3,
    )

    assert (plan.runs, plan.n_missed) == ([due], 0)


def test_after_a_very_long_outage_the_newest_runs_count() -> None:
    """Nobody looks at each minute of three years."""
    due, years = at("2026-05-01T01:00"), timedelta(days=3 * 365)
    plan = plan_runs(
        "* * * * *", BERLIN, "all", next_at=due, now=due + years, late_s=60, runs_max=3
    )

    assert plan.runs == [due + years - k * MINUTE for k in (2, 1, 0)]
    assert plan.next_at == due + years + MINUTE
    assert 1000 < plan.n_missed < 3000
