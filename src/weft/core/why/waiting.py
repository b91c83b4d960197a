"""Why a job waits: every cause, in the order in which they would have to change."""

from collections.abc import Iterator, Mapping
from datetime import datetime

import msgspec

from weft.core.ends.end_words import explain_reason
from weft.core.ends.services import service_end
from weft.core.ids import format_condition_id
from weft.core.scheduling.offers import MACHINE
from weft.core.text.amounts import MINUTE, duration, size
from weft.core.why.facts import (
    BlockedFacts,
    ComingMachine,
    ConditionFacts,
    GateFacts,
    GrowthFacts,
    JobFacts,
    PoolFacts,
    TravelFacts,
)
from weft.core.why.sentences import Cause, GateSentence, at_limit, command, group_of, name_of

WORKER = "waits for a worker"
STOPPED_SHOWN = 5
APART = "; another one on the same host would share its cores"
LARGER = "; on a host with less, jobs would share it"
"""What a worker would do that is started without another thought."""


def causes_of_wait(
    job: JobFacts, sentences: Mapping[str, GateSentence], now: datetime
) -> list[Cause]:
    """Return why a job waits, what is first to change first; nothing: it runs, has ended, or will
    start in a moment.

    `sentences`: what each kind of gate says.
    """
    if job.pool is None:
        return []
    found = [*_parents(job), *_holds(job)]
    found += [_gate(gate, job, sentences, now) for gate in job.gates]
    if job.blocked is not None:
        found.append(_blocked(job, job.blocked, now))
    if job.travels is not None:
        way = _travelling(job.travels, job, job.pool, now)
        # Offers come and go, so that one tells nothing to a job that waits for something else.
        return (
            found if found and way.kind == "offered" and job.state != "queued" else [*found, way]
        )
    if job.state == "creating":
        return [*found, _creating(job, job.pool, now)]
    if job.preempts:
        first, *others = map(name_of, job.preempts)
        more = f" and {len(others):,} more are" if others else " is"
        text = f"waits until {first}{more} stopped to make room for it"
        return [*found, Cause("preempting", text, command("why", first))]
    # A job that waits for something else anyway is told only what stays: room comes and goes.
    workers = list(_workers(job, job.pool, now, with_room=not found))
    if job.more:
        told = f"; its retry asked for more: {job.more}"
        workers = [msgspec.structs.replace(one, text=one.text + told) for one in workers]
    if job.belongs and (found or workers):
        text = f"waits in queue {job.queue}, but guards choose queue {job.belongs} for it now"
        found.append(Cause("guard", text, command("queue", "reroute", "--queue", job.queue)))
    return found + workers


def _parents(job: JobFacts) -> Iterator[Cause]:
    if job.state != "pending":
        return
    for one in job.shares:
        left = one.n_jobs - one.n_needed - one.n_failed
        counts = f"{one.n_succeeded:,} of {one.n_needed:,} needed, {one.n_failed:,} failed"
        text = f"waits for {one.share} % of {one.of}: {counts}, {left:,} more may"
        yield Cause("parent", text, command("jobs", name_of(job), "--parents"))
    if not job.parents:
        if job.n_parents > 0 or not job.shares:
            yield Cause("parent", f"waits for {job.n_parents:,} parents")
        return
    first, count = job.parents[0], max(job.n_parents, len(job.parents))
    name = name_of(JobFacts(batch_id=job.batch_id, job_id=first.job_id, state=first.state))
    others = f" and {count - 1:,} more" if count > 1 else ""
    does = "runs" if first.state == "running" else f"is {first.state}"
    noun = "parents" if count > 1 else "parent"
    enough = ("", ", and its end is enough", ", and its start is enough")[first.need]
    text = f"waits for its {noun} {name}{others}: {name} {does}{enough}"
    yield Cause("parent", text, command("why", name))


def _holds(job: JobFacts) -> Iterator[Cause]:
    for path in job.held:
        held = group_of(job.batch_id, path) if path else name_of(job)
        yield Cause("hold", f"waits: {held} is held", command("release", held))
    if job.limit is not None:
        yield at_limit(job.limit, job.batch_id)


