"""Processes killed between a due time and its batch: each due time gets exactly one batch."""

from collections import Counter
from datetime import timedelta

import pytest

from faults.books import query
from faults.conftest import Facts
from faults.siege import Siege, besieged
from faults.waiting import until
from up.weft_up import post, temporary_home

RUNS = 200
"""Missed runs of a schedule of every minute, all made up for: they keep the api busy."""
SETTINGS = {
    "WEFT_DRIVERS": "2",
    "WEFT_SCHEDULE_MISSED_MAX": "1000",
    "WEFT_SCHEDULE_RUNS_KEPT": "1000",
}
DOCUMENT = {
    "cron": "* * * * *",
    "missed": "all",
    "document": {"jobs": [{"command": ["true"]}]},
}
MAKE_LATE = """
    WITH late AS (
        UPDATE weft.schedule SET next_at = next_at - $2 * interval '1 minute'
        WHERE schedule_id = $1 RETURNING next_at)
    SELECT next_at, pg_notify('driver', 'schedules') FROM late
"""
N_ENDED = "SELECT count(*) FROM weft.schedule_run WHERE schedule_id = $1 AND ended_at IS NOT NULL"
END_LEASES = """
    WITH ended AS (
        UPDATE weft.schedule_run SET taken_until = now()
        WHERE ended_at IS NULL AND taken_until > now() RETURNING 1)
    SELECT count(*), pg_notify('schedules', '') FROM ended
"""
LEFT = """
    SELECT count(*) FROM weft.schedule_run WHERE schedule_id = $1 AND ended_at IS NULL
    UNION ALL SELECT count(*) FROM weft.schedule WHERE schedule_id = $1 AND next_at <= now()
"""
DUE = "SELECT due_at, batch_id, error FROM weft.schedule_run WHERE schedule_id = $1 ORDER BY 1"
BATCHES = """
    SELECT (b.attributes ->> 'schedule_due_at')::timestamptz AS due_at, batch_id,
        count(j) AS jobs
    FROM weft.batch b LEFT JOIN weft.job j USING (batch_id)
    WHERE b.attributes ->> 'schedule' = 's' || $1::bigint GROUP BY 1, 2
"""


def until_submitted(siege: Siege, schedule_id: int, n: float) -> None:
    """Wait until this number of runs has been submitted: the next ones are under way."""
    until(
        lambda: query(siege.home, N_ENDED, schedule_id)[0][0] >= n,
        "runs are submitted",
        explain=siege.tail,
    )


@pytest.mark.parametrize("part", ["api", "driver"])
def test_each_due_time_gets_one_batch(part: str, recorded: Facts) -> None:
    with temporary_home() as home, besieged(home, recorded=recorded, **SETTINGS) as siege:
        schedule_id: int = post(home, "/v1/schedules", DOCUMENT)["schedule_id"]
        leader = siege.weft.until_seen("driver.state_changed", state="leader")["role"]
        ((first_at, _),) = query(home, MAKE_LATE, schedule_id, RUNS)
        if part == "driver":
            siege.kill(leader)
        else:
            for share in (0.02, 0.4):
                until_submitted(siege, schedule_id, RUNS * share)
                siege.strike(part)

        def is_over() -> bool:
            query(home, END_LEASES)  # the killed api held some, for a minute
            return not any(row[0] for row in query(home, LEFT, schedule_id))

        until(is_over, "all runs have ended", explain=siege.tail)
        runs, batches = query(home, DUE, schedule_id), query(home, BATCHES, schedule_id)
        minute = timedelta(minutes=1)

        assert len(runs) >= RUNS
        assert [run["due_at"] for run in runs] == [
            first_at + number * minute for number in range(len(runs))
        ]
        assert Counter({run["due_at"]: run["batch_id"] for run in runs}) == Counter(
            {batch["due_at"]: batch["batch_id"] for batch in batches}
        )
        assert len(batches) == len(runs)
        assert {batch["jobs"] for batch in batches} == {1}
        assert {run["error"] for run in runs} == {None}
