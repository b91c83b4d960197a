"""Starts and ends of attempts: verdicts, times, retries, losses, leases handed back."""

import asyncio
from datetime import datetime, timedelta

import pytest

from builders import end_report, job_rows
from store.world import Worker, World
from weft.core.notes import Note
from weft.core.states import AttemptKey, Phase, Reason
from weft.ports.store import Claimed, EndReport, PhaseReport, ProgressReport
from weft.store.database import call_values
from weft.store.end_columns import end_columns, ends_of

SECOND_US = 1_000_000


def other(claimed: Claimed, **changes: int) -> Claimed:
    fields = {name: getattr(claimed, name) for name in claimed.__dataclass_fields__}
    return Claimed(**{**fields, **changes})


async def test_end_is_recorded_and_a_repeat_changes_nothing(world: World) -> None:
    batch, worker, (claimed,) = await world.submit_and_claim()
    first = await worker.end(claimed, reason=Reason.EXIT, exit_code=3, message="no")
    before = await world.attempts(batch)
    second = await worker.end(claimed, reason=Reason.EXIT, exit_code=3, message="no")

    assert (first, second) == (["ok"], ["ok"])
    assert await world.attempts(batch) == before
    assert (before[0]["exit_code"], before[0]["message"], before[0]["state"]) == (3, "no", 7)
    assert await world.counts(batch) == {"failed": 1}


async def test_report_twice_in_one_call_counts_once(world: World) -> None:
    batch, worker, (one, two) = await world.submit_and_claim(2)
    verdicts = await worker.end(one, two, one)

    assert verdicts == ["ok"] * 3
    assert await world.counts(batch) == {"succeeded": 2}


async def test_ends_are_recorded_and_jobs_claimed_in_one_transaction(world: World) -> None:
    batch, worker, (one, two) = await world.submit_and_claim(5, limit=2)
    ends = [end_report(other(two, attempt=2)), end_report(one)]
    verdicts, claimed = await worker.end_and_claim(ends, 2)

    assert verdicts == ["stale", "ok"]
    assert [job.job_id for job in claimed] == [3, 4]
    assert await world.states(batch) == "sRRRr"
    last = await world.admin.fetch("SELECT DISTINCT xid FROM weft.event ORDER BY xid")
    kinds = await world.admin.fetch(
        "SELECT kind FROM weft.event WHERE xid = $1 ORDER BY kind", last[-1][0]
    )
    assert [kind for (kind,) in kinds] == ["jobs.running", "jobs.success"]


async def test_ends_are_recorded_when_nothing_is_left_to_claim(world: World) -> None:
    batch, worker, (claimed,) = await world.submit_and_claim()

    assert await worker.end_and_claim([end_report(claimed)]) == (["ok"], [])
    assert await worker.end_and_claim([end_report(claimed)]) == (["ok"], [])
    assert await world.states(batch) == "s"


async def test_child_of_what_ends_is_claimed_in_the_same_call(world: World) -> None:
    batch, worker, (parent,) = await world.submit_and_claim(job_rows(2, parents={2: [1]}))
    verdicts, (child,) = await worker.end_and_claim([end_report(parent)])

    assert (verdicts, child.job_id) == (["ok"], 2)
    assert await world.states(batch) == "sR"


async def test_stale_reports_change_nothing(world: World) -> None:
    batch = await world.submit(3)
    worker, thief = await world.worker("w"), await world.worker("thief")
    one, two, _three = await worker.claim()
    wrong = [other(one, attempt=2), other(one, job_id=77), other(two, batch_id=10**9)]

    assert await thief.end(one, two) == ["stale", "stale"]
    assert await thief.start(one, two) == ["stale", "stale"]
    assert await worker.end(*wrong) == ["stale"] * 3
    assert await worker.start(*wrong) == ["stale"] * 3
    assert await worker.end(wrong[0], one, wrong[2], two) == ["stale", "ok", "stale", "ok"]
    assert await worker.start(one) == ["stale"]
    assert await world.states(batch) == "ssR"