def _blocked(job: JobFacts, blocked: BlockedFacts, now: datetime) -> Cause:
    if blocked.condition is not None:
        return _at_condition(blocked.condition, now)
    if blocked.stops_on is not None:
        stopped = f"attempt {blocked.attempt} was beyond a limit of queue {job.queue}"
        text = f"is tried again when worker {blocked.stops_on} has stopped it: {stopped}"
        return Cause("stop", text, command("queue", "show", job.queue))
    left_s = (blocked.next_at - now).total_seconds()
    when = f"in {duration(left_s * 1000)}" if left_s > 0 else "now"
    if blocked.service:
        how = service_end(msgspec.to_builtins(blocked))
        text = f"is a service that is started again {when}: {how}"
        return Cause("retry", text, command("status", name_of(job)))
    how = explain_reason({"state": "failed", **msgspec.to_builtins(blocked)})
    told = f" ({blocked.message})" if blocked.message else ""
    ended = {"blocked": f"reported an external error{told}", "overdue": "was beyond a limit"}.get(
        blocked.reason or "", f"ended: {how}"
    )
    text = f"is tried again {when}: attempt {blocked.attempt} {ended}"
    return Cause("retry", text, command("status", name_of(job)))


def _at_condition(facts: ConditionFacts, now: datetime) -> Cause:
    """Say what it waits for, what the last test said, and when the next one is."""
    given = "".join(f" {name}={value}" for name, value in sorted(facts.parameters.items()))
    n = facts.n_jobs - 1
    others = f" with {n:,} other{'s' * (n != 1)}" if n > 0 else ""
    what = facts.condition.replace("_", " ")
    last = "not tested yet"
    if facts.tested_at is not None:
        ago = duration(max(0.0, (now - facts.tested_at).total_seconds()) * 1000)
        last = f"the test {ago} ago {'passed' if facts.passed else 'failed'}"
        last += f" ({facts.message})" if facts.message else ""
    left_s = (facts.next_test_at - now).total_seconds()
    following = f"the next is in {duration(left_s * 1000)}" if left_s > 0 else "the next is now"
    text = f"waits{others} for {facts.tester}{given} ({what}): {last}, {following}"
    name = format_condition_id(facts.condition_id)
    return Cause("condition", text, command("condition", "test", name))


def _gate(
    gate: GateFacts, job: JobFacts, sentences: Mapping[str, GateSentence], now: datetime
) -> Cause:
    if gate.kind in sentences:
        return sentences[gate.kind](gate, job, now)
    taken = f": {gate.n_taken} of {gate.max_places} places are taken" if gate.max_places else ""
    return Cause(gate.kind, f"waits at the gate {gate.kind}{taken}")


def _workers(job: JobFacts, pool: PoolFacts, now: datetime, *, with_room: bool) -> Iterator[Cause]:
    if MACHINE in job.asks:
        yield _no_machine(str(job.asks[MACHINE]), pool)
        return
    of_pool = "" if pool.pool == "default" else f" of pool {pool.pool}"
    growth = pool.growth
    if growth and (growth.coming or (growth.has_room and (growth.problem or not pool.active))):
        if with_room and not pool.free:
            yield _growing(pool, growth, of_pool, now)
    elif not pool.workers:
        yield Cause("no_worker", f"{WORKER}{of_pool}: none is connected", _new_worker(pool))
    elif not pool.serving and pool.ending:
        yield _ending(pool, of_pool)
    elif not pool.serving:
        yield _not_offered(job, pool, of_pool)
    elif not pool.large:
        yield _too_large(job, pool, of_pool)
    elif not pool.active:
        yield _out_of_service(pool, of_pool)
    elif with_room and not pool.free:
        yield _busy(job, pool, of_pool)


def _growing(pool: PoolFacts, growth: GrowthFacts, of_pool: str, now: datetime) -> Cause:
    """Say when the next machine comes, by how long others took."""
    show = command("pool", "show", pool.pool)
    if growth.coming is None and growth.problem:
        text = f"{WORKER}{of_pool}: its provider could not make one: {growth.problem}"
        return Cause("grows", text, command("pool", "log", pool.pool))
    if growth.coming is None:
        text = f"the pool grows soon, it has {growth.machines} of {growth.max_workers} machines"
        return Cause("grows", f"{WORKER}{of_pool}: {text}", show)
    text = f"{WORKER}{of_pool}: the pool grows, machine {_comes(growth.coming, now)}"
    return Cause("grows", text, show)


