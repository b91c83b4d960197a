"""Fields of batches and jobs that are gates, and what each kind says of a job that waits for it.

A new kind is an entry here, its field in the documents, and a row in `_gate_kinds` (ADR 20).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

from weft.core.ends.retry_with import MoreRule
from weft.core.ids import format_batch_id
from weft.core.problems import Problems
from weft.core.text.amounts import coming
from weft.core.why import Cause, GateFacts, GateSentence, JobFacts, command, name_of
from weft.ports.store import Gate, Row, Shape
from weft.submission.translation.context import DocumentContext
from weft.submission.translation.retries import rules_of_more
from weft.submission.translation.shapes import ShapeBook
from weft.wire.documents.batches import BatchDocument
from weft.wire.documents.jobs import JobDocument
from weft.wire.documents.waits import WaitDocument
from weft.wire.keys import Rate


@dataclass(frozen=True)
class GateKind:
    """One kind of gate: how a field becomes one, and what it says while it is closed."""

    gate: Callable[[Any], Gate]
    says: GateSentence


def _says_max_running(gate: GateFacts, job: JobFacts, _: datetime) -> Cause:
    batch = format_batch_id(job.batch_id)
    text = f"waits: {batch} runs at most {gate.max_places} at a time"
    return Cause("max_running", text, _look(gate))


def _says_not_before(gate: GateFacts, __: JobFacts, now: datetime) -> Cause:
    assert gate.opens_at is not None
    clock, _, left = coming(gate.opens_at, now).partition(" (")
    return Cause("not_before", f"starts at {clock} {now.tzname()} ({left}")


def _says_key(gate: GateFacts, _: JobFacts, __: datetime) -> Cause:
    first, *others = map(name_of, gate.holders) if gate.holders else ("another job",)
    n_more = max(gate.n_taken - 1, len(others))
    who = f"{first} and {n_more} more, which have" if n_more else f"{first}, which has"
    return Cause("concurrency_key", f'waits for {who} the key "{gate.key}"', _look(gate))


def _says_rate(gate: GateFacts, _: JobFacts, __: datetime) -> Cause:
    key, _slash, period = gate.key.rpartition("/")
    per_s = float(period.removesuffix("ms")) / 1000
    text = f'waits: {gate.n_taken} of {gate.max_places} starts in {per_s:g} s with the key "{key}"'
    return Cause("rate", text)


def _says_queue_rate(gate: GateFacts, job: JobFacts, _: datetime) -> Cause:
    text = f"waits: {gate.n_taken} of {gate.max_places} starts in 1 s in queue {job.queue}"
    return Cause("queue_rate", text)


def _gate_of_rate(rate: Rate) -> Gate:
    key = f"{rate.key}/{round(rate.per_s * 1000)}ms"
    return Gate(kind="rate", key=key, max_places=rate.n)


def _gate_of_wait(wait: WaitDocument) -> Gate:
    until = "" if wait.until is None else wait.until.astimezone(UTC).isoformat()
    return Gate(kind="wait", key=f"wait for {wait.for_} {until}".strip(), max_places=0)


def _says_wait(gate: GateFacts, job: JobFacts, now: datetime) -> Cause:
    _, _, kind, *until = gate.key.split(" ")
    if until:
        return Cause("wait", f"waits until {coming(datetime.fromisoformat(until[0]), now)}")
    return Cause("wait", f"waits for an {kind}", command("answer", name_of(job)))


def _says_queue(gate: GateFacts, job: JobFacts, _: datetime) -> Cause:
    text = f"waits: queue {job.queue} runs {gate.n_taken} of {gate.max_places} jobs"
    return Cause("queue", text, _look(gate))


def _says_queue_user(gate: GateFacts, job: JobFacts, _: datetime) -> Cause:
    runs = f"{job.user} runs" if job.user else "you run"
    text = f"waits: {runs} {gate.n_taken} of {gate.max_places} jobs in queue {job.queue}"
    return Cause("queue_user", text, _look(gate))


def _says_cores_user(gate: GateFacts, job: JobFacts, _: datetime) -> Cause:
    return _of_cores("cores_user", gate, job.user or "you", "run" if not job.user else "runs")


def _says_cores(gate: GateFacts, _: JobFacts, __: datetime) -> Cause:
    return _of_cores("cores", gate, "the tenant", "runs")


def _of_cores(kind: str, gate: GateFacts, who: str, runs: str) -> Cause:
    most, wanted = (gate.max_places or 0) / 1000, gate.cost / 1000
    if wanted > most:
        text = f"needs {wanted:g} cores, and the quota of {who} is {most:g}"
    else:
        text = (
            f"waits: {who} {runs} {gate.n_taken / 1000:g} of {most:g} cores that the quota allows"
        )
    return Cause(kind, text, command("quota", "ls"))


def _says_preempted(gate: GateFacts, _: JobFacts, now: datetime) -> Cause:
    assert gate.opens_at is not None
    waiting = gate.key.partition("/")[0]
    stopped_for = waiting or "another job"
    text = f"was stopped for {stopped_for}, whose queue has a higher priority: may start again at "
    more = command("why", waiting) if waiting else None
    return Cause("preempted", text + coming(gate.opens_at, now), more)


def _says_licence(gate: GateFacts, _: JobFacts, __: datetime) -> Cause:
    most = gate.max_places or 0
    wanted = f"licence {gate.key}" if gate.cost == 1 else f"{gate.cost} licences {gate.key}"
    if gate.cost > most:
        more = command("licence", "set", gate.key, str(gate.cost))
        there = "there is none" if not most else f"there {'is' if most == 1 else 'are'} {most}"
        return Cause("licence", f"needs {wanted}, {there}", more)
    who = ", ".join(
        f"{holder.cost} by {name_of(holder)} of {holder.user}"
        if holder.user
        else f"{holder.cost} by {name_of(holder)}"
        for holder in gate.holders
    )
    of_others = gate.n_taken - sum(holder.cost for holder in gate.holders)
    used = [
        *([who] if who else []),
        *([f"{of_others} by others"] if who and of_others > 0 else []),
    ]
    text = f"waits for {wanted}: {gate.n_taken} of {most} are used"
    return Cause("licence", ", ".join([text, *used]), _look(gate) or command("licence", "ls"))


def _look(gate: GateFacts) -> str | None:
    """Return the command that tells when the first job with a place ends."""
    return command("why", name_of(gate.holders[0])) if gate.holders else None


BATCH_GATES: Final[Mapping[str, GateKind]] = {
    "max_running": GateKind(lambda n: Gate(kind="max_running", max_places=n), _says_max_running),
    "rate": GateKind(_gate_of_rate, _says_rate),
}
"""The document of a batch shows them again under their kinds."""
JOB_GATES: Final[Mapping[str, GateKind]] = {
    "not_before": GateKind(
        lambda at: Gate(kind="not_before", key=at.astimezone(UTC).isoformat(), opens_at=at),
        _says_not_before,
    ),
    "concurrency_key": GateKind(
        lambda limit: Gate(kind="concurrency_key", key=limit.key, max_places=limit.n), _says_key
    ),
    "rate": GateKind(_gate_of_rate, _says_rate),
    "wait": GateKind(_gate_of_wait, _says_wait),
}
"""Rare fields of jobs that are gates as well."""
QUEUE_GATES: Final[Mapping[str, GateSentence]] = {
    "queue": _says_queue,
    "queue_user": _says_queue_user,
    "queue_rate": _says_queue_rate,
}
"""Those that the database adds (ADR 20)."""
QUOTA_GATES: Final[Mapping[str, GateSentence]] = {
    "cores": _says_cores,
    "cores_user": _says_cores_user,
}
"""Those that it adds where quotas limit running cores (ADR 20): a place is a mCPU."""
DRIVER_GATES: Final[Mapping[str, GateSentence]] = {"preempted": _says_preempted}
"""Those that the driver adds."""
LICENCE: Final = "licence"
SENTENCES: Final[Mapping[str, GateSentence]] = {
    **{kind: one.says for kind, one in (*BATCH_GATES.items(), *JOB_GATES.items())},
    **QUEUE_GATES,
    **QUOTA_GATES,
    **DRIVER_GATES,
    LICENCE: _says_licence,
}
"""What each kind says."""


def batch_gates(document: BatchDocument) -> list[Gate]:
    """Return the gates that all jobs of a batch have to pass."""
    return _gates(BATCH_GATES, document)


def job_gates(document: JobDocument) -> list[Gate]:
    """Return the gates of one job, beside those of its batch."""
    return _gates(JOB_GATES, document)


def licence_gates(licences: Mapping[str, int]) -> list[Gate]:
    """Return the gates of a job that asks for these numbers of licences. They are there already
    with their places; one that was just removed has none.
    """
    return [
        Gate(kind=LICENCE, key=name, cost=n, max_places=0)
        for name, n in sorted(licences.items())
        if n
    ]


def _gates(kinds: Mapping[str, GateKind], document: object) -> list[Gate]:
    given = ((kind, getattr(document, field)) for field, kind in kinds.items())
    return [kind.gate(value) for kind, value in given if value is not None]


class Asks(NamedTuple):
    """The distinct shapes, and columns (`Columns`)."""

    shapes: list[Shape]
    shape_index: Sequence[int]
    licences: Sequence[Mapping[str, int]]
    more: Sequence[Sequence[MoreRule]]


def asks_of(
    jobs: Sequence[JobDocument],
    context: DocumentContext,
    workers: Sequence[Row],
    problems: Problems,
) -> Asks:
    """Return what these jobs ask for, and note what no worker can give."""
    book = ShapeBook(workers, context.licences)
    shape_index = book.index_of(jobs, context.rare(jobs), problems, context.router)
    more = rules_of_more(context.rare(jobs), book, shape_index, problems)
    return Asks(book.shapes, shape_index, book.licences_of(jobs), more)
