"""What a siege checks at its end sees each promise that is broken, in records forged for it."""

import asyncio
import subprocess
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

import pytest

from cases import cases
from weft.client.api import Api
from weft.core.errors import BatchNotFound
from weft_siege import checks, faults
from weft_siege.checks import check
from weft_siege.crowd import KIND as CROWD
from weft_siege.evidence import CPU_M, VARIABLE, Evidence
from weft_siege.faults import Delays, Fault
from weft_siege.load import Batch
from weft_siege.standing import wrong_times


@pytest.fixture(autouse=True)
def _quiet_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (checks, faults):
        monkeypatch.setattr(module, "LAG_S", 4.0)
    monkeypatch.setattr(checks, "HALF_WITHIN_S", 100.0)  # here, one fault holds all


USAGE = 2000 * CPU_M
UP = {"begin": 100.05, "end": 102.0}
"""When jobs of two seconds wrote what."""


class Records:
    """What three jobs wrote and what an api tells of them, when all went well."""

    def __init__(self) -> None:
        ends = {1: "success", 2: "success", 3: "failed"}
        self.lines = [f"{job} 1 1{job} {word} {up}" for job in ends for word, up in UP.items()]
        self.jobs: list[dict[str, Any]] = [
            {"job_id": job, "state": end, "attempt": 1, "queue": "narrow", "reason": None}
            for job, end in ends.items()
        ]
        self.events = [
            {"id": job, "batch_id": 7, "kind": f"jobs.{end}", "jobs": [job]}
            for job, end in ends.items()
        ]
        self.events.append({"id": 4, "batch_id": 7, "kind": "batch.complete"})
        self.times = {"started_at": "2026-01-01T00:00:00Z", "ended_at": "2026-01-01T00:00:02Z"}
        self.usage = USAGE
        self.bill = _used(3 * USAGE)
        self.delays = Delays()
        self.told = {"evidence": ["a"], **{f"sink/b7.j{job}": ["a"] for job in ends}}
        self.kind = "mixed"
        self.overspent: list[str] = []
        self.tries: list[dict[str, Any]] = [{"attempt": 1, "state": "success", "reason": None}]

    async def list_jobs(self, _: int) -> AsyncIterator[Any]:
        for job in self.jobs:
            yield job

    async def list_attempts(self, *_: int) -> Sequence[Any]:
        return [{**self.times, **_used(self.usage), **one} for one in self.tries]

    async def get_batch(self, _: int) -> Any:  # noqa: ANN401 (a document)
        if not self.bill:
            raise BatchNotFound(7)
        return self.bill

    def last(self, seconds: int, own: float = 2) -> None:
        """Let each run be billed for so long, and last for so long by its own times."""
        self.times["ended_at"] = f"2026-01-01T00:00:{seconds:02}Z"
        self.usage = seconds * 1000 * CPU_M
        self.bill = _used(3 * self.usage)
        self.lines[1::2] = [f"{job} 1 1{job} end {100 + own}" for job in (1, 2, 3)]

    def next_attempt(self) -> None:
        """Let job 2 run again before its first attempt has ended."""
        self.lines[3:3] = ["2 2 14 begin", "2 2 14 end"]
        self.jobs[1]["attempt"] = 2

    def ran_before(self, state: str, reason: str | None) -> None:
        """Let the attempt of each job that wrote its end be followed by another."""
        self.tries = [{"attempt": 1, "state": state, "reason": reason}, {"attempt": 2}]
        self.bill = _used(6 * USAGE)


def _used(usage: int) -> dict[str, Any]:
    return {"cost_by_resource": [{"resource": "cpu", "usage": usage}]}


async def broken(records: Records, path: Path) -> dict[str, list[str]]:
    evidence = Evidence(path)
    jobs = [evidence.quick(), replace(evidence.slow(1), queue="narrow"), evidence.failing()]
    path.write_text("".join(f"b7.j{line}\n" for line in records.lines))
    batch = Batch(records.kind, 7, jobs, evidence, records.overspent)
    found = await check(
        [cast("Api", records)], [batch], records.events, records.told, records.delays
    )
    return {promise: words for promise, words in found.items() if words}