async def test_end_of_an_attempt_that_was_lost_is_stale(world: World) -> None:
    batch, worker, (claimed,) = await world.submit_and_start()
    again = await world.worker(gone=True)

    assert await world.states(batch) == "r"
    assert await worker.end(claimed) == ["stale"]
    assert await worker.start(claimed) == ["stale"]
    assert await again.end(claimed) == ["stale"]
    (second,) = await again.claim()
    assert (second.attempt, await worker.end(claimed), await again.end(second)) == (
        2,
        ["stale"],
        ["ok"],
    )
    assert await world.states(batch) == "s"


async def test_another_end_of_an_attempt_that_ended_is_stale(world: World) -> None:
    """Handed back, then reported as run: it does not count, and nobody is told that it does."""
    batch, worker, (claimed,) = await world.submit_and_claim()
    await worker.end(claimed, reason=Reason.PREEMPTED, start_age_us=None)

    assert await worker.end(claimed) == ["stale"]
    assert await worker.end(claimed, reason=Reason.PREEMPTED, start_age_us=None) == ["ok"]
    assert await world.states(batch) == "r"
    other = await world.worker("other")
    assert await other.end(claimed, reason=Reason.PREEMPTED, start_age_us=None) == ["stale"]


async def test_no_reports_have_no_verdicts(world: World, worker: Worker) -> None:

    assert await worker.end() == []
    assert await worker.start() == []


async def test_phase_of_a_live_attempt_is_recorded_for_its_owner_only(world: World) -> None:
    batch = await world.submit(2)
    worker, thief = await world.worker("w"), await world.worker("thief")
    one, two = await worker.claim()
    await worker.end(two)
    reports = [
        PhaseReport(
            batch_id=claimed.batch_id,
            job_id=claimed.job_id,
            attempt=claimed.attempt,
            phase=Phase.COLLECTING,
        )
        for claimed in (one, two)
    ]

    assert await thief.store.record_phases(thief.id, reports) == ["stale", "stale"]
    assert await worker.store.record_phases(worker.id, reports) == ["ok", "stale"]
    assert await worker.store.record_phases(worker.id, []) == []
    assert (await world.api.get_job(world.caller, batch, 1))["phase"] == "collecting"


PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR\x00\x00\x10\x00\x00\x00\x00\x01"
WRONG_NOTES = (
    Note("a" * 61, "text", b""),
    Note("a", "text", b"x" * 65537),
    Note("a\x1b", "text", b""),
    Note("a", "link", b"javascript:alert(1)"),
    Note("a", "link", b"https://x\nhttps://y"),
    Note("a", "picture", b"x" * 24),
    Note("a", "picture", PNG[:-3] + b"\x02" + PNG[-2:]),
    Note("a", "picture", PNG[:16] + b"\x01" + PNG[17:]),
)


async def test_notes_of_a_job_are_few_and_replace_those_of_their_titles(world: World) -> None:
    """What is no note is passed over, also if a worker elsewhere says that it is one."""
    batch = await world.submit(job_rows(1))
    worker = await world.worker("w")
    (one,) = await worker.claim()
    key = AttemptKey(batch, one.job_id, 1)
    for wrong in WRONG_NOTES:
        assert await worker.store.record_note(worker.id, key, wrong)
    for title in (*map(str, range(18)), "2"):  # what was said already keeps its date
        await worker.store.record_note(worker.id, key, Note(title, "text", b"x"))
    await worker.store.record_note(worker.id, key, Note("3", "picture", PNG + bytes(99_976)))
    rows = await world.api.list_notes(world.caller, batch, one.job_id, title=None)
    assert [row["title"] for row in rows] == ["3", *map(str, range(17, 3, -1)), "2"]
    (picture,) = await world.api.list_notes(world.caller, batch, one.job_id, title="3")
    assert (rows[0]["body"], len(picture["body"])) == (None, 100_000)


