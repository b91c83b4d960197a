"""Why a job waits: each state of things, the sentence and the command."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from cases import cases
from weft.core.ends.services import service_end
from weft.core.states import Need
from weft.core.why import (
    Cause,
    EndFacts,
    GateFacts,
    GroupFacts,
    JobFacts,
    ParentFacts,
    PoolFacts,
    causes_of_end,
    causes_of_group,
    causes_of_wait,
    sentence,
)
from weft.core.why.facts import (
    BlockedFacts,
    ClaimedFacts,
    ComingMachine,
    ConditionFacts,
    GrowthFacts,
    JobName,
    OpenMessage,
    StoppedWorker,
    TravelFacts,
)
from weft.submission.translation.gates import SENTENCES

GIB = 2**30
NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
GOOD: dict[str, Any] = {
    "pool": "default",
    "workers": 2,
    "serving": 2,
    "large": 2,
    "active": 2,
    "cpu": 4.0,
    "memory": 8 * GIB,
    "free": True,
    "cpu_active": 8,
}
UNSERVED: dict[str, Any] = {"serving": 0, "large": 0, "active": 0}
"""As of a queue that travels over a transport: those that consume it claim nothing."""
HOLDER = JobName(3, 1)
TESTED = (
    "tcp host=db port=5432 (connection failed): the test 3.0 s ago failed "
    "(db:5432: Connection refused), the next is in 7.0 s"
)
INCIDENT = ConditionFacts(
    3,
    "connection_failed",
    "tcp",
    {"port": "5432", "host": "db"},
    NOW,
    NOW + timedelta(seconds=7),
    42,
    NOW - timedelta(seconds=3),
    False,  # noqa: FBT003
    "db:5432: Connection refused",
)
OFFERED = TravelFacts(
    "rabbit", NOW - timedelta(minutes=3), confirmed=True, slots=4, busy=4, offered=6
)
SERVICE = BlockedFacts(
    2, NOW + timedelta(seconds=40), "blocked", 3, message="weft: healthy", service=True
)
SENT, SHOW = "was offered to the transport rabbit 3:00 ago", "`weft transport show rabbit`"
FULL = f"slots of its consumers are busy; {SHOW}"


def full(cause: Cause) -> str:
    """Return a cause with its command."""
    return f"{cause.text}; `{cause.command}`" if cause.command else cause.text


def told(pool: dict[str, Any] | None = None, **facts: Any) -> list[str]:  # noqa: ANN401 (fields of JobFacts)
    """Return what is said of the job b7.j2."""
    job: dict[str, Any] = {
        "batch_id": 7,
        "job_id": 2,
        "state": "ready",
        "memory": GIB,
        "pool": PoolFacts(**{**GOOD, **(pool or {})}),
        **facts,
    }
    return [full(cause) for cause in causes_of_wait(JobFacts(**job), SENTENCES, NOW)]


def stopped(*names: str, state: str = "cordoned") -> tuple[StoppedWorker, ...]:
    return tuple(StoppedWorker(name, state) for name in names)


@cases(
    ("pool", "facts", "expected"),
    [
        ({}, {}, None),
        (
            UNSERVED,
            {"queue": "slow"},
            (
                "waits for a worker that serves queue slow: none does; "
                "`weft worker --pool default --worker-name default-3 --queue slow`"
            ),
        ),
        (
            UNSERVED,
            {"asks": {"rack": "1 2", "gpu": 2}},
            (
                "waits for a worker that offers gpu 2, rack 1 2: none does; "
                "`weft worker --pool default --worker-name default-3 --label 'rack=1 2'`"
            ),
        ),
        (UNSERVED, {"asks": {"gpu": 2}}, "waits for a worker that offers gpu 2: none does"),
        (
            UNSERVED,
            {"asks": {"executor": "app"}},
            (
                "waits for a worker that offers executor app: none does; "
                "`weft worker --pool default --worker-name default-3`"
            ),
        ),
        (
            UNSERVED,
            {"stays": True},
            (
                "waits for a worker on a machine that stays: none is there, and on others "
                "it was lost "
                "too often; `weft worker --pool default --worker-name default-3`"
            ),
        ),
        (
            UNSERVED,
            {"stays": True, "asks": {"gpu": 2}},
            "waits for a worker on a machine that stays that offers gpu 2: none does",
        ),
        (
            {"large": 0, "active": 0},
            {"cpu": 8},
            (
                "waits for a worker with 8 cores: the largest has 4"
                "; on a host with less, jobs would share it; "
                "`weft worker --pool default --worker-name default-3 --worker-cpu 8`"
            ),
        ),
        (
            {"large": 0, "active": 0},
            {"memory": 16 * GIB},
            (
                "waits for a worker with 16.0 GiB memory: the largest has 8.0 GiB"
                "; on a host with less, jobs would share it; "
                "`weft worker --pool default --worker-name default-3 --worker-memory 16384Mi`"
            ),
        ),
        (
            {"large": 0, "active": 0},
            {},
            (
                "waits for a worker with 1 cores and 1.0 GiB memory: the largest has only "
                "one of the "
                "two; `weft worker --pool default --worker-name default-3`"
            ),
        ),
        (
            {"active": 0, "stopped": (StoppedWorker("node1", "cordoned", "new disk"),)},
            {},
            "waits for a worker: node1 is cordoned: new disk; `weft worker uncordon node1`",
        ),
        (
            {"active": 0, "stopped": stopped("node1", state="silent")},
            {},
            "waits for a worker: node1 is silent; `weft worker show node1`",
        ),
        (
            {"active": 0, "stopped": stopped("a") + stopped("b", state="draining")},
            {},
            (
                "waits for a worker: those that could take it are cordoned or draining (a, b); "
                "`weft worker uncordon a`"
            ),
        ),
        (
            {"free": False, "ahead": True, "running": 6},
            {},
            (
                "waits: your share is used: you run 6 of 8 cores, and others with less to "
                "run come "
                "first"
                "; another one on the same host would share its cores; "
                "`weft worker --pool default --worker-name default-3`"
            ),
        ),
        (
            {"free": False, "ahead": True, "behind": "w"},
            {},
            (
                "waits for a worker with room: what is free on w is kept for a job that "
                "comes first "
                "there; `weft worker show w`"
            ),
        ),
        (
            {"free": False, "ahead": True, "running": 6},
            {"user": "bob"},
            (
                "waits: the owner's share is used: bob runs 6 of 8 cores, and others with "
                "less to run "
                "come first"
                "; another one on the same host would share its cores; "
                "`weft worker --pool default --worker-name default-3`"
            ),
        ),
    ],
)
def test_workers(pool: dict[str, Any], facts: dict[str, Any], expected: str | None) -> None:
    assert told(pool, **facts) == ([] if expected is None else [expected])


@cases(
    ("gate", "expected"),
    [
        (
            GateFacts("not_before", "x", opens_at=NOW + timedelta(hours=14)),
            "starts at 2026-11-22 02:00 UTC (in 14 h)",
        ),
        (
            GateFacts("max_running", "7", 2, 2, holders=(HOLDER,)),
            "waits: b7 runs at most 2 at a time; `weft why b3.j1`",
        ),
        (
            GateFacts("rate", "a/b/1500ms", 10, 10),
            'waits: 10 of 10 starts in 1.5 s with the key "a/b"',
        ),
        (
            GateFacts("concurrency_key", "db", 1, 1, holders=(HOLDER,)),
            'waits for b3.j1, which has the key "db"; `weft why b3.j1`',
        ),
        (
            GateFacts("concurrency_key", "db", 3, 3, holders=(HOLDER, JobName(3, 2))),
            'waits for b3.j1 and 2 more, which have the key "db"; `weft why b3.j1`',
        ),
        (
            GateFacts("concurrency_key", "db", 0, 0),
            'waits for another job, which has the key "db"',
        ),
        (
            GateFacts("queue", "big", 4, 4, holders=(HOLDER,)),
            "waits: queue big runs 4 of 4 jobs; `weft why b3.j1`",
        ),
        (
            GateFacts("queue_user", "big/12", 2, 2, holders=(HOLDER,)),
            "waits: you run 2 of 2 jobs in queue big; `weft why b3.j1`",
        ),
        (
            GateFacts("preempted", "b3.j1/2.1", opens_at=NOW + timedelta(seconds=40)),
            (
                "was stopped for b3.j1, whose queue has a higher priority: may start again at "
                "12:00:40 (in 40 s); `weft why b3.j1`"
            ),
        ),
        (GateFacts("other", "x", 2, 2), "waits at the gate other: 2 of 2 places are taken"),
        (
            GateFacts("licence", "matlab", 3, 3, holders=(JobName(3, 1, "ada", 2),)),
            (
                "waits for licence matlab: 3 of 3 are used, 2 by b3.j1 of ada, 1 by others; "
                "`weft why b3.j1`"
            ),
        ),
        (
            GateFacts("licence", "matlab", 3, 2, cost=2),
            "waits for 2 licences matlab: 2 of 3 are used; `weft licence ls`",
        ),
        (
            GateFacts("licence", "matlab", 3, 2, cost=5),
            "needs 5 licences matlab, there are 3; `weft licence set matlab 5`",
        ),
    ],
)
def test_gates(gate: GateFacts, expected: str) -> None:
    """Each kind says its own sentence; one that is not known is named. Room is of no interest."""
    assert told({"free": False}, gates=(gate,), queue="big") == [expected]


@cases(
    ("facts", "expected"),
    [
        (
            {"held": ("/a b", "")},
            [
                "waits: b7/a b is held; `weft release 'b7/a b'`",
                "waits: b7.j2 is held; `weft release b7.j2`",
            ],
        ),
        (
            {"state": "pending", "parents": (ParentFacts(1, "running"),), "n_parents": 1},
            ["waits for its parent b7.j1: b7.j1 runs; `weft why b7.j1`"],
        ),
        (
            {
                "state": "pending",
                "parents": (ParentFacts(1, "ready", need=Need.END),),
                "n_parents": 3,
                "held": ("",),
            },
            [
                (
                    "waits for its parents b7.j1 and 2 more: b7.j1 is ready, and its end "
                    "is enough; "
                    "`weft why b7.j1`"
                ),
                "waits: b7.j2 is held; `weft release b7.j2`",
            ],
        ),
        ({"state": "pending", "n_parents": 2000}, ["waits for 2,000 parents"]),
        (
            {"preempts": (HOLDER,), "held": ("",)},
            [
                "waits: b7.j2 is held; `weft release b7.j2`",
                "waits until b3.j1 is stopped to make room for it; `weft why b3.j1`",
            ],
        ),
        (
            {
                "state": "blocked",
                "blocked": BlockedFacts(2, NOW + timedelta(seconds=42), "exit", 3),
            },
            ["is tried again in 42.0 s: attempt 2 ended: exit code 3; `weft status b7.j2`"],
        ),
        (
            {"state": "blocked", "blocked": BlockedFacts(1, NOW, "blocked", message="no")},
            ["is tried again now: attempt 1 reported an external error (no); `weft status b7.j2`"],
        ),
        (
            {"state": "blocked", "blocked": SERVICE},
            [
                (
                    "is a service that is started again in 40.0 s: it ended with exit code 3; "
                    "`weft status b7.j2`"
                )
            ],
        ),
        (
            {"state": "blocked", "blocked": BlockedFacts(1, NOW, "blocked", condition=INCIDENT)},
            [f"waits with 41 others for {TESTED}; `weft condition test c3`"],
        ),
        (
            {"state": "queued", "travels": replace(OFFERED, busy=9, foreign=True)},
            [f"{SENT.replace('to', 'to foreign programs over', 1)}: 4 of 4 {FULL}"],
        ),
        (
            {"state": "queued", "travels": replace(OFFERED, confirmed=False)},
            [f"{SENT}: it has not confirmed the message; {SHOW}"],
        ),
        (
            {"state": "queued", "travels": OFFERED, "held": ("/",)},
            ["waits: b7 is held; `weft release b7`", f"{SENT}: 4 of 4 {FULL}"],
        ),
        (
            {"state": "ready", "travels": replace(OFFERED, since=None, busy=3)},
            [f"is offered to the transport rabbit soon: 6 jobs are before it, and 3 of 4 {FULL}"],
        ),
        (
            {
                "state": "ready",
                "travels": replace(OFFERED, since=None),
                "gates": (GateFacts("max_running", "", 2, 2, holders=(HOLDER,)),),
            },
            ["waits: b7 runs at most 2 at a time; `weft why b3.j1`"],
        ),
        (
            {
                "state": "queued",
                "travels": replace(OFFERED, away_since=NOW - timedelta(hours=1), error="no route"),
            },
            [f"waits for the transport rabbit, which is away since 1:00:00: no route; {SHOW}"],
        ),
        ({"state": "running", "pool": None}, []),
    ],
)
def test_other_causes(facts: dict[str, Any], expected: list[str]) -> None:
    """What is first to change is said first."""
    assert told(**facts) == expected


END: dict[str, Any] = {
    "batch_id": 7,
    "job_id": 2,
    "attempt": 1,
    "worker": "w",
    "started_at": NOW,
    "ended_at": NOW + timedelta(seconds=2),
}
NEVER: dict[str, Any] = {"started_at": None, "ended_at": None, "worker": None}


@cases(
    ("facts", "expected"),
    [
        (
            {"state": "failed", "reason": "exit", "exit_code": 3, "stderr": "oh no"},
            [
                "failed on w after 2.0 s: exit code 3; `weft status b7.j2`",
                "wrote last to stderr: oh no; `weft logs b7.j2`",
            ],
        ),
        (
            {
                "state": "failed",
                "reason": "signal",
                "signal": 9,
                "attempt": 3,
                "max_attempts": 3,
                "stderr": "",
            },
            [
                "failed on w after 2.0 s (attempt 3 of 3): killed by SIGKILL; `weft status b7.j2`",
                "wrote nothing to stderr; `weft logs b7.j2`",
            ],
        ),
        (
            {"state": "error", "reason": "deadline", **NEVER},
            ["ended in an error: deadline passed; `weft status b7.j2`"],
        ),
        (
            {"state": "cancelled", "reason": "cancelled", "actor": "user ada"},
            ["was cancelled by user ada on w after 2.0 s; `weft status b7.j2`"],
        ),
        (
            {"state": "cancelled", "actor": "user ada", **NEVER},
            ["was cancelled by user ada before it started; `weft status b7.j2`"],
        ),
        (
            {"state": "cancelled", "message": "parent j1: failed", **NEVER},
            ["was cancelled, because its parent b7.j1 did not succeed: failed; `weft why b7.j1`"],
        ),
        (
            {"state": "running", "started_at": None, "claimed_at": NOW},
            ["waits for room on w, which has claimed it; `weft worker show w`"],
        ),
        (
            {
                "state": "running",
                "started_at": None,
                "phase": "staging_inputs",
                "claimed_at": NOW,
                "message": "fetches 2 of 3 inputs, 40 %",
            },
            ["gets what it needs on w: it fetches 2 of 3 inputs, 40 %; `weft worker show w`"],
        ),
        (
            {"state": "running"},
            [
                "runs on w since 2026-11-21 12:00:00 UTC, for 1:00; `weft logs -f b7.j2`",
                "has no time limit; `weft cancel b7.j2`",
            ],
        ),
        (
            {
                "state": "running",
                "started_at": None,
                "reconnects_since": NOW + timedelta(seconds=48),
            },
            [
                "may run on: its worker w reconnects since 12.0 s; `weft worker show w`",
                "is being started on w",
            ],
        ),
        (
            {"state": "running", "service": {}},
            [
                "runs on w since 2026-11-21 12:00:00 UTC, for 1:00; `weft logs -f b7.j2`",
                "is a service, not started again yet; `weft status b7.j2`",
            ],
        ),
        (
            {
                "state": "success",
                "service": {"restart": "on_failure"},
                "attempt": 2,
                "max_attempts": 32_000,
                "again": "it ended with exit code 3",
            },
            [
                (
                    "succeeded on w after 2.0 s (a service, started again once, last "
                    "because it ended with "
                    "exit code 3); `weft logs b7.j2`"
                )
            ],
        ),
        (
            {
                "state": "failed",
                "messages": (
                    OpenMessage("x", 1, "held", 1, None, "no"),
                    OpenMessage("x", 2, "pending"),
                    OpenMessage("x", 3, "pending", 1, 503, next_at=NOW),
                    OpenMessage("x", 4, "given_up", 12, None, "no route"),
                ),
            },
            [
                "failed on w after 2.0 s; `weft status b7.j2`",
                (
                    "has a message for sink x that waits for a person: no; `weft line decide "
                    "x 1 pass`"
                ),
                "has a message for sink x that is to be sent; `weft line deliveries x`",
                (
                    "has a message for sink x that is tried again at 2026-11-21 12:00:00 UTC: "
                    "it answered 503; `weft line deliveries x`"
                ),
                (
                    "has a message for sink x that was given up after 12 tries: no route; "
                    "`weft line redeliver x 4`"
                ),
            ],
        ),
        (
            {"state": "running", "timeout_s": 90},
            [
                "runs on w since 2026-11-21 12:00:00 UTC, for 1:00; `weft logs -f b7.j2`",
                "has a time limit of 1:30: 30.0 s are left; `weft cancel b7.j2`",
            ],
        ),
    ],
)
def test_what_a_job_does_or_became(facts: dict[str, Any], expected: list[str]) -> None:
    later = NOW + timedelta(seconds=60)
    found = causes_of_end(EndFacts(**{**END, **facts}), later)

    assert [full(cause) for cause in found] == expected


@cases(
    ("end", "expected"),
    [
        (("blocked", 75, "weft: it ended with exit code 0"), "it ended with exit code 0"),
        (("blocked", 69, "weft: unhealthy, 3 of 3: it answers with 503"), "it answers with 503"),
        (("blocked", 69, "terminated\n"), "it was not healthy"),
        (
            ("blocked", 127, "a\nweft: x cannot be started: No such file or directory"),
            "x cannot be started: No such file or directory",
        ),
        (("blocked", 137, "weft: it was killed by SIGKILL"), "it was killed by SIGKILL"),
        (("blocked", 137, None), "it ended with exit code 137"),
        (("lost", None, None), "attempt 2 ended: lost with its worker"),
    ],
)
def test_why_a_service_ended(end: tuple[str, int | None, str | None], expected: str) -> None:
    reason, code, message = end
    attempt = {
        "state": "error",
        "attempt": 2,
        "reason": reason,
        "exit_code": code,
        "message": message,
    }
    assert service_end(attempt) == expected


GROUP: dict[str, Any] = {
    "batch_id": 7,
    "name": "b7/a",
    "state": "running",
    "complete": False,
    "n_jobs": 2000,
}
WAITING = JobFacts(
    batch_id=7, job_id=2, state="ready", held=("/a",), pool=PoolFacts("default", 1, 1, 1, 1)
)


@cases(
    ("facts", "expected"),
    [
        (
            {"n_ready": 5, "held": ("/a",), "ready": (WAITING,), "n_pending": 1},
            [
                "waits: b7/a is held; `weft release b7/a`",
                "has 1 job waiting for its parents; `weft jobs b7/a --state pending`",
            ],
        ),
        (
            {"n_ready": 2, "ready": (WAITING, WAITING)},
            ["j2: waits: b7/a is held; `weft release b7/a`"],
        ),
        ({"n_ready": 2000}, ["has 2,000 jobs that are ready; `weft jobs b7/a --state ready`"]),
        (
            {
                "n_ready": 1,
                "n_running": 3,
                "ready": (JobFacts(batch_id=7, job_id=2, state="ready", pool=PoolFacts(**GOOD)),),
            },
            [
                "has 1 job that will start in a moment",
                "runs 3 of 2,000 jobs; `weft jobs b7/a --state running`",
            ],
        ),
        (
            {"n_blocked": 2},
            ["has 2 jobs waiting to be tried again; `weft jobs b7/a --state blocked`"],
        ),
        (
            {"n_running": 2, "claimed": ClaimedFacts(4, "w")},
            [
                "j4: waits for room on w, which has claimed it; `weft worker show w`",
                "runs 1 of 2,000 jobs; `weft jobs b7/a --state running`",
            ],
        ),
        (
            {"n_running": 1, "claimed": ClaimedFacts(4, "w")},
            ["j4: waits for room on w, which has claimed it; `weft worker show w`"],
        ),
        (
            {
                "complete": True,
                "n_failed": 2,
                "failed": EndFacts(**{**END, "state": "failed", "reason": "exit", "exit_code": 3}),
            },
            ["has 2 jobs that failed, as b7.j2: exit code 3; `weft why b7.j2`"],
        ),
        (
            {"complete": True, "n_failed": 2},
            ["has 2 jobs that failed; `weft jobs b7/a --state failed`"],
        ),
        ({"complete": True, "state": "success"}, ["has ended: success; `weft status b7/a`"]),
        ({"complete": True, "state": "success", "n_jobs": 0}, ["has no jobs"]),
    ],
)
def test_groups(facts: dict[str, Any], expected: list[str]) -> None:
    """By their counts, and by jobs that stand for others; nothing is said twice."""
    found = causes_of_group(GroupFacts(**{**GROUP, **facts}), SENTENCES, NOW)

    assert [
        ("" if cause.job_id is None else f"j{cause.job_id}: ") + full(cause) for cause in found
    ] == expected


@cases(
    ("peak", "expected"),
    [
        (143 << 20, []),
        (None, []),
        (0, []),
        (1500 << 20, ["used 1.5 GiB of memory, 19 times the 80.0 MiB that it reserved"]),
        (144 << 20, ["used 144.0 MiB of memory, 1.8 times the 80.0 MiB that it reserved"]),
    ],
)
def test_a_job_that_used_more_memory_than_it_reserved_is_told(
    peak: int | None, expected: list[str]
) -> None:
    end = EndFacts(
        batch_id=7, job_id=2, state="success", attempt=1, memory=80 << 20, memory_peak=peak
    )

    _, *told = causes_of_end(end, NOW)

    assert [one.text for one in told] == expected
    assert {one.command for one in told} <= {"weft usage b7.j2"}


def test_what_stays_is_told_also_of_a_job_that_waits_for_more() -> None:
    assert told({**UNSERVED, "workers": 0}, held=("/",)) == [
        "waits: b7 is held; `weft release b7`",
        "waits for a worker: none is connected; `weft worker --pool default`",
    ]


GROWS = "waits for a worker of pool big: the pool grows"
ASKED = "asked for at 2026-11-21 11:59:50 UTC"
NONE: dict[str, Any] = {
    "pool": "big",
    "workers": 0,
    "serving": 0,
    "large": 0,
    "active": 0,
    "free": False,
}
BUSY: dict[str, Any] = {"pool": "big", "free": False}


def coming(usual_s: float | None) -> GrowthFacts:
    """Return a pool whose next machine was asked for ten seconds ago."""
    machine = ComingMachine("big-7", NOW - timedelta(seconds=10), usual_s)
    return GrowthFacts(3, 4, has_room=True, coming=machine)


@cases(
    ("pool", "growth", "expected"),
    [
        (BUSY, coming(610), f"{GROWS}, machine big-7 comes in about 10 min; `weft pool show big`"),
        (
            NONE,
            coming(None),
            f"{GROWS}, machine big-7 is being made, {ASKED}; `weft pool show big`",
        ),
        (
            BUSY,
            coming(10.5),
            (
                f"{GROWS}, machine big-7 is late: {ASKED}, others came after 10 s; `weft pool "
                f"show big`"
            ),
        ),
        (
            NONE,
            GrowthFacts(1, 4, has_room=True),
            f"{GROWS} soon, it has 1 of 4 machines; `weft pool show big`",
        ),
        (
            BUSY,
            GrowthFacts(1, 4, has_room=True, problem="no quota"),
            (
                "waits for a worker of pool big: its provider could not make one: no quota; "
                "`weft pool log big`"
            ),
        ),
        (
            BUSY,
            GrowthFacts(1, 4, has_room=True),
            (
                "waits for a worker of pool big with room: it needs 1 of 8 cores, and "
                "others use them; "
                "the pool has 1 of 4 machines; `weft pool show big`"
            ),
        ),
        ({"pool": "big"}, coming(50), None),
    ],
)
def test_pools_that_make_machines(
    pool: dict[str, Any], growth: GrowthFacts, expected: str | None
) -> None:
    """Nobody is told to start a worker there; when the next one comes is estimated."""
    assert told({**pool, "growth": growth}) == ([] if expected is None else [expected])
    assert not [one for one in told({**pool, "growth": growth}, held=("",)) if "grows" in one]


def test_a_job_that_guards_would_place_elsewhere_by_now() -> None:
    """It is told only of a job that waits for something."""
    says = (
        "waits in queue slow, but guards choose queue fast for it now; "
        "`weft queue reroute --queue slow`"
    )

    assert told(queue="slow", belongs="fast") == []
    assert told(queue="slow", belongs="fast", held=("",)) == [
        "waits: b7.j2 is held; `weft release b7.j2`",
        says,
    ]
    assert told({"free": False}, queue="slow", belongs="fast")[0] == says


def test_one_line_has_the_command_if_that_alone_helps() -> None:
    lines = [sentence(Cause(kind, "waits", "weft x")) for kind in ("hold", "busy")]

    assert lines == ["waits; `weft x`", "waits"]


@cases(
    ("growth", "expected"),
    [
        (None, "pool big makes none of flavour small that can hold it; `weft pool show big`"),
        (GrowthFacts(4, 4), "pool big has 4 of 4 machines; `weft pool show big`"),
        (
            GrowthFacts(1, 4, has_room=True),
            "one is made soon, pool big has 1 of 4 machines; `weft pool show big`",
        ),
        (
            GrowthFacts(1, 4, has_room=True, problem="no quota"),
            "the provider of pool big could not make one: no quota; `weft pool log big`",
        ),
    ],
)
def test_a_job_that_no_machine_is_made_for(growth: GrowthFacts | None, expected: str) -> None:
    """No worker that somebody could start would get it."""
    assert told({**NONE, "growth": growth}, asks={"machine": "small"}) == [
        f"waits for a machine of its own: {expected}"
    ]


@pytest.mark.parametrize(
    ("machine", "expected"),
    [
        (None, "another one is made soon"),
        (ComingMachine("p-1", NOW, 40.0), "p-1 comes in about 40 s"),
    ],
)
def test_a_job_whose_machine_is_being_made(machine: ComingMachine | None, expected: str) -> None:
    assert told(state="creating", machine=machine) == [
        f"waits for a machine of its own: {expected}; `weft pool log default`"
    ]


@cases(
    "other",
    [
        {"state": "pending", "n_parents": 2},
        {"held": ("/",)},
        {"gates": (GateFacts("concurrency", "x", max_places=1, n_taken=1),)},
        {"state": "blocked", "blocked": BlockedFacts(1, NOW, "exit", 1)},
        {"state": "blocked", "blocked": BlockedFacts(1, NOW, condition=INCIDENT)},
    ],
)
def test_a_job_that_waits_for_something_else_wants_no_worker(other: dict[str, Any]) -> None:
    """Of its way it is told what stays: that nobody consumes, that the transport is away."""
    asks = {"executor": "process"}
    unread, away = replace(OFFERED, slots=0), replace(OFFERED, away_since=NOW, error="refused")
    (cause,) = told(UNSERVED, asks=asks, travels=OFFERED, **other)
    without_consumers = told(UNSERVED, asks=asks, travels=unread, **other)
    without_transport = told(UNSERVED, asks=asks, travels=away, **other)

    assert "that offers" not in cause
    assert without_consumers[0] == without_transport[0] == cause
    assert "that consumes queue" in without_consumers[1]
    assert "which is away" in without_transport[1]