def _no_machine(flavour: str, pool: PoolFacts) -> Cause:
    """Say why no machine is being made for a job that wants one of its own."""
    growth, show = pool.growth, command("pool", "show", pool.pool)
    text = "waits for a machine of its own: "
    if growth is None:
        text += f"pool {pool.pool} makes none of flavour {flavour} that can hold it"
        return Cause("machine", text, show)
    if growth.problem:
        text += f"the provider of pool {pool.pool} could not make one: {growth.problem}"
        return Cause("machine", text, command("pool", "log", pool.pool))
    has = f"pool {pool.pool} has {growth.machines} of {growth.max_workers} machines"
    return Cause("machine", text + (f"one is made soon, {has}" if growth.has_room else has), show)


def _creating(job: JobFacts, pool: PoolFacts, now: datetime) -> Cause:
    """Say when the machine of its own comes that a job waits for."""
    comes = "another one is made soon" if job.machine is None else _comes(job.machine, now)
    text = f"waits for a machine of its own: {comes}"
    return Cause("machine", text, command("pool", "log", pool.pool))


def _travelling(way: TravelFacts, job: JobFacts, pool: PoolFacts, now: datetime) -> Cause:
    """Say since when consumers may take the job, or why it is not offered; and what they do."""
    show = command("transport", "show", way.transport)
    if way.away_since is not None:
        text = f"waits for the transport {way.transport}, which is away since "
        text += f"{_ago(way.away_since, now)}: {way.error}"
        return Cause("transport_away", text, show)
    of_pool = "" if pool.pool == "default" else f" of pool {pool.pool}"
    busy = f"{min(way.busy, way.slots)} of {way.slots} slots of its consumers are busy"
    if not way.slots:
        text = f"{WORKER}{of_pool} that consumes queue {job.queue} from the transport "
        return Cause("no_consumer", f"{text}{way.transport}: none does", _new_worker(pool))
    if way.since is None:
        text = (
            f"is offered to the transport {way.transport} soon: {way.offered:,} jobs are before "
        )
        return Cause("offered", f"{text}it, and {busy}", show)
    to = "foreign programs over " if way.foreign else ""
    text = f"was offered to {to}the transport {way.transport} {_ago(way.since, now)} ago: "
    text += busy if way.confirmed else "it has not confirmed the message"
    return Cause("offered", text, show)


def _ago(since: datetime, now: datetime) -> str:
    return duration(max(0.0, (now - since).total_seconds()) * 1000)


def _comes(coming: ComingMachine, now: datetime) -> str:
    since = coming.since
    asked = f"asked for at {since.astimezone(now.tzinfo):%Y-%m-%d %H:%M:%S} {now.tzname()}"
    if coming.waits is not None:
        return f"{coming.machine} waits at its provider, {asked}: {coming.waits}"
    if coming.usual_s is None:
        return f"{coming.machine} is being made, {asked}"
    left_s = coming.usual_s - (now - since).total_seconds()
    if left_s >= 1:
        return f"{coming.machine} comes in about {_roughly(left_s)}"
    return f"{coming.machine} is late: {asked}, others came after {_roughly(coming.usual_s)}"


