"""A driver killed in the middle of a round: machines are adopted or deleted, never too many."""

import asyncio
import json
from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from e2e.pool_site import process_pool, queue_of
from faults.conftest import Facts
from faults.siege import Siege, besieged
from faults.waiting import until
from up.weft_up import kill, post, prove_audit, run_weft, temporary_home

MAX = 2
POOLS = process_pool("burst", max_workers=MAX, idle_s=0.2)
POINTS = {
    "noted": "TG_OP = 'INSERT'",
    "made": "NEW.provider_id IS NOT NULL AND OLD.provider_id IS NULL",
    "cordoned": "NEW.state = 'cordoned' AND OLD.state <> 'cordoned'",
    "drained": "NEW.state = 'deleting' AND OLD.state <> 'deleting'",
    "gone": "NEW.state = 'deleted'",
}
"""What the driver writes when it is killed, in the order of a machine's life. When it has `made`
one, or one is `gone`, the provider has done its part and the database does not know it yet.
"""
STOP = """
CREATE FUNCTION public.stop_at_point() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    {tests}
    RETURN NEW;
END $$;
CREATE TRIGGER stop_at_point BEFORE INSERT OR UPDATE ON weft.machine
FOR EACH ROW EXECUTE FUNCTION public.stop_at_point();
"""
WAITING = """
    SELECT l.pid FROM pg_locks l
    WHERE l.locktype = 'advisory' AND l.classid = 9977 AND l.objid = $1 AND NOT l.granted
"""


class Points:
    """Places at which whoever writes a machine waits until the test lets go."""

    def __init__(self, home: Path) -> None:
        self._loop = asyncio.new_event_loop()
        dsn = json.loads((home / "secrets.json").read_text())["admin"]
        self._connection = self._loop.run_until_complete(asyncpg.connect(dsn))
        tests = "\n".join(
            f"IF {test} THEN PERFORM pg_advisory_xact_lock_shared(9977, {number}); END IF;"
            for number, test in enumerate(POINTS.values())
        )
        for number in range(len(POINTS)):
            self._ask("SELECT pg_advisory_lock(9977, $1)", number)
        self._loop.run_until_complete(self._connection.execute(STOP.format(tests=tests)))

    def _ask(self, text: str, *arguments: object) -> list[Any]:
        rows: list[Any] = self._loop.run_until_complete(self._connection.fetch(text, *arguments))
        return rows

    def waiting(self, point: str) -> Sequence[int]:
        """Return the backends that wait at a point."""
        return [row["pid"] for row in self._ask(WAITING, list(POINTS).index(point))]

    def undo(self, point: str) -> None:
        """End what waits there without a commit, and let go."""
        for pid in self.waiting(point):
            self._ask("SELECT pg_terminate_backend($1, 5000)", pid)
        self._ask("SELECT pg_advisory_unlock(9977, $1)", list(POINTS).index(point))

    def states(self) -> list[str]:
        """Return the states of the machines that are known."""
        return [row["state"] for row in self._ask("SELECT state FROM weft.machine")]

    def close(self) -> None:
        """Let go of everything."""
        self._loop.run_until_complete(self._connection.close())
        self._loop.close()


def machines(home: Path) -> set[int]:
    """Return the agents of machines that live."""
    found = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                variables = (entry / "environ").read_bytes().split(b"\0")
                words = (entry / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            ours = b"WEFT_HOME=%b" % str(home).encode() in variables
            if ours and b"weft.run.worker" in words and b"WEFT_MACHINE=" in b"\0".join(variables):
                found.add(int(entry.name))
    return found


@pytest.fixture
def siege(recorded: Facts) -> Iterator[Siege]:
    """Give a weft whose driver looks at its pools every second."""
    with (
        temporary_home() as home,
        besieged(home, recorded=recorded, WEFT_AUTOSCALE_S="1") as found,
    ):
        yield found
        kill(machines(home))


def test_a_driver_that_is_killed_in_a_round_leaks_no_machine(siege: Siege) -> None:
    home = siege.home
    for kind, text in (("pool", POOLS), ("queue", queue_of("burst"))):
        file = home.parent / f"{kind}.toml"
        file.write_text(text)
        assert run_weft(kind, "apply", str(file), "--yes", "--home", str(home)).returncode == 0
    with closing(Points(home)) as points:
        jobs = [{"command": ["sleep", "0.1"], "queue": "burst", "count": 4}]
        batch: int = post(home, "/v1/batches", {"jobs": jobs})["id"]
        for point in POINTS:
            until(partial(points.waiting, point), f"a machine is {point}", explain=siege.tail)
            siege.kill("driver")
            points.undo(point)
            assert len(machines(home)) <= MAX
            siege.until_back("driver")
        until(lambda: set(points.states()) == {"deleted"}, "all go", explain=siege.tail)
        until(lambda: not machines(home), "no process is left", explain=siege.tail)
        n_machines = len(points.states())
    document = siege.ask(f"/v1/batches/{batch}")
    attempts = [
        siege.ask(f"/v1/batches/{batch}/jobs/{number}/attempts")["items"] for number in range(1, 5)
    ]
    prove_audit(home)

    assert (document["state"], document["n_succeeded"]) == ("success", 4)
    assert [len(one) for one in attempts] == [1] * 4
    assert n_machines <= 2 * MAX