async def test_end_waits_for_no_note_of_another_job(world: World) -> None:
    """Nor do its progress and its claim, in the same batch and on the same worker."""
    batch = await world.submit(job_rows(3))
    worker = await world.worker("w")
    one, other = await worker.claim(2)
    note = {"title": "a", "kind": "text", "body": b"x" * 65536}
    async with (
        world.during(
            "weft_worker",
            "record_note",
            incarnation_id=worker.id,
            batch_id=batch,
            job_id=one.job_id,
            attempt=1,
            **note,
        ),
        asyncio.timeout(60),
    ):
        report = ProgressReport(batch, other.job_id, 1, 50, "")
        await worker.store.record_progress(worker.id, [report])
        assert await worker.end(other) == ["ok"]
        assert [job.job_id for job in await worker.claim()] == [3]
        await world.fold()
    assert await worker.end(one) == ["ok"]


@pytest.mark.parametrize("n_max", [0, 3])
async def test_notes_of_a_batch_are_bounded(world: World, n_max: int) -> None:
    """Of all its jobs together; one of a title that is there is still replaced."""
    epoch = await world.lead()
    await world.driver.configure(epoch, {"batch_notes_max": n_max})
    batch, other = await world.submit(job_rows(2)), await world.submit(job_rows(1))
    worker = await world.worker("w", cpu_m=8000)
    claimed = await worker.claim()
    for title in "abc":
        for one in claimed:
            key = AttemptKey(one.batch_id, one.job_id, 1)
            assert await worker.store.record_note(worker.id, key, Note(title, "text", b"x"))

    async def kept(of: int) -> list[tuple[int, str, bytes]]:
        async with world.transaction() as connection:
            rows = await connection.fetch(
                "SELECT job_id, title, body FROM weft.job_note WHERE batch_id = $1", of
            )
        return [(row["job_id"], row["title"], row["body"]) for row in rows]

    assert (len(await kept(batch)), len(await kept(other))) == (n_max, n_max)
    for job, title, _ in await kept(batch):
        await worker.store.record_note(
            worker.id, AttemptKey(batch, job, 1), Note(title, "text", b"new")
        )
    assert [body for _, _, body in await kept(batch)] == [b"new"] * n_max


async def test_progress_of_a_live_attempt_is_kept_with_it(world: World) -> None:
    """The newest word of each attempt; of those of others, and what is no percentage, nothing."""
    batch = await world.submit(job_rows(2, max_attempts=3, retry_on=[Reason.EXIT]))
    worker, thief = await world.worker("w"), await world.worker("thief")
    one, _ = await worker.claim()

    def report(percent: float, text: str = "", attempt: int = 1) -> ProgressReport:
        return ProgressReport(batch, one.job_id, attempt, percent, text)

    async def shown() -> list[object]:
        job = await world.api.get_job(world.caller, batch, one.job_id)
        attempts = await world.api.list_attempts(world.caller, batch, one.job_id)
        words = [entry.get("progress") for entry in (job, *attempts)]
        return [word and (word["percent"], word["text"]) for word in words]

    async def told() -> list[tuple[object, ...]]:
        document = await world.api.get_batch(world.caller, batch)
        told: list[dict[str, object]] = document.get("progress", [])
        return [(each["job_id"], each["attempt"], each["percent"]) for each in told]

    since = await world.api.events_now()
    await thief.store.record_progress(thief.id, [report(1)])
    for wrong in (-1, 101, float("nan"), float("inf")):
        await worker.store.record_progress(worker.id, [report(wrong)])
    await worker.store.record_progress(worker.id, [report(40, attempt=2)])
    assert (await shown(), await told()) == ([None, None], [])
    await worker.store.record_progress(worker.id, [report(40.5, "x" * 1000)] * 2)
    assert (await shown(), await told()) == ([(40.5, "x" * 300)] * 2, [(one.job_id, 1, 40.5)])
    await worker.store.record_progress(worker.id, [report(90)])
    await worker.store.record_progress(worker.id, [report(90)])
    events, _ = await world.api.list_events(world.caller, after=since, batch_id=batch, limit=50)
    assert [each["jobs"] for each in events if each["kind"] == "jobs.progress"] == [
        [one.job_id]
    ] * 2
    await worker.end(one, reason=Reason.EXIT, exit_code=1)
    await worker.store.record_progress(worker.id, [report(100)])
    assert (await shown(), await told()) == ([(90, ""), (90, "")], [])
    (again,) = await worker.claim()
    assert (again.job_id, await shown()) == (one.job_id, [(90, ""), (90, ""), None])
    assert await told() == [], "the batch names what runs"
    await worker.store.record_progress(worker.id, [report(5, attempt=again.attempt)])
    assert (await shown(), await told()) == ([(5, ""), (90, ""), (5, "")], [(one.job_id, 2, 5)])
    (listed, _) = await world.api.list_jobs(world.caller, batch, after=0, limit=2)
    assert (listed["progress"]["percent"], listed["progress"]["attempt"]) == (5, 2)
    await worker.end(again)
    assert (await shown(), await told()) == ([(5, ""), (90, ""), (5, "")], [])
    history = await world.api.job_history(world.caller, batch, one.job_id)
    assert [entry["to"] for entry in history if entry["message"] == "x"] == []