def _roughly(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 2 * MINUTE else f"{seconds / MINUTE:.0f} min"


def _ending(pool: PoolFacts, of_pool: str) -> Cause:
    text = f"{WORKER}{of_pool} whose machine ends after the time limit of the job"
    if growth := pool.growth:
        text += f"; the pool has {growth.machines} of {growth.max_workers} machines"
    return Cause("ending", text, command("pool", "show", pool.pool))


def _not_offered(job: JobFacts, pool: PoolFacts, of_pool: str) -> Cause:
    if job.stays:
        of_pool += " on a machine that stays"
        if not job.asks:
            text = f"{WORKER}{of_pool}: none is there, and on others it was lost too often"
            return Cause("not_offered", text, _new_worker(pool))
    if not job.asks:
        return Cause(
            "queue_not_served",
            f"{WORKER}{of_pool} that serves queue {job.queue}: none does",
            _new_worker(pool, "--queue", job.queue),
        )
    asked = ", ".join(f"{name} {_shown(value)}" for name, value in sorted(job.asks.items()))
    labels = [
        word
        for name, value in sorted(job.asks.items())
        if isinstance(value, str) and name != "executor"
        for word in ("--label", f"{name}={value}")
    ]
    return Cause(
        "not_offered",
        f"{WORKER}{of_pool} that offers {asked}: none does",
        _new_worker(pool, *labels) if labels or set(job.asks) == {"executor"} else None,
    )


def _shown(value: object) -> str:
    return " and ".join(map(str, value)) if isinstance(value, list) else str(value)


def _too_large(job: JobFacts, pool: PoolFacts, of_pool: str) -> Cause:
    needs, has, options = [], [], []
    if pool.cpu is not None and job.cpu > pool.cpu:
        needs.append(f"{job.cpu:g} cores")
        has.append(f"{pool.cpu:g}")
        options += ["--worker-cpu", f"{job.cpu:g}"]
    if pool.memory is not None and job.memory > pool.memory:
        needs.append(f"{size(job.memory)} memory")
        has.append(size(pool.memory))
        options += ["--worker-memory", f"{-(-job.memory // 2**20)}Mi"]
    if not needs:  # one worker has the cores, another one the memory
        needs, has = [f"{job.cpu:g} cores and {size(job.memory)} memory"], ["only one of the two"]
    return Cause(
        "too_large",
        f"{WORKER}{of_pool} with {' and '.join(needs)}: the largest has {' and '.join(has)}"
        f"{'' if pool.growth or not options else LARGER}",
        _new_worker(pool, *options),
    )


def _out_of_service(pool: PoolFacts, of_pool: str) -> Cause:
    names = [worker.worker for worker in pool.stopped]
    states = " or ".join(sorted({worker.state for worker in pool.stopped}))
    does = "show" if pool.stopped[0].state == "silent" else "uncordon"
    act = command("worker", does, names[0])
    if len(names) == 1:
        why = f": {pool.stopped[0].reason}" if pool.stopped[0].reason else ""
        return Cause("cordoned", f"{WORKER}{of_pool}: {names[0]} is {states}{why}", act)
    shown = ", ".join(names[:STOPPED_SHOWN]) + (", …" if len(names) > STOPPED_SHOWN else "")
    text = f"{WORKER}{of_pool}: those that could take it are {states} ({shown})"
    return Cause("cordoned", text, act)


def _busy(job: JobFacts, pool: PoolFacts, of_pool: str) -> Cause:
    cores = f"{pool.cpu_active:g} cores"
    if pool.behind is not None:
        text = f"what is free on {pool.behind} is kept for a job that comes first there"
        show = command("worker", "show", pool.behind)
        return Cause("behind", f"{WORKER}{of_pool} with room: {text}", show)
    growth = pool.growth
    grown = f"; the pool has {growth.machines} of {growth.max_workers} machines" if growth else ""
    if pool.ahead:
        runs, whose = ("you run", "your") if not job.user else (f"{job.user} runs", "the owner's")
        return Cause(
            "share",
            f"waits: {whose} share{of_pool} is used: {runs} {pool.running:g} of {cores}, and "
            f"others with less to run come first{grown or APART}",
            _new_worker(pool),
        )
    text = (
        f"{WORKER}{of_pool} with room: it needs {job.cpu:g} of {cores}, and others use them"
        f"{grown or APART}"
    )
    return Cause("busy", text, _new_worker(pool))


def _new_worker(pool: PoolFacts, *options: str) -> str:
    """Return the command that starts a worker beside those of the pool, or, where machines are
    made, shows how many there may be.
    """
    if pool.growth:
        return command("pool", "show", pool.pool)
    is_first = pool.pool == "default" and not pool.workers
    name = () if is_first else ("--worker-name", f"{pool.pool}-{pool.workers + 1}")
    return command("worker", "--pool", pool.pool, *name, *options)