@cases(
    ("promise", "forge"),
    [
        ("lost", lambda records: records.jobs[0].update(state="running")),
        *(("lost", lambda records, at=at: records.lines.pop(at)) for at in range(6)),
        ("lost", lambda records: records.bill.clear()),
        ("live twice", Records.next_attempt),
        ("ended twice", lambda records: records.ran_before("success", None)),
        ("ended twice", lambda records: records.ran_before("failed", "exit")),
        ("live twice", lambda records: records.lines.append("2 1 12 twice")),
        ("live twice", lambda records: records.lines.insert(3, "2 1 14 begin")),
        ("events", lambda records: records.events.pop(0)),
        ("events", lambda records: records.events.pop()),
        ("events", lambda records: records.events.append({**records.events[-1], "id": 9})),
        ("events", lambda records: records.jobs[1].update(state="cancelled")),
        ("events", lambda records: records.events.append(records.events[0])),
        ("events", lambda records: records.events.append({**records.events[0], "id": 9})),
        ("callbacks", lambda records: records.told.clear()),
        ("callbacks", lambda records: records.told["evidence"].append("b")),
        ("limits", lambda records: records.overspent.append("it was not paused")),
        ("guards", lambda records: records.jobs[1].update(queue="default")),
        ("guards", lambda records: records.lines.append("2 1 12 crowded")),
        ("bills", lambda records: records.bill.update(_used(USAGE))),
        ("bills", lambda records: records.times.update(ended_at="2026-01-01T00:00:03Z")),
        *(("bills", lambda records, s=s: records.last(s)) for s in (7, 25)),
        ("bills", lambda records: records.last(2, own=7)),
    ],
)
async def test_broken_promise_is_seen(
    promise: str, forge: Callable[[Records], object], tmp_path: Path
) -> None:
    records = Records()
    assert await broken(records, tmp_path / "evidence") == {}
    forge(records)

    assert promise in await broken(records, tmp_path / "evidence")


@cases(
    ("promise", "forge"),
    [
        ("bills", lambda records: records.bill.update(_used(USAGE))),
        ("ended twice", lambda records: records.jobs[0].update(attempt=2)),
        ("ended twice", lambda records: records.lines.append("1 2 14 begin")),
    ],
)
async def test_broken_promise_is_seen_in_a_crowd(
    promise: str, forge: Callable[[Records], object], tmp_path: Path
) -> None:
    """Only what ran again is asked for its attempts."""
    records = Records()
    records.kind = CROWD
    records.jobs = [job | records.times for job in records.jobs]
    assert await broken(records, tmp_path / "evidence") == {}
    records.tries.append({"attempt": 2})
    forge(records)

    assert promise in await broken(records, tmp_path / "evidence")


@cases("names", [(), ("a", "b")])
async def test_message_of_a_line_comes_under_one_name(
    names: tuple[str, ...], tmp_path: Path
) -> None:
    records = Records()
    records.kind = "line"
    del records.told["evidence"]
    assert await broken(records, tmp_path / "evidence") == {}
    records.told["sink/b7.j2"] = list(names)

    found = await broken(records, tmp_path / "evidence")
    words = f"b7 (line): its end was told to sink/b7.j2 under {len(names)} names"
    assert found == {"sinks": [words]}


def test_each_minute_has_one_batch() -> None:
    first = datetime(2026, 1, 1, tzinfo=UTC)
    due = [first + timedelta(minutes=number) for number in range(3)]

    assert list(wrong_times(due, first, due[2])) == []
    assert list(wrong_times(due, first, due[1])) == []
    assert list(wrong_times(due[:2], first, due[2])) == [f"{due[2]} has 0 batches"]
    assert list(wrong_times([*due, due[1]], first, due[2])) == [f"{due[1]} has 2 batches"]


async def test_what_grows_may_end_again(tmp_path: Path) -> None:
    records = Records()
    records.kind = "growing"
    records.events.append({**records.events[-1], "id": 9})
    records.told["evidence"].append("b")

    assert await broken(records, tmp_path / "evidence") == {}


@cases(
    ("billed", "own", "target", "lasts_s", "promises"),
    [
        (12, 2, "spawner-2", 7.0, []),
        (12, 2, "spawner-2", 5.0, ["bills"]),
        (12, 2, "link", 7.0, ["bills"]),
        (2, 12, "link", 7.0, []),
        (2, 12, "clocks", 7.0, ["bills"]),
    ],
)
async def test_run_may_be_dated_late_by_what_was_held(
    billed: int, own: float, target: str, lasts_s: float, promises: list[str], tmp_path: Path
) -> None:
    records = Records()
    records.last(billed, own)
    records.delays.came = [(99.0, Fault(0.0, "stop", target, lasts_s))]
    assert list(await broken(records, tmp_path / "evidence")) == promises
    records.delays.came = [(50.0, Fault(0.0, "stop", target, lasts_s))]

    assert "bills" in await broken(records, tmp_path / "evidence")


async def test_lost_attempt_may_have_written_its_end(tmp_path: Path) -> None:
    records = Records()
    records.ran_before("error", "lost")

    assert await broken(records, tmp_path / "evidence") == {}


def test_process_that_is_left_is_seen(tmp_path: Path) -> None:
    mark = {VARIABLE: str(tmp_path / "evidence")}
    with subprocess.Popen(["/bin/sleep", "60"], env=mark) as orphan:
        left = asyncio.run(broken(Records(), tmp_path / "evidence"))
        orphan.kill()

    assert left == {"orphans": ["b7 (mixed): /bin/sleep 60 "]}


async def test_small_error_of_each_bill_shows_in_their_half(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checks, "HALF_WITHIN_S", faults.HALF_WITHIN_S)
    records = Records()
    records.last(3)

    (promise,) = await broken(records, tmp_path / "evidence")
    assert promise == "bills"