async def test_start_is_dated_by_its_age_and_never_before_the_claim(world: World) -> None:
    batch, worker, (one, two) = await world.submit_and_claim(2)
    verdicts = [
        *await worker.start(one, age_us=0),
        *await worker.start(two, age_us=3600 * SECOND_US),
    ]
    repeat = await worker.start(one, age_us=0)
    first, second = await world.job(batch, 1), await world.job(batch, 2)

    assert (verdicts, repeat) == (["ok", "ok"], ["ok"])
    assert first["started_at"] > first["claimed_at"]
    assert second["started_at"] == second["claimed_at"]
    assert (first["phase"], (await world.api.get_job(world.caller, batch, 1))["phase"]) == (
        6,
        "executing",
    )


async def test_repeated_start_keeps_the_first_date(world: World) -> None:
    batch, worker, (claimed,) = await world.submit_and_start()
    before = (await world.job(batch))["started_at"]
    await worker.start(claimed)
    await worker.end(claimed, start_age_us=0)

    assert (await world.attempts(batch))[0]["started_at"] == before


async def test_report_that_was_held_up_makes_an_attempt_no_longer(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The database slept, or the worker; that has measured before how long the job ran."""
    batch, worker, (claimed,) = await world.submit_and_start()
    late = await world.admin.fetchval("SELECT clock_timestamp() + interval '20 seconds'")
    report = end_report(claimed, start_age_us=8 * SECOND_US)
    await complete_at(world, worker.id, report, late)
    (attempt,) = await world.attempts(batch)

    assert attempt["ended_at"] - attempt["started_at"] == timedelta(seconds=8)
    monkeypatch.setattr("time.perf_counter_ns", [10**9, 10**8, 10**6, 0].pop)
    *_, start_ages_us, end_ages_us = call_values(ends_of([report]))[:5]
    assert (start_ages_us, end_ages_us) == ([8_001_000], [1000])


@pytest.mark.parametrize(
    ("start_age_us", "end_age_us"),
    [(10**12, 10**12), (-5, -5), (0, 10**12), (-(10**12), 0), (0, -(10**12)), (None, 10**12)],
)
async def test_times_of_an_attempt_are_in_order_whatever_the_ages_say(
    world: World, start_age_us: int | None, end_age_us: int
) -> None:
    batch, worker, (claimed,) = await world.submit_and_claim()
    await worker.end(claimed, start_age_us=start_age_us, end_age_us=end_age_us)
    (attempt,) = await world.attempts(batch)
    now = await world.admin.fetchval("SELECT clock_timestamp()")

    assert attempt["claimed_at"] <= (attempt["started_at"] or attempt["claimed_at"])
    assert (attempt["started_at"] or attempt["claimed_at"]) <= attempt["ended_at"] <= now
    assert (attempt["started_at"] is None) == (start_age_us is None)


async def test_failure_is_retried_as_often_as_it_may(world: World, worker: Worker) -> None:
    batch = await world.submit(job_rows(max_attempts=3, retry_on=[Reason.EXIT]))
    states = []
    for _ in range(3):
        await worker.run(reason=Reason.EXIT)
        states.append(await world.states(batch))

    assert states == ["r", "r", "f"]
    assert [row["state"] for row in await world.attempts(batch)] == [1, 1, 7]


async def test_only_these_reasons_are_retried(world: World, worker: Worker) -> None:
    """Cancelled is never tried again; what was lost or preempted is in any case."""
    rows = job_rows(len(Reason), max_attempts=2, retry_on=[Reason.OOM, Reason.CANCELLED])
    batch = await world.submit(rows)
    for reason, claimed in zip(Reason, await worker.claim(), strict=True):
        await worker.end(claimed, reason=reason)
    letters = dict(zip(Reason, await world.states(batch), strict=True))

    assert {reason for reason, letter in letters.items() if letter == "r"} == {
        Reason.OOM,
        Reason.LOST,
        Reason.PREEMPTED,
    }
    assert letters[Reason.CANCELLED] == "c"


async def test_losses_do_not_use_up_attempts(world: World, worker: Worker) -> None:
    batch = await world.submit(job_rows(max_attempts=2, retry_on=[Reason.EXIT]))
    for reason in (Reason.LOST, Reason.EXIT, Reason.PREEMPTED):
        await worker.run(reason=reason)
        assert await world.states(batch) == "r"
    await worker.run(reason=Reason.EXIT)

    assert await world.states(batch) == "f"


@pytest.mark.parametrize("reason", [Reason.LOST, Reason.PREEMPTED])
async def test_sixth_loss_is_an_error(world: World, worker: Worker, reason: Reason) -> None:
    batch = await world.submit()
    states = []
    for _ in range(6):
        await worker.run(reason=reason)
        states.append(await world.states(batch))

    assert states == ["r"] * 5 + ["e"]


@pytest.mark.parametrize("reason", [Reason.LOST, Reason.PREEMPTED])
async def test_losses_count_as_tries_if_the_job_says_so(world: World, reason: Reason) -> None:
    """Leases that are handed back do not."""
    batch = await world.submit(job_rows(1, max_attempts=7, retry_on=[Reason.LOST]))
    worker = await world.worker()
    states = []
    for _ in range(7):
        (lease,) = await worker.claim()
        await worker.end(lease, reason=Reason.PREEMPTED, start_age_us=None)
        await worker.run(reason=reason)
        states.append(await world.states(batch))

    assert states == ["r"] * 6 + ["e"]


async def test_number_of_losses_is_a_setting_of_the_driver(world: World, worker: Worker) -> None:
    epoch = await world.lead()
    await world.driver.configure(epoch, {"losses_max": 1})
    batch = await world.submit()
    states = []
    for _ in range(2):
        await worker.run(reason=Reason.LOST)
        states.append(await world.states(batch))
    await world.driver.configure(epoch, {"losses_max": 5})

    assert states == ["r", "e"]


async def test_leases_may_be_handed_back_for_ever(world: World, worker: Worker) -> None:
    batch = await world.submit()
    for _ in range(8):
        (claimed,) = await worker.claim()
        await worker.end(claimed, reason=Reason.PREEMPTED, start_age_us=None)

    assert await world.states(batch) == "r"
    assert (await world.api.get_job(world.caller, batch, 1))["cost"] == 0
    await worker.run()
    assert await world.states(batch) == "s"


async def test_a_lease_that_is_handed_back_does_not_look_like_a_failure(world: World) -> None:
    batch, worker, (claimed,) = await world.submit_and_claim()
    await worker.end(claimed, reason=Reason.PREEMPTED, start_age_us=None)
    (job,) = await world.api.list_jobs(world.caller, batch, after=0, limit=9)
    attempts = await world.api.list_attempts(world.caller, batch, 1)
    history = await world.api.job_history(world.caller, batch, 1)

    assert (job["state"], job["reason"], job["message"]) == ("ready", None, None)
    assert [(one["state"], one["reason"], one["message"]) for one in attempts] == [
        ("ready", None, "given back before it started")
    ]
    assert history[-1]["subtype"] == "returned"


async def test_next_attempt_is_not_dated_before_the_end_of_the_last(world: World) -> None:
    """Also if the clock was set back between them."""
    batch, worker, (claimed,) = await world.submit_and_claim()
    later = await world.admin.fetchval("SELECT clock_timestamp() + interval '1 hour'")
    report = end_report(claimed, Reason.PREEMPTED)
    await complete_at(world, worker.id, report, later)
    (second,) = await worker.claim()
    await worker.end(second)
    first, last = await world.attempts(batch)

    assert first["ended_at"] == later
    assert last["claimed_at"] >= later


async def test_child_is_not_claimed_before_the_end_of_its_parent(world: World) -> None:
    """The clock was set back while the parent ran, so it ended when it was claimed."""
    batch, worker = await world.submit_to_worker(job_rows(2, parents={2: [1]}))
    now = await world.admin.fetchval("SELECT clock_timestamp()")
    await world.call(
        "claim_jobs",
        incarnation_id=worker.id,
        budget_cpu_m=10**6,
        budget_memory_mib=10**6,
        limit_jobs=1,
        at=now + timedelta(hours=1),
    )
    claimed = Claimed(
        batch_id=batch,
        job_id=1,
        attempt=1,
        cpu_m=1,
        memory_mib=1,
        storage_mib=0,
        gpu=0,
        chunk_first=1,
    )
    await worker.end(claimed)
    (child,) = await worker.claim()

    assert (child.job_id, (await world.job(batch, 1))["state"]) == (2, 6)
    assert (await world.job(batch, 2))["claimed_at"] >= (await world.attempts(batch, 1))[0][
        "ended_at"
    ]


async def test_child_is_not_claimed_before_the_latest_end_of_its_parents(world: World) -> None:
    """The clock was set back between them, so the last report does not bring the latest end."""
    batch, worker, (one, two) = await world.submit_and_claim(
        job_rows(3, parents={3: [1, 2]}), limit=2
    )
    later = await world.admin.fetchval("SELECT clock_timestamp() + interval '1 hour'")
    await complete_at(world, worker.id, end_report(one), later)
    pending = await world.api.get_job(world.caller, batch, 3)
    history = await world.api.job_history(world.caller, batch, 3)
    await worker.end(two)
    (child,) = await worker.claim()

    assert (pending["state"], pending["ready_at"]) == ("pending", None)
    assert [change["to"] for change in history] == ["pending"]
    assert child.job_id == 3
    assert (await world.job(batch, 3))["claimed_at"] >= later


async def complete_at(world: World, incarnation: int, report: EndReport, at: datetime) -> None:
    """Report one end at a time of ours."""
    await world.call(
        "complete_attempts", incarnation_id=incarnation, **end_columns([report]), at=at
    )


@pytest.mark.parametrize("message", ["a\0b", "a\udcffb", "x" * 5000, ""])
async def test_any_message_can_be_recorded(world: World, message: str) -> None:
    """Else the report would be refused again and again, and its worker could report nothing."""
    batch, worker, (claimed,) = await world.submit_and_claim()
    verdicts = await worker.end(claimed, reason=Reason.NO_PROGRAM, message=message)
    (attempt,) = await world.attempts(batch)

    assert verdicts == ["ok"]
    assert (attempt["message"] or "")[:1] == message[:1]
