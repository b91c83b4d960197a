"""The stream of events across faults: no gap, no repeat, in order for each job."""

from collections import Counter, defaultdict

from faults.books import query
from faults.event_reader import EventReader
from faults.siege import Siege
from faults.waiting import PATIENCE_S, until

JOBS = 4000
FAULTS = ((0.1, "api"), (0.3, "postgres"), (0.5, "api"), (0.6, "driver"), (0.7, "agent"))


def test_stream_has_no_gap_and_no_repeat(siege: Siege) -> None:
    with EventReader(siege.home).reading() as reader:
        assert reader.connected.wait(PATIENCE_S)
        evidence = siege.evidence()
        batch = siege.submit(evidence, evidence.mix(JOBS, seed=5))
        for share, part in FAULTS:
            siege.until_ran(batch, share)
            killed_at = siege.strike(part)
            siege.until_work_goes_on(batch, killed_at)
        siege.until_complete(batch)
        siege.prove(batch)
        stored = [
            f"{row['xid']}-{row['event_id']}"
            for row in query(
                siege.home, "SELECT xid, event_id FROM weft.event ORDER BY xid, event_id"
            )
        ]
        until(lambda: reader.last_id == stored[-1], "the last event has come")

    assert [event["id"] for event in reader.events] == stored
    assert reader.connections > 2
    told: dict[int, list[str]] = defaultdict(list)
    for event in reader.events:
        for job_id in event["jobs"] or ():
            told[job_id].append(event["kind"])
    ends = Counter(kinds.count("jobs.success") for kinds in told.values())
    assert ends == {1: JOBS}
    assert {kinds[-1] for kinds in told.values()} == {"jobs.success"}
    assert all(
        kinds[-2:] == ["jobs.running", "jobs.success"] and len(kinds) % 2 == 0
        for kinds in told.values()
    )
    siege.recorded["note"] = f"{len(stored)} events, {reader.connections} connections"
