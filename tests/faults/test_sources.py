"""Processes killed between a file and its job: each file becomes a job once."""

import json
from pathlib import Path

import pytest

from faults.books import query
from faults.conftest import Facts
from faults.siege import besieged
from faults.waiting import until
from up.weft_up import run_weft, temporary_home

N = 300
SETUP = """
[source.scenes]
kind = "directory"
path = "PATH"
every = "1s"
settle = "0s"
job = "snow"

[job.snow]
command = ["true"]
"""
END_LEASES = """
    WITH ended AS (
        UPDATE weft.source SET taken_until = now() WHERE taken_until > now() RETURNING 1)
    SELECT count(*), pg_notify('sources', '') FROM ended
"""
LEFT = "SELECT count(*) FROM weft.source_item WHERE state <> 'job'"
MADE = "SELECT count(*) FROM weft.source_item WHERE state = 'job'"
ONCE = """
    SELECT count(*), count(DISTINCT l.name), count(i) FROM weft.job_label l
    LEFT JOIN weft.source_item i ON (i.batch_id, i.job_id, i.key) = (l.batch_id, l.job_id, l.name)
"""


SERIES = """
[configure.snow]
series = { key = "item.tile", order = "item.n", late = "rerun" }
env = { BEFORE = "series.previous != null ? series.previous.key : ''" }
"""
N_SCENES = 6


@pytest.mark.parametrize("part", ["api", "driver"])
def test_each_file_becomes_one_job(part: str, recorded: Facts, tmp_path: Path) -> None:
    incoming = tmp_path / "in"
    incoming.mkdir()
    settings = {
        "WEFT_DRIVERS": "2",
        "WEFT_SOURCE_PATHS": str(incoming),
        "WEFT_SOURCE_ITEMS_MAX": "20",
    }
    with temporary_home() as home, besieged(home, recorded=recorded, **settings) as siege:
        leader = siege.weft.until_seen("driver.state_changed", state="leader")["role"]
        setup = tmp_path / "snow.toml"
        setup.write_text(SETUP.replace("PATH", str(incoming)))
        applied = run_weft("line", "apply", str(setup), WEFT_HOME=str(home))
        assert applied.returncode == 0, applied.stderr

        def drop(first: int) -> None:
            for n in range(first, first + N):
                written = incoming / f".{n}.tmp"
                written.write_text(f'{{"n": {n}}}')
                written.rename(incoming / f"{n}.json")

        def made() -> int:
            return int(query(home, MADE)[0][0])

        drop(0)
        until(lambda: made() > 0, "the first items are jobs", explain=siege.tail)
        siege.kill(leader if part == "driver" else part)
        drop(N)
        until(lambda: made() > N // 2, "items are jobs", explain=siege.tail)
        if part == "api":
            siege.until_back(part)
            siege.kill(part)

        def is_over() -> bool:
            query(home, END_LEASES)  # the killed api held the source, for a minute
            return made() >= 2 * N and not query(home, LEFT)[0][0]

        until(is_over, "all files are jobs", explain=siege.tail)
        assert [*query(home, ONCE)[0]] == [2 * N] * 3


def test_late_items_and_a_driver_that_is_killed(recorded: Facts, tmp_path: Path) -> None:
    """What follows late scenes runs again in order, and the last of its jobs are as if all had
    come in time.
    """
    incoming = tmp_path / "in"
    incoming.mkdir()
    settings = {"WEFT_DRIVERS": "2", "WEFT_SOURCE_PATHS": str(incoming)}
    with temporary_home() as home, besieged(home, recorded=recorded, **settings) as siege:
        leader = siege.weft.until_seen("driver.state_changed", state="leader")["role"]
        setup = tmp_path / "snow.toml"
        setup.write_text(SETUP.replace("PATH", str(incoming)) + SERIES)
        applied = run_weft("line", "apply", str(setup), WEFT_HOME=str(home))
        assert applied.returncode == 0, applied.stderr

        def drop(*scenes: int) -> None:
            for n in scenes:
                written = incoming / f".{n}.tmp"
                written.write_text(f'{{"n": {n}, "tile": "T"}}')
                written.rename(incoming / f"{n}.json")

        def made() -> int:
            return int(query(home, MADE)[0][0])

        later = [*range(1, N_SCENES, 2)]
        drop(*later)
        until(lambda: made() == len(later), "scenes are jobs", explain=siege.tail)
        drop(*range(0, N_SCENES, 2))
        siege.kill(leader)

        def is_over() -> bool:
            query(home, END_LEASES)
            return made() == N_SCENES and jobs() >= N_SCENES + len(later)

        def jobs() -> int:
            return int(query(home, "SELECT count(*) FROM weft.job_label")[0][0])

        until(is_over, "late scenes are jobs, and those after them again", explain=siege.tail)
        shown = run_weft("series", "show", "scenes", "T", "--json", WEFT_HOME=str(home))
        scenes = json.loads(shown.stdout)
        assert [one["key"] for one in scenes] == [str(n) for n in range(N_SCENES)]
        befores = []
        for one in scenes:
            job = json.loads(run_weft("status", one["job"], "--json", WEFT_HOME=str(home)).stdout)
            befores.append(job["spec"]["env"]["BEFORE"])
        assert befores == ["", *(str(n) for n in range(N_SCENES - 1))]
