"""Jobs and batches of every kind, for queries, and what each term must find of them."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from builders import end_report, job_rows
from store.world import World
from weft.core.query.tree import And, Node, Not, Or
from weft.core.states import Reason
from weft.ports.store import Claimed, JobRows
from weft.store.end_columns import end_columns

HOSTILE = "100%_\\\"';--\n$1 {0}"
LABELS: dict[int, tuple[str | None, dict[str, str] | None]] = {
    1: ("stage1-a", {"cohort": "scz1"}),
    2: ("stage1-b", {"cohort": "scz2", "pca": "1"}),
    3: ("stage2-a", None),
    4: (None, {"cohort": "pca"}),
    5: ("Ωmega", {"state": "new", "my key": "a b"}),
    6: (None, {"note": HOSTILE, HOSTILE: "x"}),
    7: ("%", {"cohort": ""}),
    8: ("pca", None),
}
N_JOBS = 10
ALL = set(range(1, N_JOBS + 1))


def labelled_rows() -> JobRows:
    """Return ten jobs; the eighth waits for the fifth, the ninth may be tried twice."""
    rows = job_rows(
        N_JOBS,
        parents={8: [5]},
        max_attempts=[2 if number == 9 else 1 for number in range(1, N_JOBS + 1)],
        retry_on=[Reason.EXIT],
    )
    rows.label_job = list(LABELS)
    rows.label_name = [name for name, _ in LABELS.values()]
    rows.label_attributes = [attributes for _, attributes in LABELS.values()]
    return rows


async def varied_batch(world: World) -> int:
    """Return a batch whose jobs are in many states.

    1 success, 2 failed with 3, 3 error, 4 cancelled, 5 running, 6 leased, 7 ready, 8 pending,
    9 ready after a failure with 9, 10 ready and never touched.
    """
    batch = await world.submit(labelled_rows())
    await world.api.cancel_jobs(world.caller, batch, [4])
    first, second = await world.worker("w-1"), await world.worker("w-2")
    one, two, three = await first.claim(3)
    await end_after_5_s(world, first.id, one)
    await first.end(two, reason=Reason.EXIT, exit_code=3)
    await first.end(three, reason=Reason.OOM)
    five, _six, *others = await second.claim()
    await second.start(five)
    nine = next(other for other in others if other.job_id == 9)
    await second.end(nine, reason=Reason.EXIT, exit_code=9)
    back = [other for other in others if other is not nine]
    await second.end(*back, reason=Reason.PREEMPTED, start_age_us=None)
    assert await world.states(batch) == "sfecRRrprr"
    return batch


async def end_after_5_s(world: World, incarnation_id: int, claimed: Claimed) -> None:
    """Let an attempt succeed that ran for five seconds, by a clock that is ahead."""
    report = end_report(claimed, exit_code=0, start_age_us=5_000_000)
    at = datetime.now(UTC) + timedelta(seconds=10)
    await world.call(
        "complete_attempts", incarnation_id=incarnation_id, **end_columns([report]), at=at
    )


JOB_TERMS: dict[str, set[int]] = {
    "state = success": {1},
    "state = failed": {2},
    "state = error": {3},
    "state = cancelled": {4},
    "state = running": {5, 6},
    "state = ready": {7, 9, 10},
    "state = pending": {8},
    "state = queued": set(),
    "state = live": {5, 6, 7, 9, 10},
    "state = bad": {2, 3},
    "state = done": {1, 2, 3, 4},
    "state != bad": ALL - {2, 3},
    "job_id = 3": {3},
    "job_id == j3": {3},
    "job_id != 3": ALL - {3},
    "job_id > 8": {9, 10},
    "job_id >= 9": {9, 10},
    "job_id < 3": {1, 2},
    "job_id <= 2": {1, 2},
    "job_id < -1": set(),
    "job_id < 99999999999999": ALL,
    "job_id > 99999999999999": set(),
    "batch_id > 0": ALL,
    "batch_id = 99999999999999": set(),
    "exit_code = 3": {2},
    "exit_code = 0": {1},
    "exit_code > 0": {2, 9},
    "exit_code >= 9": {9},
    "exit_code < 9": {1, 2},
    "exit_code <= 9": {1, 2, 9},
    "exit_code != 3": ALL - {2},
    "exit_code = NULL": ALL - {1, 2, 9},
    "exit_code != NULL": {1, 2, 9},
    "exit_code = 99999999999999": set(),
    "reason = exit": {2, 9},
    "reason = oom": {3},
    "reason != oom": ALL - {3},
    "reason = NULL": ALL - {2, 3, 7, 9, 10},
    "reason != NULL": {2, 3, 7, 9, 10},
    "signal = KILL": set(),
    "signal = SIGKILL": set(),
    "signal = 9": set(),
    "signal != 9": ALL,
    "signal = NULL": ALL,
    "status = failed": {2},
    "status != bad": ALL - {2, 3},
    "j3": {3},
    "cost >= 0": ALL,
    "cost > $0": {1, 2, 3, 5, 9},
    "cost = 0": ALL - {1, 2, 3, 5, 9},
    "cost > 0.00001 and state = success": {1},
    "cost > 1e300": set(),
    "cost > 1e-300": {1, 2, 3, 5, 9},
    "duration >= 5 and state = success": {1},
    "duration > 5000": set(),
    "duration < 0": set(),
    "start_time > 2020-01-01T00:00:00Z": {1, 2, 3, 5, 9},
    "start_time > 9999-12-31T00:00:00Z": set(),
    "start_time != 0001-01-02": {1, 2, 3, 5, 9},
    "end_time > 2020-01-01": {1, 2, 3, 4, 7, 9, 10},
    "end_time < 2020-01-01": set(),
    "name = stage1-a": {1},
    "name != stage1-a": {2, 3, 5, 7, 8},
    "name =~ stage1": {1, 2},
    "name !~ stage": {5, 7, 8},
    "name =~ %": {7},
    "name = %": {7},
    "name = Ωmega": {5},
    'name = ""': set(),
    'name =~ ""': {1, 2, 3, 5, 7, 8},
    "instance = w-1": {1, 2, 3},
    "instance =~ w-": {1, 2, 3, 5, 6, 7, 9, 10},
    "instance != w-1": {5, 6, 7, 9, 10},
    "instance !~ 1": {5, 6, 7, 9, 10},
    "instance_collection =~ pool-": ALL,
    "instance_collection = x": set(),
    "cohort = scz1": {1},
    'cohort = "scz1"': {1},
    "cohort != scz1": {2, 4, 7},
    "cohort =~ scz": {1, 2},
    "cohort !~ scz": {4, 7},
    'cohort = ""': {7},
    "cohort =~ %": set(),
    "cohort =~ _": set(),
    '"state" = new': {5},
    '"my key" = "a b"': {5},
    "note =~ '": {6},
    '"pca"': {2, 4, 8},
    "pca": {2, 4, 8},
    "scz": {1, 2},
    "w-1": {1, 2, 3},
    '"w-1"': {1, 2, 3},
    "%_": {6},
    "nobody": set(),
    "user = ada": set(),
}


def expected(node: Node, found: Mapping[Node, set[int]], everything: set[int]) -> set[int]:
    """Return what a tree of known terms must find."""
    match node:
        case And(terms):
            return everything.intersection(*(expected(one, found, everything) for one in terms))
        case Or(terms):
            return set().union(*(expected(one, found, everything) for one in terms))
        case Not(term):
            return everything - expected(term, found, everything)
        case _:
            return found[node]


async def varied_batches(world: World) -> dict[str, int]:
    """Return batches in many states by a word of ours."""
    bo = await world.user("bo")
    found = {
        "running": await world.submit(2, name="alpha", attributes={"cohort": "scz1"}),
        "done": await world.submit(1, name="beta", caller=bo),
        "failing": await world.submit(2, attributes={"pca": "x"}),
        "failed": await world.submit(1),
        "cancelled": await world.submit(1),
        "empty": await world.submit(job_rows(1), name="%"),
    }
    await world.cancel(found["cancelled"])
    worker = await world.worker()
    claimed = {(one.batch_id, one.job_id): one for one in await worker.claim()}
    await worker.end(claimed.pop((found["done"], 1)), exit_code=0)
    await worker.end(claimed.pop((found["failing"], 1)), reason=Reason.EXIT, exit_code=1)
    await worker.end(claimed.pop((found["failed"], 1)), reason=Reason.EXIT, exit_code=1)
    await worker.start(claimed.pop((found["running"], 1)))
    await worker.end(*claimed.values(), reason=Reason.PREEMPTED, start_age_us=None)
    return found


BATCH_TERMS: dict[str, set[str]] = {
    "state = running": {"running", "failing", "empty"},
    "state != running": {"done", "failed", "cancelled"},
    "state = complete": {"done", "failed", "cancelled"},
    "state = success": {"done"},
    "state = failure": {"failing", "failed"},
    "state = cancelled": {"cancelled"},
    "state = open": set(),
    "state != open": {"running", "done", "failing", "failed", "cancelled", "empty"},
    "state = closed": {"running", "done", "failing", "failed", "cancelled", "empty"},
    "user = bo": {"done"},
    "user != bo": {"running", "failing", "failed", "cancelled", "empty"},
    "user =~ b": {"done"},
    "billing_project = default": {"running", "done", "failing", "failed", "cancelled", "empty"},
    "billing_project != default": set(),
    "name = alpha": {"running"},
    "name != alpha": {"done", "empty"},
    "name =~ l": {"running"},
    "name !~ l": {"done", "empty"},
    "name = %": {"empty"},
    "cohort = scz1": {"running"},
    '"pca"': {"failing"},
    "ph": {"running"},
    "cost > 0": {"done", "failing", "failed"},
    "cost = 0": {"running", "cancelled", "empty"},
    "cost > 5": set(),
    "duration >= 0": {"running", "done", "failing", "failed", "cancelled", "empty"},
    "duration > 5000": set(),
    "start_time > 2020-01-01": {"running", "done", "failing", "failed", "cancelled", "empty"},
    "start_time < 2020-01-01": set(),
    "end_time > 2020-01-01": {"done", "failed", "cancelled"},
    "batch_id > 99999999999": set(),
}
